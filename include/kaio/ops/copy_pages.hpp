#pragma once
// copy_pages copies pages within a cache, for a sequence that forks. gather_kv gathers the rows of sequences
// out of a cache, for a prefix that is attended to again.
//
//   copy_pages(s, pages, pairs);       // (layers, pages, rows, heads, size); pairs (copies, 2): from, to
//   gather_kv(s, cache, k, v);         // k, v: (B, S, heads, size): key i of sequence b at (b, i)
//
// Elements are moved as they are, whatever their type, or converted from 8 bits on the way. Numbers are read
// on the device. Nothing is allocated, read back or waited for, so a call may be captured into a graph.
// Throws invalid_argument, which names the argument, before anything runs; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/cache/append/arguments.hpp>
#include <kaio/ops/shared/any_cache.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct gather_kv_options {
  // For gather_kv_varlen, (sequences + 1): sequence b goes to rows cu_seqlens[b] to before cu_seqlens[b + 1].
  tensor_view<const i32, 1> cu_seqlens{};
  // Scales of a cache of e4m3, e5m2 or i8 that is read as f32, f16 or bf16: the factors of its elements, as
  // append_kv takes or makes them; 1 if there are none.
  append_scale_input k_scale{}, v_scale{};
};

namespace detail {
void run_copy_pages(const stream& s, const any_view& pages, const tensor_view<const i32, 2>& pairs);
void run_gather_kv(const stream& s, const any_cache& cache, const any_view& k, const any_view& v,
                   const gather_kv_options& options);

template <class T, class K, class V>
constexpr void require_gather_types() {
  using element = std::remove_const_t<T>;
  static_assert(std::is_same_v<K, V> && !std::is_const_v<K>,
                "kaio: gather_kv writes k and v of one element type, which are not const");
  static_assert(
      std::is_same_v<element, K> ||
          (is_quantised(element_kind_of<element>()) && is_wide(element_kind_of<K>())),
      "kaio: gather_kv writes elements of the cache's type, or e4m3, e5m2 and i8 as f32, f16 or bf16");
  static_assert(sizeof(T) <= 4, "kaio: gather_kv takes elements of 1, 2 or 4 bytes");
}
}  // namespace detail

// pages: (pages, rows, heads, size), or (layers, pages, rows, heads, size), where all layers are copied
// alike. Elements have 1, 2 or 4 bytes; any strides whose last one is 1; size up to 512. pairs: i32, (copies,
// 2), the page that is read and the page that is written. Pairs with a number that no page has are skipped.
// No page may be written twice, or read by one pair and written by another: copies have no order.
template <class T, std::size_t Rank>
void copy_pages(const stream& s, const tensor_view<T, Rank>& pages, const tensor_view<const i32, 2>& pairs) {
  static_assert(Rank == 4 || Rank == 5,
                "kaio: copy_pages takes (pages, rows, heads, size), or (layers, pages, rows, heads, size)");
  static_assert(!std::is_const_v<T> && sizeof(T) <= 4,
                "kaio: copy_pages takes elements of 1, 2 or 4 bytes, which are not const");
  detail::run_copy_pages(s, pages, pairs);
}
// Refuses arguments that are no such views.
template <class P>
  requires(!(detail::views<0, P>))
void copy_pages(const stream&, const P&, const tensor_view<const i32, 2>&) {
  detail::refuse_views<P>();
}

// k: (B, S, Hkv, D), v: (B, S, Hkv, Dv), any strides whose last one is 1. Their element type is the cache's,
// of 1, 2 or 4 bytes. From a cache of e4m3, e5m2 or i8 it may also be f32, f16 or bf16: x * scale in f32,
// rounded once. Rows of a sequence from its length on, in its left padding, and without a page are not
// written.
template <class T, class K, class V>
void gather_kv(const stream& s, const kv_cache<T>& cache, const tensor_view<K, 4>& k,
               const tensor_view<V, 4>& v, const gather_kv_options& options = {}) {
  detail::require_gather_types<T, K, V>();
  detail::run_gather_kv(s, cache, k, v, options);
}
// Refuses arguments that are no such views.
template <class K, class V, class T>
  requires(!(detail::views<4, K, V>))
void gather_kv(const stream&, const kv_cache<T>&, const K&, const V&, const gather_kv_options& = {}) {
  detail::refuse_views<K, V>();
}

// gather_kv into (rows of all sequences, Hkv, D) and (rows, Hkv, Dv), by options.cu_seqlens.
template <class T, class K, class V>
void gather_kv_varlen(const stream& s, const kv_cache<T>& cache, const tensor_view<K, 3>& k,
                      const tensor_view<V, 3>& v, const gather_kv_options& options) {
  detail::require_gather_types<T, K, V>();
  detail::run_gather_kv(s, cache, k, v, options);
}
// Refuses arguments that are no such views.
template <class K, class V, class T>
  requires(!(detail::views<3, K, V>))
void gather_kv_varlen(const stream&, const kv_cache<T>&, const K&, const V&, const gather_kv_options&) {
  detail::refuse_views<K, V>();
}

// Loads the kernels of copy_pages and gather_kv ahead of their first use.
void copy_pages_warmup(const runtime::device& gpu);

}  // namespace kaio::ops

namespace kaio {
using ops::copy_pages;
using ops::copy_pages_warmup;
using ops::gather_kv;
using ops::gather_kv_options;
using ops::gather_kv_varlen;
}  // namespace kaio
