#pragma once
// What a caller of rotary and rotary_table gives.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaio::ops {

// A number for each token, i32 or i64: (batches, tokens); or (tokens), for all batches alike or for packed
// sequences.
struct token_number_input {
  any_view view;
  token_number_input() = default;
  template <detail::without_view M>
  token_number_input(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  token_number_input(const tensor_view<T, Rank>& v) : view(v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, i32> || std::is_same_v<element, i64>,
                  "kaio: the numbers of tokens, positions and slots, are i32 or i64");
    static_assert(Rank <= 2, "kaio: the numbers of tokens are (tokens) or (batches, tokens)");
  }
};

struct rotary_options {
  // The position of each token. If not given, token i of a sequence is at position i.
  token_number_input positions{};
  // (sequences): added to the positions 0, 1, ... of each. Not with `positions`.
  tensor_view<const i32, 1> offsets{};
  // For rotary_varlen: (sequences + 1), as in attention_varlen.
  tensor_view<const i32, 1> cu_seqlens{};
  // true: pairs (0, 1), (2, 3), ..., as in GPT-J. false: (0, P), (1, P + 1), ..., as in GPT-NeoX and Llama.
  bool interleaved = false;
  bool inverse = false;  // rotates by the negative angles, which undoes a rotation
};

// Changes the frequencies base^(-i / P) of pair i of P for sequences longer than a model was trained on.
// Kinds and parameters are those of rope_parameters (rope_scaling) in a Hugging Face config.json. The static
// functions take what a kind needs.
struct rotary_scaling {
  enum class kind : std::uint8_t { none, linear, dynamic, yarn, longrope, llama3, proportional };
  kind type = kind::none;
  double factor = 1;           // for every kind except none
  double low_frequency = 1;    // llama3: low_freq_factor
  double high_frequency = 4;   // llama3: high_freq_factor
  double original_length = 0;  // original_max_position_embeddings; dynamic: max_position_embeddings
  double beta_fast = 32;       // yarn
  double beta_slow = 1;        // yarn
  std::optional<double> attention_factor{};  // yarn, longrope: factor of cos and sin; computed if not given
  bool truncate = true;                      // yarn: whether the ramp begins and ends at whole pairs
  double mscale = 0,
         mscale_all_dim = 0;  // yarn: attention_factor is m(mscale) / m(mscale_all_dim) if both are given
  double length = 0;          // dynamic: the longest sequence that the table is for
  std::vector<double> pair_factors{};  // longrope: short_factor or long_factor, one for each pair
  double rotated = 1;                  // proportional: partial_rotary_factor

  // Divides frequencies by `factor`.
  static rotary_scaling linear(double factor) { return {.type = kind::linear, .factor = factor}; }
  // If `length` is above `original_length`, the frequencies are those of the base
  // base * (factor * length / original_length - (factor - 1))^(P / (P - 1)).
  static rotary_scaling dynamic(double factor, double original_length, double length) {
    return {.type = kind::dynamic, .factor = factor, .original_length = original_length, .length = length};
  }
  // Pairs that turn more than `high` times in original_length tokens keep their frequency. Pairs that turn
  // less than `low` times have it divided by `factor`. Between them the change is smooth.
  static rotary_scaling llama3(double factor, double low, double high, double original_length) {
    return {.type = kind::llama3,
            .factor = factor,
            .low_frequency = low,
            .high_frequency = high,
            .original_length = original_length};
  }
  // Pairs that turn more than beta_fast times in original_length tokens keep their frequency. Pairs that turn
  // less than beta_slow times have it divided by `factor`. Between them is a ramp. cos and sin are multiplied
  // by attention_factor; if not given, it is 0.1 ln(factor) + 1.
  static rotary_scaling yarn(double factor, double original_length, double beta_fast = 32,
                             double beta_slow = 1, std::optional<double> attention_factor = {},
                             bool truncate = true) {
    return {.type = kind::yarn,
            .factor = factor,
            .original_length = original_length,
            .beta_fast = beta_fast,
            .beta_slow = beta_slow,
            .attention_factor = attention_factor,
            .truncate = truncate};
  }
  // Divides the frequency of pair i by pair_factors[i]: short_factor of the configuration for sequences of up
  // to original_length tokens, long_factor for longer ones. `factor` is that of the configuration; if it has
  // none, max_position_embeddings / original_length. cos and sin are multiplied by attention_factor. If not
  // given, and factor is above 1, it is sqrt(1 + ln(factor) / ln(original_length)).
  static rotary_scaling longrope(std::vector<double> pair_factors, double factor, double original_length,
                                 std::optional<double> attention_factor = {}) {
    return {.type = kind::longrope,
            .factor = factor,
            .original_length = original_length,
            .attention_factor = attention_factor,
            .pair_factors = std::move(pair_factors)};
  }
  // The first pairs, a fraction `rotated` of all, have their frequency divided by `factor`. The others have
  // frequency 0.
  static rotary_scaling proportional(double rotated, double factor = 1) {
    return {.type = kind::proportional, .factor = factor, .rotated = rotated};
  }
};

// Chooses the position that turns a pair, for tokens that have A positions, such as the time, height and
// width of a patch of an image. `pairs` is mrope_section of a config.json: the number of pairs of each
// section.
//
//   in a row      the first pairs[0] pairs are section 0, the next pairs[1] section 1, ...;
//                 position s % A turns section s
//   interleaved   (Qwen3-VL) position s > 0 turns the pairs[s] pairs s, s + A, s + 2 A, ...;
//                 position 0 turns the rest
struct rotary_sections {
  std::vector<std::uint32_t> pairs{};
  bool interleaved = false;
};

struct rotary_table_options {
  double base = 10000;  // rope_theta
  rotary_scaling scaling{};
  std::int64_t first_position = 0;  // position of row 0
  // Used in place of first_position, first_position + 1, ...: the position of each row, (rows), or with
  // `sections` (A, rows). Such a table has a row for each token: rotary takes it with the numbers of the
  // tokens as its positions.
  token_number_input positions{};
  rotary_sections sections{};
};

}  // namespace kaio::ops
