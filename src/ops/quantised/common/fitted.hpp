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
    {matmul_family::sm90, false, false, false, 128, 128, 128, 2342, 2.231, 98.73},
    {matmul_family::sm90, false, false, false, 128, 256, 128, 2907, 0.9735, 58.53},
    {matmul_family::sm90, false, false, true, 128, 128, 128, 7054, 0.942, 55.9},
    {matmul_family::sm90, false, true, false, 128, 128, 128, 1391, 0.7998, 56.6},
    {matmul_family::sm90, false, true, false, 128, 256, 128, 3238, 0.8003, 56.58},
    {matmul_family::sm90, false, true, true, 128, 128, 128, 2883, 0.7403, 56.41},
    {matmul_family::sm90, true, false, false, 128, 128, 128, 2050, 1.437, 58.87},
    {matmul_family::sm90, true, false, false, 128, 256, 128, 2706, 1.046, 58.38},
    {matmul_family::sm90, true, false, true, 128, 128, 128, 6623, 1.588, 85.1},
    {matmul_family::sm90_split, false, false, true, 64, 64, 256, 5400, 1.566, 136.2},
    {matmul_family::sm90_split, true, false, true, 64, 64, 256, 4911, 1.856, 155.8},
    {matmul_family::sm90_split, false, false, true, 64, 16, 256, 2451, 1.538, 224},
    {matmul_family::sm90_split, false, false, true, 64, 32, 256, 3645, 1.538, 615.4},
    {matmul_family::sm90_split, false, false, true, 64, 64, 128, 5902, 1.857, 404.2},
    {matmul_family::sm90_split, false, true, true, 64, 16, 256, 1067, 1.538, 928.6},
    {matmul_family::sm90_split, false, true, true, 64, 32, 256, 2936, 1.538, 1167},
    {matmul_family::sm90_split, false, true, true, 64, 64, 256, 3490, 1.56, 1041},
    {matmul_family::sm90_split, true, false, true, 64, 16, 256, 2354, 1.538, 191.9},
    {matmul_family::sm90_split, true, false, true, 64, 32, 256, 3544, 1.538, 656.9},
    {matmul_family::sm90_split, true, false, true, 64, 64, 128, 6042, 1.857, 413},
    {matmul_family::mma_sync, false, false, true, 64, 64, 64, 1.055e+04, 0.2651, 4972},
    {matmul_family::mma_sync, false, false, true, 128, 128, 32, 1.513e+04, 0.08479, 496.8},
    {matmul_family::mma_sync, false, false, true, 128, 128, 64, 2.023e+04, 0.2603, 220},
    {matmul_family::mma_sync, false, false, false, 128, 128, 64, 7292, 0.3646, 520},
    {matmul_family::mma_sync, false, true, true, 64, 64, 64, 1.07e+04, 0.2591, 5429},
    {matmul_family::mma_sync, false, true, true, 128, 64, 64, 4700, 0.2788, 497},
    {matmul_family::mma_sync, false, true, true, 128, 128, 32, 1.085e+04, 0.08519, 495.9},
    {matmul_family::mma_sync, true, false, false, 128, 128, 64, 1.011e+04, 3.717, 796},
    {matmul_family::mma_sync, true, false, true, 64, 64, 64, 7064, 0.05293, 542.3},
    {matmul_family::mma_sync, true, false, true, 128, 128, 64, 1.777e+04, 0.6752, 80.93},
    {matmul_family::simt, false, false, true, 64, 64, 16, 4026, 0.203, 259.1},
    {matmul_family::simt, false, true, true, 64, 64, 16, 3917, 0.1876, 266.1},
    {matmul_family::simt, true, false, true, 64, 64, 64, 2212, 0.8862, 268.4},
};

}  // namespace kaio::ops
