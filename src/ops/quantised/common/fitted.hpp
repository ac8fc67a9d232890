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
  double start_clocks, rate;
};

inline constexpr byte_kernel_costs fitted_byte_kernels[]{
    {matmul_family::sm90, false, false, false, 128, 128, 128, 3133, 2.436},
    {matmul_family::sm90, false, false, false, 128, 256, 128, 3526, 0.8634},
    {matmul_family::sm90, false, false, true, 128, 128, 128, 7850, 2.433},
    {matmul_family::sm90, false, true, false, 128, 128, 128, 3384, 1.52},
    {matmul_family::sm90, false, true, false, 128, 256, 128, 3411, 0.6339},
    {matmul_family::sm90, false, true, true, 128, 128, 128, 3921, 1.333},
    {matmul_family::sm90, true, false, false, 128, 128, 128, 2504, 2.226},
    {matmul_family::sm90, true, false, false, 128, 256, 128, 3691, 0.8414},
    {matmul_family::sm90, true, false, true, 128, 128, 128, 5765, 2.04},
    {matmul_family::sm90_split, false, false, true, 64, 16, 512, 3327, 0.9852},
    {matmul_family::sm90_split, false, false, true, 64, 64, 256, 4968, 1.619},
    {matmul_family::sm90_split, false, true, true, 64, 16, 512, 4005, 0.9852},
    {matmul_family::sm90_split, false, true, true, 64, 64, 256, 4823, 0.3047},
    {matmul_family::sm90_split, true, false, true, 64, 16, 512, 2618, 0.9852},
    {matmul_family::sm90_split, true, false, true, 64, 64, 256, 4867, 1.824},
    {matmul_family::mma_sync, false, false, true, 64, 64, 64, 9268, 0.0241},
    {matmul_family::mma_sync, false, false, true, 128, 128, 32, 1.333e+04, 0.08198},
    {matmul_family::mma_sync, false, false, true, 128, 128, 64, 1.868e+04, 0.3096},
    {matmul_family::mma_sync, false, false, false, 128, 128, 64, 6797, 0.4204},
    {matmul_family::mma_sync, false, true, true, 64, 64, 64, 1.031e+04, 0.02231},
    {matmul_family::mma_sync, false, true, true, 128, 64, 64, 4386, 0.2487},
    {matmul_family::mma_sync, false, true, true, 128, 128, 32, 9737, 0.08241},
    {matmul_family::mma_sync, true, false, false, 128, 128, 64, 1.017e+04, 3.65},
    {matmul_family::mma_sync, true, false, true, 64, 64, 64, 5395, 0.04469},
    {matmul_family::mma_sync, true, false, true, 128, 128, 64, 2.444e+04, 3.65},
    {matmul_family::simt, false, false, true, 64, 64, 16, 3982, 0.1731},
    {matmul_family::simt, false, true, true, 64, 64, 16, 4632, 0.2243},
    {matmul_family::simt, true, false, true, 64, 64, 64, 2588, 1.34},
};

}  // namespace kaio::ops
