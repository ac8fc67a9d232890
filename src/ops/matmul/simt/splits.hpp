#pragma once
// The tile shapes of the f32 kernels for sm_90 that divide K among the blocks of a cluster, for lines that
// begin anywhere. One block computes a small or short product, several blocks one with few tiles.

#include <kaio/ops/matmul/simt/config.hpp>

namespace kaio::ops {

inline constexpr simt_config simt_splits_64{.m = 64,
                                            .n = 64,
                                            .k = 16,
                                            .thread_m = 8,
                                            .thread_n = 4,
                                            .stages = 3,
                                            .min_blocks = 3,
                                            .vector_a = 1,
                                            .vector_b = 1,
                                            .clusters = true};
inline constexpr simt_config simt_splits_32{.m = 32,
                                            .n = 32,
                                            .k = 16,
                                            .thread_m = 4,
                                            .thread_n = 4,
                                            .stages = 4,
                                            .min_blocks = 5,
                                            .vector_a = 1,
                                            .vector_b = 1,
                                            .groups = 2,
                                            .clusters = true};

}  // namespace kaio::ops
