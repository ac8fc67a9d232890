#pragma once
// The check of an attention over a cache: sampled elements of O in double precision, by a plain computation.

#include "bench/matmul/kernels.hpp"

#include <kaio/kaio.hpp>

#include <limits>
#include <type_traits>

namespace kaio::bench {

// Q and O are (batch, query, head, element), the cache is (page, row, head, element), without gaps. The last
// query's own key is the last key. If causal, a query attends to the keys up to its own. If v_size is below
// size, V is in the rows of K.
struct sampled_decode {
  u32 batches, queries, heads, key_heads, size, v_size, page, pages;
  u32 causal;
  f64 scale;
  f64 of_codes;  // multiplies the elements of the cache
};

// A cache of 8 bits holds codes: i8 codes times 1 / 32 are the elements, other codes are the elements.
template <class C>
inline constexpr f32 scale_of_codes = std::is_same_v<C, i8> ? 1.0f / 32 : 1.0f;
template <class T, class C>
inline constexpr auto make_codes = kernel<"make_codes_" + type_name<T> + "_" + type_name<C>, 256>(
    [](thread t, in<T> x, out<C> y, val<u64> n) {
      for (auto i : t.grid_stride(n)) {
        if constexpr (std::is_same_v<C, i8>) {
          const val rounded = t.let(cast<i32>(cast<f32>(x[i]) * 32.0f, round_nearest));
          y[i] = cast<i8>(min(max(rounded, -127), 127));
        } else {
          y[i] = cast<C>(cast<f32>(x[i]));
        }
      }
    });

// Each block, one warp, samples an element of O: it writes the exact number and the element.
template <class T, class C>
inline constexpr auto sample_decode = kernel<"sample_decode_" + type_name<T> + "_" + type_name<C>, 32>(
    [](thread t, in<T> q, in<C> k, in<C> v, in<T> o, in<i32> table, in<i32> lengths, out<f64> want,
       out<f64> got, val<sampled_decode> p) {
      val sample = t.let(block_idx_x());
      val batch = t.let(mixed(sample * 4u) % p[&sampled_decode::batches]);
      val head = t.let(mixed(sample * 4u + 1u) % p[&sampled_decode::heads]);
      val query = t.let(mixed(sample * 4u + 2u) % p[&sampled_decode::queries]);
      val size = t.let(p[&sampled_decode::size]), page = t.let(p[&sampled_decode::page]);
      val element = t.let(mixed(sample * 4u + 3u) % p[&sampled_decode::v_size]);
      val groups = t.let(p[&sampled_decode::key_heads]);
      val group = t.let(head / (p[&sampled_decode::heads] / groups));
      val row = t.let((cast<u64>(batch) * cast<u64>(p[&sampled_decode::queries]) + cast<u64>(query)) *
                          cast<u64>(p[&sampled_decode::heads]) +
                      cast<u64>(head));
      val at_q = t.let(row * cast<u64>(size)), at_o = t.let(row * cast<u64>(p[&sampled_decode::v_size]));
      val length = t.let(cast<u32>(lengths[batch]));
      val hidden =
          t.let(select(p[&sampled_decode::causal] != 0u, p[&sampled_decode::queries] - 1u - query, 0u));
      val keys = t.let(select(length > hidden, length - hidden, 0u));
      var largest(t, -std::numeric_limits<f64>::infinity());
      var total(t, 0.0), sum(t, 0.0);
      for (auto key : t.range(t.lane_rank(), keys, 32u)) {
        val place = t.let(table[batch * p[&sampled_decode::pages] + key / page]);
        val from = t.let(((cast<u64>(place) * cast<u64>(page) + cast<u64>(key % page)) * cast<u64>(groups) +
                          cast<u64>(group)) *
                         cast<u64>(size));
        var dot(t, 0.0);
        for (auto e : t.range(0u, size))
          dot += cast<f64>(q[at_q + cast<u64>(e)]) * cast<f64>(cast<f32>(k[from + cast<u64>(e)]));
        val x = t.let(dot * p[&sampled_decode::scale] * p[&sampled_decode::of_codes]);
        val next = t.let(max(largest, x));
        val correction = t.let(exp(largest - next)), weight = t.let(exp(x - next));
        total = total * correction + weight;
        sum = sum * correction + weight * cast<f64>(cast<f32>(v[from + cast<u64>(element)]));
        largest = next;
      }
      const val all = warp_reduce(t, largest, [](auto a, auto b) { return max(a, b); });
      const val share = t.let(select(total == 0.0, 0.0, exp(largest - all)));
      const val whole = warp_reduce(t, t.let(total * share), plus{});
      const val result = warp_reduce(t, t.let(sum * share), plus{});
      if (auto first = t.when(t.lane_rank() == 0u)) {
        want[sample] = select(whole == 0.0, 0.0, result / whole * p[&sampled_decode::of_codes]);
        got[sample] = cast<f64>(o[at_o + cast<u64>(element)]);
      }
    });

}  // namespace kaio::bench
