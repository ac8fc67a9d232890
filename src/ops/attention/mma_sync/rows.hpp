#pragma once
// The rows of the kernels with matrix instructions of a warp in the table, for one element type.

#include <kaio/ops/attention/mma_sync/table_row.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/choice/table.hpp"

namespace kaio::ops {

template <std::uint32_t Depth, scalar T, class Mask>
attention_variant attention_mma_row() {
  constexpr attention_mma_config config = attention_mma_for(Depth);
  attention_variant row = describe_attention_mma<config, T, general_score, Mask>();
  row.run = launch_attention_mma<config, T, general_score, Mask>;
  return row;
}

template <scalar T, class Mask = band_mask>
std::span<const attention_variant> attention_mma_rows() {
  static const auto& rows = *new std::array{
      attention_mma_row<64, T, Mask>(), attention_mma_row<128, T, Mask>(), attention_mma_row<256, T, Mask>()};
  return rows;
}

}  // namespace kaio::ops
