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
    {matmul_family::sm90, false, false, false, 128, 128, 128, 2441, 1.529, 131.2},
    {matmul_family::sm90, false, false, false, 128, 256, 128, 2905, 2.97, 716.7},
    {matmul_family::sm90, false, false, true, 128, 128, 128, 5981, 0.8039, 59.5},
    {matmul_family::sm90, false, true, false, 128, 128, 128, 1491, 0.8035, 57.43},
    {matmul_family::sm90, false, true, false, 128, 256, 128, 3073, 0.8011, 56.15},
    {matmul_family::sm90, false, true, true, 128, 128, 128, 3157, 0.6978, 58.14},
    {matmul_family::sm90, true, false, false, 128, 128, 128, 1705, 1.103, 74.74},
    {matmul_family::sm90, true, false, false, 128, 256, 128, 2339, 2.97, 609.6},
    {matmul_family::sm90, true, false, true, 128, 128, 128, 5193, 1.234, 131.9},
    {matmul_family::sm90_split, false, false, true, 64, 16, 512, 2250, 0.9852, 306.6},
    {matmul_family::sm90_split, false, false, true, 64, 64, 256, 5411, 1.429, 221.9},
    {matmul_family::sm90_split, false, true, true, 64, 16, 512, 1710, 0.9852, 898.7},
    {matmul_family::sm90_split, false, true, true, 64, 64, 256, 3490, 1.56, 1041},
    {matmul_family::sm90_split, true, false, true, 64, 16, 512, 1831, 0.9852, 438},
    {matmul_family::sm90_split, true, false, true, 64, 64, 256, 5791, 1.131, 249.1},
    {matmul_family::mma_sync, false, false, true, 64, 64, 64, 9393, 0.2656, 5043},
    {matmul_family::mma_sync, false, false, true, 128, 128, 32, 1.535e+04, 0.08454, 521.9},
    {matmul_family::mma_sync, false, false, true, 128, 128, 64, 1.989e+04, 0.2685, 216.4},
    {matmul_family::mma_sync, false, false, false, 128, 128, 64, 7309, 0.4111, 491.4},
    {matmul_family::mma_sync, false, true, true, 64, 64, 64, 1.04e+04, 0.2627, 5621},
    {matmul_family::mma_sync, false, true, true, 128, 64, 64, 4534, 0.2788, 488.7},
    {matmul_family::mma_sync, false, true, true, 128, 128, 32, 1.108e+04, 0.08405, 521.1},
    {matmul_family::mma_sync, true, false, false, 128, 128, 64, 1.088e+04, 3.717, 571.5},
    {matmul_family::mma_sync, true, false, true, 64, 64, 64, 6617, 0.2474, 2431},
    {matmul_family::mma_sync, true, false, true, 128, 128, 64, 2.145e+04, 0.6743, 19.96},
    {matmul_family::simt, false, false, true, 64, 64, 16, 2631, 0.1527, 262.2},
    {matmul_family::simt, false, true, true, 64, 64, 16, 3542, 0.1892, 257.3},
    {matmul_family::simt, true, false, true, 64, 64, 64, 2977, 1.571, 238.5},
};

}  // namespace kaio::ops
