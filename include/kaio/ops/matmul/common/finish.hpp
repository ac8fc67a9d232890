#pragma once
// C as the kernels store it, and how many rows of it a thread finishes together. output.hpp has the store with the
// epilogue.

#include <kaio/ops/matmul/common/epilogue.hpp>

#include <cstdint>

namespace kaio::ops {

// C as it is stored: rows of neighbours.
struct output_lines {
  i64 pitch, batch_pitch;  // elements from row to row, from matrix to matrix
  u32 rows, columns;
  u32 by_four;  // 1 where four neighbours from a multiple of four on may be stored at once
};

// The offset of a place of C, in elements.
constexpr val<i64> offset_in(thread t, const val<output_lines>& lines, const place& at) {
  return t.let(cast<i64>(at.batch) * lines[&output_lines::batch_pitch] +
               cast<i64>(at.row) * lines[&output_lines::pitch] + cast<i64>(at.column));
}

// How many rows a thread finishes together at most: several where the epilogue has `static constexpr bool takes_strips
// = true`, whose function `several` then makes the results of a strip.
template <class Epilogue>
inline constexpr std::uint32_t rows_together = [] {
  if constexpr (requires { Epilogue::takes_strips; })
    return 4u;
  else
    return 1u;
}();
// As many, `most` at most, as divide `rows`.
template <class Epilogue>
constexpr std::uint32_t rows_together_of(std::uint32_t rows, std::uint32_t most = 4) {
  std::uint32_t result = rows_together<Epilogue> < most ? rows_together<Epilogue> : most;
  while (rows % result != 0) result /= 2;
  return result;
}

}  // namespace kaio::ops
