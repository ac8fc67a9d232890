#pragma once
// append_kv writes new keys and values into a cache, in one launch with the steps on the way: K rotated by
// position (and Q, into a tensor of its own), K and V quantised to 8 bits.
//
//   kv_cache<f16> cache{.k = ..., .v = ..., .table = table, .lengths = lengths};   // pages
//   append_kv(s, k, v, cache, {.rotary = {.cos = cos, .sin = sin, .q = {q, q}}});  // (B, S, heads, size)
//
// Token i of sequence b becomes key lengths[b] + i: lengths are those before the append, and are not changed.
// With last_page_len, as in FlashInfer, the numbers include the new tokens, which become the last keys. With
// options.slots, as in vLLM, each token has its own place, and only k and v of the cache are used.
//
//   rotated       K (and Q) as by rotary, at the key's number less the sequence's left_padding, or at
//                 rotary.positions; rounded to the element type, so the bits are those of two calls
//   e4m3, e5m2    x / scale in f32, rounded to the nearest even; saturates at the greatest number
//   i8            x / scale rounded to the nearest even, clamped to -127 .. 127; NaN becomes 0
//   k_scale_out   scale = largest abs(x) of the row / greatest number of the type (448, 57344, 127); 1 for a
//                 row of zeros. A NaN is not the largest; with an infinity the finite elements become 0
//
// Tokens without a place in the cache are not written:
//
//   - of no sequence, or with a negative slot
//   - beyond the rows of a contiguous cache, the table's columns or the list's pages
//   - in a page whose number is negative or that the cache does not have
//
// Two tokens in one place leave one of them, unknown which. Nothing is allocated, read back or waited for, so
// a captured call may be replayed with other lengths and pages. Throws invalid_argument, which names the
// argument, before anything runs; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/cache/append/arguments.hpp>
#include <kaio/ops/shared/any_cache.hpp>
#include <kaio/ops/shared/kv_cache.hpp>
#include <kaio/runtime/stream.hpp>

#include <string_view>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
void run_append_kv(const stream& s, const any_view& k, const any_view& v, const any_cache& cache,
                   const append_kv_options& options, std::string_view caller = {});

template <class K, class V, class T>
constexpr void require_append_types() {
  using element = std::remove_const_t<K>;
  static_assert(is_wide(element_kind_of<element>()), "kaio: the elements of append_kv are f32, f16 or bf16");
  static_assert(std::is_same_v<element, std::remove_const_t<V>>,
                "kaio: k and v of append_kv have the same element type; cast one of them");
  static_assert(!std::is_const_v<T>, "kaio: append_kv writes the cache, whose elements are not const");
  static_assert(std::is_same_v<element, T> || is_quantised(element_kind_of<T>()),
                "kaio: the elements of a cache are those of k and v, or e4m3, e5m2 or i8");
}
}  // namespace detail

// k: (B, S, Hkv, D), v: (B, S, Hkv, Dv), f32, f16 or bf16, any strides whose last one is 1; D and Dv up to
// 512. cache.k: (pages or batches, rows, Hkv, D), cache.v: (..., Dv), of the same type or of e4m3, e5m2 or
// i8. All extents may be 0; B * S * (2 Hkv + Hq) is below 2^32. The cache shares no memory with anything
// else.
template <class K, class V, class T>
void append_kv(const stream& s, const tensor_view<K, 4>& k, const tensor_view<V, 4>& v,
               const kv_cache<T>& cache, const append_kv_options& options = {}) {
  detail::require_append_types<K, V, T>();
  detail::run_append_kv(s, k, v, cache, options);
}
// Refuses arguments that are no such views.
template <class K, class V, class T>
  requires(!(detail::views<4, K, V>))
void append_kv(const stream&, const K&, const V&, const kv_cache<T>&, const append_kv_options& = {}) {
  detail::refuse_views<K, V>();
}

// append_kv for the new tokens of all sequences, (tokens, Hkv, D) and (tokens, Hkv, Dv), with
// options.cu_seqlens or options.slots.
template <class K, class V, class T>
void append_kv_varlen(const stream& s, const tensor_view<K, 3>& k, const tensor_view<V, 3>& v,
                      const kv_cache<T>& cache, const append_kv_options& options) {
  detail::require_append_types<K, V, T>();
  detail::run_append_kv(s, k, v, cache, options);
}
// Refuses arguments that are no such views.
template <class K, class V, class T>
  requires(!(detail::views<3, K, V>))
void append_kv_varlen(const stream&, const K&, const V&, const kv_cache<T>&, const append_kv_options&) {
  detail::refuse_views<K, V>();
}

// Loads the kernel of append_kv ahead of its first use.
void append_kv_warmup(const runtime::device& gpu);

}  // namespace kaio::ops

namespace kaio {
using ops::append_kv;
using ops::append_kv_options;
using ops::append_kv_varlen;
using ops::append_kv_warmup;
using ops::append_rotary;
using ops::constant_inputs;
}  // namespace kaio
