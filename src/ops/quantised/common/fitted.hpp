#pragma once
// Written by bench/quantised_choice/fit.py, from times measured on an H200.

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
    {matmul_family::sm90, false, false, false, 128, 128, 128, 3140, 2.435},
    {matmul_family::sm90, false, false, false, 128, 256, 128, 3525, 0.8631},
    {matmul_family::sm90, false, false, true, 128, 128, 128, 7859, 2.377},
    {matmul_family::sm90, false, true, false, 128, 128, 128, 3383, 1.514},
    {matmul_family::sm90, false, true, false, 128, 256, 128, 3343, 0.6311},
    {matmul_family::sm90, false, true, true, 128, 128, 128, 3943, 1.329},
    {matmul_family::sm90, true, false, false, 128, 128, 128, 2510, 2.235},
    {matmul_family::sm90, true, false, false, 128, 256, 128, 3679, 0.841},
    {matmul_family::sm90, true, false, true, 128, 128, 128, 5778, 2.029},
    {matmul_family::sm90_split, false, false, true, 64, 16, 512, 3327, 0.9852},
    {matmul_family::sm90_split, false, false, true, 64, 64, 256, 4965, 1.582},
    {matmul_family::sm90_split, false, true, true, 64, 16, 512, 4010, 0.9852},
    {matmul_family::sm90_split, false, true, true, 64, 64, 256, 4834, 0.3042},
    {matmul_family::sm90_split, true, false, true, 64, 16, 512, 2617, 0.9852},
    {matmul_family::sm90_split, true, false, true, 64, 64, 256, 4866, 1.824},
    {matmul_family::mma_sync, false, false, true, 64, 64, 64, 9253, 0.02404},
    {matmul_family::mma_sync, false, false, true, 128, 128, 32, 1.335e+04, 0.08203},
    {matmul_family::mma_sync, false, false, true, 128, 128, 64, 1.871e+04, 0.3094},
    {matmul_family::mma_sync, false, true, true, 64, 64, 64, 1.033e+04, 0.0224},
    {matmul_family::mma_sync, false, true, true, 128, 64, 64, 4423, 0.2508},
    {matmul_family::mma_sync, false, true, true, 128, 128, 32, 9743, 0.08234},
    {matmul_family::mma_sync, true, false, true, 64, 64, 64, 5387, 0.04467},
    {matmul_family::mma_sync, true, false, true, 128, 128, 64, 2.44e+04, 3.65},
    {matmul_family::simt, false, false, true, 64, 64, 16, 3989, 0.1731},
    {matmul_family::simt, false, true, true, 64, 64, 16, 4668, 0.2248},
    {matmul_family::simt, true, false, true, 64, 64, 64, 2627, 1.35},
};

}  // namespace kaio::ops
