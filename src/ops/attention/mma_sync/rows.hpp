#pragma once
// The rows of the kernels with matrix instructions of a warp in the table, for one element type.

#include <kaio/ops/attention/mma_sync/table_row.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/choice/table.hpp"

namespace kaio::ops {

template <attention_mma_config Config, scalar T, class Mask = band_mask>
attention_variant attention_mma_row() {
  using score = std::conditional_t<is_block_sparse<Mask>, general_score, biased_score>;
  attention_variant row = describe_attention_mma<Config, T, score, Mask>();
  row.run = launch_attention_mma<Config, T, score, Mask>;
  return row;
}

// Of sm_80 and later.
template <scalar T, class Mask = band_mask>
std::span<const attention_variant> attention_mma_rows() {
  static const auto& rows = *new std::array{attention_mma_row<attention_mma_for(64, 64), T, Mask>(),
                                            attention_mma_row<attention_mma_for(128, 128), T, Mask>(),
                                            attention_mma_row<attention_mma_for(192, 128), T, Mask>(),
                                            attention_mma_row<attention_mma_for(256, 256), T, Mask>(),
                                            attention_mma_row<attention_mma_for(512, 512), T, Mask>(),
                                            attention_mma_row<attention_mma_512_small, T, Mask>()};
  return rows;
}

}  // namespace kaio::ops
