#pragma once
// Which tile of y and which split of K a block of matmul_w4 for sm_90a has, and the rows of x that it copies.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/shared.hpp>

#include <cstdint>

namespace kaio::ops {

// The tile of 32 columns, from the block's first one on, of which a consumer warp has a half. Warps beyond the last
// column repeat the last tile; their sums are not stored.
constexpr val<u32> w4_tile_of_warp(thread t, const val<w4_problem>& problem, const w4_sm90_steps& steps,
                                   const val<u32>& warp) {
  const val here = t.let(problem[&w4_problem::w][&w4_packed::tiles_n] - steps.first_tile_n);
  return t.let(min(warp / 2u, here - 1u));
}

// Tiles are counted by splits of K first, then by rows.
template <w4_sm90_config C, class Dequantisation, scalar T>
struct w4_sm90_place {
  static constexpr w4_sm90_tile find_tile(thread t, const val<w4_problem>& problem, const val<u32>& index) {
    const val splits = t.let(problem[&w4_problem::splits]);
    const val of_tile = t.let(index / splits);
    const val split = t.let(index - of_tile * splits);
    const quotient tile = divide(t, of_tile, problem[&w4_problem::m_tiles]);
    const val row = t.let(tile.rest * w4_sm90_rows_of<C>(problem)), column = t.let(tile.whole * C.columns());
    return {split, row, column, rows_to_copy(t, problem, row)};
  }
  static constexpr w4_sm90_steps find_steps(thread t, const val<w4_problem>& problem,
                                            const w4_sm90_tile& tile) {
    const val first_tile_n = t.let(tile.column / w4_tile_n);
    const val steps = t.let(problem[&w4_problem::steps]), rest = t.let(problem[&w4_problem::rest]);
    const val first = t.let(tile.split * steps + min(tile.split, rest));
    const val last = t.let(first + steps + select(tile.split < rest, 1u, 0u));
    return {first_tile_n, first, last};
  }
  static constexpr val<u32> rows_to_copy(thread t, const val<w4_problem>& problem, const val<u32>& row) {
    const auto rows = w4_sm90_rows_of<C>(problem);
    const auto existing = (problem[&w4_problem::m] - row + 7u) / 8u * 8u;
    if constexpr (!C.has_edge())
      return t.let(rows);
    else if constexpr (C.least_rows > C.most_without_edge || C.least_rows == 0)
      return t.let(min(rows, existing));
    else
      return t.let(select(rows > C.most_without_edge, min(rows, existing), rows));
  }
  // The rows that the last tile of rows copies.
  static constexpr val<u32> rows_of_last(thread t, const val<w4_problem>& problem) {
    const val before =
        t.let((problem[&w4_problem::m_tiles][&divisor::value] - 1u) * w4_sm90_rows_of<C>(problem));
    return rows_to_copy(t, problem, before);
  }
  // Clears the rows of x that no copy writes, so that all operands have values.
  static constexpr void clear_beyond(thread t, const w4_sm90_shared<C, Dequantisation, T>& shared,
                                     const val<u32>& rows) {
    const auto all = shared_tile<u32, C.stages * C.tiles * C.rows, pieces * 4>::over(shared.x);
    if (auto some = t.when(rows != C.rows)) {
      for (auto tile : t.range(0u, C.stages * C.tiles).no_unroll()) {
        const val first = t.let(tile * C.rows + rows), count = t.let((C.rows - rows) * pieces);
        clear(t, all, first, count);
      }
      fence_proxy_async(t);
    }
  }
  static constexpr void clear_beyond(thread t, const w4_sm90_stages<C, Dequantisation, T>& shared,
                                     const val<w4_problem>& problem, const val<u32>& rows) {
    const auto all = shared_tile<u32, C.room, pieces * 4>::over(shared.x);
    const val tile_rows = t.let(problem[&w4_problem::tile_rows]);
    if (auto some = t.when(rows != tile_rows)) {
      const val count = t.let((tile_rows - rows) * pieces);
      for (auto stage : t.range(0u, shared.stages).no_unroll())
        for (u32 k = 0; k < C.tiles; ++k) {
          const val first = t.let(stage * shared.stage_lines + (C.head + k * tile_rows + rows));
          clear(t, all, first, count);
        }
      fence_proxy_async(t);
    }
  }

 private:
  static constexpr u32 pieces = 8;  // pieces of 16 bytes per row

  // Clears pieces from row `first` on.
  template <class Rows>
  static constexpr void clear(thread t, const Rows& all, const val<u32>& first, const val<u32>& count) {
    const val zero = t.let(0u);
    for (auto i : t.range(t.thread_rank(), count, C.threads()).no_unroll())
      store_vec(all[first + i / pieces][i % pieces * 4], make_vec(zero, zero, zero, zero));
  }
};

}  // namespace kaio::ops
