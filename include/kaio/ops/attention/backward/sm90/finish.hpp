#pragma once
// The last kernel of attention_backward on sm_90a. It converts the f32 sums that the blocks of keys left,
// times the scale, to dq. It also sets the flags of queries whose sums are not all finite. A block has 64
// queries of a head. For each 64 columns its threads hold the registers of a wgmma accumulator:
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

// Launched with a block of 128 threads for each 64 queries of each head. `parts` is the number of parts of 64
// columns. If it is 1, the tiles of queries had 128 queries.
template <scalar T>
inline constexpr auto attention_backward_sm90_finish =
    kaio::kernel<"attention_backward_sm90_finish_" + type_name<T>, block_size{128},
                 kernel_options{.target = {90, true}}>([](thread t, val<attention_problem> problem,
                                                          val<attention_gradients> gradients,
                                                          val<u32> parts) {
      grid_dependency_wait(t);
      using accumulator = wgmma_accumulator<f32, 64>;
      const attention_block block =
          find_block(t, problem, t.let(block_idx_x()), rows_of_dq_tile, range_walks<int>{0});
      var wrong(t, false);
      if (auto exists = t.when(block.first_query < block.query_limit)) {
        const val tile = dq_tile_of(t, problem, gradients, block);
        const val of_turn = t.let(select(parts == 1u, tile - block.first_query / rows_of_dq_tile % 2u, tile));
        const val has_sums = t.let(turn_of(t, gradients, of_turn) != 0u);
        const val scale = t.let(problem[&attention_problem::scale]);
        const val query = t.let(block.first_query + accumulator::first_row(t));
        const auto sums = pointer_at<in<f32>>(t, t.let(gradients[&attention_gradients::dq_sums]))
                              .from(cast<u64>(tile) * cast<u64>(parts * (rows_of_dq_tile * 64)) +
                                    cast<u64>(t.thread_rank() * 4u));
        const val size = t.let(problem[&attention_problem::qk_size]);
        const attention_output whole = output_rows(t, gradients[&attention_gradients::dq], block, block.head,
                                                   block.first_q_row, block.query_limit, size, sizeof(T));
        for (auto part : t.range(0u, parts).no_unroll()) {
          auto x = array_of<32>([&](u32) { return var(t, 0.0f); });  // 64 queries x 64
          if (auto some = t.when(has_sums))
            for (u32 i = 0; i < 8; ++i) {
              const auto four = load_vec<4>(sums[part * (rows_of_dq_tile * 64) + 512 * i]);
              for (u32 j = 0; j < 4; ++j) x[4 * i + j] = four[j];
            }
          for (u32 i = 0; i < 32; ++i) wrong |= !isfinite(x[i]);
          const val first = t.let(part * 64u);
          const attention_output to{t.let(whole.address + cast<u64>(first * u32{sizeof(T)})), whole.pitch,
                                    whole.rows, t.let(max(size, first) - first)};
          store_quads<T>(t, x, {{scale, scale}}, to, query);
        }
      }
      const backward_flags flags = flags_of_queries(t, problem, gradients, block);
      leave_flag(t, flags, t.let(block_any(t, wrong)));
    });

}  // namespace kaio::ops
