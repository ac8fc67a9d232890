#pragma once
// The warps of a block of the backward for sm_90a that compute nothing: they go through the same steps as its
// consumers, and bring what those multiply, or take what they have computed.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>
#include <kaio/ops/attention/backward/sm90/shared.hpp>
#include <kaio/ops/attention/backward/sm90/steps.hpp>
#include <kaio/ops/attention/sm90/operands.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

template <auto C, scalar T, class Shared = backward_sm90_shared<C, T>>
struct backward_sm90_producers {
  using map = tensor_map<T, 4>;
  const Shared& shared;
  const attention_key_block& keys;
  const query_range_walk<C.queries>& walk;
  val<u32> group_size, rounds;

  constexpr auto first_step(thread t) const {
    return backward_steps<C.queries>(t, keys, walk.first, walk.last, group_size);
  }

  // A thread: K and V, then Q and dO of each step.
  constexpr void copy(thread t, const map& q, const map& k, const map& v, const map& dout) const {
    if (auto some = t.when(rounds != 0u)) {
      const val row = t.let(keys.first_k_row + keys.first_key);
      shared.own_full[0].arrive_expect_tx(C.k_bytes());
      load_rows<T>(shared.k, k, row, keys.group, keys.tensor_batch, shared.own_full[0]);
      shared.own_full[1].arrive_expect_tx(C.v_bytes());
      load_rows<T>(shared.v, v, row, keys.group, keys.tensor_batch, shared.own_full[1]);
    }
    auto to = shared.steps.producer(t);
    auto step = first_step(t);
    for ([[maybe_unused]] auto n : t.range(0u, rounds).no_unroll()) {
      const val row = t.let(keys.first_q_row + step.first_query());
      const val head = step.head();
      to.acquire_expect(C.q_bytes());
      load_rows<T>(shared.q[to.stage()], q, row, head, keys.tensor_batch, to.full());
      shared.dout_full[to.stage()].arrive_expect_tx(C.dout_bytes());
      load_rows<T>(shared.dout[to.stage()], dout, row, head, keys.tensor_batch, shared.dout_full[to.stage()]);
      to.advance();
      step.advance();
    }
  }

  // A warp: the shift and delta of each query of a step. Queries that do not exist have the shift +inf.
  constexpr void bring_numbers(thread t, const val<attention_problem>& problem,
                               const val<attention_gradients>& gradients) const {
    constexpr u32 each = C.queries / 32;
    auto to = shared.steps.producer(t);
    const val lane = t.lane_rank();
    const auto memory = [&](auto member) { return pointer_at<in<f32>>(t, t.let(gradients[member])); };
    auto step = first_step(t);
    for ([[maybe_unused]] auto n : t.range(0u, rounds).no_unroll()) {
      const attention_block block = keys.of_head(step.head(), step.first_query());
      const val first = first_number(t, problem, gradients, block);
      const auto query = array_of<each>([&](u32 i) { return t.let(block.first_query + lane + 32 * i); });
      const auto at = array_of<each>(
          [&](u32 i) { return t.let(first + cast<u64>(min(query[i], block.query_limit - 1u))); });
      const auto shifts =
          array_of<each>([&](u32 i) { return t.let(memory(&attention_gradients::shifts)[at[i]]); });
      const auto deltas =
          array_of<each>([&](u32 i) { return t.let(memory(&attention_gradients::deltas)[at[i]]); });
      to.acquire();
      for (u32 i = 0; i < each; ++i) {
        const val exists = t.let(query[i] < block.query_limit);
        const val shift = t.let(select(exists, shifts[i], std::numeric_limits<f32>::infinity()));
        const val delta = t.let(select(exists, -deltas[i], 0.0f));
        shared.numbers[to.stage()][0][lane + 32 * i] = shift;
        shared.numbers[to.stage()][1][lane + 32 * i] = delta;
      }
      sync_warp(t);
      if (auto one = t.when(lane == 0u)) shared.dout_full[to.stage()].arrive();
      to.advance();
      step.advance();
    }
  }

  // Two warps, one for each stage of the ring: dQ of every other step into the sums in memory, in its turn.
  template <class Functions>
  constexpr void add_dq(thread t, const val<u32>& stage, const val<attention_problem>& problem,
                        const val<attention_gradients>& gradients, const Functions& functions) const {
    constexpr std::uint32_t bytes = C.queries * C.depth_qk * sizeof(f32);
    const val leads = t.let(t.lane_rank() == 0u);
    const val number = t.let(keys.first_key / C.keys);
    const earlier_additions<C.queries> before(t, keys, C.keys, functions.queries);
    const auto sums = pointer_at<inout<f32>>(t, t.let(gradients[&attention_gradients::dq_sums]));
    auto step = first_step(t);
    if (auto odd = t.when(stage != 0u)) step.advance();
    for (auto n : t.range(stage, rounds, u32{C.stages}).no_unroll()) {
      shared.dq_full(stage).sync();
      if (auto one = t.when(leads)) {
        const val first_query = step.first_query();
        const val tile = dq_tile_of(t, problem, gradients, keys.of_head(step.head(), first_query));
        const auto to = sums[cast<u64>(tile) * u64{rows_of_dq_tile * C.depth_qk}];
        if (auto later = t.when(before.reach(first_query))) {
          await_turn(t, turn_of(t, gradients, tile), number);
          fence_proxy_async_global(t);
          reduce_bulk<bulk_operation::add>(to, shared.dq[stage], bytes);
        }
        if (auto first = t.otherwise()) store_bulk(to, shared.dq[stage], bytes);
        bulk_commit_group(t);
        bulk_wait_group_read<0>(t);
      }
      sync_warp(t);
      if (auto used_again = t.when(n + C.stages < rounds)) shared.dq_empty(stage).arrive();
      if (auto one = t.when(leads)) {
        bulk_wait_group<0>(t);
        fence_proxy_async_global(t);
        const val tile = dq_tile_of(t, problem, gradients, keys.of_head(step.head(), step.first_query()));
        store(turn_of(t, gradients, tile), t.let(number + 1u), order::release, scope::device);
      }
      for (u32 i = 0; i < C.stages; ++i) step.advance();
    }
  }
};

}  // namespace kaio::ops
