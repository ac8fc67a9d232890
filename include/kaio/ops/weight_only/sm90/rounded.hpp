#pragma once
// matmul_w4 for sm_90a with weights that are rounded to the type of x (decode_rounded.hpp). The scales are in
// the operand, so the accumulators of wgmma have the sums over all of K (rounded_consumer.hpp).
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
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/place.hpp>
#include <kaio/ops/weight_only/sm90/rounded_consumer.hpp>
#include <kaio/ops/weight_only/sm90/rounded_copies.hpp>
#include <kaio/ops/weight_only/sm90/shared.hpp>
#include <kaio/ops/weight_only/sm90/store.hpp>

#include <cstdint>

namespace kaio::ops {

template <w4_sm90_config C, class D, scalar T>
struct w4_sm90_rounded_body {
  static_assert(C.valid() && D::rounded && C.bits == D::bits && C.has_edge());
  using shared_memory = w4_sm90_stages<C, D, T>;
  using place = w4_sm90_place<C, D, T>;

  static constexpr void run(thread t, const w4_rounded_maps<T>& maps, const val<w4_problem>& problem) {
    const shared_memory shared(t, problem);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      prefetch(maps.x);
      prefetch(maps.edge);
      prefetch(maps.codes);
      shared.ring.init(copies::arrivals, C.consumers * 4);
      fence_mbarrier_init(t);
    }
    place::clear_beyond(t, shared, problem, place::rows_of_last(t, problem));
    if (auto none = t.when(problem[&w4_problem::w][&w4_packed::zeros] == u64{0})) fill_zeros(t, shared);
    t.barrier();
    launch_dependents(t);

    const val tiles = t.let(problem[&w4_problem::m_tiles][&divisor::value] *
                            problem[&w4_problem::n_tiles][&divisor::value] * problem[&w4_problem::splits]);
    const val warp = warp_rank(t);
    if (auto producer = t.when(warp >= C.consumers * 4)) {
      decrease_registers<C.producer_registers()>(t);
      if (auto one = t.when(all_of(warp == C.consumers * 4, t.lane_rank() == 0u))) {
        auto to = shared.producer(t);
        for_tiles(t, problem, tiles, [&](const w4_sm90_tile& tile, const w4_sm90_steps& steps) {
          copies(t, shared, maps, problem, tile, steps).codes_and_x(to);
        });
      }
      if (auto other = t.when(warp == C.consumers * 4 + 1)) {
        auto to = shared.producer(t);
        for_tiles(t, problem, tiles, [&](const w4_sm90_tile& tile, const w4_sm90_steps& steps) {
          copies(t, shared, maps, problem, tile, steps).scales_and_zeros(to);
        });
      }
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<C.consumer_registers()>(t);
      using consumer_warpgroup = w4_rounded_consumer<C, D, T>;
      auto ring = consumer_warpgroup::ring_begin(t, shared);
      for_tiles(t, problem, tiles, [&](const w4_sm90_tile& tile, const w4_sm90_steps& steps) {
        consumer_warpgroup own(t, shared, problem, steps, warp);
        own.run(ring);
        w4_sm90_store<C, D, T>(t, problem, tile, warp)
            .store(own.sums(), shared, own.line_of_results(ring, warp), [&] { own.release_last(ring); });
      });
    }
  }

 private:
  using copies = w4_rounded_copies<C, D, T>;

  // Calls f(tile, steps) for each tile of y of the block.
  template <class F>
  static constexpr void for_tiles(thread t, const val<w4_problem>& problem, const val<u32>& tiles,
                                  const F& f) {
    for (auto i : t.range(block_idx_x(), tiles, grid_dim_x()).no_unroll()) {
      const w4_sm90_tile tile = place::find_tile(t, problem, t.let(i));
      f(tile, place::find_steps(t, problem, tile));
    }
  }
  // Puts the middle of the codes wherever zero points would be.
  static constexpr void fill_zeros(thread t, const shared_memory& shared) {
    const val middle = t.let(D::bits == 4 ? 0x88888888u : 0x80808080u);
    for (auto stage : t.range(0u, shared.stages).no_unroll())
      for (auto i : t.block_stride(shared_memory::scale_and_zero_words).no_unroll())
        shared.words[shared.first_scale(t.let(stage), 0u) + i] = middle;
    fence_proxy_async(t);
  }
};

// Launched with up to m_tiles * n_tiles * splits blocks along x.
template <w4_sm90_config C, class D, scalar T>
inline constexpr auto matmul_w4_rounded =
    kernel<"matmul_w" + decimal<D::bits> + "_sm90_" + D::name + type_name<T> + "_" + decimal<C.rows>,
           block_size{C.threads()},
           kernel_options{.target = {90, true}, .large_shared = true, .min_blocks = C.blocks}>(
        [](thread t, tensor_map<T, 2> x, tensor_map<T, 2> x_edge, tensor_map<u32, 3> codes,
           val<w4_problem> problem) {
          w4_sm90_rounded_body<C, D, T>::run(t, {x, x_edge, codes}, problem);
        });

}  // namespace kaio::ops
