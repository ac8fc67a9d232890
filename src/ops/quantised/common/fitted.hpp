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
    {matmul_family::sm90, false, false, false, 128, 128, 128, 2802, 3.183, 152.2},
    {matmul_family::sm90, false, false, false, 128, 256, 128, 2030, 1.108, 144.6},
    {matmul_family::sm90, false, false, true, 128, 128, 128, 7890, 2.175, 153},
    {matmul_family::sm90, false, true, false, 128, 128, 128, 1190, 0.9882, 137.9},
    {matmul_family::sm90, false, true, false, 128, 256, 128, 1889, 0.991, 141.5},
    {matmul_family::sm90, false, true, true, 128, 128, 128, 3562, 0.8643, 140.8},
    {matmul_family::sm90, true, false, false, 128, 128, 128, 3084, 3.183, 142.7},
    {matmul_family::sm90, true, false, false, 128, 256, 128, 3860, 1.143, 144.8},
    {matmul_family::sm90, true, false, true, 128, 128, 128, 6885, 3.183, 148.5},
    {matmul_family::sm90_split, false, false, true, 64, 64, 256, 5592, 2.388, 130.3},
    {matmul_family::sm90_split, true, false, true, 64, 64, 256, 4869, 2.388, 58.62},
    {matmul_family::sm90_split, false, false, true, 64, 16, 256, 2427, 1.538, 335.6},
    {matmul_family::sm90_split, false, false, true, 64, 32, 256, 4143, 1.592, 527.4},
    {matmul_family::sm90_split, false, false, true, 64, 64, 128, 6319, 2.388, 348},
    {matmul_family::sm90_split, false, true, true, 64, 16, 256, 1018, 1.538, 989.5},
    {matmul_family::sm90_split, false, true, true, 64, 32, 256, 2949, 1.592, 1175},
    {matmul_family::sm90_split, false, true, true, 64, 64, 256, 3559, 2.273, 1201},
    {matmul_family::sm90_split, true, false, true, 64, 16, 256, 2488, 1.538, 189.6},
    {matmul_family::sm90_split, true, false, true, 64, 32, 256, 3067, 1.592, 491.6},
    {matmul_family::sm90_split, true, false, true, 64, 64, 128, 6014, 2.388, 312.7},
    {matmul_family::mma_sync, false, false, true, 64, 64, 64, 1.127e+04, 0.02522, 391.3},
    {matmul_family::mma_sync, false, false, true, 128, 128, 32, 1.547e+04, 0.08096, 391.2},
    {matmul_family::mma_sync, false, false, true, 128, 128, 64, 2.357e+04, 0.2049, 129.8},
    {matmul_family::mma_sync, false, false, false, 128, 128, 64, 7129, 0.3264, 399.9},
    {matmul_family::mma_sync, false, true, true, 64, 64, 64, 1.113e+04, 0.0242, 392.7},
    {matmul_family::mma_sync, false, true, true, 128, 64, 64, 5586, 0.2485, 407.3},
    {matmul_family::mma_sync, false, true, true, 128, 128, 32, 1.163e+04, 0.08162, 391},
    {matmul_family::mma_sync, true, false, false, 128, 128, 64, 1.051e+04, 4.775, 930.5},
    {matmul_family::mma_sync, true, false, true, 64, 64, 64, 6572, 0.04957, 392.8},
    {matmul_family::mma_sync, true, false, true, 128, 128, 64, 1.713e+04, 0.7087, 75.41},
    {matmul_family::simt, false, false, true, 64, 64, 16, 4591, 0.191, 254.6},
    {matmul_family::simt, false, true, true, 64, 64, 16, 4838, 0.1913, 253.1},
    {matmul_family::simt, true, false, true, 64, 64, 64, 3206, 0.8509, 252.6},
};

}  // namespace kaio::ops
