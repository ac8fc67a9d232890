#pragma once
// What a caller of attention_decode gives, and the same without its types.

#include <kaio/ops/attention/forward/call/arguments.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/shared/kv_cache.hpp>
#include <kaio/ops/cache/append/arguments.hpp>
#include <kaio/ops/shared/any_cache.hpp>
#include <kaio/ops/shared/any_view.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// Scales of a cache of 8 bits, of f32: (1) for all of it, (heads), (sequences, heads) of the call's sequences, or
// (pages or batches, rows, heads); of any strides, 0 for what shares them.
struct attention_cache_scale {
  attention_view view;
  any_view numbers;  // the same, as append_kv takes it
  attention_cache_scale() = default;
  template <class T, std::size_t Rank>
  attention_cache_scale(const tensor_view<T, Rank>& v) : view(v), numbers(v) {
    static_assert(std::is_same_v<std::remove_const_t<T>, f32>, "kaio: the scales of a cache are f32");
    static_assert(Rank >= 1 && Rank <= 3,
                  "kaio: the scales of a cache are (1), (heads), (sequences, heads) or (pages, rows, heads)");
  }
};

// New rows of K or V: f32, f16 or bf16, (batches, tokens, heads, size); of attention_decode_varlen, or with `cu_k`,
// (tokens, heads, size).
struct attention_new_rows {
  any_view view;
  attention_new_rows() = default;
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
  // (sequences + 1): sequence b has new rows cu_k[b] to before cu_k[b + 1] of k and v, which are (tokens, heads,
  // size), whatever the queries of the call are. Where it is not given the rows are those of the queries' sequences.
  tensor_view<const i32, 1> cu_k{};
  // K and the queries of the call are rotated by position; `rotary.q` is not given: rotated queries go into
  // the workspace. Where values are in the keys, the elements of both after the values are rotated.
  append_rotary rotary{};
  // Scales of a cache of 8 bits, computed for each row of a head: (pages, rows, heads), in place of k_scale
  // and v_scale, by which the new elements are divided otherwise.
  tensor_view<f32, 3> k_scale_out{}, v_scale_out{};

  bool exists() const noexcept { return k.view.exists() || v.view.exists(); }
  bool rotates() const noexcept { return rotary.cos.view.exists() || rotary.sin.view.exists(); }
};

// What is multiplied with values, next to q with keys: the element type and the dimensions of q.
struct attention_value_queries {
  attention_view view;
  attention_value_queries() = default;
  template <class T, std::size_t Rank>
  attention_value_queries(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(Rank == 3 || Rank == 4,
                  "kaio: qv is (batches, queries, heads, size) or (rows, heads, size), as q is");
  }
};

// How the parts that the keys of a sequence are divided into are added up.
enum class attention_combining {
  automatic,      // whichever is faster by a model of their times (src/ops/attention/decode/choice/forms.hpp)
  second_kernel,  // through the workspace
  cluster  // by the parts' blocks themselves, up to 16, a cluster: sm_90, calls of up to 16 rows of a tile
};

struct attention_decode_options {
  // Of q . k; 1 / sqrt(head size of q) where it is not given, with qv of both head sizes together.
  std::optional<f32> scale{};
  // The score is scale * (q . k + qv . v): (batches, queries, heads, Dv). K and V are the two parts of the rows of one
  // tensor, as of multi-head latent attention, V the first one: rows.slice(3, Dv, D) and rows.slice(3, 0, Dv).
  attention_value_queries qv{};
  // bottom_right: the last query attends to all keys, each one before it to one key less. There is no
  // top_left.
  causal_alignment causal = causal_alignment::none;
  // The own key of query i is i + keys - queries. Causal makes `right` 0.
  attention_window window{};
  f32 softcap = 0;  // > 0: the score x becomes softcap * tanh(x / softcap)
  attention_f32_input
      alibi{};  // slopes, (heads) or (batches, heads): x -= slope * |query + keys - queries - key|
  // Of a cache of e4m3, e5m2 or i8: its elements are codes times a scale, as append_kv writes them; 1 where
  // there is none. Those of keys that no query attends to are not read.
  attention_cache_scale k_scale{}, v_scale{};
  // A score of a key without a value that each query of a head attends to, in units of x: f32, f16 or bf16.
  attention_sinks sinks{};
  // (batches, heads, queries): ln of the sum of exp(x) over the keys that a query attends to, the sink too;
  // -inf where there are none.
  attention_f32_output lse{};
  // At least as many keys as the longest sequence has, a number of the host: work is divided by it. Keys from
  // here on do not exist, whatever the lengths are. 0: what the cache has room for.
  std::int64_t max_length = 0;
  // The bits of a sequence depend on its own numbers, length and options alone: not on other sequences, the
  // number of batches, max_length or the device's size. Parts are of 512 keys, or of 4096 where more than 16
  // queries and heads share a head of keys, so that the workspace grows with max_length.
  bool batch_invariant = false;
  // Into how many parts the keys are divided: 0: by the same model. 1 to 256; of a cluster 2, 4, 8 or 16.
  std::uint32_t parts = 0;
  attention_combining combining = attention_combining::automatic;
  // Lengths of the cache are those before the append, last_page_len those after it; they are not changed.
  attention_append append{};
  // Nothing in the stream before this call writes the numbers of the cache (lengths, tables, lists), of the sequences,
  // append.cu_k or append.rotary.positions: they may be read before it has ended. A hint; results do not depend on it.
  bool constant_numbers = false;
  attention_workspace workspace{};  // of attention_decode_workspace_bytes, at a multiple of 16 bytes
  std::string_view variant{};  // the kernel to run, as attention_decode_choice names it; empty: the best one
};

// A kv_cache without its element type.
struct attention_cache_view {
  attention_view k, v;
  element_kind kind = element_kind::f32;
  attention_view table, indptr, indices, lengths, last_page_len, batch_index, left_padding;
  detail::any_cache cache;  // the same, as append_kv takes it
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
  // A view that was never given has no extent; one of no memory is refused where it is read.
  template <std::size_t Rank>
  static attention_view numbers(const tensor_view<const i32, Rank>& v) {
    bool given = !v.is_null();
    for (std::size_t d = 0; d < Rank; ++d) given = given || v.extent(d) != 0;
    return given ? detail::view_of_numbers(v) : attention_view();
  }
};

namespace detail {

// A call that was not checked yet.
struct attention_decode_arguments {
  std::string_view operation;
  attention_view q;
  attention_cache_view cache;
  attention_view out;
  const attention_decode_options* options;
  bool own_score = false, own_mask = false;        // of the caller
  bool with_functions = false;                     // of attention_decode_with
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
