#pragma once
// The last kernel of attention_backward on sm_90a. It adds the f32 sums that the blocks of keys left, of each
// group of turns.hpp, and converts them, times the scale, to dq. It also sets the flags of queries whose sums
// are not all finite. A block has 64 queries of a head, and 64 columns: block_idx_y is their part. Its threads
// hold the registers of a wgmma accumulator:
//
//   in memory, for 64 queries x 64 columns     registers 0 to 3 of threads 0 to 127, registers 4 to 7, ...

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma/wgmma_accumulator.hpp>
#include <kaio/ops/attention/backward/common/flags.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/forward/sm90/store.hpp>

#include <cstdint>

namespace kaio::ops {

// Launched with 128 threads, and a grid of a block for each 64 queries of each head by the parts of 64 columns.
// If there is one part, the tiles of queries had 128 queries.
template <scalar T>
inline constexpr auto attention_backward_sm90_finish =
    kaio::kernel<"attention_backward_sm90_finish_" + type_name<T>, block_size{128},
                 kernel_options{.target = {90, true}}>([](thread t, val<attention_problem> problem,
                                                          val<attention_gradients> gradients) {
      launch_dependents(t);
      grid_dependency_wait(t);
      using accumulator = wgmma_accumulator<f32, 64>;
      constexpr u32 part_floats = rows_of_dq_tile * 64;
      const attention_block block =
          find_block(t, problem, t.let(block_idx_x()), rows_of_dq_tile, range_walks<int>{0});
      const val part = t.let(block_idx_y()), parts = t.let(grid_dim_y());
      var wrong(t, false);
      if (auto exists = t.when(block.first_query < block.query_limit)) {
        const val tile = dq_tile_of(t, problem, gradients, block, t.let(0u));
        const val of_turn = t.let(select(parts == 1u, tile - block.first_query / rows_of_dq_tile % 2u, tile));
        const val group_tiles = t.let(gradients[&attention_gradients::group_tiles]);
        const auto sums = pointer_at<in<f32>>(t, t.let(gradients[&attention_gradients::dq_sums]))
                              .from(cast<u64>(t.thread_rank() * 4u));
        auto x = array_of<32>([&](u32) { return var(t, 0.0f); });  // 64 queries x 64
        for (auto group : t.range(0u, t.let(gradients[&attention_gradients::dq_groups]))) {
          // Sums that nobody has added to are read in vain: the loads do not wait for the turn.
          const val further = t.let(group * group_tiles);
          const val has_sums = t.let(turn_of(t, gradients, t.let(of_turn + further)) != 0u);
          const auto of_group = sums.from(cast<u64>((tile + further) * parts + part) * u64{part_floats});
          for (u32 i = 0; i < 8; ++i) {
            const auto four = load_vec<4>(of_group[512 * i]);
            for (u32 j = 0; j < 4; ++j) x[4 * i + j] += select(has_sums, four[j], 0.0f);
          }
        }
        for (u32 i = 0; i < 32; ++i) wrong |= !isfinite(x[i]);
        const val scale = t.let(problem[&attention_problem::scale]);
        const val query = t.let(block.first_query + accumulator::first_row(t));
        const val size = t.let(problem[&attention_problem::qk_size]), first = t.let(part * 64u);
        const attention_output whole = output_rows(t, gradients[&attention_gradients::dq], block, block.head,
                                                   block.first_q_row, block.query_limit, size, sizeof(T));
        const attention_output to{t.let(whole.address + cast<u64>(first * u32{sizeof(T)})), whole.pitch,
                                  whole.rows, t.let(max(size, first) - first)};
        store_quads<T>(t, x, {{scale, scale}}, to, query);
      }
      const backward_flags flags = flags_of_queries(t, problem, gradients, block);
      leave_flag(t, flags, t.let(block_any(t, wrong)));
    });

}  // namespace kaio::ops
