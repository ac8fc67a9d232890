#pragma once
// The rows of the kernels of multiply-adds in the table.

#include <kaio/ops/attention/simt/table_row.hpp>

#include <array>

#include "ops/attention/choice/table.hpp"

namespace kaio::ops {

template <attention_simt_config Config, class Mask>
attention_variant attention_simt_row() {
  attention_variant row = describe_attention_simt<Config, general_score, Mask>();
  row.run = launch_attention_simt<Config, general_score, Mask>;
  return row;
}

template <class Mask = band_mask>
std::span<const attention_variant> attention_simt_rows() {
  // The last one is for devices whose blocks have 64 KB of shared memory (sm_75).
  static const auto& rows = *new std::array{
      attention_simt_row<attention_simt_for(64), Mask>(), attention_simt_row<attention_simt_for(128), Mask>(),
      attention_simt_row<attention_simt_for(256), Mask>(),
      attention_simt_row<attention_simt_config{.depth = 256, .tile = 16}, Mask>()};
  return rows;
}

}  // namespace kaio::ops
