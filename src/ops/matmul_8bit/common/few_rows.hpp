#pragma once
// Tile shapes of the sm_90a kernels for few rows of C, computed as columns of C^T: their time is that of
// reading B.
//
// Speed needs about 200 KB in flight per multiprocessor, and one wave. If two blocks fit on a multiprocessor,
// all tiles of 8192 columns run in one wave. If there is at most one block per multiprocessor, a deep block
// keeps 200 KB in flight alone.

#include <kaio/ops/matmul/sm90/split.hpp>

namespace kaio::ops {

inline constexpr sm90_split_config few_rows_16{
    .m = 64, .n = 16, .stages = 5, .depth = 2, .splits = 2, .transposed = true, .min_blocks = 2};
inline constexpr sm90_split_config few_rows_32{.m = 64,
                                               .n = 32,
                                               .stages = 4,
                                               .depth = 2,
                                               .splits = 2,
                                               .transposed = true,
                                               .reuses_ring = true,
                                               .min_blocks = 2};
inline constexpr sm90_split_config few_rows_64{.m = 64,
                                               .n = 64,
                                               .stages = 6,
                                               .depth = 1,
                                               .splits = 2,
                                               .transposed = true,
                                               .reuses_ring = true,
                                               .min_blocks = 2};
inline constexpr sm90_split_config few_rows_64_deep{
    .m = 64, .n = 64, .stages = 6, .depth = 2, .splits = 2, .transposed = true};

}  // namespace kaio::ops
