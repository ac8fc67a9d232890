#pragma once
// A consumer warpgroup of a backward block for sm_90a: dK and dV of 64 of the block's keys, and 64 x 64 of
// dQ. kernel.hpp has the order of its products. A step of 128 queries has two halves of 64.
//
//   S^T, dP^T    64 keys x 64 queries, f32 accumulators; S has one per half
//   P^T, dS^T    the same rounded to T: register operands, dS also in shared memory
//   dK, dV       64 keys x depth, f32 accumulators of the tile of keys
//   dQ           64 queries x 64, f32 accumulator of the step

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/attention/backward/common/flags.hpp>
#include <kaio/ops/attention/backward/common/functions.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/score_parts.hpp>
#include <kaio/ops/attention/backward/sm90/config.hpp>
#include <kaio/ops/attention/backward/sm90/parts.hpp>
#include <kaio/ops/attention/backward/sm90/shared.hpp>
#include <kaio/ops/attention/backward/sm90/steps.hpp>
#include <kaio/ops/attention/forward/sm90/operands.hpp>
#include <kaio/ops/attention/forward/sm90/store.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// What all blocks of a launch compute.
template <class Functions>
struct backward_sm90_call {
  const val<attention_problem>& problem;
  const val<attention_gradients>& gradients;
  const Functions& functions;
  const val<u32>& group_size;  // query heads of a KV head
};

template <attention_backward_sm90_config C, scalar T, class Functions>
class backward_sm90_consumer {
  using shared_memory = backward_sm90_shared<C, T>;
  using tile = backward_tile<C.queries>;

 public:
  constexpr backward_sm90_consumer(thread t, const shared_memory& shared,
                                   const backward_sm90_call<Functions>& call, const val<u32>& warpgroup)
      : t_(t),
        shared_(shared),
        call_(call),
        warpgroup_(warpgroup),
        from_(shared.steps.consumer(t)),
        scale_(t.let(call.problem[&attention_problem::scale])),
        factor_(call.functions.factor(scale_)),
        group_row_(t.let(warpgroup * 64u)),
        own_column_(accumulator::first_column(t)),
        early_ds_(when<C.early_dp>([&] { return place_of_ds(); })),
        s_(each_half([&](u32) { return accumulator(t); })),
        dp_(t),
        dq_(t),
        dk_(t),
        dv_(t),
        shifts_(array_of<scores::rows>([&](u32) { return var(t, 0.0f); })) {}

  // Takes all tiles of keys of the block.
  constexpr void run() {
    shared_.tiles.for_each_held([&](const tile& one, const val<u32>& number, const auto& again) {
      dk_.clear();
      dv_.clear();
      held_tile own{one, again, backward_steps<C.queries>(t_, one.keys.group, call_.group_size, one.share)};
      const val parity = t_.let(number & 1u);
      shared_.k_full().wait(parity);
      if (auto some = t_.when(one.share.rounds != 0u)) take_steps(own, parity);
      if (auto none = t_.otherwise()) shared_.v_full().wait(parity);
      release(shared_.own_empty());
      // Read again: kept through the steps, the keys would take registers that the steps need.
      const auto finish = [&] {
        const attention_key_block keys = again.keys();
        leave_flags(keys);
        store(keys, dk_, &attention_gradients::dk, &attention_problem::qk_size, scale_);
        store(keys, dv_, &attention_gradients::dv, &attention_problem::v_size, t_.let(1.0f));
      };
      if constexpr (C.divides_queries) {
        const val is_shared = t_.let(call_.gradients[&attention_gradients::query_parts] > 1u);
        if (auto of_part = t_.when(is_shared)) {
          const attention_key_block own_keys = again.keys();
          const val<u32> own_part = again.part();
          leave_part<C>(t_, call_.gradients, own_keys, own_part, group_row_, 0, dk_, dv_);
        }
        if (auto whole = t_.otherwise()) finish();
      } else {
        finish();
      }
    });
  }

 private:
  using accumulator = wgmma_accumulator<f32, 64>;
  using scores = transposed_wgmma_scores<T, accumulator>;
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  using lane_of_ds = std::conditional_t<C.early_dp, typename decltype(shared_memory::ds)::lane_type, int>;
  // Whether the keys are read again where a mask or a score needs them: registers are scarce.
  static constexpr bool uses_again = C.score_parts > 1 || C.early_dp;

  // The tile of keys, which `again` rereads, and the current step.
  template <class Again>
  struct held_tile {
    const tile& one;
    const Again& again;
    backward_steps<C.queries> step;
  };
  template <class Again>
  held_tile(const tile&, const Again&, backward_steps<C.queries>) -> held_tile<Again>;

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

  // All steps of a tile of keys, one or more: dK, dV, and dQ of each step. The first S is computed before V, dO
  // and the numbers have arrived.
  template <class Own>
  constexpr void take_steps(Own& own, const val<u32>& parity_of_tile) {
    from_.wait();
    issue_scores(0, from_.stage());
    shared_.v_full().wait(parity_of_tile);
    shared_.dout_full(from_.stage()).wait(from_.parity());
    wgmma_wait<0>(t_);
    begin_step(from_.stage());
    for (auto n : t_.range(0u, own.one.share.rounds).no_unroll()) {
      const val stage = t_.let(from_.stage()), parity = t_.let(from_.parity());
      if constexpr (C.early_dp) issue_dp(0, stage);
      if constexpr (C.early_dp && C.halves() == 2) issue_scores(1, stage);
      take_halves(own, stage);
      wgmma_wait<1>(t_);  // dV, dK
      // Issues the next S, and after the last step an S that nobody reads. The assembler keeps products
      // in flight only if every path issues them.
      from_.advance();
      own.step.advance();
      const val continues = t_.let(n + 1u < own.one.share.rounds);
      if (auto more = t_.when(continues)) from_.wait();
      const val next_stage = t_.let(select(continues, from_.stage(), stage));
      issue_scores(0, next_stage);
      wgmma_wait<1>(t_);  // dQ
      put_dq(stage, parity);
      if (auto more = t_.when(continues)) shared_.dout_full(next_stage).wait(from_.parity());
      begin_step(next_stage);
      wgmma_wait<0>(t_);  // S
      release(shared_.steps.empty()[stage]);
    }
  }
  // Issues all products of a step except S and dP of its first half.
  template <class Own>
  constexpr void take_halves(const Own& own, const val<u32>& stage) {
    const auto first = take_half(own, stage, 0);
    const auto second = [&] {
      if constexpr (C.halves() == 2)
        return take_half(own, stage, 1);
      else
        return first;
    }();
    const auto ds = wgmma_register_operands<T, C.queries / 16>(
        [&](std::uint32_t j) { return j < 16 ? first[j] : second[j % 16]; });  // 64 keys x queries
    fence_proxy_async(t_);
    shared_.consumers().sync();
    accumulate(dk_, ds, shared_.q[stage], 0);  // dK += dS^T Q
    issue_dq(stage);
  }
  // Issues dV of half h. Returns its dS^T, rounded, in pairs, and puts it into shared memory.
  template <class Own>
  constexpr auto take_half(const Own& own, const val<u32>& stage, u32 h) {
    if (C.early_dp && h == 1) read_shifts(1, stage);
    if (h == 1) await_second_scores(stage);
    const scores x(s_[h]);  // S^T, then P^T times dx/dS: 64 keys x 64 queries
    const val first_query = t_.let(own.step.first_query() + 64 * h);
    const auto early_origin = when<!uses_again>([&] { return origin_by(own, own.one.keys, first_query); });
    const auto origin = [&] {
      return either<!uses_again>(early_origin, [&] { return origin_by(own, own.again.keys(), first_query); });
    };
    auto derivatives = derivatives_for<!C.early_dp>(t_);
    score(x, derivatives, origin);
    mask(own, first_query, x, origin);
    if (!C.early_dp) read_shifts(h, stage);
    for (u32 i = 0; i < scores::size(); ++i)
      x[i] = fast::ftz::exp2(min_nan(x[i] * factor_ - shifts_[scores::row(i)], 0.0f));
    const auto p = wgmma_register_operands<T, 4>(
        [&](std::uint32_t j) { return s_[h].template pair<pair>(j); });  // 64 keys x 64 queries
    if constexpr (!C.early_dp) {
      for (u32 i = 0; i < scores::size(); ++i) x[i] *= derivatives[i];
      begin_dp(h, stage);
      issue_dp(h, stage);
    }
    accumulate(dv_, p, shared_.dout[stage], 4 * h);  // dV += P^T dO
    if (C.early_dp && h + 1 < C.halves())
      wgmma_wait<2>(t_);  // dP
    else
      wgmma_wait<1>(t_);
    for (u32 i = 0; i < scores::size(); ++i) dp_[i] *= x[i];
    const auto pairs = array_of<scores::size() / 2>([&](u32 j) { return dp_.template pair<pair>(j); });
    put_ds(stage, h, pairs);
    if (C.early_dp && h + 1 < C.halves()) {
      begin_dp(h + 1, stage);
      issue_dp(h + 1, stage);
    }
    return pairs;
  }

  // S of the second half; S of the first half has already arrived.
  constexpr void await_second_scores(const val<u32>& stage) {
    if constexpr (C.early_dp) {
      wgmma_wait<2>(t_);
    } else {
      issue_scores(1, stage);
      wgmma_wait<0>(t_);
    }
  }
  // The origin of the scores of 64 queries. If registers do not suffice for all scores at once, the keys are
  // read again.
  template <class Own>
  constexpr auto origin_by(const Own& own, const attention_key_block& keys,
                           const val<u32>& first_query) const {
    const val query = t_.let(first_query + own_column_);
    const attention_block of_head = keys.of_head(own.step.head(), first_query);
    const auto queries = array_of<scores::rows>([&](u32 r) { return t_.let(query + scores::query(r)); });
    const val key = t_.let(keys.first_key + own_row());
    return origin_of<scores::rows>(t_, of_head, queries, key, keys.keys);
  }
  // Applies the score to S; the derivatives become dx/dS.
  template <class Derivatives, class Origin>
  constexpr void score(const scores& x, Derivatives& derivatives, const Origin& origin) const {
    if constexpr (C.score_parts == 1)
      call_.functions.score(x, derivatives, origin(), scale_);
    else
      for_score_parts<C.score_parts>(x, [&]<class Part>(const Part& part) {
        auto of_part = array_of<Part::size()>([&](u32) { return var(t_, 1.0f); });
        call_.functions.score(part, of_part, origin(), scale_);
        for (u32 i = 0; i < Part::size(); ++i) derivatives[Part::first + i] = of_part[i];
      });
  }
  template <class Own, class Origin>
  constexpr void mask(const Own& own, const val<u32>& first_query, const scores& x,
                      const Origin& origin) const {
    if (auto partial = t_.when(own.one.walk.template is_partial<64>(t_, first_query)))
      call_.functions.mask(x, origin());
  }

  // S^T = K Q^T
  constexpr void issue_scores(u32 half, const val<u32>& stage) {
    wgmma_batch mma(t_);
    const auto keys_of_group = wgmma_operand<major::k>(shared_.k).rows(group_row_);  // 64 x columns_qk
    const auto queries = wgmma_operand<major::k>(shared_.q[stage]).rows(64 * half);  // 64 x columns_qk
    constexpr u32 slices = C.depth_qk / 16;
    mma.multiply_add(s_[half], keys_of_group.slice(0, slices), queries.slice(0, slices), false);
  }
  // dP^T - delta = V dO^T - delta
  constexpr void issue_dp(u32 half, const val<u32>& stage) {
    wgmma_batch mma(t_);
    const auto values = wgmma_operand<major::k>(shared_.v).rows(group_row_);  // 64 x columns_v
    const auto gradients_of_o =
        wgmma_operand<major::k>(shared_.dout[stage]).rows(64 * half);  // 64 x columns_v
    constexpr u32 slices = C.depth_v / 16;
    mma.multiply_add(dp_, values.slice(0, slices), gradients_of_o.slice(0, slices));
  }
  // dQ = dS K
  constexpr void issue_dq(const val<u32>& stage) {
    const auto ds = shared_.ds[stage];  // keys x queries
    wgmma_batch mma(t_);
    if constexpr (C.queries == 64) {
      const auto a = wgmma_operand<major::mn>(ds);
      mma.multiply_add(dq_, a, wgmma_operand<major::mn>(shared_.k.panel(warpgroup_)), false);
    } else {
      const auto a = wgmma_operand<major::mn>(ds.panel(warpgroup_));
      mma.multiply_add(dq_, a, wgmma_operand<major::mn>(shared_.k), false);
    }
  }
  // sum += A step, A in registers; from slice `first` of the step on
  template <class Sum, class A, class Step>
  constexpr void accumulate(Sum& sum, const A& a, const Step& step, u32 first) const {
    const auto columns = wgmma_operand<major::mn>(step);
    wgmma_batch mma(t_);
    for (std::uint32_t c = 0; c < a.size(); ++c) mma.multiply_add(sum, a[c], columns.slice(first + c));
  }

  // Reads numbers before the first S of a step has arrived.
  constexpr void begin_step(const val<u32>& stage) {
    if constexpr (!C.early_dp) return;
    read_shifts(0, stage);
    begin_dp(0, stage);
  }
  // The shifts of the thread's queries.
  constexpr void read_shifts(u32 half, const val<u32>& stage) {
    for_pairs(stage, half, 0, [&](u32 j, const auto& x, const auto& y) {
      shifts_[2 * j] = x;
      shifts_[2 * j + 1] = y;
    });
  }
  // dP^T begins as -delta.
  constexpr void begin_dp(u32 half, const val<u32>& stage) {
    for_pairs(stage, half, 1, [&](u32 j, const auto& x, const auto& y) {
      for (u32 key = 0; key < 2; ++key) {
        dp_[4 * j + 2 * key] = x;
        dp_[4 * j + 2 * key + 1] = y;
      }
    });
  }
  // f(j, x, y) for each pair of the thread's queries and their numbers: shifts (0) or negated deltas (1).
  template <class F>
  constexpr void for_pairs(const val<u32>& stage, u32 half, u32 which, const F& f) const {
    for (u32 j = 0; j < scores::rows / 2; ++j) {
      const val two = load_vec<2>(shared_.numbers[stage][which][t_.let(own_column_ + (64 * half + 8 * j))]);
      f(j, t_.let(two[0]), t_.let(two[1]));
    }
  }

  // The thread's place in a tile of dS.
  constexpr auto place_of_ds() const {
    const val lane = t_.lane_rank();
    const val row = t_.let(t_.warp_rank() * 16u + lane % 16u), column = t_.let(lane / 16u * 8u);
    return shared_.ds.lane(row, column, 16);
  }
  template <class Pairs>
  constexpr void put_ds(const val<u32>& stage, u32 half, const Pairs& pairs) const {
    const auto own_ds = either<C.early_dp>(early_ds_, [&] { return place_of_ds(); });
    for (u32 c = 0; c < 4; ++c)
      stmatrix_x4(shared_.ds[stage].at(own_ds, 0, 64 * half + 16 * c), pairs[4 * c], pairs[4 * c + 1],
                  pairs[4 * c + 2], pairs[4 * c + 3]);
  }
  // The thread's first key among those of the block.
  constexpr val<u32> own_row() const { return t_.let(accumulator::first_row(t_) + group_row_); }
  // Passes dQ of a step to the warp that adds for its stage.
  constexpr void put_dq(const val<u32>& stage, const val<u32>& parity) const {
    const val own_sums = t_.let(t_.thread_rank() % 128u * 4u);  // the thread's place in a row of shared dQ
    shared_.dq_empty(stage).wait(t_.let(parity ^ 1u));
    for (u32 i = 0; i < 8; ++i)
      store_vec(shared_.dq[stage][t_.let(warpgroup_ * 8u + i)][own_sums],
                make_vec(dq_[4 * i], dq_[4 * i + 1], dq_[4 * i + 2], dq_[4 * i + 3]));
    fence_proxy_async(t_);
    shared_.dq_full(stage).arrive();
  }
  // Releases what the warp has read, also the numbers: begin_step reads them in vain after the last step.
  constexpr void release(const mbarrier& empty) const {
    sync_warp(t_);
    if (auto leads = t_.when(t_.lane_rank() == 0u)) empty.arrive();
  }

  // Sets a flag for each consumer's 64 keys: whether they have to be computed again.
  constexpr void leave_flags(const attention_key_block& keys) const {
    static_assert(rows_of_flag == 64);
    const val<attention_gradients>& gradients = call_.gradients;
    const backward_flags flags = flags_of_keys(t_, gradients, keys);
    const val exists =
        t_.let(keys.first_key / rows_of_flag + warpgroup_ < gradients[&attention_gradients::flag_key_tiles]);
    const auto flag = pointer_at<inout<u32>>(t_, flags.address)[flags.first + cast<u64>(warpgroup_)];
    var zero(t_, 0.0f);  // becomes NaN if a sum is NaN or infinite
    for (std::uint32_t i = 0; i < dk_.size(); ++i) zero = fma(dk_[i], 0.0f, zero);
    for (std::uint32_t i = 0; i < dv_.size(); ++i) zero = fma(dv_[i], 0.0f, zero);
    const val of_warp = t_.let(warp_any(isnan(zero)));
    if (auto clears = t_.when(all_of(t_.thread_rank() % 128u == 0u, exists))) flag = 0u;
    shared_.consumer(warpgroup_).sync();
    if (auto sets = t_.when(all_of(of_warp, t_.lane_rank() == 0u, exists))) flag = 1u;
  }
  // Stores the sums, times `by`, to dK or dV.
  template <class Sums, class Member, class Size>
  constexpr void store(const attention_key_block& keys, const Sums& sums, Member member, Size size,
                       const val<f32>& by) const {
    const attention_block block = keys.of_head(keys.group, keys.first_key);
    const auto strides = call_.gradients[member];
    if (auto wanted = t_.when(strides[&attention_strides::address] != u64{0})) {
      const auto to = output_rows(t_, strides, block, keys.group, keys.first_k_row, keys.keys,
                                  t_.let(call_.problem[size]), sizeof(T));
      store_quads<T>(t_, sums, {{by, by}}, to, t_.let(keys.first_key + own_row()));
    }
  }

  thread t_;
  const shared_memory& shared_;
  const backward_sm90_call<Functions>& call_;
  const val<u32>& warpgroup_;
  pipeline_consumer<C.stages> from_;
  val<f32> scale_, factor_;
  val<u32> group_row_;   // the warpgroup's first key among the block's keys
  val<u32> own_column_;  // the thread's first query of S
  lane_of_ds early_ds_;
  std::array<accumulator, C.halves()> s_;  // 64 keys x 64 queries, per half
  accumulator dp_;                         // 64 keys x 64 queries
  wgmma_accumulator<f32, 64> dq_;          // 64 queries x 64
  wgmma_accumulator<f32, C.depth_qk> dk_;  // 64 keys x depth_qk
  wgmma_accumulator<f32, C.depth_v> dv_;   // 64 keys x depth_v
  dsl::register_array<var<f32>, scores::rows> shifts_;
};

}  // namespace kaio::ops
