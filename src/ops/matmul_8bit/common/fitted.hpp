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
    {matmul_family::sm90, false, false, false, 128, 128, 128, 3101, 3.217, 172.8},
    {matmul_family::sm90, false, false, false, 128, 256, 128, 2287, 0.9604, 110.1},
    {matmul_family::sm90, false, false, true, 128, 128, 128, 1.076e+04, 0.9694, 109.3},
    {matmul_family::sm90, false, true, false, 128, 128, 128, 1564, 0.8548, 108.4},
    {matmul_family::sm90, false, true, false, 128, 256, 128, 1878, 0.8659, 108.8},
    {matmul_family::sm90, false, true, true, 128, 128, 128, 4336, 0.695, 111},
    {matmul_family::sm90, true, false, false, 128, 128, 128, 1994, 1.086, 49.08},
    {matmul_family::sm90, true, false, false, 128, 256, 128, 2731, 1.235, 107.9},
    {matmul_family::sm90, true, false, true, 128, 128, 128, 9537, 3.217, 204.6},
    {matmul_family::sm90_split, false, false, true, 64, 64, 256, 5726, 2.412, 124.5},
    {matmul_family::sm90_split, true, false, true, 64, 64, 256, 5301, 2.413, 75.85},
    {matmul_family::sm90_split, false, false, true, 64, 16, 256, 2320, 1.538, 343.3},
    {matmul_family::sm90_split, false, false, true, 64, 32, 256, 4170, 1.608, 525.1},
    {matmul_family::sm90_split, false, false, true, 64, 64, 128, 6383, 2.413, 305.6},
    {matmul_family::sm90_split, false, true, true, 64, 16, 256, 1354, 1.538, 931.6},
    {matmul_family::sm90_split, false, true, true, 64, 32, 256, 3204, 1.608, 1104},
    {matmul_family::sm90_split, false, true, true, 64, 64, 256, 3961, 1.897, 1130},
    {matmul_family::sm90_split, true, false, true, 64, 16, 256, 2352, 1.538, 261.8},
    {matmul_family::sm90_split, true, false, true, 64, 32, 256, 3658, 1.608, 525.1},
    {matmul_family::sm90_split, true, false, true, 64, 64, 128, 5289, 2.413, 402.5},
    {matmul_family::mma_sync, false, false, true, 64, 64, 64, 1.057e+04, 0.0374, 411.4},
    {matmul_family::mma_sync, false, false, true, 128, 128, 32, 1.621e+04, 0.0804, 433.5},
    {matmul_family::mma_sync, false, false, true, 128, 128, 64, 2.155e+04, 0.2709, 128},
    {matmul_family::mma_sync, false, false, false, 128, 128, 64, 6809, 0.2735, 462.4},
    {matmul_family::mma_sync, false, true, true, 64, 64, 64, 1.073e+04, 0.02352, 436.3},
    {matmul_family::mma_sync, false, true, true, 128, 64, 64, 6030, 0.3325, 394.2},
    {matmul_family::mma_sync, false, true, true, 128, 128, 32, 1.207e+04, 0.08118, 433.1},
    {matmul_family::mma_sync, true, false, false, 128, 128, 64, 1.137e+04, 4.825, 965.4},
    {matmul_family::mma_sync, true, false, true, 64, 64, 64, 8296, 0.05068, 433.4},
    {matmul_family::mma_sync, true, false, true, 128, 128, 64, 1.952e+04, 0.7759, 75.72},
    {matmul_family::simt, false, false, true, 64, 64, 16, 3331, 0.1872, 265.6},
    {matmul_family::simt, false, true, true, 64, 64, 16, 4870, 0.1975, 262.5},
    {matmul_family::simt, true, false, true, 64, 64, 64, 2679, 0.8479, 262.9},
};

}  // namespace kaio::ops
