#pragma once
// matmul_w4 and matmul_w8 for one row of x, from sm_90 on: y = x W^T as Y^T = W X^T, as in
// mma_sync/kernel.hpp. Each multiprocessor has one block, and all have equal splits of the weights:
//
//   cluster of two blocks    tiles of 32 columns c, c + 1, ...    K: first half in block 0, second in block 1
//   warp w of a block        the same columns                     its sixteenth of that half
//
// A block's split of x is in its shared memory as a whole. It may be normalised first: then each block reads
// the whole row, and has the bits of rms_norm. A warp goes through its columns with the sums of 32 of them in
// registers, and leaves these to the other warps of the block. The sums of a cluster's blocks meet in the
// block that finishes the column. The launch decides the order of all additions.
//
// Codes are multiplied undecoded, as bytes of A (codes.hpp), by four digits of x, columns of B (digits.hpp):
//
//   lane (g, c)    rows g and g + 8 of D      n = n0 + 16 h + 2 g and the next one
//                  columns 2 c and 2 c + 1    digits 0 and 1, or 2 and 3; columns 4 to 7 are copies of 0 to 3
//
// The sums of a tile are integers: d0 + 256 d1, less the zero point times the sum of x. Lanes c = 2 h and
// 2 h + 1 keep those of half h; the sums of both lanes make a column's.
//
// The launch is programmatic: constant weights are copied before the previous kernel has ended.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/gemv/codes.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>
#include <kaio/ops/weight_only/gemv/place.hpp>
#include <kaio/ops/weight_only/gemv/tiles.hpp>
#include <kaio/ops/weight_only/gemv/warp.hpp>
#include <kaio/ops/weight_only/gemv/x.hpp>

#include <cstdint>

namespace kaio::ops {

// Options of the kernels with w4_one_row_body.
inline constexpr kernel_options w4_one_row_options{
    .target = {90}, .large_shared = true, .cluster = block_size{0, 0, 0}, .min_blocks = 1};

// The end of these kernels' names, such as "w4_one_row_f16".
template <w4_one_row_config C, scalar T>
inline constexpr auto w4_one_row_name = w4_one_row_codes<C.bits>::name + "_one_row_" + type_name<T>;

template <w4_one_row_config C, scalar T>
class w4_one_row_body {
  using warp_type = w4_one_row_warp<C, T>;
  using tiles_type = typename warp_type::tiles_type;
  using x_type = w4_one_row_x<C, T>;

 public:
  // End defines the units of columns and stores their sums. If End::has_warp, one more warp, without tiles,
  // runs End::finish, which meets the others at a cluster barrier for each batch of columns. Otherwise all
  // run End::store.
  template <class End>
  static constexpr u32 threads() {
    return (C.warps + (End::has_warp ? 1 : 0)) * 32;
  }
  template <class End>
  static constexpr void run(thread t, const val<w4_problem>& problem, const val<w4_one_row_work>& work,
                            const End& end) {
    const typename warp_type::shared_memory shared(t);
    cluster_arrive(t);
    launch_dependents(t);

    const auto place = w4_one_row_place::find<C>(t, problem, work);
    const val columns = t.let((place.units.last - place.units.first) * End::tiles_of_unit);
    const auto tile_of = [&](const val<u32>& i) { return end.tile(t, place.units.first, i); };

    if (auto late = t.when(problem[&w4_problem::constant] == 0u)) grid_dependency_wait(t);
    tiles_type tiles(t, shared.words, problem, place.own, columns, tile_of);
    for ([[maybe_unused]] auto step : t.range(1u, C.stages).no_unroll()) tiles.ask(tile_of);
    x_type::ask_for_norm(t, problem, work);
    grid_dependency_wait(t);
    x_type::load(t, shared.x, shared.of_warps, shared.partial, problem, work, place.k);
    cluster_wait(t);  // all blocks of the cluster have begun
    t.barrier();
    const auto multiply = [&] { warp_type(t, shared, problem, place, tiles).run(end, columns, tile_of); };
    if constexpr (End::has_warp) {
      if (auto other = t.when(!place.multiplies))
        end.finish(t, shared.inbox, place.units, place.split, place.splits);
      if (auto others = t.otherwise()) multiply();
    } else {
      multiply();
    }
    cp_async_wait_group<0>(t);
  }
};

}  // namespace kaio::ops
