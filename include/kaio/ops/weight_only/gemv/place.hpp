#pragma once
// The work of a block of matmul_w4 for one row of x, and of each of its warps.

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>
#include <kaio/ops/weight_only/gemv/tiles.hpp>

#include <cstdint>

namespace kaio::ops {

// The units of columns of a cluster and the tiles of K of a block and its warps.
struct w4_one_row_place {
  val<u32> split, splits;  // of the block in its cluster
  w4_one_row_part units;   // of the cluster
  w4_one_row_part k;       // of the block
  val<u32> warp, lane;
  val<bool> multiplies;  // whether the warp has tiles
  w4_one_row_part own;   // of the warp

  template <w4_one_row_config C>
  static constexpr w4_one_row_place find(thread t, const val<w4_problem>& problem,
                                         const val<w4_one_row_work>& work) {
    const val split = t.let(cluster_rank(t)), splits = t.let(cluster_size(t));
    const val cluster = t.let(cluster_idx_x());
    const val units_of_cluster = t.let(work[&w4_one_row_work::units]);
    const w4_one_row_part units = share(t, cluster, units_of_cluster, t.let(work[&w4_one_row_work::rest]));
    const val steps_of_part = t.let(problem[&w4_problem::steps]);
    const w4_one_row_part k = share(t, split, steps_of_part, t.let(problem[&w4_problem::rest]));
    const val of_block = t.let(k.last - k.first);
    const val warp = t.let(t.warp_rank()), lane = t.lane_rank();
    const val multiplies = t.let(warp < C.warps);
    const val steps_of_warp = t.let(of_block / C.warps);
    const w4_one_row_part of_warp = share(t, warp, steps_of_warp, t.let(of_block % C.warps));
    const w4_one_row_part own{t.let(k.first + of_warp.first),
                              t.let(k.first + select(multiplies, of_warp.last, of_warp.first))};
    return {split, splits, units, k, warp, lane, multiplies, own};
  }

 private:
  // Share i, if each has `each` and the first `rest` have one more.
  static constexpr w4_one_row_part share(thread t, const val<u32>& i, const val<u32>& each,
                                         const val<u32>& rest) {
    const val first = t.let(i * each + min(i, rest));
    return {first, t.let(first + each + select(i < rest, 1u, 0u))};
  }
};

}  // namespace kaio::ops
