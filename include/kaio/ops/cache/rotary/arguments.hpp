#pragma once
// What a caller of rotary and rotary_table gives.

#include <kaio/ops/tensor/any_view.hpp>
#include <kaio/ops/tensor/tensor_view.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>

namespace kaio::ops {

// A number for each token, i32 or i64: (batches, tokens), or (tokens): for all batches alike, or of packed sequences.
struct token_number_input {
  any_view view;
  token_number_input() = default;
  template <class T, std::size_t Rank>
  token_number_input(const tensor_view<T, Rank>& v) : view(v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, i32> || std::is_same_v<element, i64>,
                  "kaio: the numbers of tokens, positions and slots, are i32 or i64");
    static_assert(Rank <= 2, "kaio: the numbers of tokens are (tokens) or (batches, tokens)");
  }
};

struct rotary_options {
  // The position of each token; token i of a sequence is at position i where it is not given.
  token_number_input positions{};
  // (sequences): added to the positions 0, 1, ... of each. Not with `positions`.
  tensor_view<const i32, 1> offsets{};
  // Of rotary_varlen: (sequences + 1), as of attention_varlen.
  tensor_view<const i32, 1> cu_seqlens{};
  // Pairs (0, 1), (2, 3), ..., as GPT-J has them; or (0, P), (1, P + 1), ..., as GPT-NeoX and Llama.
  bool interleaved = false;
  bool inverse = false;  // by the negative angles, which undoes it
};

// How the frequencies base^(-i / P) of pair i of P are changed for sequences longer than a model was trained
// on, as Hugging Face's rope_scaling.
struct rotary_scaling {
  enum class kind : std::uint8_t { none, linear, llama3, yarn };
  kind type = kind::none;
  double factor = 1;                         // of all but none
  double low_frequency = 1;                  // llama3: low_freq_factor
  double high_frequency = 4;                 // llama3: high_freq_factor
  double original_length = 0;                // llama3, yarn: original_max_position_embeddings
  double beta_fast = 32;                     // yarn
  double beta_slow = 1;                      // yarn
  std::optional<double> attention_factor{};  // yarn: of cos and sin; 0.1 ln(factor) + 1 where it is not given

  static rotary_scaling linear(double factor) { return {.type = kind::linear, .factor = factor}; }
  static rotary_scaling llama3(double factor, double low, double high, double original_length) {
    return {.type = kind::llama3,
            .factor = factor,
            .low_frequency = low,
            .high_frequency = high,
            .original_length = original_length};
  }
  static rotary_scaling yarn(double factor, double original_length, double beta_fast = 32,
                             double beta_slow = 1, std::optional<double> attention_factor = {}) {
    return {.type = kind::yarn,
            .factor = factor,
            .original_length = original_length,
            .beta_fast = beta_fast,
            .beta_slow = beta_slow,
            .attention_factor = attention_factor};
  }
};

struct rotary_table_options {
  double base = 10000;  // rope_theta
  rotary_scaling scaling{};
  std::int64_t first_position = 0;  // of row 0
};

}  // namespace kaio::ops
