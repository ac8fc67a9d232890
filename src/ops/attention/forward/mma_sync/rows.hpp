#pragma once
// The table's rows of the mma.sync kernels, by element type and architecture.

#include <kaio/ops/attention/forward/mma_sync/table_row.hpp>

#include <array>
#include <span>

#include "ops/attention/forward/choice/table.hpp"

namespace kaio::ops {

template <attention_mma_config Config, scalar T>
attention_variant attention_mma_row() {
  attention_variant row = describe_attention_mma<Config, T, biased_score, band_mask>();
  row.run = launch_attention_mma<Config, T, biased_score, band_mask>;
  return row;
}

// f16 or bf16, on sm_80 and later. One kernel for both types with a branch for each product would take 1.04 to 1.28 times
// as long for short sequences on an H200.
template <scalar T>
std::span<const attention_variant> attention_mma_rows() {
  static const auto& rows = *new std::array{attention_mma_row<attention_mma_for(64, 64), T>(),
                                            attention_mma_row<attention_mma_for(128, 128), T>(),
                                            attention_mma_row<attention_mma_for(192, 128), T>(),
                                            attention_mma_row<attention_mma_for(256, 256), T>(),
                                            attention_mma_row<attention_mma_for(512, 512), T>(),
                                            attention_mma_row<attention_mma_512_small, T>()};
  return rows;
}

// f16 on sm_75.
template <class = void>
std::span<const attention_variant> attention_mma_sm75_rows() {
  static const auto& rows = *new std::array{attention_mma_row<attention_mma_sm75(64), f16>(),
                                            attention_mma_row<attention_mma_sm75(128), f16>(),
                                            attention_mma_row<attention_mma_sm75(256), f16>()};
  return rows;
}

// f32 rounded to tf32, on sm_80 and later.
template <class = void>
std::span<const attention_variant> attention_mma_tf32_rows() {
  static const auto& rows = *new std::array{attention_mma_row<attention_mma_tf32(64), f32>(),
                                            attention_mma_row<attention_mma_tf32(128), f32>(),
                                            attention_mma_row<attention_mma_tf32(256), f32>()};
  return rows;
}

}  // namespace kaio::ops
