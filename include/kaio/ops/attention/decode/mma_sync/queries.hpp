#pragma once
// Loads the rows of Q of a block of attention_decode to shared memory, by asynchronous copies.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>

#include <cstdint>

namespace kaio::ops {

// Loads all rows of the tile; rows that do not exist become zero. Commits a group of copies.
template <scalar T, std::uint32_t Rows, std::uint32_t Depth, class Layout>
constexpr void load_decode_queries(thread t, const shared_tile<T, Rows, Depth, Layout>& to,
                                   const val<attention_problem>& problem, const val<attention_split>& split,
                                   const decode_block& block) {
  constexpr std::uint32_t piece = 16 / sizeof(T);
  const val size = t.let(problem[&attention_problem::qk_size]);
  const val rows = rows_of_sequence(t, split, block);
  const val by_16 = t.let(problem[&attention_problem::q][&attention_strides::by_16]);
  const auto each = [&](std::uint32_t step, const auto& f) {
    for (auto i : t.block_stride(Rows * Depth / step).no_unroll()) {
      const val row = t.let(i / (Depth / step)), column = t.let(i % (Depth / step) * step);
      const val packed = t.let(block.first_row + row);
      const decode_row at = find_row(t, split, block, t.let(min(packed, rows - 1u)));
      const val exists = t.let(all_of(packed < rows, column < size));
      f(row, column, exists, queries_of<T>(t, problem, block, at));
    }
  };
  if (auto fast = t.when(by_16 != 0u))
    each(piece, [&](const auto& row, const auto& column, const auto& exists, const in<T>& from) {
      cp_async<16>(to[row][column], from.from(cast<i64>(column))[0], exists);
    });
  if (auto slow = t.otherwise())
    each(1, [&](const auto& row, const auto& column, const auto& exists, const in<T>& from) {
      var x(t, cast<T>(t.let(0.0f)));
      if (auto has = t.when(exists)) x = from[column];
      to[row][column] = x;
    });
  cp_async_commit_group(t);
}

}  // namespace kaio::ops
