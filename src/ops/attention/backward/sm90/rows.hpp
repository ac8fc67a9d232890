#pragma once
// The rows of the backward kernels for sm_90a in the table, for one element type.

#include <kaio/ops/attention/backward/sm90/table_row.hpp>
#include <kaio/ops/attention/common/biased_score.hpp>

#include <array>
#include <cstdint>
#include <vector>

#include "ops/attention/backward/choice/table.hpp"

namespace kaio::ops {

template <std::uint32_t Depth, scalar T, class Score>
void run_attention_backward_sm90(const stream& s, const attention_backward_call& call) {
  launch_attention_backward_sm90<attention_backward_sm90_shape<Depth, Score>, T, Score, band_mask>(s, call);
  run_attention_backward_last(s, call);
}

// A row without the last kernel.
template <std::uint32_t Depth, scalar T, class Score>
attention_backward_variant attention_backward_sm90_own() {
  return describe_attention_backward_sm90<attention_backward_sm90_shape<Depth, Score>, T, Score, band_mask>();
}

template <std::uint32_t Depth, scalar T, class Score>
attention_backward_variant attention_backward_sm90_row() {
  auto row = attention_backward_sm90_own<Depth, T, Score>();
  row.run = run_attention_backward_sm90<Depth, T, Score>;
  row.images[1] = &attention_backward_last_image();
  return row;
}

// Calls make.operator()<Depth, Score>() for each row.
template <class Make>
auto for_attention_backward_sm90(const Make& make) {
  return std::array{
      make.template operator()<64, plain_score>(),    make.template operator()<64, general_score>(),
      make.template operator()<96, plain_score>(),    make.template operator()<128, plain_score>(),
      make.template operator()<128, general_score>(), make.template operator()<256, plain_score>(),
      make.template operator()<256, general_score>(), make.template operator()<64, biased_score>(),
      make.template operator()<128, biased_score>()};
}

template <scalar T>
std::span<const attention_backward_variant> attention_backward_sm90_rows() {
  static const auto& rows = *new auto(for_attention_backward_sm90(
      []<std::uint32_t Depth, class Score>() { return attention_backward_sm90_row<Depth, T, Score>(); }));
  return rows;
}

template <scalar T>
void list_attention_backward_sm90(std::vector<const ptx::kernel_image*>& list) {
  const auto own = for_attention_backward_sm90(
      []<std::uint32_t Depth, class Score>() { return attention_backward_sm90_own<Depth, T, Score>(); });
  for (const attention_backward_variant& v : own) list.push_back(v.images[0]);
}

}  // namespace kaio::ops
