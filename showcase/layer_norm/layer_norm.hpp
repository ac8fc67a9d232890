#pragma once
// LayerNorm of each row, with the mean and the variance of that row:
//
//   y[r][c] = gamma[c] (x[r][c] - mean) / sqrt(variance + epsilon) + beta[c]
//
// The variance is the mean of (x - mean)^2 and not that of x^2 minus mean^2: the latter loses its digits when the mean is
// large. Both sums are one device function, an ordinary C++ lambda over device values.
//
// One block a row, of any length. The row is read three times; only the first one goes to memory, since the L1 cache holds
// the row. Threads: 32 for short rows, a warp that needs no barrier; 256 for long ones.
// Source: Ba, Kiros and Hinton, "Layer Normalization" (2016).

#include <kaio/dsl/dsl.hpp>

namespace kaio::showcase {

template <u32 Threads>
inline constexpr auto layer_norm = kernel<"layer_norm_" + decimal<Threads>, Threads>(
    [](thread t, in<f32> x, in<f32> gamma, in<f32> beta, out<f32> y, val<u32> columns, val<f32> epsilon) {
      const in row = x.from(index(block_idx_x(), columns, 0));
      const out result = y.from(index(block_idx_x(), columns, 0));
      const auto mine = [&] { return t.range(t.thread_rank(), columns, Threads).template unroll<4>(); };

      const auto mean_of = [&](auto f) {
        var sum(t, 0.0f);
        for (auto c : mine()) sum += f(t.let(row[c]));
        return t.let(block_reduce(t, sum, plus{}) / cast<f32>(columns));
      };
      val mean = mean_of([](const val<f32>& v) { return v; });
      val variance = mean_of([&](const val<f32>& v) { return (v - mean) * (v - mean); });
      val scale = rsqrt(variance + epsilon);

      for (auto c : mine()) result[c] = (row[c] - mean) * scale * gamma[c] + beta[c];
    });

static_assert(layer_norm<32>.needs().shared_bytes == 0);  // a warp sums by shuffles

}  // namespace kaio::showcase
