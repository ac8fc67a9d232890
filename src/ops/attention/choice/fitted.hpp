#pragma once
#include "ops/attention/choice/cost.hpp"

namespace kaio::ops {

inline constexpr attention_device_costs fitted_attention_device{
    .launch_seconds = 1e-06,
    .dram_share = 0.87,
    .not_hidden = 0.2,
    .exponentials = 16,
    .score_clocks = 0.04,
    .general_clocks = 0.016,
    .softcap_clocks = 0.08,
    .alibi_clocks = 0.024,
    .tensor_clocks = 0.125,
    .copy_clocks = 0.063,
    .l2_of_one = 64,
    .l2_of_all = 46.6,
};

inline constexpr attention_family_costs fitted_attention_families[]{
    {.start_clocks = 2000, .tile_clocks = 6000, .step_clocks = 200, .alone = 1, .last_wave = 0.7, .rate = 0.58},
    {.start_clocks = 1000, .tile_clocks = 6000, .step_clocks = 200, .alone = 2, .last_wave = 0.7, .rate = 0.5},
    {.start_clocks = 1000, .tile_clocks = 6000, .step_clocks = 2000, .alone = 1.5, .last_wave = 0.7, .rate = 0.3},
};

inline constexpr attention_kernel_costs fitted_attention_kernels[]{
    {attention_family::sm90, 90, 2, 64, 64, 192, 128, 0.5, 0},
};

}  // namespace kaio::ops
