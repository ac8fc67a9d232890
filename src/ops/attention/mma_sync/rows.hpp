#pragma once
// The rows of the kernels with matrix instructions of a warp in the table, for one element type.

#include <kaio/ops/attention/mma_sync/table_row.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/choice/table.hpp"

namespace kaio::ops {

template <std::uint32_t Depth, scalar T>
attention_variant attention_mma_row() {
  constexpr attention_mma_config config = attention_mma_for(Depth);
  attention_variant row = describe_attention_mma<config, T, biased_score, band_mask>();
  row.run = launch_attention_mma<config, T, biased_score, band_mask>;
  return row;
}

template <scalar T>
std::span<const attention_variant> attention_mma_rows() {
  static const auto& rows =
      *new std::array{attention_mma_row<64, T>(), attention_mma_row<128, T>(), attention_mma_row<256, T>()};
  return rows;
}

}  // namespace kaio::ops
