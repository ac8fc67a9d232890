#pragma once
// Written by bench/quantised_choice/fit.py, from times measured on an H200; the two kernels of mma_sync that are not
// general, from 305 products on an H100.

#include <kaio/ops/matmul/choice/variant.hpp>

#include <cstdint>

namespace kaio::ops {

// The configuration of a kernel of matmul_fp8 or matmul_int8, and what was measured of it.
struct byte_kernel_costs {
  matmul_family family;
  bool is_int8, groups, general, across;
  std::uint32_t m, n, k;
  std::uint32_t alignment;  // of the lines of A, in bytes
  double start_clocks, rate, step_clocks;
};

inline constexpr byte_kernel_costs fitted_byte_kernels[]{
    {matmul_family::sm90, false, false, false, false, 128, 128, 128, 16, 2398, 3.217, 306.2},
    {matmul_family::sm90, false, false, false, false, 128, 256, 128, 16, 2582, 0.8523, 112},
    {matmul_family::sm90, false, false, true, false, 128, 128, 128, 16, 5003, 3.217, 393.7},
    {matmul_family::sm90, false, true, false, false, 128, 128, 128, 16, 1315, 0.8683, 105},
    {matmul_family::sm90, false, true, false, false, 128, 256, 128, 16, 1821, 0.8702, 105.8},
    {matmul_family::sm90, false, true, true, false, 128, 128, 128, 16, 4198, 0.6757, 111.5},
    {matmul_family::sm90, true, false, false, false, 128, 128, 128, 16, 2620, 1.021, 31.99},
    {matmul_family::sm90, true, false, false, false, 128, 256, 128, 16, 2510, 1.171, 108.7},
    {matmul_family::sm90, true, false, true, false, 128, 128, 128, 16, 8138, 3.217, 255.2},
    {matmul_family::sm90_split, false, false, true, true, 64, 64, 256, 16, 6568, 0.5975, 100.5},
    {matmul_family::sm90_split, true, false, true, true, 64, 64, 256, 16, 5675, 2.413, 181.6},
    {matmul_family::sm90_split, false, false, true, true, 64, 16, 256, 16, 2802, 1.538, 551.6},
    {matmul_family::sm90_split, false, false, true, true, 64, 32, 256, 16, 5278, 1.609, 704.5},
    {matmul_family::sm90_split, false, true, true, true, 64, 16, 256, 16, 1428, 1.538, 1009},
    {matmul_family::sm90_split, false, true, true, true, 64, 32, 256, 16, 3703, 1.609, 1140},
    {matmul_family::sm90_split, false, true, true, true, 64, 64, 256, 16, 4530, 1.607, 1257},
    {matmul_family::sm90_split, true, false, true, true, 64, 16, 256, 16, 3293, 1.538, 369.3},
    {matmul_family::sm90_split, true, false, true, true, 64, 32, 256, 16, 5076, 1.609, 547},
    {matmul_family::mma_sync, false, false, true, false, 64, 64, 64, 1, 8815, 0.02037, 343.9},
    {matmul_family::mma_sync, false, false, true, false, 128, 128, 32, 8, 1.148e+04, 0.07464, 437.3},
    {matmul_family::mma_sync, false, false, true, false, 128, 128, 64, 16, 1.991e+04, 0.2652, 192.4},
    {matmul_family::mma_sync, false, false, false, false, 128, 128, 64, 16, 9362, 0.3786, 429.4},
    {matmul_family::mma_sync, false, true, true, false, 64, 64, 64, 1, 8689, 0.02216, 436},
    {matmul_family::mma_sync, false, true, true, false, 128, 64, 64, 16, 5097, 0.2801, 314.6},
    {matmul_family::mma_sync, false, true, true, false, 128, 128, 32, 8, 1.128e+04, 0.07996, 433.8},
    {matmul_family::mma_sync, true, false, false, false, 128, 128, 64, 16, 9983, 4.825, 1051},
    {matmul_family::mma_sync, true, false, true, false, 64, 64, 64, 1, 8296, 0.05068, 433.4},
    {matmul_family::mma_sync, true, false, true, false, 64, 64, 64, 4, 4810, 1.087, 261.3},
    {matmul_family::mma_sync, true, false, true, false, 128, 128, 64, 16, 1.22e+04, 4.488, 1338},
    {matmul_family::simt, false, false, true, false, 64, 64, 16, 1, 5305, 0.1736, 262.7},
    {matmul_family::simt, false, true, true, false, 64, 64, 16, 1, 3872, 0.1771, 264.7},
    {matmul_family::simt, true, false, true, false, 64, 64, 64, 1, 1991, 0.6937, 266.1},
    {matmul_family::sm90, false, false, false, false, 64, 32, 256, 16, 1202, 1.61, 211.9},
    {matmul_family::sm90, false, false, false, false, 64, 64, 128, 16, 1183, 0.515, 138.5},
    {matmul_family::sm90, true, false, false, false, 64, 32, 256, 16, 1770, 1.609, 160.7},
    {matmul_family::sm90, true, false, false, false, 64, 64, 128, 16, 1945, 0.5038, 39.03},
    {matmul_family::sm90, true, false, false, false, 64, 128, 128, 16, 2739, 1.479, 75.63},
    {matmul_family::sm90, true, false, false, true, 64, 32, 256, 16, 782.4, 0.7011, 145.6},
    {matmul_family::sm90, true, false, false, true, 128, 32, 128, 16, 756.7, 0.4345, 172.4},
    {matmul_family::sm90, false, false, false, false, 64, 128, 128, 16, 2612, 1.768, 115.9},
    {matmul_family::sm90_split, true, false, true, false, 64, 64, 128, 8, 5988, 1.718, 838.8},
};

}  // namespace kaio::ops
