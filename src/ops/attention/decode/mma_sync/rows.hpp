#pragma once
// The rows of the kernels of attention_decode with matrix instructions of a warp in the table, for one
// element type.

#include <kaio/ops/attention/decode/mma_sync/table_row.hpp>
#include <kaio/ops/attention/decode/sm90/table_row.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

template <attention_decode_config C, scalar T>
attention_decode_variant attention_decode_mma_row() {
  attention_decode_variant row = describe_attention_decode_mma<C, T>();
  row.run = launch_attention_decode_mma<C, T>;
  return row;
}

// In the order in which they are preferred: of a head size that has kernels of its own, those for sm_80 come before
// what is made for larger heads.
template <scalar T>
std::span<const attention_decode_variant> attention_decode_mma_rows() {
  static const auto& rows =
      *new std::array{describe_attention_decode_sm90<attention_decode_short_sm90(64), T>(),
                      describe_attention_decode_sm90<attention_decode_short_sm90(128), T>(),
                      attention_decode_mma_row<attention_decode_few(64), T>(),
                      attention_decode_mma_row<attention_decode_few(128), T>(),
                      attention_decode_mma_row<attention_decode_few_sm90(256), T>(),
                      attention_decode_mma_row<attention_decode_few(256), T>(),
                      attention_decode_mma_row<attention_decode_many(64), T>(),
                      attention_decode_mma_row<attention_decode_many(128), T>(),
                      attention_decode_mma_row<attention_decode_many(256), T>()};
  return rows;
}

}  // namespace kaio::ops
