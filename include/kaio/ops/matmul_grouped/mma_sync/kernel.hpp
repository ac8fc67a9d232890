#pragma once
// A grouped product with the matrix instructions of a warp, from sm_80 on: a block finds its tile
// (common/tiles.hpp), and computes it as matmul does. For matmul, C ends with the group's last row.

#include <kaio/ops/matmul/mma_sync/kernel.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>

#include <cstdint>

namespace kaio::ops {

struct grouped_mma_problem {
  grouped_tiles tiles;
  mma_sync_problem of;  // of all rows; its scheduler and splits are not read
};

template <mma_sync_config C, scalar T>
struct grouped_mma_body {
  using p = grouped_mma_problem;
  using body = mma_sync_body<C, instruction_product<mma_m16n8k16<f32, T>>, any_output, identity, in_memory<T>,
                             in_memory<T>>;

  static constexpr void run(thread t, const in<T>& a, const in<T>& b, const val<output_memory>& c,
                            const val<p>& problem) {
    const auto tiles = problem[&p::tiles];
    grouped_walk<C.m, decltype(tiles)> walk(t, tiles);
    const grouped_tile tile = walk.find(t.let(block_idx_x() + 0u));
    if (auto exists = t.when(tile.exists)) {
      const val<mma_sync_problem> all = t.let(problem[&p::of]);
      var<mma_sync_problem> group(t, all);
      group[&mma_sync_problem::c][&output_lines::rows] = tile.end;
      const val<mma_sync_problem> of = t.let(group);
      const val warp = t.warp_rank();
      const val warp_m = t.let(warp / C.warps_n());
      const val warp_n = t.let(warp % C.warps_n());
      const val column = t.let(tile.n * C.n);
      const in<T> matrix = b.from(t.let(cast<i64>(tile.group) * all[&mma_sync_problem::batch_b]));
      const val first = t.let(0u), last = t.let(all[&mma_sync_problem::k]);
      body::compute(t, {t.let(0u), tile.row, column}, {warp_m, warp_n}, a, matrix, first, last, c, of);
    }
  }
};

// Launched with a block for each tile that the groups may have.
template <mma_sync_config C, scalar T>
inline constexpr auto grouped_mma =
    kaio::kernel<"matmul_grouped_mma_" + type_name<T> + "_" + mma_sync_name<C>, block_size{C.threads()},
                 kernel_options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks}>(
        [](thread t, in<T> a, in<T> b, val<output_memory> c, val<grouped_mma_problem> problem) {
          grouped_mma_body<C, T>::run(t, a, b, c, problem);
        });

}  // namespace kaio::ops
