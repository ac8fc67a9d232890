#pragma once
// Written by bench/quantised_choice/fit.py, from times measured on an H200; the two kernels of mma_sync that are not
// general, from 305 products on an H100.

#include <kaio/ops/matmul/choice/variant.hpp>

#include <cstdint>

namespace kaio::ops {

// The configuration of a kernel of matmul_fp8 or matmul_int8, and what was measured of it.
struct byte_kernel_costs {
  matmul_family family;
  bool is_int8, groups, general;
  std::uint32_t m, n, k;
  double start_clocks, rate, step_clocks;
};

inline constexpr byte_kernel_costs fitted_byte_kernels[]{
    {matmul_family::sm90, false, false, false, 128, 128, 128, 2932, 3.629, 165.6},
    {matmul_family::sm90, false, false, false, 128, 256, 128, 1981, 1.007, 119},
    {matmul_family::sm90, false, false, true, 128, 128, 128, 9999, 1.027, 116.9},
    {matmul_family::sm90, false, true, false, 128, 128, 128, 1294, 0.877, 116.9},
    {matmul_family::sm90, false, true, false, 128, 256, 128, 1558, 0.8917, 117.7},
    {matmul_family::sm90, false, true, true, 128, 128, 128, 3801, 0.7339, 119.4},
    {matmul_family::sm90, true, false, false, 128, 128, 128, 1498, 1.124, 48.31},
    {matmul_family::sm90, true, false, false, 128, 256, 128, 2200, 1.312, 116},
    {matmul_family::sm90, true, false, true, 128, 128, 128, 9475, 3.629, 198.3},
    {matmul_family::sm90_split, false, false, true, 64, 64, 256, 5472, 2.722, 129.4},
    {matmul_family::sm90_split, true, false, true, 64, 64, 256, 5180, 2.722, 98.4},
    {matmul_family::sm90_split, false, false, true, 64, 16, 256, 2059, 1.538, 348},
    {matmul_family::sm90_split, false, false, true, 64, 32, 256, 3973, 1.815, 506.4},
    {matmul_family::sm90_split, false, false, true, 64, 64, 128, 5891, 2.722, 320.5},
    {matmul_family::sm90_split, false, true, true, 64, 16, 256, 1300, 1.538, 919.5},
    {matmul_family::sm90_split, false, true, true, 64, 32, 256, 3054, 1.815, 1110},
    {matmul_family::sm90_split, false, true, true, 64, 64, 256, 3720, 1.768, 1129},
    {matmul_family::sm90_split, true, false, true, 64, 16, 256, 2047, 1.538, 306.7},
    {matmul_family::sm90_split, true, false, true, 64, 32, 256, 3563, 1.815, 516.3},
    {matmul_family::sm90_split, true, false, true, 64, 64, 128, 4887, 2.722, 411.2},
    {matmul_family::mma_sync, false, false, true, 64, 64, 64, 1.071e+04, 0.04115, 419.9},
    {matmul_family::mma_sync, false, false, true, 128, 128, 32, 1.575e+04, 0.08155, 446.6},
    {matmul_family::mma_sync, false, false, true, 128, 128, 64, 2.08e+04, 0.2841, 141.5},
    {matmul_family::mma_sync, false, false, false, 128, 128, 64, 7322, 0.3068, 465},
    {matmul_family::mma_sync, false, true, true, 64, 64, 64, 1.078e+04, 0.02478, 449.3},
    {matmul_family::mma_sync, false, true, true, 128, 64, 64, 5573, 0.3265, 410.8},
    {matmul_family::mma_sync, false, true, true, 128, 128, 32, 1.172e+04, 0.08238, 446.2},
    {matmul_family::mma_sync, true, false, false, 128, 128, 64, 1.153e+04, 5.444, 956.2},
    {matmul_family::mma_sync, true, false, true, 64, 64, 64, 8031, 0.05219, 444.9},
    {matmul_family::mma_sync, true, false, true, 128, 128, 64, 1.874e+04, 0.8198, 76.34},
    {matmul_family::simt, false, false, true, 64, 64, 16, 3445, 0.1712, 258.1},
    {matmul_family::simt, false, true, true, 64, 64, 16, 4653, 0.1958, 253.3},
    {matmul_family::simt, true, false, true, 64, 64, 64, 3047, 0.8696, 253.2},
};

}  // namespace kaio::ops
