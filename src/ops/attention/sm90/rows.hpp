#pragma once
// The rows of the kernels for sm_90a in the table, for one element type.

#include <kaio/ops/attention/sm90/table_row.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/choice/table.hpp"

namespace kaio::ops {

template <std::uint32_t DepthQk, std::uint32_t DepthV, scalar T>
attention_variant attention_sm90_row() {
  constexpr attention_sm90_config config = attention_sm90_for(DepthQk, DepthV);
  attention_variant row = describe_attention_sm90<config, T, general_score, band_mask>();
  row.run = launch_attention_sm90<config, T, general_score, band_mask>;
  return row;
}

template <scalar T>
std::span<const attention_variant> attention_sm90_rows() {
  static const auto& rows =
      *new std::array{attention_sm90_row<64, 64, T>(), attention_sm90_row<128, 128, T>(),
                      attention_sm90_row<192, 128, T>(), attention_sm90_row<256, 256, T>()};
  return rows;
}

}  // namespace kaio::ops
