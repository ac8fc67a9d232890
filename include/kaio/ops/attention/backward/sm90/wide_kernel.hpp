#pragma once
// The gradients of an attention for sm_90a with rows of more than 128 elements. dK and dV of 64 keys x 256
// take half of an SM's registers. Each has its own warpgroup, and a third one has dQ, which leaves step by
// step. A block owns 64 keys of one KV head. For each query head of its group, it walks over tiles of 64
// queries:
//
//   for dV    S^T = K Q^T      P^T = exp2(S^T - shift)               dV += P^T dO
//   for dK    dP^T = V dO^T    dS^T = P^T * dx/dS * (dP^T - delta)   dK += dS^T Q
//   for dQ                                                           dQ  = dS K, 64 columns at a time
//
// P and dS are register operands of dV and dK. P * dx/dS passes from the first warpgroup to the second in f32
// through shared memory, from each thread to the same thread. dS passes, rounded, from the second to the
// third.
//
//   for dV    S0 | P0 | dV0 S1      | P1 | dV1 S2      | P2 | dV2
//   for dK    dP0     | dS0 | dK0 dP1    | dS1 | dK1 dP2    | dS2 | dK2
//   for dQ                  | dQ0        |     | dQ1        |     | dQ2
//
// The three warpgroups wait for each other at named barriers alone. While one of them computes or waits, the
// tensor cores have products of the others. In the fourth warpgroup, one warp copies tiles of Q and dO into
// rings of two stages. Another brings the two numbers of each query. Two warps watch over the turns in which
// blocks add to dQ (turns.hpp). Each of them waits for the turn of every other step, and passes it on. dQ is
// added from registers, 16 bytes at a time, 512 consecutive bytes per warp. Shared memory has no room for dQ
// next to the tiles, and its bandwidth limits this kernel. Clocks of an SM for a step at depth 256, with 4096
// operations of the tensor cores and 128 bytes of shared memory per clock:
//
//                      S     dP    dV    dK    dQ    sum
//   tensor cores      512   512   512   512   512   2560
//   shared memory     512   512   256   256   512   2048, P 256, dS 64, copies 512, dQ out 512: 3392
//
// Soft cap or ALiBi add 256: the derivatives wait in the buffer of P. L2 delivers and receives 64 KB each.
//
// Registers per thread: dV or dK 128, S or dP 32, P or dS as operands 16, half of the derivatives 16; dQ 32.
// The limits are 208 for the first two warpgroups, 64 and 32 for the others, 512 in all, which leaves no
// more. Seldom used parts of the block's place are therefore read from shared memory.
//
// Masked scores, and sums that are not finite, are handled as in kernel.hpp.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/memory.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/attention/backward/common/flags.hpp>
#include <kaio/ops/attention/backward/common/functions.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/score_parts.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>
#include <kaio/ops/attention/backward/sm90/parts.hpp>
#include <kaio/ops/attention/backward/sm90/producers.hpp>
#include <kaio/ops/attention/backward/sm90/steps.hpp>
#include <kaio/ops/attention/backward/sm90/wide_config.hpp>
#include <kaio/ops/attention/backward/sm90/wide_shared.hpp>
#include <kaio/ops/attention/forward/sm90/operands.hpp>
#include <kaio/ops/attention/forward/sm90/store.hpp>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kaio::ops {

template <attention_backward_sm90_wide_config C, scalar T, class Score>
struct attention_backward_sm90_wide_body {
  static_assert(C.valid(), "kaio: the kernel of attention_backward does not support this tile shape");
  using operands = backward_sm90_operands<T>;
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  using scores_accumulator = wgmma_accumulator<f32, C.queries>;  // 64 keys x 64 queries
  using scores = transposed_wgmma_scores<T, scores_accumulator>;
  using sums_accumulator = wgmma_accumulator<f32, C.sums_columns>;
  using shared_memory = backward_sm90_wide_shared<C, T>;
  using producers = backward_sm90_producers<C, T, shared_memory>;
  static constexpr bool has_derivatives = !std::is_same_v<Score, plain_score>;

  const shared_memory& shared;
  const attention_key_block& keys;
  const query_range_walk<C.queries>& walk;
  const backward_share& share;
  const val<u32>& group_size;

  template <class Functions>
  static constexpr void run(thread t, const operands& rows, const val<attention_problem>& problem,
                            const val<attention_gradients>& gradients, const Functions& functions) {
    const shared_memory shared(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      rows.prefetch_maps();
      shared.init();
    }
    rows.clear_missing_columns(shared, C.threads);
    launch_dependents(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      const val ticket = take_ticket(t, gradients, t.let(0u));
      const val parts = t.let(gradients[&attention_gradients::query_parts]), tile = t.let(ticket / parts);
      const tile_of_head place = key_tile_in_turns(t, problem, gradients, tile);
      const attention_key_block found = find_key_block(t, problem, gradients, place, C.keys);
      const val of_tile = t.let(ticket - tile * parts);
      shared.put_keys(found, of_tile);
    }
    t.barrier();
    const attention_key_block keys = shared.keys();
    const auto walk = query_range_walk<C.queries>::over(t, keys, C.keys, functions.queries);
    const val group_size = t.let(problem[&attention_problem::heads_of_group]);
    const val all_parts = t.let(gradients[&attention_gradients::query_parts]);
    const val<u32> own_part = shared.part();
    const auto share = backward_share::of(t, keys, walk, group_size, all_parts, own_part);
    const attention_backward_sm90_wide_body body{shared, keys, walk, share, group_size};

    const val warpgroup = warpgroup_rank(t);
    if (auto others = t.when(warpgroup == 3u)) {
      decrease_registers<C.producer_registers>(t);
      const producers work{shared, keys, share, group_size};
      const val warp = t.let(t.warp_rank() % 4u);
      if (auto copies = t.when(t.thread_rank() == 128 * 3)) {
        auto to = shared.steps.producer(t);
        work.copy(t, t.let(0u), to, rows);
      }
      if (auto brings = t.when(warp == 1u)) {
        grid_dependency_wait(t);  // the numbers
        auto to = shared.steps.producer(t);
        work.bring_numbers(t, to, problem, gradients);
      }
      if (auto watches = t.when(warp >= 2u)) {
        grid_dependency_wait(t);  // the turns
        body.pass_turns(t, t.let(warp - 2u), problem, gradients, functions);
      }
    }
    // Each branch is in the else branch of those before, so that a warpgroup keeps no registers for the
    // others.
    if (auto summing = t.otherwise()) {
      if (auto third = t.when(warpgroup == 2u)) {
        decrease_registers<C.dq_registers>(t);
        body.add_dq(t, problem, gradients, functions);
      }
      if (auto both = t.otherwise()) {
        if (auto second = t.when(warpgroup == 1u)) {
          increase_registers<C.dk_registers>(t);
          body.sum_dk(t, problem, gradients);
        }
        if (auto first = t.otherwise()) {
          increase_registers<C.dv_registers>(t);
          body.sum_dv(t, problem, gradients, functions);
        }
      }
    }
  }

 private:
  constexpr auto first_step(thread t) const {
    return backward_steps<C.queries>(t, keys.group, group_size, share);
  }

  // The origin of a thread's scores of a step.
  constexpr auto origin_of_step(thread t, const val<u32>& head, const val<u32>& first_query) const {
    const attention_key_block of = shared.keys();
    const attention_block block = of.of_head(head, first_query);
    const val query = t.let(first_query + scores_accumulator::first_column(t));
    const val key = t.let(of.first_key + scores_accumulator::first_row(t));
    return origin_of<scores::rows>(
        t, block, array_of<scores::rows>([&](u32 r) { return t.let(query + scores::query(r)); }), key,
        of.keys);
  }

  // The scores of a step. Their derivatives wait in the buffer of P; those of one part at a time are in
  // registers.
  template <class Functions>
  constexpr void differentiate(thread t, const scores& all, const Functions& functions, const val<u32>& head,
                               const val<u32>& first_query, const val<f32>& scale,
                               const val<u32>& own_p) const {
    for_score_parts<C.score_parts>(all, [&]<class Part>(const Part& x) {
      auto derivatives = array_of<Part::size()>([&](u32) { return var(t, 1.0f); });
      functions.score(x, derivatives, origin_of_step(t, head, first_query), scale);
      for (u32 i = 0; i < Part::size(); i += 4)
        store_vec(shared.p[(Part::first + i) / 4][own_p],
                  make_vec(derivatives[i], derivatives[i + 1], derivatives[i + 2], derivatives[i + 3]));
    });
  }

  template <class Functions>
  constexpr void sum_dv(thread t, const val<attention_problem>& problem,
                        const val<attention_gradients>& gradients, const Functions& functions) const {
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = functions.factor(scale);
    const val own_column = scores_accumulator::first_column(t);  // a query
    const val ends_early = t.let(keys.first_key + C.keys > keys.keys);
    const val own_p = t.let(t.thread_rank() % 128u * 4u);
    scores_accumulator s(t);          // 64 keys x 64 queries
    auto dv = sums_of<C.depth_v>(t);  // 64 keys x depth_v
    for (auto& sum : dv) sum.clear();
    const auto issue_scores = [&](const val<u32>& stage) {  // S^T = K Q^T
      wgmma_batch mma(t);
      const auto own_keys = wgmma_operand<major::k>(shared.k);
      const auto queries = wgmma_operand<major::k>(shared.q[stage]);
      mma.multiply_add(s, own_keys, queries, false);
    };
    auto from = shared.steps.consumer(t);
    auto step = first_step(t);
    if (auto some = t.when(share.rounds != 0u)) {
      shared.k_full().wait(0u);
      from.wait();
      issue_scores(from.stage());
      for (auto n : t.range(0u, share.rounds).no_unroll()) {
        const val stage = t.let(from.stage());
        shared.dout_full(stage).wait(from.parity());
        const val head = step.head(), first_query = step.first_query();
        wgmma_wait<0>(t);  // S
        const scores x(s);
        if (auto again = t.when(n != 0u)) shared.p_empty().sync();
        if constexpr (has_derivatives) {
          differentiate(t, x, functions, head, first_query, scale, own_p);
        } else {
          no_derivatives none;
          functions.score(x, none, origin_of_step(t, head, first_query), scale);
        }
        const val needs_mask = t.let(any_of(walk.template is_partial<C.queries>(t, first_query), ends_early));
        if (auto partial = t.when(needs_mask)) functions.mask(x, origin_of_step(t, head, first_query));
        const auto shifts = array_of<scores::rows / 2>(
            [&](u32 j) { return load_vec<2>(shared.numbers[stage][0][t.let(own_column + 8 * j)]); });
        for (u32 i = 0; i < scores::size(); ++i) {
          const u32 row = scores::row(i);
          x[i] = fast::ftz::exp2(min_nan(x[i] * factor - shifts[row / 2][row % 2], 0.0f));
        }
        const auto p = wgmma_register_operands<T, C.queries / 16>(
            [&](std::uint32_t j) { return s.template pair<pair>(j); });
        if constexpr (has_derivatives)
          for (u32 i = 0; i < 8; ++i) {
            const auto four = load_vec<4>(shared.p[i][own_p]);
            for (u32 j = 0; j < 4; ++j) s[4 * i + j] *= four[j];
          }
        for (u32 i = 0; i < 8; ++i)
          store_vec(shared.p[i][own_p], make_vec(s[4 * i], s[4 * i + 1], s[4 * i + 2], s[4 * i + 3]));
        shared.p_full().arrive();
        accumulate(t, dv, p, shared.dout[stage]);  // dV += P^T dO
        // Issues the next S, and after the last step an S that nobody reads. The assembler keeps products in
        // flight only if every path issues them.
        from.advance();
        step.advance();
        const val continues = t.let(n + 1u < share.rounds);
        if (auto more = t.when(continues)) from.wait();
        issue_scores(t.let(select(continues, from.stage(), stage)));
        wgmma_wait<1>(t);  // dV
        release(t, stage);
      }
      wgmma_wait<0>(t);
    }
    finish(t, problem, gradients, dv, true, &attention_gradients::dv, &attention_problem::v_size,
           t.let(1.0f));
  }

  constexpr void sum_dk(thread t, const val<attention_problem>& problem,
                        const val<attention_gradients>& gradients) const {
    const val own_column = scores_accumulator::first_column(t);  // a query
    const val own_p = t.let(t.thread_rank() % 128u * 4u);
    const val lane = t.lane_rank();
    const val own_row = t.let(t.warp_rank() % 4u * 16u + lane % 16u), of_lane = t.let(lane / 16u * 8u);
    const auto own_ds = shared.ds.lane(own_row, of_lane, 16);
    scores_accumulator dp(t);          // 64 keys x 64 queries
    auto dk = sums_of<C.depth_qk>(t);  // 64 keys x depth_qk
    for (auto& sum : dk) sum.clear();
    const auto issue_dp = [&](const val<u32>& stage) {  // dP^T - delta = V dO^T - delta
      for (u32 j = 0; j < scores::rows / 2; ++j) {
        const val two = load_vec<2>(shared.numbers[stage][1][t.let(own_column + 8 * j)]);
        for (u32 i = 0; i < 4; ++i) dp[4 * j + i] = two[i % 2];
      }
      wgmma_batch mma(t);
      const auto values = wgmma_operand<major::k>(shared.v);
      const auto gradients_of_o = wgmma_operand<major::k>(shared.dout[stage]);
      mma.multiply_add(dp, values, gradients_of_o);
    };
    auto from = shared.steps.consumer(t);
    if (auto some = t.when(share.rounds != 0u)) {
      shared.v_full().wait(0u);
      from.wait();
      shared.dout_full(t.let(0u)).wait(0u);
      issue_dp(from.stage());
      for (auto n : t.range(0u, share.rounds).no_unroll()) {
        const val stage = t.let(from.stage());
        const val continues = t.let(n + 1u < share.rounds);
        shared.p_full().sync();
        wgmma_wait<0>(t);  // dP
        for (u32 i = 0; i < 8; ++i) {
          const auto four = load_vec<4>(shared.p[i][own_p]);
          for (u32 j = 0; j < 4; ++j) dp[4 * i + j] *= four[j];
        }
        if (auto more = t.when(continues)) shared.p_empty().arrive();
        const auto ds = wgmma_register_operands<T, C.queries / 16>(
            [&](std::uint32_t j) { return dp.template pair<pair>(j); });
        if (auto again = t.when(n >= C.stages)) shared.ds_empty(stage).sync();
        for (u32 c = 0; c < C.queries / 16; ++c) {
          const auto words = array_of<4>([&](u32 j) { return dp.template pair<pair>(4 * c + j); });
          stmatrix_x4(shared.ds[stage].at(own_ds, 0, 16 * c), words[0], words[1], words[2], words[3]);
        }
        fence_proxy_async(t);
        shared.ds_full(stage).arrive();
        accumulate(t, dk, ds, shared.q[stage]);  // dK += dS^T Q
        // Issues the next dP, and after the last step a dP that nobody reads (see sum_dv).
        from.advance();
        if (auto more = t.when(continues)) {
          from.wait();
          shared.dout_full(from.stage()).wait(from.parity());
        }
        issue_dp(t.let(select(continues, from.stage(), stage)));
        wgmma_wait<1>(t);  // dK
        release(t, stage);
      }
      wgmma_wait<0>(t);
    }
    finish(t, problem, gradients, dk, false, &attention_gradients::dk, &attention_problem::qk_size,
           t.let(problem[&attention_problem::scale]));
  }

  // Adds dQ of each step to the sums in memory, in the layout that finish.hpp reads.
  template <class Functions>
  constexpr void add_dq(thread t, const val<attention_problem>& problem,
                        const val<attention_gradients>& gradients, const Functions& functions) const {
    constexpr u32 part = rows_of_dq_tile * 64;  // f32 elements of 64 columns
    const auto before = earlier_additions<C.queries>::to(
        t, keys, C.keys, t.let(gradients[&attention_gradients::dq_groups]), functions.queries);
    const auto sums = pointer_at<inout<f32>>(t, t.let(gradients[&attention_gradients::dq_sums]));
    const val group = group_offset(t, gradients, t.let(keys.first_key / C.keys));
    const val own = t.let(cast<u64>(t.thread_rank() % 128u * 4u));
    wgmma_accumulator<f32, C.dq_columns> dq(t);  // 64 queries x 64
    auto step = first_step(t);
    if (auto some = t.when(share.rounds != 0u)) {
      shared.k_full().wait(0u);
      for (auto n : t.range(0u, share.rounds).no_unroll()) {
        const val stage = t.let(n % C.stages);
        const val first_query = step.first_query();
        const val tile = dq_tile_of(t, problem, gradients, keys.of_head(step.head(), first_query), group);
        const val later = before.reach(first_query);
        const auto to = sums.from(t.let(cast<u64>(tile) * u64{rows_of_dq_tile * C.depth_qk} + own));
        shared.ds_full(stage).sync();
        for (u32 first = 0; first < C.depth_qk; first += C.dq_columns) {
          const bool last = first + C.dq_columns == C.depth_qk;
          {  // dQ = dS K
            wgmma_batch mma(t);
            const auto ds = wgmma_operand<major::mn>(shared.ds[stage]);
            const auto own_keys = wgmma_operand<major::mn>(shared.k).rows(first);
            mma.multiply_add(dq, ds, own_keys, false);
          }
          wgmma_wait<0>(t);
          if (last)
            if (auto used_again = t.when(n + C.stages < share.rounds)) shared.ds_empty(stage).arrive();
          if (first == 0) shared.dq_turn(stage).sync();
          const auto each_four = [&](const auto& f) {
            for (u32 i = 0; i < C.dq_columns / 8; ++i)
              f(to[part * (first / 64 + i / 8) + 512 * (i % 8)],
                make_vec(dq[4 * i], dq[4 * i + 1], dq[4 * i + 2], dq[4 * i + 3]));
          };
          if (auto adds = t.when(later))
            each_four([](const auto& at, const auto& four) { atomic_add(at, four); });
          if (auto stores = t.otherwise())
            each_four([](const auto& at, const auto& four) { store_vec(at, four); });
        }
        shared.dq_added(stage).arrive();
        step.advance();
      }
    }
  }

  // Run by one warp: waits for the turns of every other step, and passes them on.
  template <class Functions>
  constexpr void pass_turns(thread t, const val<u32>& stage, const val<attention_problem>& problem,
                            const val<attention_gradients>& gradients, const Functions& functions) const {
    const val leads = t.let(t.lane_rank() == 0u);
    const val number = t.let(keys.first_key / C.keys), group = group_offset(t, gradients, number);
    const val groups = t.let(gradients[&attention_gradients::dq_groups]), next = t.let(number + groups);
    const auto before = earlier_additions<C.queries>::to(t, keys, C.keys, groups, functions.queries);
    auto step = first_step(t);
    if (auto odd = t.when(stage != 0u)) step.advance();
    for ([[maybe_unused]] auto n : t.range(stage, share.rounds, u32{C.stages}).no_unroll()) {
      const val first_query = step.first_query();
      const val tile = dq_tile_of(t, problem, gradients, keys.of_head(step.head(), first_query), group);
      if (auto waits = t.when(all_of(leads, before.reach(first_query))))
        await_turn(t, turn_of(t, gradients, tile), number);
      sync_warp(t);
      shared.dq_turn(stage).arrive();
      shared.dq_added(stage).sync();
      if (auto one = t.when(leads)) {
        const auto turn = turn_of(t, gradients, tile);
        dsl::store(turn, next, order::release, scope::device);
      }
      for (u32 i = 0; i < C.stages; ++i) step.advance();
    }
  }

  // Sums of 64 rows by 128 columns. The assembler takes an instruction of 256 columns only if a kernel begins
  // with more registers than a block of 512 threads has.
  template <std::uint32_t Columns>
  static constexpr auto sums_of(thread t) {
    return [&]<std::uint32_t... I>(std::integer_sequence<std::uint32_t, I...>) {
      return std::array<sums_accumulator, sizeof...(I)>{((void)I, sums_accumulator(t))...};
    }(std::make_integer_sequence<std::uint32_t, Columns / C.sums_columns>{});
  }
  // sums += A step, A in registers
  template <class Sums, class A, class Step>
  static constexpr void accumulate(thread t, Sums& sums, const A& a, const Step& step) {
    const auto columns = wgmma_operand<major::mn>(step);
    wgmma_batch mma(t);
    for (std::uint32_t c = 0; c < a.size(); ++c)
      for (u32 i = 0; i < sums.size(); ++i)
        mma.multiply_add(sums[i], a[c], columns.slice(c).rows(C.sums_columns * i));
  }
  // Reports that the warp has read the step's tiles in shared memory.
  constexpr void release(thread t, const val<u32>& stage) const {
    sync_warp(t);
    if (auto one = t.when(t.lane_rank() == 0u)) shared.steps.empty()[stage].arrive();
  }
  // The end of a warpgroup: stores its sums, or leaves them as those of a part (parts.hpp).
  template <class Sums, class Member, class Size>
  constexpr void finish(thread t, const val<attention_problem>& problem,
                        const val<attention_gradients>& gradients, Sums& sums, bool clears, Member member,
                        Size size, const val<f32>& by) const {
    if constexpr (C.divides_queries) {
      const val is_shared = t.let(gradients[&attention_gradients::query_parts] > 1u);
      if (auto of_part = t.when(is_shared)) {
        const attention_key_block own_keys = shared.keys();
        const val<u32> own_part = shared.part();
        const val first = t.let(0u);
        leave_part<C>(t, gradients, own_keys, own_part, first, clears ? C.depth_qk : 0, sums[0], sums[1]);
      }
      if (auto whole = t.otherwise()) store_sums(t, problem, gradients, sums, clears, member, size, by);
    } else {
      store_sums(t, problem, gradients, sums, clears, member, size, by);
    }
  }
  // Stores the sums of a warpgroup, times `by`, to dK or dV. Sets the flag if the keys have to be computed
  // again. Both warpgroups share the flag, and one of them clears it.
  template <class Sums, class Member, class Size>
  constexpr void store_sums(thread t, const val<attention_problem>& problem,
                            const val<attention_gradients>& gradients, const Sums& sums, bool clears,
                            Member member, Size size, const val<f32>& by) const {
    static_assert(rows_of_flag == C.keys);
    const attention_key_block own = shared.keys();
    const backward_flags flags = flags_of_keys(t, gradients, own);
    const val exists = t.let(own.first_key / rows_of_flag < gradients[&attention_gradients::flag_key_tiles]);
    const auto flag = pointer_at<inout<u32>>(t, flags.address)[flags.first];
    var zero(t, 0.0f);  // becomes NaN if a sum is NaN or infinite
    for (const auto& sum : sums)
      for (std::uint32_t i = 0; i < sum.size(); ++i) zero = fma(sum[i], 0.0f, zero);
    const val of_warp = t.let(warp_any(isnan(zero)));
    if (clears)
      if (auto leads = t.when(all_of(t.thread_rank() % 128u == 0u, exists))) flag = 0u;
    shared.flags().sync();
    if (auto sets = t.when(all_of(of_warp, t.lane_rank() == 0u, exists))) flag = 1u;

    const auto strides = gradients[member];
    if (auto wanted = t.when(strides[&attention_strides::address] != u64{0})) {
      const attention_block block = own.of_head(own.group, own.first_key);
      const val first_key = t.let(own.first_key + scores_accumulator::first_row(t));
      const attention_output whole = output_rows(t, strides, block, own.group, own.first_k_row, own.keys,
                                                 t.let(problem[size]), sizeof(T));
      for (u32 i = 0; i < sums.size(); ++i) {
        const u32 first = C.sums_columns * i;
        const attention_output to{t.let(whole.address + u64{first * sizeof(T)}), whole.pitch, whole.rows,
                                  t.let(max(whole.columns, first) - first)};
        store_quads<T>(t, sums[i], {{by, by}}, to, first_key);
      }
    }
  }
};

template <attention_backward_sm90_wide_config C, scalar T, class Score, class Mask, class OfScore,
          class OfMask>
struct attention_backward_sm90_wide_kernel;

template <attention_backward_sm90_wide_config C, scalar T, class Score, class Mask, class... OfScore,
          class... OfMask>
struct attention_backward_sm90_wide_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                                           attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_backward_sm90_" + type_name<T> + "_d" +
                               attention_depth_name<C.depth_qk, C.depth_v> + "_" + decimal<C.keys> + "x" +
                               decimal<C.queries> + "_" + attention_function_name<Score> + "_" +
                               attention_function_name<Mask>;
  static constexpr kernel_options options{.target = {90, true}, .large_shared = true, .min_blocks = 1};
  using functions = backward_functions_of<Score, Mask>;

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads}, options>(
      [](thread t, tensor_map<T, 4> q, tensor_map<T, 4> k, tensor_map<T, 4> v, tensor_map<T, 4> dout,
         tensor_map<T, 4> q_rest, tensor_map<T, 4> k_rest, tensor_map<T, 4> v_rest,
         tensor_map<T, 4> dout_rest, val<attention_problem> problem, val<attention_gradients> gradients,
         OfScore... of_score, OfMask... of_mask) {
        attention_backward_sm90_wide_body<C, T, Score>::run(
            t,
            backward_sm90_operands<T>::of(t, problem, {q, k, v, dout}, {q_rest, k_rest, v_rest, dout_rest}),
            problem, gradients, functions::of(t, gradients, of_score..., of_mask...));
      });
};

// Launched with one block for each 64 keys of each head of K, otherwise like attention_backward_sm90.
template <attention_backward_sm90_wide_config C, scalar T, class Score, class Mask>
inline constexpr auto attention_backward_sm90_wide =
    attention_backward_sm90_wide_kernel<C, T, Score, Mask, parameters_of_score<Score>,
                                        parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops
