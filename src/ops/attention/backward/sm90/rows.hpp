#pragma once
// The rows of the backward kernels for sm_90a in the table, for one element type.

#include <kaio/ops/attention/backward/sm90/table_row.hpp>
#include <kaio/ops/attention/common/biased_score.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ops/attention/backward/choice/table.hpp"

namespace kaio::ops {

template <std::uint32_t Depth, scalar T, class Score>
void run_attention_backward_sm90(const stream& s, const attention_backward_call& call) {
  launch_attention_backward_sm90<attention_backward_sm90_shape<Depth, Score>, T, Score, band_mask>(s, call);
  run_attention_backward_simt(s, call, Depth);  // where there are flags
}

template <std::uint32_t Depth, scalar T, class Score>
attention_backward_variant attention_backward_sm90_row() {
  auto row =
      describe_attention_backward_sm90<attention_backward_sm90_shape<Depth, Score>, T, Score, band_mask>();
  row.run = run_attention_backward_sm90<Depth, T, Score>;
  const attention_backward_variant& again = attention_backward_simt_row(Depth);
  row.images[2] = again.images[0];
  row.images[3] = again.images[1];
  return row;
}

template <scalar T>
std::span<const attention_backward_variant> attention_backward_sm90_rows() {
  static const auto& rows = *new std::array{attention_backward_sm90_row<64, T, plain_score>(),
                                            attention_backward_sm90_row<64, T, general_score>(),
                                            attention_backward_sm90_row<128, T, plain_score>(),
                                            attention_backward_sm90_row<128, T, general_score>(),
                                            attention_backward_sm90_row<256, T, plain_score>(),
                                            attention_backward_sm90_row<256, T, general_score>(),
                                            attention_backward_sm90_row<64, T, biased_score>(),
                                            attention_backward_sm90_row<128, T, biased_score>()};
  return rows;
}

}  // namespace kaio::ops
