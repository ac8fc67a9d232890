#pragma once
// The arguments of attention_decode, with and without their types.

#include <kaio/ops/attention/common/arguments.hpp>
#include <kaio/ops/cache/append/arguments.hpp>
#include <kaio/ops/shared/any_cache.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/constant_inputs.hpp>
#include <kaio/ops/shared/kv_cache.hpp>
#include <kaio/ops/shared/workspace.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// f32 scales of an 8-bit cache: (1) for all of it, (heads), (sequences, heads) of the call's sequences, or
// (pages or batches, rows, heads). Strides are free, also 0 along dimensions that share a scale.
struct attention_cache_scale {
  attention_view view;
  any_view numbers;  // the scales, in the form that append_kv takes
  attention_cache_scale() = default;
  template <detail::without_view M>
  attention_cache_scale(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  attention_cache_scale(const tensor_view<T, Rank>& v) : view(v), numbers(v) {
    static_assert(std::is_same_v<std::remove_const_t<T>, f32>, "kaio: the scales of a cache are f32");
    static_assert(Rank >= 1 && Rank <= 3,
                  "kaio: the scales of a cache are (1), (heads), (sequences, heads) or (pages, rows, heads)");
  }
};

// New rows of K or V, in f32, f16 or bf16: (batches, tokens, heads, size). For attention_decode_varlen, or
// with `cu_k`, they are (tokens, heads, size).
struct attention_new_rows {
  any_view view;
  attention_new_rows() = default;
  template <detail::without_view M>
  attention_new_rows(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  attention_new_rows(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(is_wide(element_kind_of<T>()), "kaio: new keys and values are f32, f16 or bf16");
    static_assert(Rank == 3 || Rank == 4,
                  "kaio: new keys and values are (batches, tokens, heads, size) or (tokens, heads, size)");
  }
};

// New keys and values that a call appends to the cache before it reads it, as append_kv does.
struct attention_append {
  attention_new_rows k{}, v{};
  // (sequences + 1): sequence b has the new rows [cu_k[b], cu_k[b + 1]) of k and v. These are then (tokens,
  // heads, size), whatever the queries of the call are. If it is not given, the rows belong to the sequences
  // of the queries.
  tensor_view<const i32, 1> cu_k{};
  // Rotates K and the queries of the call by position. Leave `rotary.q` empty: rotated queries go into the
  // workspace. If values are in the keys, the elements after the values are rotated, in both.
  append_rotary rotary{};
  // Scales of an 8-bit cache, (pages, rows, heads), which are computed for each row of a head. They replace
  // k_scale and v_scale, which divide the new elements otherwise.
  tensor_view<f32, 3> k_scale_out{}, v_scale_out{};

  bool exists() const noexcept { return k.view.exists() || v.view.exists(); }
  bool rotates() const noexcept { return rotary.cos.view.exists() || rotary.sin.view.exists(); }
};

// Queries that are multiplied with values, as q is with keys. They have the element type and the dimensions
// of q.
struct attention_value_queries {
  attention_view view;
  attention_value_queries() = default;
  template <detail::without_view M>
  attention_value_queries(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  attention_value_queries(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(Rank == 3 || Rank == 4,
                  "kaio: qv is (batches, queries, heads, size) or (rows, heads, size), as q is");
  }
};

// How the splits of a sequence's keys are added up.
enum class attention_combining {
  automatic,      // whichever is faster by a model of their times (src/ops/attention/decode/choice/forms.hpp)
  second_kernel,  // through the workspace
  cluster         // in a cluster of the splits' blocks, up to 16: sm_90, calls of up to 16 rows of a tile
};

struct attention_decode_options {
  // The factor of q . k. Default: 1 / sqrt(head size of q), with qv of both head sizes together.
  std::optional<f32> scale{};
  // (batches, queries, heads, Dv). The score becomes scale * (q . k + qv . v). K and V are then the two splits
  // of the rows of one tensor, as in multi-head latent attention. K is rows.slice(3, Dv, D), V is
  // rows.slice(3, 0, Dv).
  attention_value_queries qv{};
  // bottom_right: the last query attends to all keys, each earlier query to one key less. There is no
  // top_left.
  causal_option causal = causal_alignment::none;
  // The own key of query i is i + keys - queries. Causal makes `right` 0.
  attention_window window{};
  f32 softcap = 0;  // > 0: the score x becomes softcap * tanh(x / softcap)
  attention_alibi
      alibi{};  // slopes, (heads) or (batches, heads): x -= slope * |query + keys - queries - key|
  // Scales of a cache of e4m3, e5m2 or i8: its elements are codes times a scale, as append_kv writes them.
  // Default: 1. Scales of keys that no query attends to are not read.
  attention_cache_scale k_scale{}, v_scale{};
  // The score of a key without a value, to which each query of a head attends, in units of x: f32, f16 or
  // bf16.
  attention_sinks sinks{};
  // (batches, heads, queries): ln of the sum of exp(x) over the keys that a query attends to, and the sink;
  // -inf if there are none.
  attention_lse lse{};
  // The host's upper bound of the keys of a sequence: work is divided by it. Keys from here on do not exist,
  // whatever the lengths are. 0: the room of the cache.
  std::int64_t max_length = 0;
  // The bits of a sequence depend only on its own numbers, length and options. They do not depend on other
  // sequences, the number of batches, max_length or the device's size. Parts have 512 keys, or 4096 if more
  // than 16 queries and heads share a KV head, so the workspace grows with max_length.
  bool batch_invariant = false;
  // The number of splits of the keys: 1 to 256; 2, 4, 8 or 16 in a cluster. 0: chosen by the same model.
  std::uint32_t splits = 0;
  attention_combining combining = attention_combining::automatic;
  // Lengths of the cache are those before the append, last_page_len those after it. Neither is changed.
  attention_append append{};
  // A hint, on which results do not depend. No earlier work in the stream writes the numbers of the cache
  // (lengths, tables, lists), of the sequences, append.cu_k or append.rotary.positions. They may be read
  // before that work has ended.
  constant_inputs constant = constant_inputs::none;  // indices
  workspace_view workspace{};  // attention_decode_workspace_bytes, at a multiple of 16 bytes
  std::string_view variant{};  // the kernel to run, as attention_decode_choice names it; empty: the best one
};

// A kv_cache without its element type.
struct attention_cache_view {
  attention_view k, v;
  element_kind kind = element_kind::f32;
  attention_view table, indptr, indices, lengths, last_page_len, batch_index, left_padding;
  detail::any_cache cache;  // the cache, in the form that append_kv takes
  bool is_written = false;  // its elements are not const

  attention_cache_view() = default;
  template <class T>
  attention_cache_view(const kv_cache<T>& of)
      : k(rows(of.k)),
        v(rows(of.v)),
        kind(element_kind_of<T>()),
        table(numbers(of.table)),
        indptr(numbers(of.indptr)),
        indices(numbers(of.indices)),
        lengths(numbers(of.lengths)),
        last_page_len(numbers(of.last_page_len)),
        batch_index(numbers(of.batch_index)),
        left_padding(numbers(of.left_padding)),
        cache(of),
        is_written(!std::is_const_v<T>) {}

  bool has_codes() const noexcept { return is_quantised(kind); }

 private:
  template <class T>
  static attention_view rows(const tensor_view<T, 4>& v) {
    if constexpr (is_quantised(element_kind_of<T>()))
      return detail::view_of_numbers(v);
    else
      return v;
  }
  // A view that was never given has no extent. A view without memory is refused where it is read.
  template <std::size_t Rank>
  static attention_view numbers(const tensor_view<const i32, Rank>& v) {
    bool given = !v.is_null();
    for (std::size_t d = 0; d < Rank; ++d) given = given || v.extent(d) != 0;
    return given ? detail::view_of_numbers(v) : attention_view();
  }
};

namespace detail {

// A call before it is checked.
struct attention_decode_arguments {
  std::string_view operation;
  attention_view q;
  attention_cache_view cache;
  attention_view out;
  const attention_decode_options* options;
  bool own_score = false, own_mask = false;        // the caller's
  bool with_functions = false;                     // attention_decode_with
  const attention_sequences* sequences = nullptr;  // not null: q and out are (rows, heads, head size)
};

template <class Q, class C, class O>
constexpr void require_attention_decode_types() {
  using element = std::remove_const_t<Q>;
  static_assert(is_attention_element<element>, "kaio: the elements of an attention are f32, f16 or bf16");
  static_assert(
      std::is_same_v<element, std::remove_const_t<C>> || is_quantised(element_kind_of<C>()),
      "kaio: the cache of an attention_decode has the element type of the queries, or is e4m3, e5m2 or i8");
  static_assert(!std::is_const_v<O>,
                "kaio: the output of an attention is a view of elements that are not const");
  static_assert(std::is_same_v<element, O> || std::is_same_v<f32, O>,
                "kaio: the output of an attention has the element type of q, k and v, or f32");
}

}  // namespace detail

}  // namespace kaio::ops
