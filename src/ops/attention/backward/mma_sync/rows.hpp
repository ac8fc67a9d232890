#pragma once
// The rows of the backward kernels with matrix instructions of a warp in the table, for one element type.

#include <kaio/ops/attention/backward/mma_sync/table_row.hpp>
#include <kaio/ops/attention/common/biased_score.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/backward/choice/table.hpp"

namespace kaio::ops {

template <std::uint32_t Depth, scalar T>
void run_attention_backward_mma(const stream& s, const attention_backward_call& call) {
  run_attention_backward_simt(
      s,
      launch_attention_backward_mma<attention_backward_mma_keys(Depth), attention_backward_mma_queries(Depth),
                                    T, biased_score, band_mask>(s, call),
      Depth);
}

template <std::uint32_t Depth, scalar T>
attention_backward_variant attention_backward_mma_row() {
  auto row =
      describe_attention_backward_mma<attention_backward_mma_keys(Depth),
                                      attention_backward_mma_queries(Depth), T, biased_score, band_mask>();
  row.run = run_attention_backward_mma<Depth, T>;
  const attention_backward_variant& again = attention_backward_simt_row(Depth);
  row.images[2] = again.images[0];
  row.images[3] = again.images[1];
  return row;
}

template <scalar T>
std::span<const attention_backward_variant> attention_backward_mma_rows() {
  static const auto& rows =
      *new std::array{attention_backward_mma_row<64, T>(), attention_backward_mma_row<128, T>(),
                      attention_backward_mma_row<256, T>()};
  return rows;
}

}  // namespace kaio::ops
