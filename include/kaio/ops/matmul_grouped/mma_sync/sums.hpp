#pragma once
// C[g] = A[g]^T * B[g] with the matrix instructions of a warp, from sm_80 on. A block computes a tile of a group as
// matmul does, along K from the group's first row to its last.

#include <kaio/ops/matmul/mma_sync/kernel.hpp>
#include <kaio/ops/matmul_grouped/common/sums.hpp>

namespace kaio::ops {

struct grouped_sums_problem {
  grouped_sum_tiles tiles;
  mma_sync_problem of;  // its scheduler, splits and K are not read
  grouped_sum_terms terms;
};

// Launched with a block for each tile.
template <mma_sync_config C, scalar T>
inline constexpr auto grouped_sums_mma =
    kaio::kernel<"matmul_grouped_sums_mma_" + type_name<T> + "_" + mma_sync_name<C>, block_size{C.threads()},
                 kernel_options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks}>(
        [](thread t, in<T> a, in<T> b, val<output_memory> c, val<grouped_sums_problem> problem) {
          using p = grouped_sums_problem;
          using body = mma_sync_body<C, instruction_product<mma_m16n8k16<f32, T>>, any_output, add_to_grouped,
                                     in_memory<T>, in_memory<T>>;
          const grouped_sum_tile tile = sum_tile_at(t, problem[&p::tiles], t.let(block_idx_x() + 0u));
          const val warp = t.warp_rank();
          const val warp_m = t.let(warp / C.warps_n());
          const val warp_n = t.let(warp % C.warps_n());
          const val<mma_sync_problem> of = t.let(problem[&p::of]);
          const val<grouped_sum_terms> terms = t.let(problem[&p::terms]);
          const val last = t.let(tile.first + tile.rows);
          const val m = t.let(tile.m * C.m), n = t.let(tile.n * C.n);
          body::compute(t, {tile.group, m, n}, {warp_m, warp_n}, a, b, tile.first, last, c, of, terms);
        });

}  // namespace kaio::ops
