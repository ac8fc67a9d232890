#pragma once
// The place of a block of matmul_w4, and of each of its warps.

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

struct w4_block {
  val<u32> split;
  val<u32> row, column;  // first row and column of y
  val<u32> first, last;  // tiles of K
  val<u32> warp_n, warp_k;
  val<u32> tile_n;  // tile of the warp along N; it may be beyond the last one
};

// The place of a block if all rows of x fit in one block.
struct w4_place_of_block {
  val<u32> split, column;
};

// Places the block where End::place says. Without End::place, blocks count rows of x first, then columns,
// then splits of K. With End::part_in_cluster the splits may also be the blocks of a cluster.
template <auto C, class End>
constexpr w4_block find_w4_block(thread t, const val<w4_problem>& problem, const End& end) {
  const auto at = [&](const val<u32>& split, const val<u32>& row, const val<u32>& column) -> w4_block {
    const val steps = t.let(problem[&w4_problem::steps]), rest = t.let(problem[&w4_problem::rest]);
    const val first = t.let(split * steps + min(split, rest));
    const val last = t.let(first + steps + select(split < rest, 1u, 0u));
    const val warp = t.let(t.warp_rank());
    const val warp_n = t.let(warp % C.warps_n), warp_k = t.let(warp / C.warps_n);
    const val tile_n = end.tile_of_warp(t, problem, column, warp_n);
    return {split, row, column, first, last, warp_n, warp_k, tile_n};
  };
  if constexpr (requires { end.place(t); }) {
    const w4_place_of_block place = end.place(t);
    return at(place.split, t.let(0u), place.column);
  } else {
    const auto index = [&] {
      if constexpr (requires { end.split_in_cluster(t); })
        return t.let(cluster_idx_x());
      else
        return t.let(block_idx_x());
    }();
    const quotient rows = divide(t, index, problem[&w4_problem::m_tiles]);
    const quotient columns = divide(t, rows.whole, problem[&w4_problem::n_tiles]);
    const val row = t.let(rows.rest * C.rows), column = t.let(columns.rest * C.columns());
    if constexpr (requires { end.split_in_cluster(t); })
      return at(t.let(columns.whole + end.split_in_cluster(t)), row, column);
    else
      return at(columns.whole, row, column);
  }
}

}  // namespace kaio::ops
