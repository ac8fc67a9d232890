#pragma once
// matmul_w4 for sm_90a: y = x W^T as Y^T = W X^T, by wgmma. W is the register operand, decoded from codes in
// shared memory. X^T comes from the tiles of x as tensor copies leave them in shared memory. One warp is the
// producer; two or four consumer warpgroups decode and multiply, each with 64 columns of y:
//
//                             stage, up to 256 of K
//   x      rows x 64 each    --> | x: rows x 64 | rows x 64 | ...     operand B of wgmma
//   codes  of 32 columns     --> | 4 tiles of 32 x 64 | ...           words of a lane -> registers of A
//   scales, zero points      --> | of a row of all columns | ...
//
// Each contiguous piece is one copy: a copy engine takes about 100 clocks for any copy of up to 2 KB.
//
// As in the kernels for sm_80, codes are decoded without their scales. A unit is the split of a tile of 64 k
// that one group has. A pass multiplies a unit by all rows of x or by half of them. Its sums are multiplied
// by the scale in f32 and added to the totals. If a unit has two passes, one has its sums added while the
// other is multiplied:
//
//   to 64 rows | decode 0, start 0 | decode 1, wait 0, add, start 1 | decode 2, wait 1, add, start 2 | ...
//   128 rows   | decode 0, start 0a, 0b | wait 0a, add | decode 1, start 1a | wait 0b, add | start 1b | ...
//
// If units of a stage have the same scale, as two units of a group of 128, they are added as one. Weights
// that are decoded with their scales are summed by wgmma alone. A block has a split of K. The blocks of a
// cluster have all of K. Each hands its sums to the block that owns the row of y, which adds them in the
// order of K. Without clusters, the sums of splits go from registers to the workspace, for the second kernel
// (sums.hpp).
//
// wgmma shares the register ports with other instructions. On an H200, 16 warps with 64 multiply-adds each,
// next to their four products of 64 x 64 x 16, take 722 clocks; the products alone take 512, the
// multiply-adds 256. Fewer rows therefore have a kernel with fewer of both, rather than one that hides them.
//
// Sources: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate", register fragments of A;
// CUTLASS, mixed-input GEMM of Hopper, for the order of operands.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/consumer.hpp>
#include <kaio/ops/weight_only/sm90/place.hpp>
#include <kaio/ops/weight_only/sm90/producer.hpp>
#include <kaio/ops/weight_only/sm90/shared.hpp>
#include <kaio/ops/weight_only/sm90/sums.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <w4_sm90_config C, class Dequantisation, scalar T>
struct w4_sm90_body {
  using D = w4_whole_groups<Dequantisation>;
  static_assert(C.valid() && C.bits == D::bits && (!C.pairs || C.threads() >= 32 * w4_pair_warps));
  using shared_memory = w4_sm90_shared<C, Dequantisation, T>;
  using accumulator = wgmma_accumulator<f32, C.rows>;  // 64 columns x rows
  using place = w4_sm90_place<C, Dequantisation, T>;

  static constexpr void run(thread t, const w4_sm90_maps<T>& maps, const val<w4_problem>& problem) {
    run(t, maps, problem, [&] { return place::find_tile(t, problem, t.let(block_idx_x())); });
  }
  // find_tile returns the block's w4_sm90_tile; store is as w4_store. If maps has warps and by_warps is
  // true, these warps of the producer's warpgroup copy x by
  //
  //   copy(thread, shared_memory, w4_problem, w4_sm90_tile, w4_sm90_steps)
  template <class X, class FindTile, class Store = w4_store>
  static constexpr void run(thread t, const X& maps, const val<w4_problem>& problem,
                            const FindTile& find_tile, const Store& store = {}) {
    const shared_memory shared(t, problem);
    const w4_sm90_tile tile = find_tile();
    if (auto first = t.when(t.thread_rank() == 0u)) {
      prefetch(maps.x);
      if constexpr (C.has_edge()) prefetch(maps.edge);
      if constexpr (X::warps == 0)
        shared.ring.init(1, C.consumers * 4);
      else
        shared.ring.init(t.let(select(maps.by_warps, 1 + X::warps, 1u)), C.consumers * 4);
      fence_mbarrier_init(t);
    }
    if constexpr (C.has_edge()) place::clear_beyond(t, shared, tile.rows);
    const auto pairs = make_w4_pairs<C.pairs, D, T>(t, problem);
    t.barrier();
    launch_dependents(t);

    const w4_sm90_steps steps = place::find_steps(t, problem, tile);
    const w4_sm90_sums<C, T, shared_memory::x_bytes> sums(t, problem, shared.x, tile.row, tile.column);
    const val warp = warp_rank(t);
    const val is_producer = t.let(warp >= C.consumers * 4);
    if (auto producer = t.when(is_producer)) {
      decrease_registers<C.producer_registers()>(t);
      if (auto one = t.when(warp == C.consumers * 4)) {
        auto to = shared.ring.producer(t);
        w4_sm90_producer<C, Dequantisation, T, X>(t, shared, maps, problem, tile, steps).run(to);
      }
      if constexpr (X::warps != 0)
        if (auto copies = t.when(all_of(maps.by_warps, warp > C.consumers * 4)))
          maps.copy(t, shared, problem, tile, steps);
      if (auto whole = t.when(sums.are_whole())) cluster_barrier(t);
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<C.consumer_registers()>(t);
      auto totals = array_of<accumulator::size()>([&](u32) { return var(t, 0.0f); });
      using consumer_warpgroup = w4_sm90_consumer<C, Dequantisation, T, std::remove_cv_t<decltype(pairs)>>;
      auto ring = consumer_warpgroup::ring_begin(t, shared);
      consumer_warpgroup own(t, shared, problem, steps, pairs, warp);
      own.run(ring, totals);
      if constexpr (D::scaled)
        for (u32 i = 0; i < accumulator::size(); ++i) totals[i] = own.sums()[i];
      if (auto whole = t.when(sums.are_whole())) {
        cluster_barrier(t);  // no block reads its tiles any more
        sums.hand_out(totals, warp);
      }
      if (auto of_split = t.otherwise()) sums.store_part(totals, warp, tile.split);
    }
    if (auto whole = t.when(sums.are_whole())) {
      cluster_barrier(t);  // the sums of all blocks have arrived
      sums.finish(store);
    }
  }
};

template <w4_sm90_config C, class D, scalar T>
struct w4_sm90_kernel {
  static constexpr auto name =
      "matmul_w" + decimal<D::bits> + "_sm90_" + D::name + type_name<T> + "_" + decimal<C.rows>;
  static constexpr kernel_options options{
      .target = {90, true}, .large_shared = true, .cluster = block_size{0, 0, 0}, .min_blocks = C.blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, tensor_map<T, 2> x, tensor_map<T, 2> x_edge, val<w4_problem> problem) {
        w4_sm90_body<C, D, T>::run(t, {x, x_edge}, problem);
      });
};

// Launched with m_tiles * n_tiles * splits blocks along x, in clusters of 1, or of `splits` = 2, 4 or 8.
template <w4_sm90_config C, class D, scalar T>
inline constexpr auto matmul_w4_sm90 = w4_sm90_kernel<C, D, T>::kernel;

}  // namespace kaio::ops
