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
    {matmul_family::sm90, false, false, false, false, 128, 128, 128, 16, 3804, 3.217, 214.6},
    {matmul_family::sm90, false, false, false, false, 128, 256, 128, 16, 2700, 0.9574, 110.8},
    {matmul_family::sm90, false, false, true, false, 128, 128, 128, 16, 7149, 0.9281, 110.6},
    {matmul_family::sm90, false, true, false, false, 128, 128, 128, 16, 1686, 1.005, 104.2},
    {matmul_family::sm90, false, true, false, false, 128, 256, 128, 16, 1992, 1.037, 105.8},
    {matmul_family::sm90, false, true, true, false, 128, 128, 128, 16, 4243, 0.6372, 112.4},
    {matmul_family::sm90, true, false, false, false, 128, 128, 128, 16, 2828, 1.069, 32.23},
    {matmul_family::sm90, true, false, false, false, 128, 256, 128, 16, 2925, 1.237, 108},
    {matmul_family::sm90, true, false, true, false, 128, 128, 128, 16, 9939, 3.217, 196.8},
    {matmul_family::sm90_split, false, false, true, true, 64, 64, 256, 16, 6901, 1.209, 144.7},
    {matmul_family::sm90_split, true, false, true, true, 64, 64, 256, 16, 5258, 2.413, 209.9},
    {matmul_family::sm90_split, false, false, true, true, 64, 16, 256, 16, 3904, 1.538, 349.2},
    {matmul_family::sm90_split, false, false, true, true, 64, 32, 256, 16, 6095, 1.609, 377.3},
    {matmul_family::sm90_split, false, true, true, true, 64, 16, 256, 16, 531.3, 1.538, 1141},
    {matmul_family::sm90_split, false, true, true, true, 64, 32, 256, 16, 2932, 1.609, 1206},
    {matmul_family::sm90_split, false, true, true, true, 64, 64, 256, 16, 3496, 1.928, 1206},
    {matmul_family::sm90_split, true, false, true, true, 64, 16, 256, 16, 3589, 1.538, 249.3},
    {matmul_family::sm90_split, true, false, true, true, 64, 32, 256, 16, 4449, 1.609, 511.3},
    {matmul_family::mma_sync, false, false, true, false, 64, 64, 64, 1, 1.033e+04, 0.06179, 340.5},
    {matmul_family::mma_sync, false, false, true, false, 128, 128, 32, 8, 1.254e+04, 0.07833, 434.7},
    {matmul_family::mma_sync, false, false, true, false, 128, 128, 64, 16, 2.004e+04, 0.2795, 183},
    {matmul_family::mma_sync, false, false, false, false, 128, 128, 64, 16, 8031, 0.3644, 434.6},
    {matmul_family::mma_sync, false, true, true, false, 64, 64, 64, 1, 8681, 0.02474, 433.3},
    {matmul_family::mma_sync, false, true, true, false, 128, 64, 64, 16, 6332, 0.3312, 307.7},
    {matmul_family::mma_sync, false, true, true, false, 128, 128, 32, 8, 1.181e+04, 0.08087, 433.2},
    {matmul_family::mma_sync, true, false, false, false, 128, 128, 64, 16, 1.15e+04, 4.825, 1061},
    {matmul_family::mma_sync, true, false, true, false, 64, 64, 64, 1, 8296, 0.05068, 433.4},
    {matmul_family::mma_sync, true, false, true, false, 64, 64, 64, 4, 8000, 0.5, 400},
    {matmul_family::mma_sync, true, false, true, false, 128, 128, 64, 16, 1.312e+04, 3.67, 1231},
    {matmul_family::simt, false, false, true, false, 64, 64, 16, 1, 3407, 0.2343, 258.4},
    {matmul_family::simt, false, true, true, false, 64, 64, 16, 1, 5387, 0.1963, 262.4},
    {matmul_family::simt, true, false, true, false, 64, 64, 64, 1, 1689, 0.5822, 270.1},
    {matmul_family::sm90, false, false, false, false, 64, 32, 256, 16, 700.3, 1.61, 327.3},
    {matmul_family::sm90, false, false, false, false, 64, 64, 128, 16, 682.4, 0.519, 231.7},
    {matmul_family::sm90, true, false, false, false, 64, 32, 256, 16, 1666, 1.376, 158.5},
    {matmul_family::sm90, true, false, false, false, 64, 64, 128, 16, 1876, 0.771, 116.6},
    {matmul_family::sm90, true, false, false, false, 64, 128, 128, 16, 2495, 1.872, 92.79},
    {matmul_family::sm90, true, false, false, true, 64, 32, 256, 16, 792.1, 1.608, 223.5},
    {matmul_family::sm90, true, false, false, true, 128, 32, 128, 16, 687.3, 0.3994, 235},
    {matmul_family::sm90, false, false, false, false, 64, 128, 128, 16, 3275, 1.213, 63.49},
};

}  // namespace kaio::ops
