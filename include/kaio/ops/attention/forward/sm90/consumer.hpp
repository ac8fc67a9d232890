#pragma once
// A consumer warpgroup of a block of attention for sm_90a: 64 queries of each of the block's tiles.
//
//   S     64 x keys, f32 accumulator       P    S rounded to T, operands of 64 x 16 in registers
//   O     64 x depth_v, f32 accumulator
//
//   step:  S is there: mask, softmax        O is there: O *= correction, P = S
//          S = Q K(j+1)^T  (in flight)      O += P Vj  (in flight)
//
// The loop begins after S has arrived, so that its body has score, mask and softmax once. Before the first
// step there is an S, and no O yet. The steps continue across tiles of queries: the first S of the next tile
// is computed with the last P V of this one. Then O leaves from registers (finish.hpp), while other consumers
// multiply.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>
#include <kaio/ops/attention/forward/sm90/finish.hpp>
#include <kaio/ops/attention/forward/sm90/operands.hpp>
#include <kaio/ops/attention/forward/sm90/records.hpp>
#include <kaio/ops/attention/forward/sm90/shared.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

namespace kaio::ops {

// The key_step that S belongs to, in registers.
struct attention_sm90_step {
  var<u32> first_key, end, flags;

  constexpr explicit attention_sm90_step(thread t) : first_key(t, 0u), end(t, 0u), flags(t, 0u) {}
  constexpr void take(const key_step& step) {
    first_key = step.first_key;
    end = step.end;
    flags = step.flags;
  }
  constexpr val<bool> is(thread t, u32 flag) const { return t.let((flags & flag) != 0u); }
};

// What the loop over steps knows about the products in flight.
struct attention_sm90_progress {
  var<u32> record_of_p;  // record of the tile whose P is multiplied
  var<u32> continues;    // whether S belongs to a step
  var<u32> ends;         // whether P ended its tile
  var<u32> has_sums;     // whether O has products of its tile
  var<u32> has_values;   // whether V has been read

  constexpr attention_sm90_progress(thread t, const var<u32>& record)
      : record_of_p(t, record), continues(t, 1u), ends(t, 0u), has_sums(t, 0u), has_values(t, 0u) {}
};

template <attention_sm90_config C, scalar T, class Score, class Functions>
class attention_sm90_consumer {
 public:
  constexpr attention_sm90_consumer(thread t, const attention_sm90_shared<C, T>& shared,
                                    const val<attention_problem>& problem, const Functions& functions,
                                    const val<u32>& warpgroup)
      : t_(t),
        shared_(shared),
        functions_(functions),
        warpgroup_(warpgroup),
        from_q_(shared.q_stages.consumer_from(t, C.own_queries ? t.let(warpgroup) : t.let(0u))),
        from_k_(shared.k_stages.consumer(t)),
        from_v_(shared.v_stages.consumer(t)),
        leads_group_(t.let(t.thread_rank() % 128u == 0u)),
        scale_(t.let(problem[&attention_problem::scale])),
        factor_(functions.factor(scale_)),
        group_row_(t.let(warpgroup * 64u)),
        own_row_(t.let(scores_accumulator::first_row(t) + group_row_)),
        own_column_(scores_accumulator::first_column(t)),
        own_turn_(shared.turn(warpgroup)),
        next_turn_(shared.next_turn(warpgroup)),
        own_group_(shared.group(warpgroup)),
        s_(t),
        sums_(t),
        scores_(s_),
        softmax_(t),
        record_(t, 0u),
        step_(t),
        finish_{t, shared, problem, functions, own_group_, factor_, own_row_} {}

  // Computes the warpgroup's part of all tiles of the block.
  constexpr void run() {
    from_q_.wait();
    if (auto some = t_.when(shared_.queries.exists(t_.let(record_)))) {
      if constexpr (takes_turns)
        if (auto last = t_.when(warpgroup_ == C.consumers - 1)) next_turn_.arrive();
      await_keys();
      own_group_.sync();
      const val stage_of_q = from_q_.stage(), stage_of_k = from_k_.stage();
      issue_scores(stage_of_q, stage_of_k);
      wgmma_wait<0>(t_);
      sums_.clear();
      attention_sm90_progress at(t_, record_);
      for (auto step : t_.loop()) {
        take_products(at);
        step.break_if(at.continues == 0u);
        issue_products(at);
      }
      if constexpr (takes_turns)
        if (auto first = t_.when(warpgroup_ == 0u)) own_turn_.sync();  // matches the last arrival
    }
  }

 private:
  static constexpr bool takes_turns = C.consumers > 1;
  using scores_accumulator = wgmma_accumulator<f32, C.keys>;
  using output_accumulator = wgmma_accumulator<f32, C.depth_v>;
  using thread_scores = wgmma_scores<T, scores_accumulator>;
  using softmax = online_softmax<2, 4, true>;
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  // Whether the score reads memory while the products are in flight, as pair_biased_score does.
  static constexpr bool reads_ahead = requires { typename Score::template ahead<thread_scores>; };
  using walk = decltype(std::declval<Functions>().walks.template walk<C.keys>(
      std::declval<thread>(), std::declval<attention_block>(), 0u));

  // Waits until S and O have arrived. Takes the softmax of S while P V of the step before is in flight. O is
  // then corrected, or leaves if P ended its tile.
  constexpr void take_products(attention_sm90_progress& at) {
    const auto ahead = read_ahead(at.continues != 0u);
    wgmma_wait<1>(t_);  // S
    softmax done(softmax_);
    if (auto next_tile = t_.when(at.ends != 0u)) softmax_.clear();
    auto correction = array_of<2>([&](u32) { return var(t_, 1.0f); });
    if (auto more = t_.when(at.continues != 0u)) {
      const auto by = take_scores(ahead);
      for (u32 r = 0; r < 2; ++r) correction[r] = by[r];
    }
    wgmma_wait<0>(t_);  // O
    if (auto had = t_.when(at.has_values != 0u)) release(from_v_);
    if (auto leaves = t_.when(at.ends != 0u))
      finish_.store(shared_.queries.block(t_.let(at.record_of_p)), done, sums_);
    // Mostly the largest scores have not changed.
    if (auto stays = t_.otherwise()) {
      const val changes = t_.let(any_of(correction[0] != 1.0f, correction[1] != 1.0f));
      if (auto grew = t_.when(warp_any(changes)))
        for (std::uint32_t i = 0; i < sums_.size(); ++i)
          sums_[i] *= correction[output_accumulator::row(i) / 8];
    }
  }

  // Issues S of the next step and O += P V of this one, in the consumer's turn.
  constexpr void issue_products(attention_sm90_progress& at) {
    // Made after the products with the last P have ended.
    const auto p = wgmma_register_operands<T, C.keys / 16>(  // 64 x keys, 64 x 16 each
        [&](std::uint32_t j) { return s_.template pair<pair>(j); });
    at.record_of_p = record_;
    at.ends = select(step_.is(t_, key_step::is_last), 1u, 0u);
    if (auto next_tile = t_.when(at.ends != 0u)) {
      record_ = (record_ + 1u) % query_records::count;
      from_q_.wait();
      at.continues = select(shared_.queries.exists(t_.let(record_)), 1u, 0u);
    }
    if (auto more = t_.when(at.continues != 0u)) {
      await_keys();
      if constexpr (takes_turns)
        own_turn_.sync();
      else
        own_group_.sync();
    }
    // After the very last step these scores come from tiles that are still there, and nobody reads them.
    // ptxas keeps products in flight only if they are issued on every path.
    const val stage_of_q = t_.let(select(at.continues != 0u, from_q_.stage(), 0u));
    const val stage_of_k = t_.let(select(at.continues != 0u, from_k_.stage(), 0u));
    issue_scores(stage_of_q, stage_of_k);
    from_v_.wait();
    add_values(p, at.has_sums);
    at.has_sums = select(at.ends != 0u, 0u, 1u);
    at.has_values = 1u;
    if constexpr (takes_turns)
      if (auto more = t_.when(at.continues != 0u)) next_turn_.arrive();
  }

  // S = Q K^T
  constexpr void issue_scores(const val<u32>& q_stage, const val<u32>& k_stage) {
    wgmma_batch mma(t_);
    const auto queries = wgmma_operand<major::k>(shared_.q[q_stage]);  // stage_queries x depth_qk
    const auto keys = wgmma_operand<major::k>(shared_.k[k_stage]);     // keys x depth_qk
    if constexpr (C.own_queries)
      mma.multiply_add(s_, queries, keys, false);
    else
      mma.multiply_add(s_, queries.rows(group_row_), keys, false);
  }
  // O += P V; O = P V without sums.
  template <class P>
  constexpr void add_values(const P& p, const var<u32>& has_sums) {
    const auto values = wgmma_operand<major::mn>(shared_.v[from_v_.stage()]);  // keys x depth_v
    wgmma_batch mma(t_);
    mma.multiply_add(sums_, p[0], values.slice(0), t_.let(has_sums != 0u));
    for (std::uint32_t c = 1; c < C.keys / 16; ++c) mma.multiply_add(sums_, p[c], values.slice(c));
  }

  // Waits for K and reads its record, which belongs to the stage. A barrier of the warpgroup follows before
  // one of its threads releases the stage.
  constexpr void await_keys() {
    from_k_.wait();
    step_.take(shared_.steps.at(from_k_.stage()));
  }
  template <class Ring>
  constexpr void release(Ring& ring) {
    if (auto one = t_.when(leads_group_)) ring.release();
    ring.advance();
  }
  constexpr void release_queries() {
    if (auto one = t_.when(leads_group_)) from_q_.release();
    from_q_.template advance<C.tile_stages()>();
  }

  // Reads ahead for the score if `expected`; S is in flight.
  template <class Expected>
  constexpr auto read_ahead(const Expected& expected) {
    if constexpr (reads_ahead) {
      typename Score::template ahead<thread_scores> result =
          array_of<thread_scores::size() / 2>([&](u32) { return var(t_, 0u); });
      if (auto some = t_.when(all_of(expected, !step_.is(t_, key_step::has_no_keys))))
        functions_.read_ahead(result, scores_, places_of_step());
      return result;
    } else {
      return std::monostate{};
    }
  }
  // S has arrived: K is no longer read, nor is Q if these were its last keys. S becomes P, not yet rounded;
  // returns the correction of O.
  template <class Ahead>
  constexpr auto take_scores(const Ahead& ahead) {
    release(from_k_);
    if (auto at_end = t_.when(step_.is(t_, key_step::is_last))) release_queries();
    if (auto some = t_.when(!step_.is(t_, key_step::has_no_keys))) {
      const score_origin<2> origin = places_of_step();
      if constexpr (reads_ahead)
        functions_.score(scores_, origin, scale_, ahead);
      else
        functions_.score(scores_, origin, scale_);
      if (auto partial = t_.when(step_.is(t_, key_step::needs_mask))) functions_.mask(scores_, origin);
      if constexpr (walk::cuts_tiles)
        if (auto cut = t_.when(step_.is(t_, key_step::needs_cut)))
          cut_scores(t_, scores_, origin.key, t_.let(step_.end));
    }
    if (auto none = t_.otherwise())
      for (std::uint32_t i = 0; i < scores_.size(); ++i) scores_[i] = -std::numeric_limits<f32>::infinity();
    return softmax_.step(scores_, factor_);
  }
  constexpr score_origin<2> places_of_step() const {
    const attention_block block = shared_.queries.block(t_.let(record_));
    const auto query = array_of<2>([&](u32 r) { return t_.let(block.first_query + own_row_ + 8 * r); });
    const val key = t_.let(step_.first_key + own_column_), end_of_keys = t_.let(step_.end);
    return origin_of<2>(t_, block, query, key, end_of_keys);
  }

  thread t_;
  const attention_sm90_shared<C, T>& shared_;
  const Functions& functions_;
  const val<u32>& warpgroup_;
  pipeline_consumer<C.query_stages> from_q_;
  pipeline_consumer<C.stages> from_k_, from_v_;
  val<bool> leads_group_;
  val<f32> scale_, factor_;
  val<u32> group_row_;             // the warpgroup's first row among the block's queries
  val<u32> own_row_, own_column_;  // the thread's first row among them, and first column of S
  // The turn to issue products: the barrier of this warpgroup, at which the warpgroup before it arrives.
  named_barrier<> own_turn_, next_turn_;
  named_barrier<> own_group_;  // before the first turn
  scores_accumulator s_;       // 64 x keys
  output_accumulator sums_;    // 64 x depth_v: O
  thread_scores scores_;
  softmax softmax_;
  var<u32> record_;  // record of the tile of queries
  attention_sm90_step step_;
  attention_sm90_finish<C, T, Functions> finish_;
};

}  // namespace kaio::ops
