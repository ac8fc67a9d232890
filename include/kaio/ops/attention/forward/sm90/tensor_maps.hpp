#pragma once
// The tensor maps of the kernels for sm_90a.

#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/attention/forward/call/call.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>
#include <kaio/runtime/stream.hpp>
#include <kaio/runtime/tensor_map.hpp>

#include <cstdint>

namespace kaio::ops {

// Rows of a head for tensor copies: (element, row, head, batch), in boxes of `box_columns` elements x
// `box_rows`.
template <scalar T>
encoded_tensor_map<T, 4> attention_map(const stream& s, const attention_operand& x,
                                       const attention_strides& strides, std::uint32_t size,
                                       std::uint32_t box_rows,
                                       std::uint32_t box_columns = attention_sm90_config::panel) {
  // Along an extent of 1 any stride is right.
  const auto stride = [](i64 elements, std::uint32_t extent) {
    return extent == 1 ? std::uint64_t{16} : static_cast<std::uint64_t>(elements);
  };
  return tiled_tensor_map<4>(s, memory_of<T>(x),
                             {.extents = {size, x.rows, x.heads, x.batches},
                              .strides = {stride(strides.row, x.rows), stride(strides.head, x.heads),
                                          stride(strides.batch, x.batches)},
                              .box = {box_columns, box_rows, 1, 1},
                              .swizzle = tensor_swizzle::bytes_128,
                              .promotion = l2_promotion::bytes_256});
}

// The map for the last elements of rows that are no multiple of 64, in boxes of their width. Otherwise
// `whole`, which is then unused.
template <scalar T>
encoded_tensor_map<T, 4> attention_rest_map(const stream& s, const attention_operand& x,
                                            const attention_strides& strides, std::uint32_t size,
                                            std::uint32_t box_rows, const encoded_tensor_map<T, 4>& whole) {
  const std::uint32_t rest = size % attention_sm90_config::panel;
  return rest == 0 ? whole : attention_map<T>(s, x, strides, size, box_rows, rest);
}

}  // namespace kaio::ops
