#pragma once
// The checks of an attention and of its gradients: sampled elements of O, dQ, dK and dV in double precision, by
// a plain computation.

#include "bench/matmul/kernels.hpp"

#include <kaio/kaio.hpp>

#include <limits>

namespace kaio::bench {

// Tensors are (batch, sequence, head, element) without gaps.
struct sampled_attention {
  u32 batches, length, heads, key_heads, size;
  i32 low, high;     // bounds of key - query
  u32 of_documents;  // 1: query and key are of one document
  f64 scale, softcap;
  u32 has_slopes;
  u32 has_bias, has_padding;
};

// Each block, one warp, samples an element of O: it writes the exact number and the element.
template <class T>
inline constexpr auto sample_attention = kernel<"sample_attention_" + type_name<T>, 32>(
    [](thread t, in<T> q, in<T> k, in<T> v, in<T> o, in<u32> document, in<f32> slopes, in<T> bias,
       in<u8> keep, out<f64> want, out<f64> got, val<sampled_attention> p) {
      val sample = t.let(block_idx_x());
      val batch = t.let(mixed(sample * 4u) % p[&sampled_attention::batches]);
      val head = t.let(mixed(sample * 4u + 1u) % p[&sampled_attention::heads]);
      val query = t.let(mixed(sample * 4u + 2u) % p[&sampled_attention::length]);
      val size = t.let(p[&sampled_attention::size]);
      val element = t.let(mixed(sample * 4u + 3u) % size);
      val group = t.let(head / (p[&sampled_attention::heads] / p[&sampled_attention::key_heads]));
      val keys = t.let(p[&sampled_attention::length]);
      const val of_q = t.let(
          ((cast<u64>(batch) * cast<u64>(keys) + cast<u64>(query)) * cast<u64>(p[&sampled_attention::heads]) +
           cast<u64>(head)) *
          cast<u64>(size));
      const auto of_k = [&](const auto& key) {
        return t.let(((cast<u64>(batch) * cast<u64>(keys) + cast<u64>(key)) *
                          cast<u64>(p[&sampled_attention::key_heads]) +
                      cast<u64>(group)) *
                     cast<u64>(size));
      };
      var largest(t, -std::numeric_limits<f64>::infinity());
      var total(t, 0.0), sum(t, 0.0);
      for (auto key : t.range(t.lane_rank(), keys, 32u)) {
        val apart = t.let(cast<i32>(key) - cast<i32>(query));
        var kept(t, all_of(apart >= p[&sampled_attention::low], apart <= p[&sampled_attention::high]));
        if (auto packed = t.when(p[&sampled_attention::of_documents] != 0u))
          kept &= document[query] == document[key];
        if (auto padded = t.when(p[&sampled_attention::has_padding] != 0u))
          kept &= cast<u32>(keep[batch * keys + key]) != 0u;
        if (auto read = t.when(kept)) {
          const val from = of_k(key);
          var dot(t, 0.0);
          for (auto e : t.range(0u, size))
            dot += cast<f64>(q[of_q + cast<u64>(e)]) * cast<f64>(k[from + cast<u64>(e)]);
          var x(t, dot * p[&sampled_attention::scale]);
          const val cap = t.let(p[&sampled_attention::softcap]);
          if (auto capped = t.when(cap != 0.0)) x = cap * tanh(x / cap);
          if (auto linear = t.when(p[&sampled_attention::has_slopes] != 0u))
            x -= cast<f64>(slopes[head]) * cast<f64>(abs(apart));
          if (auto biased = t.when(p[&sampled_attention::has_bias] != 0u))
            x += cast<f64>(bias[(cast<u64>(head) * cast<u64>(keys) + cast<u64>(query)) * cast<u64>(keys) +
                                cast<u64>(key)]);
          const val next = t.let(max(largest, x));
          const val correction = t.let(exp(largest - next));
          const val weight = t.let(exp(x - next));
          total = total * correction + weight;
          sum = sum * correction + weight * cast<f64>(v[from + cast<u64>(element)]);
          largest = next;
        }
      }
      const val all = warp_reduce(t, largest, [](auto a, auto b) { return max(a, b); });
      const val share = t.let(select(total == 0.0, 0.0, exp(largest - all)));
      const val whole = warp_reduce(t, t.let(total * share), plus{});
      const val result = warp_reduce(t, t.let(sum * share), plus{});
      if (auto first = t.when(t.lane_rank() == 0u)) {
        want[sample] = select(whole == 0.0, 0.0, result / whole);
        got[sample] = cast<f64>(o[of_q + cast<u64>(element)]);
      }
    });

// The tensor whose gradient is sampled.
enum class gradient_of : u32 { q, k, v };

// Each block, one warp, samples an element of a gradient: it writes the exact number and the element. O and
// the log-sum-exp are the attention's own results.
template <class T, gradient_of Which>
inline constexpr auto sample_gradient =
    kernel<"sample_gradient_" + decimal<static_cast<u32>(Which)> + "_" + type_name<T>, 32>(
        [](thread t, in<T> q, in<T> k, in<T> v, in<T> o, in<T> dout, in<f32> lse, in<u32> document,
           in<f32> slopes, in<T> gradient, out<f64> want, out<f64> got, val<sampled_attention> p) {
          constexpr bool of_q = Which == gradient_of::q;
          val sample = t.let(block_idx_x());
          val heads = t.let(p[&sampled_attention::heads]), groups = t.let(p[&sampled_attention::key_heads]);
          val length = t.let(p[&sampled_attention::length]), size = t.let(p[&sampled_attention::size]);
          val batch = t.let(mixed(sample * 4u) % p[&sampled_attention::batches]);
          val own_head = t.let(mixed(sample * 4u + 1u) % (of_q ? heads : groups));
          val own_row = t.let(mixed(sample * 4u + 2u) % length);
          val element = t.let(mixed(sample * 4u + 3u) % size);
          val group_size = t.let(heads / groups);
          // The first element of a row in a tensor of `of` heads.
          const auto row_of = [&](const auto& row, const auto& head, const auto& of) {
            return t.let(
                ((cast<u64>(batch) * cast<u64>(length) + cast<u64>(row)) * cast<u64>(of) + cast<u64>(head)) *
                cast<u64>(size));
          };
          const auto dot = [&](const auto& a, const auto& from_a, const auto& b, const auto& from_b) {
            var sum(t, 0.0);
            for (auto e : t.range(0u, size))
              sum += cast<f64>(a[from_a + cast<u64>(e)]) * cast<f64>(b[from_b + cast<u64>(e)]);
            return t.let(sum);
          };
          var total(t, 0.0);
          for (auto n : t.range(t.lane_rank(), t.let(of_q ? length : group_size * length), 32u)) {
            val other = t.let(n % length);
            val query = of_q ? own_row : other, key = of_q ? other : own_row;
            val head = t.let(of_q ? own_head : own_head * group_size + n / length);
            val apart = t.let(cast<i32>(key) - cast<i32>(query));
            var kept(t, all_of(apart >= p[&sampled_attention::low], apart <= p[&sampled_attention::high]));
            if (auto packed = t.when(p[&sampled_attention::of_documents] != 0u))
              kept &= document[query] == document[key];
            if (auto read = t.when(kept)) {
              val at_q = row_of(query, head, heads), at_k = row_of(key, t.let(head / group_size), groups);
              var x(t, dot(q, at_q, k, at_k) * p[&sampled_attention::scale]);
              var slope(t, 1.0);
              val cap = t.let(p[&sampled_attention::softcap]);
              if (auto capped = t.when(cap != 0.0)) {
                val inside = t.let(tanh(x / cap));
                x = cap * inside;
                slope = 1.0 - inside * inside;
              }
              if (auto linear = t.when(p[&sampled_attention::has_slopes] != 0u))
                x -= cast<f64>(slopes[head]) * cast<f64>(abs(apart));
              val at_lse = t.let((cast<u64>(batch) * cast<u64>(heads) + cast<u64>(head)) * cast<u64>(length) +
                                 cast<u64>(query));
              val weight = t.let(exp(x - cast<f64>(lse[at_lse])));
              if constexpr (Which == gradient_of::v) {
                total += weight * cast<f64>(dout[at_q + cast<u64>(element)]);
              } else {
                val delta = dot(dout, at_q, o, at_q);
                val ds =
                    t.let(weight * (dot(dout, at_q, v, at_k) - delta) * slope * p[&sampled_attention::scale]);
                total += ds * cast<f64>(of_q ? k[at_k + cast<u64>(element)] : q[at_q + cast<u64>(element)]);
              }
            }
          }
          const val result = warp_reduce(t, total, plus{});
          if (auto first = t.when(t.lane_rank() == 0u)) {
            want[sample] = result;
            got[sample] =
                cast<f64>(gradient[row_of(own_row, own_head, of_q ? heads : groups) + cast<u64>(element)]);
          }
        });

}  // namespace kaio::bench
