#pragma once
// Parts of views whose rank and type are values.

#include <kaio/ops/distributed/layout.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/runtime/buffer.hpp>

#include <cstdint>
#include <span>
#include <string_view>

#include "ops/distributed/common/call.hpp"

namespace kaio::ops::detail {

// Elements [first, first + count) along a dimension.
template <class View>
View part_of(const View& v, std::uint32_t dimension, std::int64_t first, std::int64_t count) {
  View part = v;
  const std::uint64_t offset = static_cast<std::uint64_t>(first * v.strides[dimension]) * v.element_bytes();
  part.address += offset;
  part.bytes -= offset < part.bytes ? offset : part.bytes;
  part.extents[dimension] = count;
  return part;
}

// Rows of one batch of (B, rows, ...) without gaps, as one run of elements.
inline any_view rows_of_batch(const any_view& v, std::int64_t batch, std::int64_t first, std::int64_t count) {
  any_view rows = part_of(part_of(v, 0, batch, 1), 1, first, count);
  std::int64_t elements = count;
  for (std::uint32_t d = 2; d < v.rank; ++d) elements *= v.extents[d];
  rows.rank = 1;
  rows.extents = {elements};
  rows.strides = {1};
  rows.bytes = static_cast<std::uint64_t>(elements) * v.element_bytes();
  return rows;
}

inline std::int64_t count_of_rows(std::span<const context_rows> rows) {
  std::int64_t count = 0;
  for (const context_rows& r : rows) count += r.count;
  return count;
}

inline std::int64_t count_of_lengths(std::span<const std::int64_t> lengths) {
  std::int64_t count = 0;
  for (const std::int64_t n : lengths) count += n;
  return count;
}
// Throws invalid_argument: a length is negative, or all make more than 2^31 - 1 rows.
void check_lengths(std::string_view operation, std::span<const std::int64_t> lengths);
// What ranks compare instead of all lengths: transports carry few numbers.
std::int64_t hash_of_lengths(std::span<const std::int64_t> lengths);

// Row by row, without gaps.
inline bool is_dense(const any_view& v) {
  if (v.empty()) return true;
  std::int64_t next = 1;
  for (std::uint32_t d = v.rank; d-- > 0; next *= v.extents[d])
    if (v.extents[d] > 1 && v.strides[d] != next) return false;
  return true;
}

inline runtime::device_pointer<u8> memory_of(const any_view& v) {
  return {v.address, static_cast<std::size_t>(bytes_of(v)), v.device};
}

}  // namespace kaio::ops::detail
