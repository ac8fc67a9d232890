#pragma once
// Finds the tile of a block in one pass over 128 groups, for kernels whose blocks are short. A lane reads the
// offsets of four groups at once, so that a search among 128 groups waits for memory once. The tiles of a
// column of W come first: its groups of more rows than a tile read the weights from L2.
//
//   lane          0          1          2
//   groups        0 1 2 3    4 5 6 7    8 ...      tiles of the lane's groups
//   up to lane    5          6          9          the first lane beyond the wanted tile

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>
#include <kaio/ops/shared/divisor.hpp>

#include <cstdint>

namespace kaio::ops {

// All lanes of a warp take part.
template <std::uint32_t Rows, class Tiles>
constexpr grouped_tile find_grouped_tile(thread t, const Tiles& of, const val<u32>& index) {
  constexpr u32 of_lane = 4;
  const val groups = t.let(of[&grouped_tiles::groups]), rows = t.let(of[&grouped_tiles::rows]);
  const quotient wanted = divide(t, index, of[&grouped_tiles::of_n]);
  const auto offsets = pointer_at<in<u32>>(t, t.let(of[&grouped_tiles::offsets]));
  var first(t, t.lane_rank() * of_lane), before(t, 0u);  // the lane's first group, the tiles before the pass
  var group(t, groups), begin(t, 0u), end(t, 0u), tiles(t, 1u), tiles_before(t, 0u);
  for (auto l : t.loop()) {
    const val own = t.let(first);
    const auto bounds =
        array_of<of_lane + 1>([&](u32 i) { return t.let(min(offsets[t.let(min(own + i, groups))], rows)); });
    const auto counts = array_of<of_lane>([&](u32 i) {
      const val more = t.let(select(bounds[i + 1] > bounds[i], bounds[i + 1] - bounds[i], 0u));
      return t.let((more + (Rows - 1)) / Rows);
    });
    const val all_of_lane = t.let(counts[0] + counts[1] + (counts[2] + counts[3]));
    const val up_to_lane = warp_inclusive_scan(t, all_of_lane, plus{});
    const val hits = ballot(t.let(wanted.whole < before + up_to_lane));
    if (auto found = t.when(hits != 0u)) {
      // The lane's group, if it is the lane that has the tile.
      var at(t, 0u), tiles_at(t, before + up_to_lane - all_of_lane);
      var begin_at(t, bounds[0]), end_at(t, bounds[1]), count(t, counts[0]);
      for (u32 i = 1; i < of_lane; ++i) {
        const val passes = t.let(all_of(at == i - 1, wanted.whole >= tiles_at + count));
        tiles_at += select(passes, count, 0u);
        at = select(passes, i, at);
        begin_at = select(passes, bounds[i], begin_at);
        end_at = select(passes, bounds[i + 1], end_at);
        count = select(passes, counts[i], count);
      }
      const val lane = t.let(ctz(hits));
      const auto from_lane = [&](const var<u32>& x) { return shfl_idx(t.let(x), lane); };
      group = shfl_idx(t.let(own + at), lane);
      begin = from_lane(begin_at);
      end = from_lane(end_at);
      tiles = from_lane(count);
      tiles_before = from_lane(tiles_at);
    }
    l.break_if(hits != 0u);
    const val all = shfl_idx(up_to_lane, 31u);
    before += all;
    first += 32 * of_lane;
    l.break_if(first - t.lane_rank() * of_lane >= groups);
  }
  const val within = t.let(index - tiles_before * of[&grouped_tiles::of_n][&divisor::value]);
  var n(t, within), m(t, 0u);
  if (auto several = t.when(tiles != 1u)) {
    n = within / tiles;
    m = within - n * tiles;
  }
  return {t.let(group < groups), t.let(group), t.let(begin + m * Rows), t.let(end), t.let(n)};
}

}  // namespace kaio::ops
