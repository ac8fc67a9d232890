#pragma once
// Written by bench/matmul_choice/fit.py, from times measured on an H200.

#include "ops/matmul/choice/cost.hpp"

namespace kaio::ops {

inline constexpr device_costs fitted_device{.l2_of_one = 233.5, .l2_of_all = 62.99, .crossing = 0.9996, .short_line_clocks = 3.402, .shared = 233.6, .dram_share = 1.345, .launch_seconds = 5.331e-07, .second_kernel_seconds = 6.186e-07, .cluster_clocks = 453.2, .exchange_clocks = 99.18, .copy_clocks = 0.04882,};

// In the order of matmul_family.
inline constexpr family_costs fitted_families[]{{.start_clocks = 2756, .rate = 0.9438, .step_clocks = 231.9, .store_bytes = 42.24, .general = 6.494, .outside = 0.6287, .bias_clocks = 16.51, .addend_clocks = 32.41, .gelu_clocks = 33.38, .gelu_tanh_clocks = 17.44, .silu_clocks = 26.36, .not_hidden = 0.5438, .last_wave = 0.5942, .half_wave = 0.7097,}, {.start_clocks = 3203, .rate = 0.9852, .step_clocks = 191.5, .store_bytes = 14.31, .general = 3.354, .outside = 0.1097, .bias_clocks = 15.23, .addend_clocks = 31.31, .gelu_clocks = 28.41, .gelu_tanh_clocks = 36.65, .silu_clocks = 33.03, .not_hidden = 0.3462, .last_wave = 0.3781, .half_wave = 0.6,}, {.start_clocks = 4845, .rate = 0.2701, .step_clocks = 585.6, .store_bytes = 22.52, .general = 2.132, .outside = 0.05447, .bias_clocks = 18.47, .addend_clocks = 38.17, .gelu_clocks = 18.46, .gelu_tanh_clocks = 15.01, .silu_clocks = 23.58, .not_hidden = 0.09154, .last_wave = 0.2168, .half_wave = 0.6,}, {.start_clocks = 3824, .rate = 0.7629, .step_clocks = 583.1, .store_bytes = 43.76, .general = 1.149, .outside = 0.09985, .bias_clocks = 14.56, .addend_clocks = 43.73, .gelu_clocks = 36.12, .gelu_tanh_clocks = 34.56, .silu_clocks = 34.88, .not_hidden = 0.1839, .last_wave = 0.09088, .half_wave = 0.6,},};
// Of kernels for few rows, of the family simt.
inline constexpr family_costs fitted_few_rows{.start_clocks = 2076, .rate = 0.06675, .step_clocks = 12.92, .store_bytes = 45.88, .general = 1.003, .outside = 0.09987, .bias_clocks = 10.02, .addend_clocks = 19.87, .gelu_clocks = 20, .gelu_tanh_clocks = 20.02, .silu_clocks = 20.03, .not_hidden = 0.161, .last_wave = 0.2964, .half_wave = 0.6,};

inline constexpr kernel_costs fitted_kernels[]{
    {matmul_family::sm90, matmul_precision::ieee, 90, 1, 64, 64, 256, 5, 1, 1, 1, 16, false, false, 2455, 0.7684},
    {matmul_family::sm90, matmul_precision::ieee, 90, 1, 128, 128, 128, 6, 1, 1, 1, 16, false, false, 3080, 1.396},
    {matmul_family::sm90, matmul_precision::ieee, 90, 1, 128, 128, 128, 6, 1, 1, 1, 16, false, true, 2564, 1.396},
    {matmul_family::sm90, matmul_precision::ieee, 90, 1, 128, 256, 128, 4, 2, 1, 1, 16, false, false, 3563, 0.6416},
    {matmul_family::sm90, matmul_precision::ieee, 90, 2, 64, 32, 128, 6, 1, 1, 1, 16, false, false, 2072, 0.7151},
    {matmul_family::sm90, matmul_precision::ieee, 90, 2, 64, 64, 128, 5, 1, 1, 1, 16, false, false, 2323, 1.212},
    {matmul_family::sm90, matmul_precision::ieee, 90, 2, 64, 64, 128, 5, 1, 1, 1, 16, false, true, 2938, 1.212},
    {matmul_family::sm90, matmul_precision::ieee, 90, 2, 128, 64, 64, 8, 1, 1, 1, 16, false, false, 2143, 1.168},
    {matmul_family::sm90, matmul_precision::ieee, 90, 2, 128, 128, 64, 6, 1, 1, 1, 16, false, false, 2690, 1.624},
    {matmul_family::sm90, matmul_precision::ieee, 90, 2, 128, 128, 64, 6, 1, 1, 1, 16, false, true, 3183, 1.624},
    {matmul_family::sm90, matmul_precision::ieee, 90, 2, 128, 128, 64, 6, 2, 1, 1, 16, false, false, 3606, 0.8783},
    {matmul_family::sm90, matmul_precision::ieee, 90, 2, 128, 192, 64, 5, 1, 1, 1, 16, false, false, 3967, 0.9065},
    {matmul_family::sm90, matmul_precision::ieee, 90, 2, 128, 256, 64, 4, 2, 1, 1, 16, false, false, 4108, 0.8273},
    {matmul_family::sm90, matmul_precision::ieee, 90, 2, 128, 256, 64, 4, 2, 1, 1, 16, false, true, 2938, 0.8273},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 1, 64, 16, 512, 5, 1, 2, 1, 16, true, true, 2536, 0.9852},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 1, 64, 64, 256, 6, 1, 2, 1, 16, true, true, 3784, 1.282},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 64, 8, 256, 5, 1, 1, 1, 16, true, true, 1881, 0.9852},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 64, 8, 256, 5, 1, 2, 1, 16, true, true, 2140, 0.9852},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 64, 16, 256, 5, 1, 2, 1, 16, false, true, 2328, 0.9852},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 64, 16, 256, 5, 1, 2, 1, 16, true, true, 2478, 0.9852},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 64, 32, 128, 8, 1, 2, 1, 16, true, true, 2300, 0.7298},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 64, 32, 128, 9, 1, 8, 1, 16, false, true, 2949, 1.218},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 64, 64, 128, 6, 1, 2, 1, 16, false, true, 2789, 0.6388},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 64, 64, 128, 6, 1, 2, 1, 16, true, true, 2542, 0.6402},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 128, 64, 64, 8, 1, 2, 1, 16, false, true, 4387, 1.225},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 128, 64, 64, 8, 1, 4, 1, 16, false, true, 5249, 1.002},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 128, 64, 64, 8, 1, 8, 1, 16, false, true, 4516, 1.825},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 128, 128, 64, 6, 1, 2, 1, 16, false, true, 1.399e+04, 1.528},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 128, 128, 64, 6, 1, 4, 1, 16, false, true, 1.079e+04, 0.6694},
    {matmul_family::sm90_split, matmul_precision::ieee, 90, 2, 128, 128, 64, 6, 1, 8, 1, 16, false, true, 1.012e+04, 0.7836},
    {matmul_family::mma_sync, matmul_precision::ieee, 70, 2, 64, 64, 32, 3, 1, 1, 1, 1, false, true, 1673, 0.03483},
    {matmul_family::mma_sync, matmul_precision::ieee, 70, 2, 64, 128, 32, 2, 1, 1, 1, 16, false, true, 5378, 0.02942},
    {matmul_family::mma_sync, matmul_precision::ieee, 75, 2, 128, 128, 32, 2, 1, 1, 1, 16, false, true, 5892, 0.9423},
    {matmul_family::mma_sync, matmul_precision::ieee, 80, 2, 32, 32, 64, 2, 1, 1, 4, 2, false, true, 2578, 0.1071},
    {matmul_family::mma_sync, matmul_precision::ieee, 80, 2, 64, 64, 64, 2, 1, 1, 3, 2, false, true, 3910, 0.1872},
    {matmul_family::mma_sync, matmul_precision::ieee, 80, 2, 64, 64, 64, 3, 1, 1, 3, 16, false, true, 4452, 0.7386},
    {matmul_family::mma_sync, matmul_precision::ieee, 80, 2, 128, 128, 32, 4, 1, 1, 2, 16, false, true, 1.336e+04, 0.56},
    {matmul_family::mma_sync, matmul_precision::ieee, 80, 2, 128, 128, 64, 2, 1, 1, 2, 2, false, true, 8334, 0.1899},
    {matmul_family::mma_sync, matmul_precision::ieee, 89, 1, 64, 64, 64, 3, 1, 1, 1, 1, false, true, 1463, 0.04337},
    {matmul_family::mma_sync, matmul_precision::ieee, 89, 1, 64, 64, 64, 4, 1, 1, 3, 4, false, true, 5242, 0.4247},
    {matmul_family::mma_sync, matmul_precision::ieee, 89, 1, 128, 128, 64, 4, 1, 1, 2, 16, false, true, 6341, 0.2747},
    {matmul_family::mma_sync, matmul_precision::ieee, 90, 2, 32, 32, 128, 2, 1, 8, 3, 2, false, true, 3209, 0.1186},
    {matmul_family::mma_sync, matmul_precision::tf32, 80, 4, 64, 64, 32, 3, 1, 1, 3, 4, false, true, 5179, 0.3155},
    {matmul_family::mma_sync, matmul_precision::tf32, 80, 4, 64, 64, 32, 4, 1, 1, 3, 16, false, true, 5026, 0.8091},
    {matmul_family::mma_sync, matmul_precision::tf32, 80, 4, 128, 128, 32, 3, 1, 1, 1, 16, false, true, 8184, 0.7889},
    {matmul_family::mma_sync, matmul_precision::tf32, 80, 4, 128, 128, 32, 3, 1, 1, 2, 16, false, true, 1.115e+04, 0.7389},
    {matmul_family::mma_sync, matmul_precision::tf32, 90, 4, 32, 32, 64, 3, 1, 8, 3, 4, false, true, 5544, 0.1838},
    {matmul_family::mma_sync, matmul_precision::tf32x3, 80, 4, 64, 64, 32, 3, 1, 1, 3, 4, false, true, 4562, 0.6156},
    {matmul_family::mma_sync, matmul_precision::tf32x3, 80, 4, 128, 128, 32, 3, 1, 1, 1, 16, false, true, 6828, 0.6958},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 1, 32, 32, 1, 1, 1, 1, 4, false, true, 1393, 0.03531},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 1, 32, 32, 1, 1, 1, 1, 16, false, true, 2419, 0.03784},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 1, 128, 32, 1, 1, 1, 1, 4, false, true, 1886, 0.02733},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 1, 128, 32, 1, 1, 1, 1, 16, false, true, 2095, 0.0249},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 4, 32, 32, 1, 1, 1, 1, 4, false, true, 2129, 0.0715},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 4, 32, 32, 1, 1, 1, 1, 16, false, true, 1955, 0.1717},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 4, 128, 32, 1, 1, 1, 1, 4, false, true, 1445, 0.04708},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 4, 128, 32, 1, 1, 1, 1, 16, false, true, 1576, 0.06764},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 16, 16, 32, 1, 1, 1, 1, 4, false, true, 5220, 0.0614},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 16, 16, 32, 1, 1, 1, 1, 16, false, true, 2364, 0.1137},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 16, 64, 32, 1, 1, 1, 1, 4, false, true, 2036, 0.07897},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 16, 64, 32, 1, 1, 1, 1, 16, false, true, 2788, 0.2421},
    {matmul_family::simt, matmul_precision::ieee, 70, 4, 64, 64, 16, 2, 1, 1, 2, 4, false, true, 4451, 0.4614},
    {matmul_family::simt, matmul_precision::ieee, 80, 4, 64, 64, 16, 3, 1, 1, 2, 4, false, true, 4574, 0.9205},
    {matmul_family::simt, matmul_precision::ieee, 80, 4, 64, 64, 16, 3, 1, 1, 2, 16, false, true, 3576, 0.9265},
    {matmul_family::simt, matmul_precision::ieee, 80, 4, 128, 128, 8, 4, 1, 1, 2, 16, false, false, 3287, 0.6662},
    {matmul_family::simt, matmul_precision::ieee, 80, 4, 128, 128, 8, 4, 1, 1, 2, 16, false, true, 1.935e+04, 0.6662},
    {matmul_family::simt, matmul_precision::ieee, 90, 4, 32, 32, 16, 4, 1, 8, 4, 4, false, true, 1046, 1.314},
    {matmul_family::simt, matmul_precision::ieee, 90, 4, 128, 128, 8, 4, 1, 1, 2, 16, false, false, 3775, 0.7275},
};

}  // namespace kaio::ops
