#pragma once
// The kernels that test literals as values, choices of two literals, and several declarations at once.

#include <kaio/dsl/dsl.hpp>

#include <array>
#include <cstdint>

namespace kaio::tests {

struct weighted {
  val<f32> value, weight;
};

// A function computes the same with literals as with values of the kernel.
constexpr val<f32> weighted_sum(thread t, in<f32> x, const val<u32>& count, const val<f32>& factor) {
  const val twice = count * 2u;
  const val<f32> minus = -factor;
  const val copy = factor;
  var sum(t, factor);
  for (auto k : t.range(0u, twice)) sum += x[k] * copy;
  if (auto g = t.when(count > 3u)) sum += minus * cast<f32>(count);
  return t.let(max(sum, minus) / cast<f32>(count));
}

inline constexpr u32 literal_rows = 12;
inline constexpr auto literals =
    kernel<"literals", 32>([](thread t, in<f32> x, out<f32> y, out<u64> z, out<f64> w, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        const val zero = 0.0f;
        const val<f32> one = 1;
        const val<bool> yes = true;
        const val<u64> large = 0x123456789abcdefu;
        const val<i8> small = -5;
        const val<f64> third = 1.0 / 3;
        const weighted a{0.5f, one}, b{zero, x[i]};
        const std::array<val<f32>, 3> table = {zero, 2.0f, x[i]};
        const auto many = array_of<2>([](u32 k) { return val<f32>(3.0f + static_cast<f32>(k)); });
        y[i] = weighted_sum(t, x, 5u, 1.5f);
        y[i + n] = weighted_sum(t, x, n, zero);
        y[i + 2 * n] = one;
        y[i + 3 * n] = select(i % 2 == 0, zero, one) + select(i % 3 == 0, 4.0f, -4.0f);
        y[i + 4 * n] = table[1] * many[1] - one;
        y[i + 5 * n] = a.value + b.weight * a.weight + b.value;
        y[i + 6 * n] = shfl_xor(b, 1).weight + shfl_xor(weighted{one, x[i]}, 1).value;
        var v(t, zero);
        v += table[1];
        v *= zero + 3.0f;
        v = v - one;
        y[i + 7 * n] = v;
        v = one;
        y[i + 8 * n] = v;
        auto [left, right, flag] = t.vals(x[i] * 2.0f, 7, yes & (i < 5));
        auto [sum, steps] = t.vars(left, 0u);
        for (auto l : t.loop()) {
          l.break_if(any_of(sum > 100.0f, steps == 10));
          sum *= 2.0f;
          steps += 1;
        }
        y[i + 9 * n] = sum;
        y[i + 10 * n] = cast<f32>(steps) + cast<f32>(right) + select(flag, 100.0f, 0.0f);
        y[i + 11 * n] = max(one, x[i]) + fma(one, x[i], zero);
        z[i] = large + cast<u64>(cast<i64>(small));
        w[i] = third;
      }
    });

}  // namespace kaio::tests
