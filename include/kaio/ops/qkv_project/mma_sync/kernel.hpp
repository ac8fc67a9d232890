#pragma once
// qkv_project in one launch, with the matrix instructions of a warp: the kernel of matmul with an epilogue of
// whole heads. A tile has 128 columns: two heads of 64 or one of 128. Its sums go to shared memory. From
// there eight lanes (four for heads of 64) read a row of a head, each sum once and in whole vectors.
//
//   kernel    tile        for
//   large     128 x 128   many tokens
//   medium    32 x 128    fewer
//
// Limits: heads of 64 or 128, equal for Q, K and V; a multiple of 8 rotated pairs; outputs and terms at
// multiples of 16 bytes (8-bit outputs: 8 bytes).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/mma_sync/cuts.hpp>
#include <kaio/ops/matmul/mma_sync/kernel.hpp>
#include <kaio/ops/qkv_project/common/tile.hpp>

#include <cstdint>

namespace kaio::ops {

namespace qkv_cuts {
inline constexpr mma_sync_config large = mma_cuts::large_16(major::k, major::k);
inline constexpr mma_sync_config medium{.m = 32,
                                        .n = 128,
                                        .k = 64,
                                        .warp_m = 32,
                                        .warp_n = 32,
                                        .stages = 4,
                                        .min_blocks = 1,
                                        .a = major::k,
                                        .b = major::k};
}  // namespace qkv_cuts

template <mma_sync_config C, class T>
struct qkv_kernel {
  using product = instruction_product<mma_m16n8k16<f32, T>>;
  using body = mma_sync_body<C, product, T, qkv_rows<T>, in_memory<T>, in_memory<T>>;
  static constexpr auto name = "qkv_project_mma_" + type_name<T> + "_" + decimal<C.m> + "x" + decimal<C.n>;
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, in<T> x, val<qkv_matrices> w, val<mma_sync_problem> problem, val<qkv_problem> heads) {
        const auto weights = [&](const val<u32>&, const val<i64>&) {
          const tile_index tile = tile_at(t, problem[&mma_sync_problem::scheduler], t.let(block_idx_x()));
          const val column = t.let(tile.n * C.n);
          const val of_k = t.let(column >= heads[&qkv_problem::k][&qkv_part::column]);
          const val of_v = t.let(column >= heads[&qkv_problem::v][&qkv_part::column]);
          const val address = t.let(
              select(of_v, w[&qkv_matrices::v], select(of_k, w[&qkv_matrices::k], w[&qkv_matrices::q])));
          return pointer_at<in<T>>(t, address);
        };
        body::run(
            t, [&](const val<u32>&, const val<i64>&) { return x; }, weights, 0, problem, heads);
      });
};

// Launched with scheduler.tiles blocks along x.
template <mma_sync_config C, class T>
inline constexpr auto qkv_project_mma = qkv_kernel<C, T>::kernel;

}  // namespace kaio::ops
