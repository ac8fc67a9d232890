#pragma once
// The rows of the kernels of multiply-adds in the table, for one element type.

#include <kaio/ops/attention/simt/table_row.hpp>

#include <array>

#include "ops/attention/choice/table.hpp"

namespace kaio::ops {

template <attention_simt_config Config, scalar T, class Mask>
attention_variant attention_simt_row() {
  using score = std::conditional_t<is_block_sparse<Mask>, general_score, biased_score>;
  attention_variant result = describe_attention_simt<Config, T, score, Mask>();
  result.run = launch_attention_simt<Config, T, score, Mask>;
  return result;
}

template <scalar T, class Mask = band_mask>
std::span<const attention_variant> attention_simt_rows() {
  static const auto& rows = *new std::array{attention_simt_row<attention_simt_for(64), T, Mask>(),
                                            attention_simt_row<attention_simt_for(128), T, Mask>(),
                                            attention_simt_row<attention_simt_for(256), T, Mask>(),
                                            attention_simt_row<attention_simt_for(512), T, Mask>(),
                                            attention_simt_row<attention_simt_small, T, Mask>()};
  return rows;
}

}  // namespace kaio::ops
