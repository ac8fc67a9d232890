#pragma once
// Tile shapes of the sm_90a kernels for few rows of C, computed as columns of C^T: their time is that of
// reading B.
//
// Speed needs about 200 KB in flight per multiprocessor, and one wave. Two blocks of 16 or 32 rows fit on a
// multiprocessor; a block of 64 rows keeps 200 KB in flight alone. The launch divides K: a short K is too
// little work for two blocks, and with few columns it takes eight blocks per tile to reach the bandwidth of
// the device.

#include <kaio/ops/matmul/sm90/split.hpp>

#include <cstdint>

namespace kaio::ops {

// Blocks of a cluster that share a tile.
inline constexpr std::uint32_t few_rows_splits[]{1, 2, 4, 8};

inline constexpr sm90_split_config few_rows_16{
    .m = 64, .n = 16, .stages = 5, .depth = 2, .splits = 0, .transposed = true, .min_blocks = 2};
inline constexpr sm90_split_config few_rows_32{.m = 64,
                                               .n = 32,
                                               .stages = 4,
                                               .depth = 2,
                                               .splits = 0,
                                               .transposed = true,
                                               .reuses_ring = true,
                                               .min_blocks = 2};
inline constexpr sm90_split_config few_rows_64{
    .m = 64, .n = 64, .stages = 6, .depth = 2, .splits = 0, .transposed = true};

// For lines that begin at multiples of 8 bytes, for any number of rows.
inline constexpr sm90_split_config byte_lines_64{.m = 64,
                                                 .n = 64,
                                                 .stages = 6,
                                                 .splits = 0,
                                                 .reuses_ring = true,
                                                 .min_blocks = 2,
                                                 .loads_a = true,
                                                 .loads_b = true};

}  // namespace kaio::ops
