#pragma once
// The shapes of the kernels for sm_90a for few rows of C, as columns of its transpose: their time is that of reading B.
//
// What counts are bytes under way, about 200 KB on a multiprocessor, and that a block does not begin when another one
// has ended: two blocks that fit have the tiles of 8192 columns on the device at once. Where there is a block for each
// multiprocessor at most, a deep one has as many bytes under way alone.

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
