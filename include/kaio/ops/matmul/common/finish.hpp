#pragma once
// The last step of a matmul whose sums are in shared memory: the store to C in groups of four neighbours, so
// that a warp writes whole sectors. output.hpp has it with the epilogue.

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

// A result of an epilogue as an element of C. An epilogue may give results of a type of its own, with a function of
// this name next to it.
template <scalar Out>
constexpr val<Out> rounded(thread t, const val<f32>& x) {
  return t.let(cast<Out>(x));
}

// Four neighbours from `first` on, which exists and whose column is a multiple of four, into C; those past
// its columns are dropped. `offset`: that of `first`.
template <scalar Out, class Result>
constexpr void store_four(thread t, const out<Out>& c, const val<output_lines>& lines, const place& first,
                          const val<i64>& offset, const dsl::register_array<Result, 4>& x) {
  const val columns = t.let(lines[&output_lines::columns]);
  const auto y = array_of<4>([&](u32 i) { return rounded<Out>(t, x[i]); });
  const out four = c.from(offset);
  const val whole = t.let(all_of(lines[&output_lines::by_four] != 0u, first.column + 3u < columns));
  if (auto together = t.when(whole)) store_vec(four[0], make_vec(y[0], y[1], y[2], y[3]));
  if (auto one_by_one = t.otherwise()) {
    four[0] = y[0];
    for (u32 i = 1; i < 4; ++i)
      if (auto exists = t.when(first.column + i < columns)) four[i] = y[i];
  }
}

}  // namespace kaio::ops
