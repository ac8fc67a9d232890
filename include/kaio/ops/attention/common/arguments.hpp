#pragma once
// The arguments of attention: views, options, and the element types that they may have.

#include <kaio/ops/attention/common/block_mask.hpp>
#include <kaio/ops/attention/common/view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// Precision of products of f32 numbers; other types have one way.
//   ieee    multiply-adds in f32
//   tf32    tensor cores, inputs rounded to 11 significant bits, sums in f32; exact if no kernel does it:
//           before sm_80, above a head size of 256, in attention_with
enum class attention_precision : std::uint8_t { ieee, tf32 };

// Attention sinks, one number per head of queries.
struct attention_sinks {
  attention_view view;
  attention_sinks() = default;
  template <detail::without_view M>
  attention_sinks(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  attention_sinks(const tensor_view<T, 1>& v) : view(v) {}
};

// A tensor of 1 to 4 dimensions with a number for each score, which is added to it.
struct attention_bias {
  attention_view view;
  attention_bias() = default;
  template <detail::without_view M>
  attention_bias(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  attention_bias(const tensor_view<T, Rank>& v) {
    using element = std::remove_const_t<T>;
    static_assert(
        detail::is_attention_element<element>,
        "kaio: the elements of a bias are f32, or those of q, f16 or bf16; a mask of bool is `keep`");
    if constexpr (detail::is_attention_element<element>) view = v;
  }
};

// A tensor of 1 to 4 dimensions that says for each score whether the query attends to the key.
struct attention_keep {
  attention_view view;  // elements of one byte
  attention_keep() = default;
  template <detail::without_view M>
  attention_keep(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  attention_keep(const tensor_view<T, Rank>& v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, bool> || std::is_same_v<element, u8>,
                  "kaio: the elements of keep are bool or u8");
    static_assert(Rank <= 4, "kaio: an attention takes views of four dimensions at most");
    view = detail::view_of_numbers(v);
  }
};

// The slopes of ALiBi, one per head of queries.
struct attention_alibi {
  attention_view view;
  attention_alibi() = default;
  template <detail::without_view M>
  attention_alibi(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  attention_alibi(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(std::is_same_v<std::remove_const_t<T>, f32>, "kaio: the slopes of ALiBi are f32");
    static_assert(Rank <= 2,
                  "kaio: the slopes of ALiBi have one dimension, (heads), or two, (batches, heads)");
  }
};
// Where an attention writes the log-sum-exp of each row.
struct attention_lse {
  attention_view view;
  attention_lse() = default;
  template <detail::without_view M>
  attention_lse(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  attention_lse(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(
        Rank == 2 || Rank == 3,
        "kaio: the log-sum-exp of an attention is (batches, heads, queries); of attention_varlen (heads, rows)");
    static_assert(std::is_same_v<T, f32>, "kaio: the log-sum-exp of an attention is f32, and not const");
  }
};

// Whether a query attends to no later keys, and where its own key is. With equal numbers of keys and queries,
// both alignments agree.
//   top_left      key <= query                     torch's is_causal, cuDNN's default
//   bottom_right  key <= query + keys - queries    FlashAttention, vLLM: queries belong to the last keys
enum class causal_alignment : std::uint8_t { none, top_left, bottom_right };

// The option `causal`: an alignment. true would not say which one.
struct causal_option {
  causal_alignment alignment = causal_alignment::none;
  constexpr causal_option(causal_alignment a) : alignment(a) {}
  template <class B>
    requires std::is_arithmetic_v<B>
  constexpr causal_option(B) {
    static_assert(!std::is_arithmetic_v<B>,
                  "kaio: causal is an alignment; write causal_alignment::bottom_right (FlashAttention's) or "
                  "causal_alignment::top_left (torch's is_causal)");
  }
  constexpr operator causal_alignment() const noexcept { return alignment; }
};

// Number of keys before and after its own one that a query attends to, not counting its own; -1: all. A
// sliding window of W keys including the own one is {W - 1, 0}.
struct attention_window {
  std::int64_t left = -1, right = -1;
};

struct attention_options {
  std::optional<f32> scale{};  // factor of q . k; if not given, 1 / sqrt(head size of q)
  causal_option causal = causal_alignment::none;
  // The own key of query i is i + keys - queries, or i with top_left. Causal makes `right` 0.
  attention_window window{};
  f32 softcap = 0;  // > 0: the score x becomes softcap * tanh(x / softcap)
  attention_alibi
      alibi{};  // slopes, (heads) or (batches, heads): x -= slope * |query + keys - queries - key|
  // Added to x after ALiBi: (batches, heads, queries, keys), or the last of these dimensions. An extent of 1
  // serves all. Elements are f32 or those of q. Any strides; along keys below 2^31 bytes. -inf gives a key no
  // weight. Not for attention_varlen.
  attention_bias bias{};
  // bool or u8, shaped like bias: 0 masks, whatever q . k and bias are. Not for attention_varlen.
  attention_keep keep{};
  // One score per head, in units of x, f32, f16 or bf16: every query attends to an extra key with this score
  // and no value.
  attention_sinks sinks{};
  // (batches, heads, queries), or (heads, rows of q) for attention_varlen: ln of the sum of exp(x) over the
  // keys that a query attends to, the sink included. -inf if there are none.
  attention_lse lse{};
  attention_precision precision = attention_precision::ieee;  // for f32 operands
  // The blocks of keys that are visited; causal and the window apply in the partial ones. All blocks if not
  // given.
  block_mask blocks{};
  // The bits of a sequence depend only on its own numbers, lengths and options, and on whether its rows begin
  // at multiples of 16 bytes. They do not depend on the other sequences of the call, nor on whether it is
  // packed. The keys of a query are not divided when there are few queries, and no kernel is chosen by the
  // number of keys.
  bool batch_invariant = false;
  std::string_view variant{};  // the kernel to run, by a name of attention_variants; empty: the best one
};

// i32 numbers in device memory, one for each sequence.
struct attention_i32_input {
  attention_view view;  // elements of four bytes
  tensor_view<const i32, 1> numbers{};
  attention_i32_input() = default;
  template <detail::without_view M>
  attention_i32_input(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  attention_i32_input(const tensor_view<T, 1>& v) {
    static_assert(std::is_same_v<std::remove_const_t<T>, i32>, "kaio: the lengths of sequences are i32");
    view = detail::view_of_numbers(v);
    numbers = v;
  }
};

// Sequences of different lengths that follow each other along the rows of a tensor. Their numbers are in
// device memory. Sequence b has rows cu_q[b] to before cu_q[b + 1] of q and out, and cu_k[b] to before
// cu_k[b + 1] of k and v.
struct attention_sequences {
  // (sequences + 1) numbers: from 0 on, never decreasing, never above the number of rows
  attention_i32_input cu_q{}, cu_k{};
  // At least the rows of q of the longest sequence; not 0 if there are rows.
  std::int64_t max_q = 0;
  // (sequences): the used rows of each sequence; all if not given
  attention_i32_input used_q{}, used_k{};
  // For attention_backward_varlen: at least the rows of k of the longest sequence; 0: all rows of k. A
  // smaller number launches fewer idle blocks.
  std::int64_t max_k = 0;
};

namespace detail {

// How a call treats the option `blocks`.
enum class use_of_blocks : std::uint8_t { possible, none, required };

// A call before its checks.
struct attention_arguments {
  std::string_view operation;
  attention_view q, k, v, out;
  const attention_options* options;
  bool own_score = false, own_mask = false;        // the caller's own functions
  const attention_sequences* sequences = nullptr;  // not null: tensors are (rows, heads, head size)
  use_of_blocks blocks = use_of_blocks::possible;
  bool with_functions = false;  // attention_with: its kernels read no bias and no keep
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
