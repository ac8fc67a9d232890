#pragma once
// Written by bench/attention/fit.py, which says where numbers are from that were not measured. The comments count
// the times that a row was fitted to.

#include "ops/attention/forward/choice/cost.hpp"

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
    // sm90: 1312
    {
        .start_clocks = 896.2,
        .tile_clocks = 2319,
        .step_clocks = 197.8,
        .alone = 1,
        .last_wave = 0.6052,
        .rate = 0.58,
    },
    // mma_sync: 949
    {
        .start_clocks = 392.9,
        .tile_clocks = 4056,
        .step_clocks = 664,
        .alone = 2.443,
        .last_wave = 0.8942,
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
    // 41 times
    {attention_family::sm90, 90, 2, 64, 64, 192, 128, 0.4955, 0},
    // 58 times
    {attention_family::sm90, 90, 2, 64, 64, 192, 112, 0.4856, 0},
    // 41 times
    {attention_family::sm90, 90, 2, 64, 64, 128, 128, 0.446, 0},
    // 41 times
    {attention_family::sm90, 90, 2, 64, 64, 64, 128, 0.4408, 0},
    // 236 times
    {attention_family::sm90, 90, 2, 128, 128, 128, 128, 0.626, 0},
    // 96 times
    {attention_family::sm90, 90, 2, 128, 128, 128, 176, 0.6636, 2300},
    // 96 times
    {attention_family::sm90, 90, 2, 128, 128, 64, 128, 0.4655, 0},
    // 236 times
    {attention_family::sm90, 90, 2, 192, 128, 128, 128, 0.7273, 0},
    // 331 times
    {attention_family::sm90, 90, 2, 256, 256, 128, 80, 0.7043, 1500},
    // 136 times
    {attention_family::sm90, 90, 2, 256, 256, 128, 64, 0.7006, 0},
    // not measured: as 64 queries at 128 are to 128 queries
    {attention_family::sm90, 90, 2, 256, 256, 64, 48, 0.52, 0},
    // 58 times
    {attention_family::mma_sync, 80, 2, 64, 64, 64, 64, 0.6604, 0},
    // 140 times
    {attention_family::mma_sync, 80, 2, 128, 128, 64, 64, 0.7619, 0},
    // 140 times
    {attention_family::mma_sync, 80, 2, 192, 128, 64, 64, 0.7989, 0},
    // 195 times
    {attention_family::mma_sync, 80, 2, 256, 256, 64, 32, 0.6442, 0},
    // 208 times
    {attention_family::mma_sync, 80, 2, 512, 512, 64, 32, 0.5235, 0},
    // 208 times
    {attention_family::mma_sync, 80, 2, 512, 512, 32, 16, 0.6258, 0},
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
    {attention_family::simt, 70, 2, 256, 256, 32, 128, 0.2519, 0},
    // not measured: the same
    {attention_family::simt, 70, 2, 512, 512, 32, 64, 0.184, 0},
    // not measured: the same
    {attention_family::simt, 70, 2, 512, 512, 16, 128, 0.1601, 0},
};

}  // namespace kaio::ops
