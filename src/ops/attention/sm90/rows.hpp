#pragma once
// The rows of the kernels for sm_90a in the table, for one element type.

#include <kaio/ops/attention/sm90/table_row.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/choice/table.hpp"

namespace kaio::ops {

template <std::uint32_t Depth, scalar T, class Mask>
attention_variant attention_sm90_row() {
  constexpr attention_sm90_config config = attention_sm90_for(Depth, is_block_sparse<Mask>);
  attention_variant row = describe_attention_sm90<config, T, general_score, Mask>();
  row.run = launch_attention_sm90<config, T, general_score, Mask>;
  return row;
}

template <scalar T, class Mask = band_mask>
std::span<const attention_variant> attention_sm90_rows() {
  static const auto& rows =
      *new std::array{attention_sm90_row<64, T, Mask>(), attention_sm90_row<128, T, Mask>(),
                      attention_sm90_row<256, T, Mask>()};
  return rows;
}

}  // namespace kaio::ops
