#pragma once
// The table's rows of the kernels for sm_90a, for one element type.

#include <kaio/ops/attention/common/pair_biased_score.hpp>
#include <kaio/ops/attention/forward/sm90/table_row.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

#include "ops/attention/forward/choice/table.hpp"

namespace kaio::ops {

template <attention_sm90_config C, scalar T, class Score, class Mask = band_mask>
attention_variant attention_sm90_row() {
  attention_variant row = describe_attention_sm90<C, T, Score, Mask>();
  row.run = launch_attention_sm90<C, T, Score, Mask>;
  return row;
}
template <std::uint32_t DepthQk, std::uint32_t DepthV, scalar T, class Score>
attention_variant attention_sm90_row() {
  return attention_sm90_row<attention_sm90_for(DepthQk, DepthV, std::is_same_v<Score, plain_score>), T,
                            Score>();
}
template <std::uint32_t DepthQk, std::uint32_t DepthV, scalar T>
attention_variant attention_sm90_blocks_row() {
  return attention_sm90_row<attention_sm90_for(DepthQk, DepthV, false, true), T, general_score,
                            block_sparse<band_mask>>();
}

template <std::uint32_t Depth, scalar T>
attention_variant attention_sm90_biased_row() {
  return attention_sm90_row<attention_sm90_biased_for(Depth), T, pair_biased_score>();
}

template <scalar T>
std::span<const attention_variant> attention_sm90_rows() {
  static const auto& rows = *new std::array{attention_sm90_row<64, 64, T, plain_score>(),
                                            attention_sm90_row<attention_sm90_short_64, T, plain_score>(),
                                            attention_sm90_row<attention_sm90_few_64, T, plain_score>(),
                                            attention_sm90_row<64, 64, T, general_score>(),
                                            attention_sm90_row<attention_sm90_long_128, T, plain_score>(),
                                            attention_sm90_row<128, 128, T, plain_score>(),
                                            attention_sm90_row<attention_sm90_few_128, T, plain_score>(),
                                            attention_sm90_row<128, 128, T, general_score>(),
                                            attention_sm90_row<192, 128, T, plain_score>(),
                                            attention_sm90_row<192, 128, T, general_score>(),
                                            attention_sm90_row<256, 256, T, plain_score>(),
                                            attention_sm90_row<attention_sm90_short_256, T, plain_score>(),
                                            attention_sm90_row<attention_sm90_few_256, T, plain_score>(),
                                            attention_sm90_row<256, 256, T, general_score>(),
                                            attention_sm90_biased_row<64, T>(),
                                            attention_sm90_biased_row<128, T>(),
                                            attention_sm90_biased_row<256, T>()};
  return rows;
}

template <scalar T>
std::span<const attention_variant> attention_sm90_blocks_rows() {
  static const auto& rows =
      *new std::array{attention_sm90_blocks_row<64, 64, T>(), attention_sm90_blocks_row<128, 128, T>(),
                      attention_sm90_blocks_row<192, 128, T>(), attention_sm90_blocks_row<256, 256, T>()};
  return rows;
}

}  // namespace kaio::ops
