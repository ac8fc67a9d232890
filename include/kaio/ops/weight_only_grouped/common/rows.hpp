#pragma once
// The rows of x that a tile of a grouped product reads: those of its group, or those that an index names.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/rows.hpp>
#include <kaio/ops/weight_only_grouped/common/group.hpp>

namespace kaio::ops {

// Rows count from the tile's first one (w4_rows_in_order has the members).
struct w4_grouped_rows {
  const val<w4_grouped_problem>& all;
  const grouped_tile& tile;

  constexpr val<u32> source(thread t, const val<u32>& row) const {
    const val at = t.let(tile.row + row);
    var result(t, ~0u);
    if (auto inside = t.when(at < tile.end)) result = of_tile(t, row);
    return t.let(result);
  }
  // For a row of the tile.
  constexpr val<u32> of_tile(thread t, const val<u32>& row) const {
    return grouped_gather::source(t, all[&w4_grouped_problem::gather], t.let(tile.row + row));
  }
  constexpr val<u32> end(thread t, const val<u32>&) const {
    return t.let(all[&w4_grouped_problem::gather][&grouped_gather::count]);
  }
};

}  // namespace kaio::ops
