#pragma once
// C as kernels store it, and the number of rows that a thread finishes together. output.hpp has the store
// with the epilogue.

#include <kaio/ops/matmul/common/epilogue.hpp>

#include <cstdint>

namespace kaio::ops {

// C as it is stored: rows of neighbours.
struct output_lines {
  i64 pitch, batch_pitch;  // elements from row to row, from matrix to matrix
  u32 rows, columns;
  u32 by_four;  // 1: columns 4q to 4q + 3 may be stored at once
};

// The offset of a place of C, in elements.
constexpr val<i64> offset_in(thread t, const val<output_lines>& lines, const place& at) {
  return t.let(cast<i64>(at.batch) * lines[&output_lines::batch_pitch] +
               cast<i64>(at.row) * lines[&output_lines::pitch] + cast<i64>(at.column));
}

// The most rows that a thread finishes together. It is above 1 if the epilogue has `static constexpr bool
// takes_strips = true`; its function `several` then makes the results of a strip.
template <class Epilogue>
inline constexpr std::uint32_t rows_at_once = [] {
  if constexpr (requires { Epilogue::takes_strips; })
    return 4u;
  else
    return 1u;
}();
// A number of rows up to that and up to `most` that divides `rows`.
template <class Epilogue>
constexpr std::uint32_t rows_at_once_of(std::uint32_t rows, std::uint32_t most = 4) {
  std::uint32_t result = rows_at_once<Epilogue> < most ? rows_at_once<Epilogue> : most;
  while (rows % result != 0) result /= 2;
  return result;
}

}  // namespace kaio::ops
