#pragma once
// The last step of a matmul whose sums lie in shared memory: the epilogue, and the store to C in groups of four
// neighbours, so that a warp writes whole sectors.

#include <kaio/ops/matmul/epilogue.hpp>

#include <cstdint>

namespace kaio::ops {

// C as it lies in memory: rows of neighbours.
struct output_lines {
  i64 pitch, batch_pitch;  // elements from row to row, from matrix to matrix
  u32 rows, columns;
  u32 by_four;  // 1 where four neighbours from a multiple of four on may be stored at once
};

// Four neighbours from `first` on, whose row exists and whose column is a multiple of four, into C; what lies
// behind its columns is dropped.
template <scalar Out>
constexpr void store_four(thread t, const out<Out>& c, const val<output_lines>& lines, const place& first,
                          const dsl::register_array<val<f32>, 4>& x) {
  const val columns = t.let(lines[&output_lines::columns]);
  const auto y = array_of<4>([&](u32 i) { return t.let(cast<Out>(x[i])); });
  const val at = t.let(cast<i64>(first.batch) * lines[&output_lines::batch_pitch] +
                       cast<i64>(first.row) * lines[&output_lines::pitch] + cast<i64>(first.column));
  const val whole = t.let(all_of(lines[&output_lines::by_four] != 0u, first.column + 3u < columns));
  if (auto together = t.when(whole)) store_vec(c[at], make_vec(y[0], y[1], y[2], y[3]));
  if (auto one_by_one = t.otherwise()) {
    for (u32 i = 0; i < 4; ++i)
      if (auto exists = t.when(first.column + i < columns)) c[at + i] = y[i];
  }
}

// store(y) of y = epilogue(x[i]) for four neighbours from `first` on, whose column is a multiple of four.
// What lies outside of C is dropped; the epilogue sees places inside only.
template <class Epilogue, class Store, class... Extra>
constexpr void finish_four_by(thread t, const Store& store, const val<output_lines>& lines,
                              const place& first, const dsl::register_array<val<f32>, 4>& x,
                              const Extra&... extra) {
  const val rows = t.let(lines[&output_lines::rows]);
  const val columns = t.let(lines[&output_lines::columns]);
  if (auto inside = t.when(all_of(first.row < rows, first.column < columns))) {
    store(array_of<4>([&](u32 i) {
      const val column = t.let(min(first.column + i, columns - 1u));
      return t.let(Epilogue{}(t, x[i], place{first.batch, first.row, column}, extra...));
    }));
  }
}

// The same into C.
template <class Epilogue, scalar Out, class... Extra>
constexpr void finish_four(thread t, const out<Out>& c, const val<output_lines>& lines, const place& first,
                           const dsl::register_array<val<f32>, 4>& x, const Extra&... extra) {
  finish_four_by<Epilogue>(
      t, [&](const auto& y) { store_four(t, c, lines, first, y); }, lines, first, x, extra...);
}

}  // namespace kaio::ops
