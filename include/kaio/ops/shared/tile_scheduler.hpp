#pragma once
// The order in which a persistent kernel visits the tiles of C: in groups of a few tiles along M, down the
// rows of a group first. Tiles that are computed at the same time then share rows of A and columns of B in
// L2. The number of tiles is known only at launch, and a division by it precedes the first load; the host
// prepares it as a multiplication.
//
//   group = 2:    0  2  4        tile_scheduler::over(3, 3, 1, 2)
//                 1  3  5
//                 6  7  8

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/divisor.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

struct tile_scheduler {
  divisor per_product, per_group;  // tiles per product, per whole group
  divisor group, last_group;       // tiles along M in a group, in the last group of a product
  u32 first_of_last;               // where along M the last group begins
  u32 tiles;                       // tiles of all products

  // Requires at least one tile in each direction, fewer than 2^31 in all, and groups of at least one tile.
  static constexpr tile_scheduler over(u32 tiles_m, u32 tiles_n, u32 batches, u32 group) {
    const u32 along_m = std::min(group, tiles_m);
    const u32 first_of_last = (tiles_m - 1) / along_m * along_m;
    return {divisor::of(tiles_m * tiles_n),
            divisor::of(along_m * tiles_n),
            divisor::of(along_m),
            divisor::of(tiles_m - first_of_last),
            first_of_last,
            tiles_m * tiles_n * batches};
  }
};

// A tile: its product of the batch, and its place along M and N.
struct tile_index {
  val<u32> batch, m, n;
};

template <class Scheduler>
constexpr tile_index tile_at(thread t, const Scheduler& scheduler, const val<u32>& index) {
  const quotient product = divide(t, index, scheduler[&tile_scheduler::per_product]);
  const quotient group = divide(t, product.rest, scheduler[&tile_scheduler::per_group]);
  const val first = t.let(group.whole * scheduler[&tile_scheduler::group][&divisor::value]);
  const quotient inner = divide(t, group.rest, scheduler[&tile_scheduler::group]);
  const quotient last = divide(t, group.rest, scheduler[&tile_scheduler::last_group]);
  const val is_last = t.let(first >= scheduler[&tile_scheduler::first_of_last]);
  return {product.whole, t.let(first + select(is_last, last.rest, inner.rest)),
          t.let(select(is_last, last.whole, inner.whole))};
}

}  // namespace kaio::ops
