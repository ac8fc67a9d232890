#pragma once
// Written by bench/attention/fit.py, which says where numbers are from that were not measured. The comments count
// the times that a row was fitted to.

#include "ops/attention/choice/cost.hpp"

namespace kaio::ops {

inline constexpr attention_device_costs fitted_attention_device{
    .launch_seconds = 1e-06,
    .dram_share = 0.87,
    .not_hidden = 0.1707,
    .exponentials = 16,
    .score_clocks = 0.04,
    .general_clocks = 0.016,
    .softcap_clocks = 0.08,
    .alibi_clocks = 0.024,
    .tensor_clocks = 0.125,
    .copy_clocks = 0.063,
    .padding = 0.6,
    .l2_of_one = 64,
    .l2_of_all = 46.6,
};

// In the order of attention_family.
inline constexpr attention_family_costs fitted_attention_families[]{
    // sm90: 16
    {
        .start_clocks = 1960,
        .tile_clocks = 5703,
        .step_clocks = 197.8,
        .alone = 1,
        .last_wave = 0.6052,
        .rate = 0.58,
    },
    // mma_sync: 0
    {
        .start_clocks = 1000,
        .tile_clocks = 6000,
        .step_clocks = 200,
        .alone = 2,
        .last_wave = 0.7,
        .rate = 0.5,
    },
    // simt: 0
    {
        .start_clocks = 1000,
        .tile_clocks = 6000,
        .step_clocks = 2000,
        .alone = 1.2,
        .last_wave = 0.7,
        .rate = 0.3,
    },
};

inline constexpr attention_kernel_costs fitted_attention_kernels[]{
    // 4 times
    {attention_family::sm90, 90, 2, 64, 64, 192, 128, 0.4955, 0},
    // not measured: the one above, with a step that is an eighth shorter
    {attention_family::sm90, 90, 2, 64, 64, 192, 112, 0.4856, 0},
    // not measured: the first one, with two consumers of three
    {attention_family::sm90, 90, 2, 64, 64, 128, 128, 0.4459, 0},
    // not measured: the first one, by 2048 rows on an H100
    {attention_family::sm90, 90, 2, 64, 64, 64, 128, 0.4013, 0},
    // 10 times
    {attention_family::sm90, 90, 2, 128, 128, 128, 128, 0.626, 0},
    // not measured: the crossover at 4096 keys, found when it was made
    {attention_family::sm90, 90, 2, 128, 128, 128, 176, 0.6636, 2300},
    // not measured: the one of 128 queries, by 2048 rows on an H100
    {attention_family::sm90, 90, 2, 128, 128, 64, 128, 0.4006, 0},
    // not measured: D = 128
    {attention_family::sm90, 90, 2, 192, 128, 128, 128, 0.626, 0},
    // 2 times
    {attention_family::sm90, 90, 2, 256, 256, 128, 80, 0.7043, 0},
    // not measured: the one above, with shorter steps
    {attention_family::sm90, 90, 2, 256, 256, 128, 64, 0.6691, 0},
    // not measured: FlashAttention-2 on an H100, 282 to 324 TFLOP/s
    {attention_family::mma_sync, 80, 2, 64, 64, 64, 64, 0.45, 0},
    // not measured: 323 TFLOP/s of a kernel of mma.sync on an H200
    {attention_family::mma_sync, 80, 2, 128, 128, 64, 64, 0.5, 0},
    // not measured: D = 128
    {attention_family::mma_sync, 80, 2, 192, 128, 64, 64, 0.5, 0},
    // not measured: Q is read again for every tile
    {attention_family::mma_sync, 80, 2, 256, 256, 64, 32, 0.4, 0},
    // not measured: the same, and sums that two warps exchange
    {attention_family::mma_sync, 80, 2, 512, 512, 64, 32, 0.35, 0},
    // not measured: the same with half the warps
    {attention_family::mma_sync, 80, 2, 512, 512, 32, 16, 0.25, 0},
    // not measured: 4096 rows of 32 heads on an H200
    {attention_family::simt, 70, 4, 64, 64, 32, 128, 0.435, 0},
    // not measured: 4096 rows of 32 heads on an H200
    {attention_family::simt, 70, 4, 128, 128, 16, 128, 0.36, 0},
    // not measured: 2048 rows of 16 heads on an H200
    {attention_family::simt, 70, 4, 256, 256, 32, 128, 0.315, 0},
    // not measured: 1024 rows on an H200
    {attention_family::simt, 70, 4, 512, 512, 32, 64, 0.23, 0},
    // not measured: the one above, with fewer queries
    {attention_family::simt, 70, 4, 512, 512, 16, 128, 0.2, 0},
    // not measured: 4096 rows of 32 heads on an H200
    {attention_family::simt, 80, 4, 64, 64, 64, 128, 0.68, 0},
    // not measured: 4096 rows of 32 heads on an H200
    {attention_family::simt, 80, 4, 128, 128, 64, 128, 0.695, 0},
    // not measured: 2048 rows of 16 heads on an H200
    {attention_family::simt, 80, 4, 256, 256, 64, 128, 0.61, 0},
    // not measured: four fifths of f32, for its conversions
    {attention_family::simt, 70, 2, 64, 64, 32, 128, 0.348, 0},
    // not measured: the same
    {attention_family::simt, 70, 2, 128, 128, 16, 128, 0.288, 0},
    // not measured: the same
    {attention_family::simt, 70, 2, 256, 256, 32, 128, 0.252, 0},
    // not measured: the same
    {attention_family::simt, 70, 2, 512, 512, 32, 64, 0.184, 0},
    // not measured: the same
    {attention_family::simt, 70, 2, 512, 512, 16, 128, 0.16, 0},
};

}  // namespace kaio::ops
