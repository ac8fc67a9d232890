#pragma once
// Sums over the lanes of a row of rms_norm: a group of 1 to 256 neighbouring threads. The order of additions
// depends on their number alone.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/rows.hpp>

namespace kaio::ops {

inline constexpr u32 row_warps = row_threads / 32;
using row_sums = shared<f32, row_warps>;

// Sums over groups of `lanes` lanes; if there are more than 32, over the warp.
constexpr val<f32> sum_in_warp(thread t, const val<f32>& own, const val<u32>& lanes) {
  var sum(t, own);
  for (u32 distance = 16; distance != 0; distance /= 2) {
    const val other = shfl_xor(sum, distance);
    sum = select(lanes > distance, sum + other, sum);
  }
  return t.let(sum);
}

// Sums over warps first ... first + count - 1, in order.
constexpr val<f32> sum_of_warps(thread t, const row_sums& of_warps, const val<u32>& first,
                                const val<u32>& count) {
  var sum(t, 0.0f);
  for (u32 w = 0; w < row_warps; ++w) {
    const val other = t.let(of_warps[w]);
    sum = select(all_of(first <= w, first + count > w), sum + other, sum);
  }
  return t.let(sum);
}

}  // namespace kaio::ops
