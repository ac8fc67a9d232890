#pragma once
// What a caller of attention gives: views, options, and the element types that they may have.

#include <kaio/ops/attention/common/block_mask.hpp>
#include <kaio/ops/attention/common/view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// How products of f32 numbers are computed; other types have one way.
//   ieee    multiply-adds in f32
//   tf32    tensor cores, inputs rounded to 11 significant bits, sums in f32; exact where no kernel does it:
//           before sm_80, above a head size of 256, in attention_with
enum class attention_precision : std::uint8_t { ieee, tf32 };

// Sinks, a number for each head of queries.
struct attention_sinks {
  attention_view view;
  attention_sinks() = default;
  template <class T>
  attention_sinks(const tensor_view<T, 1>& v) : view(v) {}
};

// A number for each score, which is added to it: 1 to 4 dimensions.
struct attention_bias {
  attention_view view;
  attention_bias() = default;
  template <class T, std::size_t Rank>
  attention_bias(const tensor_view<T, Rank>& v) {
    using element = std::remove_const_t<T>;
    static_assert(
        detail::is_attention_element<element>,
        "kaio: the elements of a bias are f32, or those of q, f16 or bf16; a mask of bool is `keep`");
    if constexpr (detail::is_attention_element<element>) view = v;
  }
};

// Whether a query attends to a key, for each score: 1 to 4 dimensions.
struct attention_keep {
  attention_view view;  // of elements of one byte
  attention_keep() = default;
  template <class T, std::size_t Rank>
  attention_keep(const tensor_view<T, Rank>& v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, bool> || std::is_same_v<element, u8>,
                  "kaio: the elements of keep are bool or u8");
    static_assert(Rank <= 4, "kaio: an attention takes views of four dimensions at most");
    view = detail::view_of_numbers(v);
  }
};

// Numbers of f32 that an attention reads, or writes.
struct attention_f32_input {
  attention_view view;
  attention_f32_input() = default;
  template <class T, std::size_t Rank>
  attention_f32_input(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(std::is_same_v<std::remove_const_t<T>, f32>, "kaio: the slopes of ALiBi are f32");
    static_assert(Rank <= 2,
                  "kaio: the slopes of ALiBi have one dimension, (heads), or two, (batches, heads)");
  }
};
struct attention_f32_output {
  attention_view view;
  attention_f32_output() = default;
  template <class T, std::size_t Rank>
  attention_f32_output(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(
        Rank == 2 || Rank == 3,
        "kaio: the log-sum-exp of an attention is (batches, heads, queries); of attention_varlen (heads, rows)");
    static_assert(std::is_same_v<T, f32>, "kaio: the log-sum-exp of an attention is f32, and not const");
  }
};

// Whether a query attends to no later keys, and where its own key is. With as many keys as queries both are
// the same.
//   top_left      key <= query                     torch's is_causal, cuDNN's default
//   bottom_right  key <= query + keys - queries    FlashAttention, vLLM: queries are the last of the keys
enum class causal_alignment : std::uint8_t { none, top_left, bottom_right };

// How many keys before and after its own one a query attends to, itself not counted; -1: all. A sliding
// window of W keys with the own one is {W - 1, 0}.
struct attention_window {
  std::int64_t left = -1, right = -1;
};

struct attention_options {
  std::optional<f32> scale{};  // of q . k; 1 / sqrt(head size of q) where it is not given
  causal_alignment causal = causal_alignment::none;
  // The own key of query i is i + keys - queries; with top_left, i. Causal makes `right` 0.
  attention_window window{};
  f32 softcap = 0;  // > 0: the score x becomes softcap * tanh(x / softcap)
  attention_f32_input
      alibi{};  // slopes, (heads) or (batches, heads): x -= slope * |query + keys - queries - key|
  // Added to x after ALiBi: (batches, heads, queries, keys), or the last ones of these dimensions; an extent
  // of 1 serves all. Of f32, or of the elements of q; any strides, along keys below 2^31 bytes. With -inf a key
  // gets no weight. Not for attention_varlen.
  attention_bias bias{};
  // Of bool or u8, shaped as bias: 0 masks, whatever q . k and bias are. Not for attention_varlen.
  attention_keep keep{};
  // A score of a key without a value that each query of a head attends to, in units of x: f32, f16 or bf16.
  attention_sinks sinks{};
  // (batches, heads, queries): ln of the sum of exp(x) over the keys that a query attends to, the sink too;
  // -inf where there are none. Of attention_varlen (heads, rows of q).
  attention_f32_output lse{};
  attention_precision precision = attention_precision::ieee;  // of f32 operands
  // The blocks of keys that are visited; causal and the window hold in the partial ones. All of them where it
  // is not given.
  block_mask blocks{};
  // The bits of a sequence depend on its own numbers, lengths and options alone, given rows that begin alike
  // at multiples of 16 bytes: not on the other sequences of the call, nor on whether it is packed. The keys of
  // a query are not divided because there are few queries, and no kernel is chosen by the number of keys.
  bool batch_invariant = false;
  std::string_view variant{};  // the kernel to run, a name of attention_variants; empty: the best one
};

// Whole numbers of the device, one for each sequence.
struct attention_i32_input {
  attention_view view;  // of elements of four bytes
  tensor_view<const i32, 1> numbers{};
  attention_i32_input() = default;
  template <class T>
  attention_i32_input(const tensor_view<T, 1>& v) {
    static_assert(std::is_same_v<std::remove_const_t<T>, i32>, "kaio: the lengths of sequences are i32");
    view = detail::view_of_numbers(v);
    numbers = v;
  }
};

// Sequences of different lengths that follow each other along the rows of a tensor, by numbers in device memory:
// sequence b has rows cu_q[b] to before cu_q[b + 1] of q and out, and cu_k[b] to before cu_k[b + 1] of k and
// v.
struct attention_sequences {
  // (sequences + 1) numbers from 0 on, none less than the one before, none beyond the rows
  attention_i32_input cu_q{}, cu_k{};
  // At least as many as the longest sequence has rows of q; not 0 where there are rows.
  std::int64_t max_q = 0;
  // (sequences): how many of its rows a sequence has; all where it is not given
  attention_i32_input used_q{}, used_k{};
  // Of attention_backward_varlen: at least as many as the longest sequence has rows of k; 0: all rows of k. A
  // smaller number launches fewer blocks that have nothing to do.
  std::int64_t max_k = 0;
};

namespace detail {

// What a call makes of the option `blocks`.
enum class use_of_blocks : std::uint8_t { possible, none, required };

// A call that was not checked yet.
struct attention_arguments {
  std::string_view operation;
  attention_view q, k, v, out;
  const attention_options* options;
  bool own_score = false, own_mask = false;        // of the caller
  const attention_sequences* sequences = nullptr;  // not null: tensors are (rows, heads, head size)
  use_of_blocks blocks = use_of_blocks::possible;
  bool with_functions = false;  // attention_with, whose kernels read no bias and no keep
};

template <class Q, class K, class V, class O>
constexpr void require_attention_types() {
  using element = std::remove_const_t<Q>;
  static_assert(is_attention_element<element>, "kaio: the elements of an attention are f32, f16 or bf16");
  static_assert(
      std::is_same_v<element, std::remove_const_t<K>> && std::is_same_v<element, std::remove_const_t<V>>,
      "kaio: q, k and v of an attention have the same element type; cast one of them");
  static_assert(!std::is_const_v<O>,
                "kaio: the output of an attention is a view of elements that are not const");
  static_assert(std::is_same_v<element, O> || std::is_same_v<f32, O>,
                "kaio: the output of an attention has the element type of q, k and v, or f32");
}

}  // namespace detail

}  // namespace kaio::ops
