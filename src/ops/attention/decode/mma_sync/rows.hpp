#pragma once
// The rows of the kernels of attention_decode with matrix instructions of a warp in the table, for one
// element type.

#include <kaio/ops/attention/decode/mma_sync/kernel.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

template <attention_decode_config C, scalar T>
attention_decode_variant attention_decode_mma_row() {
  return {.image = &attention_decode_mma<C, T>.image(),
          .run =
              [](const stream& s, const attention_decode_call& call, std::uint64_t blocks) {
                attention_decode_mma<C, T>.launch(s, grid(blocks), call.problem, call.cache, call.split,
                                                  call.terms, call.band);
              },
          .type = detail::attention_type_of<T>(),
          .copies_rows = true,
          .depth = C.depth,
          .rows = C.rows,
          .most_rows = C.rows == 16 ? 16u : 0u,
          .keys = C.keys,
          .resident = C.min_blocks};
}

template <scalar T>
std::span<const attention_decode_variant> attention_decode_mma_rows() {
  static const auto& rows = *new std::array{attention_decode_mma_row<attention_decode_few(64), T>(),
                                            attention_decode_mma_row<attention_decode_few(128), T>(),
                                            attention_decode_mma_row<attention_decode_few(256), T>(),
                                            attention_decode_mma_row<attention_decode_many(64), T>(),
                                            attention_decode_mma_row<attention_decode_many(128), T>(),
                                            attention_decode_mma_row<attention_decode_many(256), T>()};
  return rows;
}

}  // namespace kaio::ops
