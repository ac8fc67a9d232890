#pragma once
// The root mean square norm of each row, which LLaMA and its descendants use in place of LayerNorm:
//
//   y[r][c] = weight[c] x[r][c] / sqrt(mean over k of x[r][k]^2 + epsilon)
//
// One block a row, of any length. The sum needs the row before the first result can be written, so a row is read twice;
// the second time it comes from the L1 cache, which holds it. Four loads of a thread are in flight at once.
//
// Threads: 32 for short rows, a warp that needs no barrier; 256 for long ones.
// Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019).

#include <kaio/dsl/dsl.hpp>

namespace kaio::showcase {

template <u32 Threads>
inline constexpr auto rms_norm = kernel<"rms_norm_" + decimal<Threads>, Threads>(
    [](thread t, in<f32> x, in<f32> weight, out<f32> y, val<u32> columns, val<f32> epsilon) {
      const in row = x.from(index(block_idx_x(), columns, 0));
      const out result = y.from(index(block_idx_x(), columns, 0));

      var squares(t, 0.0f);
      for (auto c : t.range(t.thread_rank(), columns, Threads).template unroll<4>()) {
        val v = row[c];
        squares += v * v;
      }
      val scale = rsqrt(block_reduce(t, squares, plus{}) / cast<f32>(columns) + epsilon);

      for (auto c : t.range(t.thread_rank(), columns, Threads).template unroll<4>())
        result[c] = row[c] * scale * weight[c];
    });

static_assert(rms_norm<32>.needs().shared_bytes == 0);  // a warp sums by shuffles

}  // namespace kaio::showcase
