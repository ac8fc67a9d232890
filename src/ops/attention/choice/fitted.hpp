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
    .score_clocks = 0.03065,
    .general_clocks = 0.009725,
    .softcap_clocks = 0.09243,
    .alibi_clocks = 0.02,
    .tensor_clocks = 0.125,
    .copy_clocks = 0.1029,
    .padding = 0.3639,
    .l2_of_one = 64,
    .l2_of_all = 51.04,
};

// In the order of attention_family.
inline constexpr attention_family_costs fitted_attention_families[]{
    // sm90: 302
    {
        .start_clocks = 5654,
        .tile_clocks = 2329,
        .step_clocks = 896.2,
        .alone = 1,
        .last_wave = 0.8893,
        .rate = 0.58,
    },
    // mma_sync: 316
    {
        .start_clocks = 1556,
        .tile_clocks = 3717,
        .step_clocks = 896.3,
        .alone = 1.65,
        .last_wave = 0.3266,
        .rate = 1.206,
    },
    // simt: 349
    {
        .start_clocks = 483.6,
        .tile_clocks = 6823,
        .step_clocks = 2002,
        .alone = 1.283,
        .last_wave = 0.4935,
        .rate = 0.3,
    },
};

inline constexpr attention_kernel_costs fitted_attention_kernels[]{
    // 37 times
    {attention_family::sm90, 90, 2, 64, 64, 192, 128, 0.7851, 0},
    // 16 times
    {attention_family::sm90, 90, 2, 64, 64, 192, 112, 0.7184, 0},
    // not measured: the first one, with two consumers of three
    {attention_family::sm90, 90, 2, 64, 64, 128, 128, 0.7066, 0},
    // 88 times
    {attention_family::sm90, 90, 2, 128, 128, 128, 128, 0.9145, 0},
    // 20 times
    {attention_family::sm90, 90, 2, 128, 128, 128, 176, 0.8884, 1039},
    // 52 times
    {attention_family::sm90, 90, 2, 192, 128, 128, 128, 0.9637, 0},
    // 89 times
    {attention_family::sm90, 90, 2, 256, 256, 128, 80, 0.9042, 0},
    // not measured: the one above, with shorter steps
    {attention_family::sm90, 90, 2, 256, 256, 128, 64, 0.859, 0},
    // 16 times
    {attention_family::mma_sync, 80, 2, 64, 64, 64, 64, 0.6553, 0},
    // 32 times
    {attention_family::mma_sync, 80, 2, 128, 128, 64, 64, 0.7275, 0},
    // 32 times
    {attention_family::mma_sync, 80, 2, 192, 128, 64, 64, 0.7161, 0},
    // 45 times
    {attention_family::mma_sync, 80, 2, 256, 256, 64, 32, 0.6134, 0},
    // 49 times
    {attention_family::mma_sync, 80, 2, 512, 512, 64, 32, 0.4929, 0},
    // 49 times
    {attention_family::mma_sync, 80, 2, 512, 512, 32, 16, 0.6533, 0},
    // 13 times
    {attention_family::simt, 70, 4, 64, 64, 64, 64, 0.3326, 0},
    // 28 times
    {attention_family::simt, 70, 4, 128, 128, 64, 64, 0.4226, 0},
    // 37 times
    {attention_family::simt, 70, 4, 256, 256, 32, 32, 0.2883, 0},
    // 40 times
    {attention_family::simt, 70, 4, 512, 512, 32, 32, 0.1683, 0},
    // 40 times
    {attention_family::simt, 70, 4, 512, 512, 16, 16, 0.1514, 0},
    // 16 times
    {attention_family::simt, 70, 2, 64, 64, 64, 64, 0.3806, 0},
    // 32 times
    {attention_family::simt, 70, 2, 128, 128, 64, 64, 0.4233, 0},
    // 45 times
    {attention_family::simt, 70, 2, 256, 256, 32, 32, 0.2983, 0},
    // 49 times
    {attention_family::simt, 70, 2, 512, 512, 32, 32, 0.1715, 0},
    // 49 times
    {attention_family::simt, 70, 2, 512, 512, 16, 16, 0.1527, 0},
};

}  // namespace kaio::ops
