#pragma once
// The producer warps of a backward block for sm_90a. They take the same steps as the consumers, and bring
// their operands or take away their results.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>
#include <kaio/ops/attention/backward/sm90/copied_rows.hpp>
#include <kaio/ops/attention/backward/sm90/shared.hpp>
#include <kaio/ops/attention/backward/sm90/steps.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// The operands that a block copies.
template <scalar T>
struct backward_sm90_operands {
  copied_rows<T> q, k, v, dout;

  // whole: the tensor maps of q, k, v and dout; rest: those of the last elements of their rows.
  static constexpr backward_sm90_operands of(thread t, const val<attention_problem>& problem,
                                             const tensor_map<T, 4> (&whole)[4],
                                             const tensor_map<T, 4> (&rest)[4]) {
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    return {{t, whole[0], rest[0], qk_size},
            {t, whole[1], rest[1], qk_size},
            {t, whole[2], rest[2], v_size},
            {t, whole[3], rest[3], v_size}};
  }
  constexpr void prefetch_maps() const {
    for (const copied_rows<T>* one : {&q, &k, &v, &dout}) one->prefetch_maps();
  }
  template <class Shared>
  constexpr void clear_missing_columns(const Shared& shared, std::uint32_t threads) const {
    q.clear_missing_columns(shared.q, threads);
    k.clear_missing_columns(shared.k, threads);
    v.clear_missing_columns(shared.v, threads);
    dout.clear_missing_columns(shared.dout, threads);
  }
};

template <auto C, scalar T, class Shared = backward_sm90_shared<C, T>>
struct backward_sm90_producers {
  const Shared& shared;
  const attention_key_block& keys;
  const backward_share& share;
  const val<u32>& group_size;

  constexpr auto first_step(thread t) const {
    return backward_steps<C.queries>(t, keys.group, group_size, share);
  }

  // Run by one thread: copies Q and dO of each step of the n-th tile of keys. K and V follow Q and dO of the
  // first step, whose buffers are free earlier.
  constexpr void copy(thread t, const val<u32>& n, pipeline_producer<C.stages>& to,
                      const backward_sm90_operands<T>& rows) const {
    auto step = first_step(t);
    for (auto i : t.range(0u, share.rounds).no_unroll()) {
      const val row = t.let(keys.first_q_row + step.first_query());
      const val head = step.head();
      to.acquire();
      const auto q = shared.q[to.stage()];
      rows.q.copy(q, row, head, keys.tensor_batch, to.full());
      const auto dout = shared.dout[to.stage()];
      rows.dout.copy(dout, row, head, keys.tensor_batch, shared.dout_full(to.stage()));
      if (auto first = t.when(i == 0u)) {
        const val own_row = t.let(keys.first_k_row + keys.first_key);
        shared.own_empty().wait(t.let((n & 1u) ^ 1u));
        rows.k.copy(shared.k, own_row, keys.group, keys.tensor_batch, shared.k_full());
        rows.v.copy(shared.v, own_row, keys.group, keys.tensor_batch, shared.v_full());
      }
      to.advance();
      step.advance();
    }
    // A tile that no query attends to needs no copies.
    if (auto none = t.when(share.rounds == 0u)) {
      shared.own_empty().wait(t.let((n & 1u) ^ 1u));
      shared.k_full().arrive();
      shared.v_full().arrive();
    }
  }

  // Run by one warp: brings the shift and delta of each query of a step. Queries that do not exist get the
  // shift +inf.
  constexpr void bring_numbers(thread t, pipeline_producer<C.stages>& to,
                               const val<attention_problem>& problem,
                               const val<attention_gradients>& gradients) const {
    constexpr u32 each = C.queries / 32;
    const val lane = t.lane_rank();
    const auto memory = [&](auto member) { return pointer_at<in<f32>>(t, t.let(gradients[member])); };
    auto step = first_step(t);
    // The index of the first number of a head.
    var<u64> first(t, first_number(t, problem, gradients, keys.of_head(step.head(), step.first_query())));
    for ([[maybe_unused]] auto n : t.range(0u, share.rounds).no_unroll()) {
      const val first_query = step.first_query();
      const auto query = array_of<each>([&](u32 i) { return t.let(first_query + lane + 32 * i); });
      const auto at = array_of<each>(
          [&](u32 i) { return t.let(first + cast<u64>(min(query[i], keys.query_limit - 1u))); });
      const auto numbers_of = [&](auto member, f32 factor, f32 otherwise) {
        const auto loaded = array_of<each>([&](u32 i) { return t.let(memory(member)[at[i]]); });
        return array_of<each>(
            [&](u32 i) { return t.let(select(query[i] < keys.query_limit, loaded[i] * factor, otherwise)); });
      };
      const auto shifts =
          numbers_of(&attention_gradients::shifts, 1.0f, std::numeric_limits<f32>::infinity());
      const auto deltas = numbers_of(&attention_gradients::deltas, -1.0f, 0.0f);
      to.acquire();
      for (u32 i = 0; i < each; ++i) {
        shared.numbers[to.stage()][0][lane + 32 * i] = shifts[i];
        shared.numbers[to.stage()][1][lane + 32 * i] = deltas[i];
      }
      sync_warp(t);
      if (auto one = t.when(lane == 0u)) shared.dout_full(to.stage()).arrive();
      to.advance();
      step.advance();
      const val rows = t.let(gradients[&attention_gradients::q_rows]);
      first += cast<u64>(rows);
      if (auto next_tile = t.when(step.head_of_group() == 0u)) first -= mul_wide(group_size, rows);
    }
  }

  // Run by one warp per stage of the ring, which has every other step, from step `first` (0 or 1) on. It adds
  // dQ to the sums in memory, in its turn.
  constexpr void add_dq(thread t, const val<u32>& stage, const val<u32>& first,
                        const earlier_additions<C.queries>& before, const val<attention_problem>& problem,
                        const val<attention_gradients>& gradients) const {
    constexpr std::uint32_t bytes = C.queries * C.columns_qk() * sizeof(f32);
    const val leads = t.let(t.lane_rank() == 0u);
    const val number = t.let(keys.first_key / C.keys);
    const val group = group_offset(t, gradients, number);
    const auto sums = pointer_at<inout<f32>>(t, t.let(gradients[&attention_gradients::dq_sums]));
    auto step = first_step(t);
    if (auto second = t.when(first != 0u)) step.advance();
    for ([[maybe_unused]] auto n : t.range(first, share.rounds, u32{C.stages}).no_unroll()) {
      shared.dq_full(stage).sync();
      if (auto one = t.when(leads)) {
        const val first_query = step.first_query();
        const val tile = dq_tile_of(t, problem, gradients, keys.of_head(step.head(), first_query), group);
        const val adds = before.reach(first_query);
        if (auto later = t.when(adds)) {
          await_turn(t, turn_of(t, gradients, tile), number);
          fence_proxy_async_global(t);
        }
        const auto to = sums[cast<u64>(tile) * u64{rows_of_dq_tile * C.columns_qk()}];
        if (auto later = t.when(adds)) reduce_bulk<bulk_operation::add>(to, shared.dq[stage], bytes);
        if (auto earliest = t.otherwise()) store_bulk(to, shared.dq[stage], bytes);
        bulk_commit_group(t);
        bulk_wait_group_read<0>(t);
        shared.dq_empty(stage).arrive();
        bulk_wait_group<0>(t);
        fence_proxy_async_global(t);
        const auto turn = turn_of(t, gradients, tile);
        const val next = t.let(number + gradients[&attention_gradients::dq_groups]);
        store(turn, next, order::release, scope::device);
      }
      sync_warp(t);
      for (u32 i = 0; i < C.stages; ++i) step.advance();
    }
  }
};

}  // namespace kaio::ops
