#pragma once
// Tile shapes of the persistent sm_90a kernels of matmul_int8 and matmul_fp8 whose threads apply scales in
// registers.
//
//   large, medium    many tiles
//   wide, narrow     many tiles of sums alone (i32). The launch chooses the columns that fill the last wave, and the
//                    blocks of a cluster, which share lines at odd multiples of 16 bytes
//   64 x 128         up to 64 rows and many columns: one block per multiprocessor reads B in few, long steps
//   64 x 64          two blocks per multiprocessor: one stores while the other one loads
//   64 x 32          few tiles: small ones occupy more multiprocessors
//   C^T, 32 rows     sums alone (i32), up to 32 rows and a little more: wgmma's 64 rows are columns of C, so
//                    that fewer rows outside C are loaded and multiplied

#include <kaio/ops/matmul/sm90/config.hpp>

namespace kaio::ops {

inline constexpr sm90_config bytes_large{.m = 128, .n = 256, .stages = 4, .cluster_m = 2};
inline constexpr sm90_config bytes_medium{.m = 128, .n = 128, .stages = 6};
inline constexpr sm90_config bytes_wide{.m = 128, .n = 256, .stages = 4, .cluster_m = 0, .widths = 4};
inline constexpr sm90_config bytes_narrow{.m = 128, .n = 128, .stages = 6, .cluster_m = 0, .widths = 3};
inline constexpr sm90_config bytes_64x128{.m = 64, .n = 128, .stages = 8};
inline constexpr sm90_config bytes_64x64{.m = 64, .n = 64, .stages = 5, .min_blocks = 2};
inline constexpr sm90_config bytes_64x32{.m = 64, .n = 32, .stages = 6, .depth = 2};
inline constexpr sm90_config bytes_across_64x32{
    .m = 64, .n = 32, .stages = 6, .depth = 2, .transposed = true};
inline constexpr sm90_config bytes_across_128x32{.m = 128, .n = 32, .stages = 8, .transposed = true};

}  // namespace kaio::ops
