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
    {matmul_family::sm90, false, false, false, 128, 128, 128, 3118, 3.798, 179.5},
    {matmul_family::sm90, false, false, false, 128, 256, 128, 2248, 0.9548, 103.4},
    {matmul_family::sm90, false, false, true, 128, 128, 128, 1.049e+04, 0.9639, 102.7},
    {matmul_family::sm90, false, true, false, 128, 128, 128, 1361, 0.8766, 101.3},
    {matmul_family::sm90, false, true, false, 128, 256, 128, 1749, 0.8937, 101.9},
    {matmul_family::sm90, false, true, true, 128, 128, 128, 5305, 0.7084, 103.8},
    {matmul_family::sm90, true, false, false, 128, 128, 128, 1896, 1.105, 47.98},
    {matmul_family::sm90, true, false, false, 128, 256, 128, 2558, 1.249, 101.2},
    {matmul_family::sm90, true, false, true, 128, 128, 128, 9340, 3.798, 211.3},
    {matmul_family::sm90_split, false, false, true, 64, 64, 256, 5729, 2.848, 128.9},
    {matmul_family::sm90_split, true, false, true, 64, 64, 256, 5486, 2.848, 96.83},
    {matmul_family::sm90_split, false, false, true, 64, 16, 256, 2360, 1.538, 342.1},
    {matmul_family::sm90_split, false, false, true, 64, 32, 256, 4256, 1.899, 519.4},
    {matmul_family::sm90_split, false, false, true, 64, 64, 128, 6403, 2.848, 311.6},
    {matmul_family::sm90_split, false, true, true, 64, 16, 256, 1067, 1.538, 947.2},
    {matmul_family::sm90_split, false, true, true, 64, 32, 256, 3276, 1.899, 1101},
    {matmul_family::sm90_split, false, true, true, 64, 64, 256, 4033, 1.992, 1132},
    {matmul_family::sm90_split, true, false, true, 64, 16, 256, 2342, 1.538, 305.1},
    {matmul_family::sm90_split, true, false, true, 64, 32, 256, 3856, 1.899, 526.6},
    {matmul_family::sm90_split, true, false, true, 64, 64, 128, 5268, 2.848, 415.4},
    {matmul_family::mma_sync, false, false, true, 64, 64, 64, 9546, 0.0361, 403.2},
    {matmul_family::mma_sync, false, false, true, 128, 128, 32, 1.59e+04, 0.08094, 420.9},
    {matmul_family::mma_sync, false, false, true, 128, 128, 64, 2.09e+04, 0.2865, 135},
    {matmul_family::mma_sync, false, false, false, 128, 128, 64, 6934, 0.2722, 449.6},
    {matmul_family::mma_sync, false, true, true, 64, 64, 64, 1.047e+04, 0.02402, 423.6},
    {matmul_family::mma_sync, false, true, true, 128, 64, 64, 4714, 0.244, 442.2},
    {matmul_family::mma_sync, false, true, true, 128, 128, 32, 1.192e+04, 0.08176, 420.5},
    {matmul_family::mma_sync, true, false, false, 128, 128, 64, 1.145e+04, 5.697, 986.8},
    {matmul_family::mma_sync, true, false, true, 64, 64, 64, 7597, 0.05129, 420},
    {matmul_family::mma_sync, true, false, true, 128, 128, 64, 1.836e+04, 0.8084, 76.66},
    {matmul_family::simt, false, false, true, 64, 64, 16, 3523, 0.1914, 265.1},
    {matmul_family::simt, false, true, true, 64, 64, 16, 3910, 0.1915, 263.4},
    {matmul_family::simt, true, false, true, 64, 64, 64, 3030, 0.8708, 262.5},
};

}  // namespace kaio::ops
