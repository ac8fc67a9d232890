#pragma once
// The gradients of an attention for sm_90a: warp-specialised, with tensor copies and wgmma. A block takes one
// tile of 128 keys of a KV head after the other (tile_records.hpp). Each of its two consumer warpgroups has
// 64 keys. For each query head of the group, the block walks over the tiles of queries that attend to the
// keys. S and dP are computed once, transposed, so that P^T and dS^T are register operands as they are. Only
// dS goes through shared memory, for dQ; each consumer computes 64 x 64 of dQ:
//
//   S^T = K Q^T    dP^T = V dO^T    P^T = exp2(S^T - shift)    dS^T = P^T * (dP^T - delta) * dx/dS
//   dV += P^T dO   dK += dS^T Q     dQ  = dS K
//
// The third warpgroup has the producer warps. One copies tiles of Q and dO into rings of two stages, one
// brings the two numbers of each query. Two warps add dQ of every other step to f32 sums in memory by bulk
// copies. They add in turns (turns.hpp), so equal calls give equal bits. Another kernel converts the sums to
// dq (finish.hpp).
//
//   tensor cores   S0 | dP0 | dV0  | dK0 dQ0 S1       | dP1 | dV1  | dK1 dQ1 S2       | dP2 ...
//   a consumer        | P0  | dS0 ||         dQ0 out  | P1  | dS1 ||         dQ1 out  | P2 ...
//
// The mark || is the only barrier of a step: both consumers have stored dS. P is computed while dP is in
// flight, dS while dV is, and dQ leaves while the next S is. Registers do not suffice for more in flight: dS
// is an operand of dK, which has ended when the next S begins. A step of 128 queries has two halves. S of the
// second half is in flight with dP of the first; dQ and dK cover both.
//
// A masked score multiplies by 0, which gives NaN if the other factor is NaN or infinite. dS may also exceed
// the largest number of f16. Sums that are not all finite set a flag, as in the kernels for sm_80, and are
// computed again in f32.
//
// Sources: Shah et al., "FlashAttention-3", 2024; PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate", "cp.reduce.async.bulk".

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/attention/backward/common/flags.hpp>
#include <kaio/ops/attention/backward/common/functions.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/score_parts.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>
#include <kaio/ops/attention/backward/sm90/config.hpp>
#include <kaio/ops/attention/backward/sm90/producers.hpp>
#include <kaio/ops/attention/backward/sm90/shared.hpp>
#include <kaio/ops/attention/backward/sm90/steps.hpp>
#include <kaio/ops/attention/forward/sm90/operands.hpp>
#include <kaio/ops/attention/forward/sm90/store.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

template <attention_backward_sm90_config C, scalar T>
struct attention_backward_sm90_body {
  static_assert(C.valid(), "kaio: the kernel of attention_backward does not support this tile shape");
  using operands = backward_sm90_operands<T>;
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  using scores_accumulator = wgmma_accumulator<f32, 64>;
  using scores = transposed_wgmma_scores<T, scores_accumulator>;
  using producers = backward_sm90_producers<C, T>;
  using tile = backward_tile<C.queries>;
  static constexpr bool uses_again = C.score_parts > 1;

  template <class Functions>
  static constexpr void run(thread t, const operands& rows, const val<attention_problem>& problem,
                            const val<attention_gradients>& gradients, const Functions& functions) {
    const backward_sm90_shared<C, T> shared(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      rows.prefetch_maps();
      shared.init();
    }
    rows.clear_missing_columns(shared, C.threads);
    launch_dependents(t);
    grid_dependency_wait(t);
    t.barrier();
    const val group_size = t.let(problem[&attention_problem::heads_of_group]);

    const val warpgroup = warpgroup_rank(t);
    if (auto others = t.when(warpgroup == C.consumers)) {
      decrease_registers<C.producer_registers()>(t);
      const val warp = t.let(t.warp_rank() % 4u);
      if (auto copies = t.when(t.thread_rank() == 128 * C.consumers)) {
        auto to = shared.steps.producer(t);
        shared.tiles.pass_on(
            tiles_of(t, problem, gradients, functions), [&](const tile& one, const val<u32>& n) {
              producers{shared, one.keys, one.walk, group_size, one.rounds}.copy(t, n, to, rows);
            });
      }
      if (auto brings = t.when(warp == 1u)) {
        auto to = shared.steps.producer(t);
        shared.tiles.for_each([&](const tile& one) {
          producers{shared, one.keys, one.walk, group_size, one.rounds}.bring_numbers(t, to, problem,
                                                                                      gradients);
        });
      }
      if (auto adds = t.when(warp >= 2u)) {
        const val stage = t.let(warp - 2u);
        var<u32> first(t, stage);  // the first step of the tile in this stage of the ring
        shared.tiles.for_each([&](const tile& one) {
          producers{shared, one.keys, one.walk, group_size, one.rounds}.add_dq(
              t, stage, t.let(first), one.before, problem, gradients);
          first ^= one.rounds & 1u;
        });
      }
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<C.consumer_registers()>(t);
      auto from = shared.steps.consumer(t);
      const val leads_group = t.let(t.thread_rank() % 128u == 0u);
      const val scale = t.let(problem[&attention_problem::scale]);
      const val factor = functions.factor(scale);
      const val group_row = t.let(warpgroup * 64u);
      const val own_row = t.let(scores_accumulator::first_row(t) + group_row);  // a key
      const val own_column = scores_accumulator::first_column(t);               // a query
      const val lane = t.lane_rank();
      const auto find_own_ds = [&] {
        const val row = t.let(t.warp_rank() * 16u + lane % 16u), column = t.let(lane / 16u * 8u);
        return shared.ds.lane(row, column, 16);
      };
      const auto early_own_ds = when<C.early_dp>(find_own_ds);
      const val own_sums = t.let(t.thread_rank() % 128u * 4u);

      auto s = each_half([&](u32) { return scores_accumulator(t); });   // 64 keys x 64 queries, per half
      scores_accumulator dp(t);                                         // 64 keys x 64 queries
      wgmma_accumulator<f32, 64> dq(t);                                 // 64 queries x 64
      wgmma_accumulator<f32, C.depth_qk> dk(t);                         // 64 keys x depth_qk
      wgmma_accumulator<f32, C.depth_v> dv(t);                          // 64 keys x depth_v
      const auto issue_scores = [&](u32 half, const val<u32>& stage) {  // S^T = K Q^T
        wgmma_batch mma(t);
        const auto keys_of_group = wgmma_operand<major::k>(shared.k).rows(group_row);
        const auto queries = wgmma_operand<major::k>(shared.q[stage]).rows(64 * half);
        mma.multiply_add(s[half], keys_of_group, queries, false);
      };
      const auto issue_dp = [&](u32 half, const val<u32>& stage) {  // dP^T - delta = V dO^T - delta
        wgmma_batch mma(t);
        const auto values = wgmma_operand<major::k>(shared.v).rows(group_row);
        const auto gradients_of_o = wgmma_operand<major::k>(shared.dout[stage]).rows(64 * half);
        mma.multiply_add(dp, values, gradients_of_o);
      };
      // The shifts of a thread's queries.
      auto shifts = array_of<scores::rows>([&](u32) { return var(t, 0.0f); });
      const auto for_pairs = [&](const val<u32>& stage, u32 half, u32 which, const auto& f) {
        for (u32 j = 0; j < scores::rows / 2; ++j) {
          const val two = load_vec<2>(shared.numbers[stage][which][t.let(own_column + (64 * half + 8 * j))]);
          f(j, t.let(two[0]), t.let(two[1]));
        }
      };
      const auto read_shifts = [&](u32 half, const val<u32>& stage) {
        for_pairs(stage, half, 0, [&](u32 j, const auto& x, const auto& y) {
          shifts[2 * j] = x;
          shifts[2 * j + 1] = y;
        });
      };
      const auto begin_dp = [&](u32 half, const val<u32>& stage) {  // dP^T begins as -delta
        for_pairs(stage, half, 1, [&](u32 j, const auto& x, const auto& y) {
          for (u32 key = 0; key < 2; ++key) {
            dp[4 * j + 2 * key] = x;
            dp[4 * j + 2 * key + 1] = y;
          }
        });
      };
      // sum += A step, A in registers; from slice `first` of the step on
      const auto accumulate = [&](auto& sum, const auto& a, const auto& step, u32 first) {
        const auto columns = wgmma_operand<major::mn>(step);
        wgmma_batch mma(t);
        for (std::uint32_t c = 0; c < a.size(); ++c) mma.multiply_add(sum, a[c], columns.slice(first + c));
      };
      const auto issue_dq = [&](const val<u32>& stage) {  // dQ = dS K
        const auto ds = shared.ds[stage];
        wgmma_batch mma(t);
        if constexpr (C.queries == 64) {
          const auto a = wgmma_operand<major::mn>(ds);
          mma.multiply_add(dq, a, wgmma_operand<major::mn>(shared.k.panel(warpgroup)), false);
        } else {
          const auto a = wgmma_operand<major::mn>(ds.panel(warpgroup));
          mma.multiply_add(dq, a, wgmma_operand<major::mn>(shared.k), false);
        }
      };

      // Reads numbers before the first S of a step has arrived.
      const auto begin_step = [&](const val<u32>& stage) {
        if constexpr (!C.early_dp) return;
        read_shifts(0, stage);
        begin_dp(0, stage);
      };
      // Passes dQ of a step to the warp that adds for its stage.
      const auto put_dq = [&](const val<u32>& stage, const val<u32>& parity) {
        shared.dq_empty(stage).wait(t.let(parity ^ 1u));
        for (u32 i = 0; i < 8; ++i)
          store_vec(shared.dq[stage][t.let(warpgroup * 8u + i)][own_sums],
                    make_vec(dq[4 * i], dq[4 * i + 1], dq[4 * i + 2], dq[4 * i + 3]));
        fence_proxy_async(t);
        shared.dq_full(stage).arrive();
      };

      // Releases what the warp has read, also the numbers: begin_step reads them in vain after the last step.
      const auto leave = [&](const mbarrier& empty) {
        sync_warp(t);
        if (auto leads = t.when(lane == 0u)) empty.arrive();
      };

      shared.tiles.for_each_held([&](const tile& one, const val<u32>& number, const auto& again) {
        const attention_key_block& keys = one.keys;
        const auto& walk = one.walk;
        const val ends_early = t.let(keys.first_key + C.keys > keys.keys);
        dk.clear();
        dv.clear();
        backward_steps<C.queries> step(t, keys, walk.first, walk.last, group_size);
        shared.k_full().wait(t.let(number & 1u));
        shared.v_full().wait(t.let(number & 1u));
        if (auto some = t.when(one.rounds != 0u)) {
          from.wait();
          shared.dout_full(from.stage()).wait(from.parity());
          issue_scores(0, from.stage());
          wgmma_wait<0>(t);
          begin_step(from.stage());
          for (auto n : t.range(0u, one.rounds).no_unroll()) {
            const val stage = t.let(from.stage()), parity = t.let(from.parity());
            if constexpr (C.early_dp) issue_dp(0, stage);
            if constexpr (C.early_dp && C.halves() == 2) issue_scores(1, stage);

            // Returns dS^T of 64 queries, rounded, in pairs.
            const auto half = [&](u32 h) {
              if (C.early_dp && h == 1) read_shifts(1, stage);
              if (h == 1) {  // waits for S; S of the first half has already arrived
                if constexpr (C.early_dp) {
                  wgmma_wait<2>(t);
                } else {
                  issue_scores(1, stage);
                  wgmma_wait<0>(t);
                }
              }
              const val first_query = t.let(step.first_query() + 64 * h);
              // The origin of the scores. If registers do not suffice for all scores at once, the keys are
              // read again.
              const auto origin_by = [&](const attention_key_block& own) {
                const val query = t.let(first_query + own_column);
                const attention_block of_head = own.of_head(step.head(), first_query);
                const auto queries =
                    array_of<scores::rows>([&](u32 r) { return t.let(query + scores::query(r)); });
                const val key = t.let(own.first_key + own_row);
                return origin_of<scores::rows>(t, of_head, queries, key, own.keys);
              };
              const auto early_origin = when<!uses_again>([&] { return origin_by(keys); });
              const auto origin = [&] {
                return either<!uses_again>(early_origin, [&] { return origin_by(again()); });
              };
              const scores x(s[h]);
              auto derivatives = derivatives_for<!C.early_dp>(t);
              if constexpr (!uses_again)
                functions.score(x, derivatives, origin(), scale);
              else
                for_score_parts<C.score_parts>(x, [&]<class Part>(const Part& part) {
                  auto of_part = array_of<Part::size()>([&](u32) { return var(t, 1.0f); });
                  functions.score(part, of_part, origin(), scale);
                  for (u32 i = 0; i < Part::size(); ++i) derivatives[Part::first + i] = of_part[i];
                });
              const val needs_mask = t.let(any_of(walk.template is_partial<64>(t, first_query), ends_early));
              if (auto partial = t.when(needs_mask)) functions.mask(x, origin());
              if (!C.early_dp) read_shifts(h, stage);
              for (u32 i = 0; i < scores::size(); ++i)
                x[i] = fast::ftz::exp2(min_nan(x[i] * factor - shifts[scores::row(i)], 0.0f));
              const auto p =
                  wgmma_register_operands<T, 4>([&](std::uint32_t j) { return s[h].template pair<pair>(j); });
              if constexpr (!C.early_dp) {
                for (u32 i = 0; i < scores::size(); ++i) x[i] *= derivatives[i];
                begin_dp(h, stage);
                issue_dp(h, stage);
              }
              accumulate(dv, p, shared.dout[stage], 4 * h);  // dV += P^T dO
              if (C.early_dp && h + 1 < C.halves())
                wgmma_wait<2>(t);  // dP
              else
                wgmma_wait<1>(t);
              for (u32 i = 0; i < scores::size(); ++i) dp[i] *= x[i];
              const auto pairs =
                  array_of<scores::size() / 2>([&](u32 j) { return dp.template pair<pair>(j); });
              const auto own_ds = either<C.early_dp>(early_own_ds, find_own_ds);
              for (u32 c = 0; c < 4; ++c)
                stmatrix_x4(shared.ds[stage].at(own_ds, 0, 64 * h + 16 * c), pairs[4 * c], pairs[4 * c + 1],
                            pairs[4 * c + 2], pairs[4 * c + 3]);
              if (C.early_dp && h + 1 < C.halves()) {
                begin_dp(h + 1, stage);
                issue_dp(h + 1, stage);
              }
              return pairs;
            };
            const auto first = half(0);
            const auto second = [&] {
              if constexpr (C.halves() == 2)
                return half(1);
              else
                return first;
            }();
            const auto ds = wgmma_register_operands<T, C.queries / 16>(
                [&](std::uint32_t j) { return j < 16 ? first[j] : second[j % 16]; });
            fence_proxy_async(t);
            shared.consumers().sync();
            accumulate(dk, ds, shared.q[stage], 0);  // dK += dS^T Q
            issue_dq(stage);
            wgmma_wait<1>(t);  // dV, dK
            // Issues the next S, and after the last step an S that nobody reads. The assembler keeps products
            // in flight only if every path issues them.
            from.advance();
            step.advance();
            const val goes_on = t.let(n + 1u < one.rounds);
            if (auto more = t.when(goes_on)) from.wait();
            const val next_stage = t.let(select(goes_on, from.stage(), stage));
            issue_scores(0, next_stage);
            wgmma_wait<1>(t);  // dQ
            put_dq(stage, parity);
            if (auto more = t.when(goes_on)) shared.dout_full(next_stage).wait(from.parity());
            begin_step(next_stage);
            wgmma_wait<0>(t);  // S
            leave(shared.steps.empty()[stage]);
          }
        }
        leave(shared.own_empty());
        // Read again: kept through the steps, the keys would take registers that the steps need.
        const attention_key_block own = again();
        leave_flags(t, shared, gradients, own, warpgroup, leads_group, dk, dv);
        const attention_block block = own.of_head(own.group, own.first_key);
        const auto store = [&](const auto& sums, auto member, auto size, const val<f32>& by) {
          const auto strides = gradients[member];
          if (auto wanted = t.when(strides[&attention_strides::address] != u64{0})) {
            const auto to = output_rows(t, strides, block, own.group, own.first_k_row, own.keys,
                                        t.let(problem[size]), sizeof(T));
            store_quads<T>(t, sums, {{by, by}}, to, t.let(own.first_key + own_row));
          }
        };
        store(dk, &attention_gradients::dk, &attention_problem::qk_size, scale);
        store(dv, &attention_gradients::dv, &attention_problem::v_size, t.let(1.0f));
      });
    }
  }

 private:
  // The tiles of all heads in the order of turns.hpp, as `next` of tile_records.hpp.
  template <class Functions>
  struct next_tile {
    thread t;
    const val<attention_problem>& problem;
    const val<attention_gradients>& gradients;
    const Functions& functions;

    constexpr val<u32> count() const {
      return t.let(gradients[&attention_gradients::key_tiles] * gradients[&attention_gradients::key_heads] *
                   problem[&attention_problem::batches]);
    }
    constexpr val<u32> ticket() const { return take_ticket(t, gradients); }
    constexpr attention_key_block keys(const val<u32>& ticket) const {
      return find_key_block(t, problem, gradients, key_tile_in_turns(t, problem, gradients, ticket), C.keys);
    }
    constexpr auto walk(const attention_key_block& keys) const {
      return query_range_walk<C.queries>::over(t, keys, C.keys, functions.queries);
    }
    constexpr auto before(const attention_key_block& keys) const {
      return earlier_additions<C.queries>::to(t, keys, C.keys, functions.queries);
    }
    constexpr val<u32> rounds(const query_range_walk<C.queries>& walk) const {
      return t.let((walk.last - walk.first) * problem[&attention_problem::heads_of_group]);
    }
  };
  template <class Functions>
  static constexpr auto tiles_of(thread t, const val<attention_problem>& problem,
                                 const val<attention_gradients>& gradients, const Functions& functions) {
    return next_tile<Functions>{t, problem, gradients, functions};
  }

  // f(0), and f(1) if a step has 128 queries.
  template <class F>
  static constexpr auto each_half(const F& f) {
    if constexpr (C.halves() == 1)
      return std::array{f(0)};
    else
      return std::array{f(0), f(1)};
  }
  // A value is computed early if registers suffice for it (when), otherwise where it is used (either).
  template <bool Early, class F>
  static constexpr auto when(const F& f) {
    if constexpr (Early)
      return f();
    else
      return 0;
  }
  template <bool Early, class Value, class F>
  static constexpr auto either(const Value& value, const F& f) {
    if constexpr (Early)
      return value;
    else
      return f();
  }
  template <bool Exist>
  static constexpr auto derivatives_for(thread t) {
    if constexpr (Exist)
      return array_of<scores::size()>([&](u32) { return var(t, 1.0f); });
    else
      return no_derivatives{};
  }

  // Sets a flag for each consumer's 64 keys: whether they have to be computed again.
  template <class Dk, class Dv>
  static constexpr void leave_flags(thread t, const backward_sm90_shared<C, T>& shared,
                                    const val<attention_gradients>& gradients,
                                    const attention_key_block& keys, const val<u32>& warpgroup,
                                    const val<bool>& leads_group, const Dk& dk, const Dv& dv) {
    static_assert(rows_of_flag == 64);
    const backward_flags flags = flags_of_keys(t, gradients, keys);
    const val exists =
        t.let(keys.first_key / rows_of_flag + warpgroup < gradients[&attention_gradients::flag_key_tiles]);
    const auto flag = pointer_at<inout<u32>>(t, flags.address)[flags.first + cast<u64>(warpgroup)];
    var zero(t, 0.0f);  // becomes NaN if a sum is NaN or infinite
    for (std::uint32_t i = 0; i < dk.size(); ++i) zero = fma(dk[i], 0.0f, zero);
    for (std::uint32_t i = 0; i < dv.size(); ++i) zero = fma(dv[i], 0.0f, zero);
    const val of_warp = t.let(warp_any(isnan(zero)));
    if (auto clears = t.when(all_of(leads_group, exists))) flag = 0u;
    shared.consumer(warpgroup).sync();
    if (auto sets = t.when(all_of(of_warp, t.lane_rank() == 0u, exists))) flag = 1u;
  }
};

template <attention_backward_sm90_config C, scalar T, class Score, class Mask, class OfScore, class OfMask>
struct attention_backward_sm90_kernel;

template <attention_backward_sm90_config C, scalar T, class Score, class Mask, class... OfScore,
          class... OfMask>
struct attention_backward_sm90_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
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
        attention_backward_sm90_body<C, T>::run(
            t,
            backward_sm90_operands<T>::of(t, problem, {q, k, v, dout}, {q_rest, k_rest, v_rest, dout_rest}),
            problem, gradients, functions::of(t, gradients, of_score..., of_mask...));
      });
};

// Launched after attention_backward_prepare, with one block for each 128 keys of each head of K. If
// C.many_tiles, there is at most one block per multiprocessor. The arguments are, in this order:
//
//   the maps of q, k, v and dout (boxes of 64 elements, and of the tile's queries or keys)
//   the maps of the last elements of their rows (attention_rest_map)
//   the problem, the gradients, the arguments of the score, those of the mask
template <attention_backward_sm90_config C, scalar T, class Score, class Mask>
inline constexpr auto attention_backward_sm90 =
    attention_backward_sm90_kernel<C, T, Score, Mask, parameters_of_score<Score>,
                                   parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops
