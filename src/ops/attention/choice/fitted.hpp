#pragma once
// Written by bench/attention/fit.py, which says where numbers are from that were not measured. The comments count
// the times that a row was fitted to.

#include "ops/attention/choice/cost.hpp"

namespace kaio::ops {

inline constexpr attention_device_costs fitted_attention_device{
    .launch_seconds = 1e-06,
    .dram_share = 0.87,
    .not_hidden = 0.3297,
    .exponentials = 16,
    .score_clocks = 0.05064,
    .general_clocks = 0.01761,
    .softcap_clocks = 0.06163,
    .alibi_clocks = 0.03705,
    .tensor_clocks = 0.125,
    .copy_clocks = 0.063,
    .padding = 0.3639,
    .l2_of_one = 64,
    .l2_of_all = 46.6,
};

// In the order of attention_family.
inline constexpr attention_family_costs fitted_attention_families[]{
    // sm90: 1312
    {
        .start_clocks = 1521,
        .tile_clocks = 2208,
        .step_clocks = 273.8,
        .alone = 1.598,
        .last_wave = 0.9535,
        .rate = 0.58,
    },
    // mma_sync: 949
    {
        .start_clocks = 422.3,
        .tile_clocks = 3390,
        .step_clocks = 496.9,
        .alone = 2.19,
        .last_wave = 0.9264,
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
    {attention_family::sm90, 90, 2, 64, 64, 192, 128, 0.6247, 0},
    // 58 times
    {attention_family::sm90, 90, 2, 64, 64, 192, 112, 0.6529, 0},
    // 41 times
    {attention_family::sm90, 90, 2, 64, 64, 128, 128, 0.4746, 0},
    // 41 times
    {attention_family::sm90, 90, 2, 64, 64, 64, 128, 0.483, 0},
    // 236 times
    {attention_family::sm90, 90, 2, 128, 128, 128, 128, 0.848, 0},
    // 96 times
    {attention_family::sm90, 90, 2, 128, 128, 128, 176, 0.8614, 1188},
    // 96 times
    {attention_family::sm90, 90, 2, 128, 128, 64, 128, 0.581, 0},
    // 236 times
    {attention_family::sm90, 90, 2, 192, 128, 128, 128, 0.9013, 0},
    // 331 times
    {attention_family::sm90, 90, 2, 256, 256, 128, 80, 0.9486, 0},
    // 136 times
    {attention_family::sm90, 90, 2, 256, 256, 128, 64, 0.9502, 0},
    // 58 times
    {attention_family::mma_sync, 80, 2, 64, 64, 64, 64, 0.6518, 0},
    // 140 times
    {attention_family::mma_sync, 80, 2, 128, 128, 64, 64, 0.6814, 0},
    // 140 times
    {attention_family::mma_sync, 80, 2, 192, 128, 64, 64, 0.6769, 0},
    // 195 times
    {attention_family::mma_sync, 80, 2, 256, 256, 64, 32, 0.6267, 0},
    // 208 times
    {attention_family::mma_sync, 80, 2, 512, 512, 64, 32, 0.4711, 0},
    // 208 times
    {attention_family::mma_sync, 80, 2, 512, 512, 32, 16, 0.479, 0},
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
