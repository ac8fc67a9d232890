#pragma once
// The steps of the heads of one tile of the product, for kernels with its sums in shared memory. The columns
// of a tile are whole heads: 128 columns are two heads of 64 or one of 128. Eight lanes (four for heads of
// 64) have a row of a head. `Rows` is what matmul/mma_sync/tile_rows.hpp gives an epilogue.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/qkv_project/common/head.hpp>

#include <cstdint>

namespace kaio::ops {

// Calls of_head(i, r, row, column) for each row of a head, which begins at column `column` of row r of the
// tile. All lanes of a warp call it, also for rows that do not exist. i numbers the lanes of all heads.
template <class Rows, class OfHead>
constexpr void for_heads_of_tile(thread t, const Rows& rows, const val<qkv_problem>& problem,
                                 const OfHead& of_head) {
  constexpr u32 units = Rows::columns / (2 * run_size);  // units in a row of the tile
  static_assert(Rows::count * units % 32 == 0, "kaio: warps have whole rows of heads");
  const auto append = problem[&qkv_problem::append];
  const val lanes_log = t.let(append[&append_problem::lanes_log]);
  const val lanes = t.let(val<u32>(1u) << lanes_log);
  const val first = t.let(rows.column >> (lanes_log + 4u));  // first head of the tile
  const val tokens = t.let(append[&append_problem::tokens]);
  const val heads = t.let(problem[&qkv_problem::heads]);
  const val all_tokens = t.let(problem[&qkv_problem::all_tokens]);
  for (auto i : t.range(rows.rank, Rows::count * units, Rows::threads).no_unroll()) {
    const val r = t.let(i / units), of_row = t.let(i % units);
    const val head = t.let(of_row >> lanes_log), lane = t.let(of_row & (lanes - 1u));
    const val of_all = rows.row(r);
    const val index = t.let(first + head);
    const val exists = t.let(all_of(of_all < all_tokens, index < heads));
    const val batch = t.let(of_all / tokens);
    const val token = t.let(of_all - batch * tokens);
    const head_row row = find_head(t, problem, exists, batch, token, index, lane, lanes);
    const val column = t.let(head << (lanes_log + 4u));
    of_head(i, r, row, column);
  }
}

// load(unit, x) of finish_head: the sums of a unit of a head that begins at column `column` of row r of the
// tile.
template <class Rows>
constexpr auto load_from_tile(thread t, const Rows& rows, const val<u32>& r, const val<u32>& column) {
  return [t, &rows, &r, &column](const row_unit& unit, auto& x) {
    for (u32 split = 0; split < 4; ++split) {
      const val c = t.let(column + unit.first[split / 2] + split % 2 * 4);
      const auto four = rows.four(r, c);
      for (u32 e = 0; e < 4; ++e) x[split * 4 + e] = four[e];
    }
  };
}

// The epilogue of a product: all steps of its heads.
template <class T>
struct qkv_rows {
  static constexpr bool takes_rows = true;

  template <class Rows>
  static constexpr void rows(thread t, const Rows& rows, const val<qkv_problem>& problem) {
    for_heads_of_tile(
        t, rows, problem, [&](const auto&, const val<u32>& r, const head_row& row, const val<u32>& column) {
          finish_head<whole_elements<T>, sums_are::f32>(t, problem, row, load_from_tile(t, rows, r, column));
        });
  }
};

}  // namespace kaio::ops
