#pragma once
// matmul_w4 for sm_90a with weights that are rounded to the type of x (decode_rounded.hpp). The scales are in
// the operand, so the accumulators of wgmma have the sums over all of K. While the products of a tile of 64
// along K run, its warps decode the next tile.
//
// A block computes one tile of y after the other. Its producer copies the first stages of the next tile while
// the consumers store the sums of the last one:
//
//   producer   | copies of tile 0       | copies of tile 1           | ...
//   consumers        | products of tile 0    | store | products of tile 1 | store | ...
//
// The sums of splits of K go to the workspace for the second kernel; clusters took longer.
//
// Groups are multiples of 32: a tile of 64 along K has two slots, which share one scale if groups are multiples
// of 64.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/consumer.hpp>
#include <kaio/ops/weight_only/sm90/place.hpp>
#include <kaio/ops/weight_only/sm90/producer.hpp>
#include <kaio/ops/weight_only/sm90/shared.hpp>
#include <kaio/ops/weight_only/sm90/store.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <w4_sm90_config C, class D, scalar T>
struct w4_sm90_rounded_body {
  static_assert(C.valid() && D::rounded && C.bits == D::bits);
  using shared_memory = w4_sm90_shared<C, D, T>;
  using place = w4_sm90_place<C, D, T>;

  static constexpr void run(thread t, const w4_sm90_maps<T>& maps, const val<w4_problem>& problem) {
    const shared_memory shared(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      prefetch(maps.x);
      if constexpr (C.has_edge()) prefetch(maps.edge);
      shared.ring.init(1, C.consumers * 4);
      fence_mbarrier_init(t);
    }
    if constexpr (C.has_edge()) place::clear_beyond(t, shared.x, place::rows_of_last(t, problem));
    if (auto none = t.when(problem[&w4_problem::w][&w4_packed::zeros] == u64{0})) fill_zeros(t, shared);
    t.barrier();
    launch_dependents(t);

    const val tiles = t.let(problem[&w4_problem::m_tiles][&divisor::value] *
                            problem[&w4_problem::n_tiles][&divisor::value] * problem[&w4_problem::splits]);
    const val warp = warp_rank(t);
    if (auto producer = t.when(warp >= C.consumers * 4)) {
      decrease_registers<C.producer_registers()>(t);
      if (auto one = t.when(warp == C.consumers * 4)) {
        auto to = shared.ring.producer(t);
        for (auto i : t.range(block_idx_x(), tiles, grid_dim_x()).no_unroll()) {
          const w4_sm90_tile tile = place::find_tile(t, problem, t.let(i));
          const w4_sm90_steps steps = place::find_steps(t, problem, tile);
          w4_sm90_producer<C, D, T>(t, shared, maps, problem, tile, steps).run(to);
        }
      }
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<C.consumer_registers()>(t);
      using consumer_warpgroup =
          w4_sm90_consumer<C, D, T, std::remove_cvref_t<decltype(make_w4_pairs<false, D, T>(t, problem))>>;
      auto ring = consumer_warpgroup::ring_begin(t, shared);
      const auto pairs = make_w4_pairs<false, D, T>(t, problem);
      for (auto i : t.range(block_idx_x(), tiles, grid_dim_x()).no_unroll()) {
        const w4_sm90_tile tile = place::find_tile(t, problem, t.let(i));
        const w4_sm90_steps steps = place::find_steps(t, problem, tile);
        consumer_warpgroup own(t, shared, problem, steps, pairs, warp);
        int totals = 0;
        own.run(ring, totals);
        w4_sm90_store<C, T>(t, problem, tile, warp).store(own.sums(), tile.split);
      }
    }
  }

 private:
  // Puts the middle of the codes wherever zero points would be.
  static constexpr void fill_zeros(thread t, const shared_memory& shared) {
    const val middle = t.let(D::bits == 4 ? 0x88888888u : 0x80808080u);
    for (auto i : t.block_stride(shared.scales_and_zeros.size()).no_unroll())
      shared.scales_and_zeros[i] = middle;
    fence_proxy_async(t);
  }
};

}  // namespace kaio::ops
