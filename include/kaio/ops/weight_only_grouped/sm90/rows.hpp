#pragma once
// The copies of x in a grouped product of packed weights for sm_90a. Rows in order come by tensor copies. Tensor
// copies cannot gather rows, so three warps copy 16 bytes a thread to the swizzled places of wgmma's operand. A
// thread keeps `lag` stages in flight: consumers read one meanwhile, and one is filled. A stage's bytes reach wgmma
// by a fence of each thread and an arrival of each warp.
//
//   thread p of 96: piece p % 8 of rows p / 8, p / 8 + 12, ... in all tiles of the stage

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/shared.hpp>
#include <kaio/ops/weight_only_grouped/common/rows.hpp>

#include <cstdint>

namespace kaio::ops {

template <w4_sm90_config C, scalar T>
struct w4_sm90_grouped_rows {
  static constexpr std::uint32_t warps = 3;
  const tensor_map<T, 2>& x;
  val<bool> by_warps;  // else by tensor copies
  w4_grouped_rows rows;

  template <class Shared>
  constexpr void copy(thread t, const Shared& shared, const val<w4_problem>& problem, const w4_sm90_tile&,
                      const w4_sm90_steps& steps) const {
    constexpr u32 lag = C.stages - 2, pieces = 8, at_once = warps * 32 / pieces;
    auto to = shared.ring.producer(t), done = shared.ring.producer(t);
    const auto arrive_oldest = [&] {
      fence_proxy_async(t);
      sync_warp(t);
      if (auto one = t.when(t.lane_rank() == 0u)) done.commit();
      done.advance();
    };
    const val rank = t.let(t.thread_rank() - (C.consumers * 4 + 1) * 32);
    const val piece = t.let(rank % pieces), first_row = t.let(rank / pieces);
    const val k = t.let(problem[&w4_problem::w][&w4_packed::k]);
    const val last_k = t.let(problem[&w4_problem::w][&w4_packed::tiles_k] - C.tiles);
    const val end = rows.end(t, k);
    for (auto step : t.range(steps.first, steps.last).no_unroll()) {
      // The last stage is moved back to end with W. Tiles that the stage before has too are zeros.
      const val new_k = t.let(step * C.tiles);
      const val tile_k = t.let(min(new_k, last_k));
      const val column = t.let(tile_k * w4_tile_k + piece * 8u);
      const auto tile_bytes = array_of<C.tiles>([&](u32 i) {
        const val at = t.let(column + i * w4_tile_k);
        const val bytes = t.let((min(k, at + 8u) - min(k, at)) * 2u);
        return t.let(select(tile_k + i < new_k, 0u, bytes));
      });
      const val address = t.let(problem[&w4_problem::x] + mul_wide(column, 2u));
      to.acquire();
      const val first_tile = t.let(to.stage() * C.tiles);
      for (auto row : t.range(first_row, C.rows, at_once).no_unroll()) {
        const val source = rows.source(t, t.let(row));
        const val exists = t.let(source < end);
        const val from = t.let(
            address + (cast<u64>(cast<i64>(select(exists, source, 0u)) * problem[&w4_problem::x_row]) << 1u));
        for (u32 i = 0; i < C.tiles; ++i) {
          const auto place = shared.x[t.let(first_tile + i)][t.let(row)][t.let(piece * 8u)];
          const val bytes = t.let(select(exists, tile_bytes[i], 0u));
          cp_async<16>(place, pointer_at<in<u32>>(t, t.let(from + u64{i * w4_tile_k * 2}))[0], bytes);
        }
      }
      cp_async_commit_group(t);
      to.advance();
      if (auto full = t.when(step - steps.first >= lag)) {
        cp_async_wait_group<lag>(t);
        arrive_oldest();
      }
    }
    cp_async_wait_all(t);
    const val all = t.let(steps.last - steps.first);
    for (u32 i = 0; i < lag; ++i)
      if (auto some = t.when(all > i)) arrive_oldest();
  }
};

}  // namespace kaio::ops
