#pragma once
// Chooses the experts of each token. A warp has a token; lane l has the experts l, l + 32, ...
//
//   scores     softmax or sigmoid of the logits, f32, in shared memory       [warp][experts]
//   choices    scores + bias                                                 [warp][experts]
//   groups     lane g finds the best choices of group g; its rank decides whether the group is kept
//   k rounds   the largest key of the warp; the lane that has it looks for its next one
//
// A key is a choice as an ordered number, then the inverted index: all keys differ, and among equal choices the
// lower index wins. So k different experts are chosen, whatever the logits are.

#include <kaio/ops/experts/common/problem.hpp>

#include <limits>

namespace kaio::ops {

inline constexpr u32 router_warps = 4;
constexpr u32 router_shared_bytes(u32 experts) { return router_warps * 2 * experts * u32{sizeof(f32)}; }

struct router_body {
  using p = router_problem;
  static constexpr f32 infinity = std::numeric_limits<f32>::infinity();

  // f(expert, round) for the experts of this lane, Copies at a time, so that loads do not wait for each other.
  template <u32 Copies = 1, class F>
  static constexpr void each_own(thread t, const val<u32>& experts, const F& f) {
    const val lane = t.lane_rank();
    for (auto e : t.range(lane, experts, 32u).template unroll<Copies>()) {
      const val expert = t.let(e);
      f(expert, t.let(expert >> 5u));
    }
  }

  static constexpr val<f32> logit(thread t, const val<u64>& row, const val<u32>& type, const val<u32>& e) {
    var x(t, 0.0f);
    if (auto single = t.when(type == static_cast<u32>(element_type::f32)))
      x = pointer_at<inout<f32>>(t, row)[e];
    if (auto two_bytes = t.otherwise()) {
      const val bits = t.let(pointer_at<inout<u16>>(t, row)[e]);
      const val half = t.let(cast<f32>(bit_cast<f16>(bits)));
      const val brain = t.let(bit_cast<f32>(cast<u32>(bits) << 16));
      x = select(type == static_cast<u32>(element_type::f16), half, brain);
    }
    return t.let(x);
  }

  // A larger choice has a larger key; NaN has the smallest.
  static constexpr val<u64> key_of(thread t, const val<f32>& choice, const val<u32>& e) {
    const val bits = t.let(bit_cast<u32>(choice));
    const val ordered = t.let(bits ^ select((bits >> 31) != 0u, 0xffffffffu, 0x80000000u));
    const val high = t.let(select(isnan(choice), 0u, ordered));
    return t.let(cast<u64>(high) << 32 | cast<u64>(~e));
  }

  // The mask of the groups that are kept.
  template <class Choices, class Problem>
  static constexpr val<u32> kept_groups(thread t, const Problem& problem, const Choices& choices,
                                        const val<u32>& own) {
    const val lane = t.lane_rank();
    const val groups = t.let(problem[&p::groups]);
    const val size = t.let(problem[&p::of_group][&divisor::value]);
    var first(t, -infinity), second(t, -infinity);
    if (auto has = t.when(lane < groups)) {
      // Each lane begins at another place, so that lanes do not meet in a bank.
      for (auto i : t.range(0u, size).no_unroll()) {
        const quotient turned = divide(t, t.let(i + lane), problem[&p::of_group]);
        const val x = t.let(max(choices[own + lane * size + turned.rest], -infinity));
        second = max(second, min(first, x));
        first = max(first, x);
      }
    }
    const val sum = t.let(first + second);
    const val score = t.let(select(problem[&p::best_two] != 0u, sum, first));
    var rank(t, 0u);
    for (auto g : t.range(0u, groups).no_unroll()) {
      const val other = shfl_idx(score, g);
      rank += select(any_of(other > score, all_of(other == score, g < lane)), 1u, 0u);
    }
    return ballot(t.let(all_of(lane < groups, rank < problem[&p::kept_groups])));
  }

  template <class Problem>
  static constexpr void run(thread t, const Problem& problem) {
    const dynamic_shared<f32> memory(t);
    const val lane = t.lane_rank();
    const val token = t.let(block_idx_x() * router_warps + t.warp_rank());
    if (auto exists = t.when(token < problem[&p::tokens])) {
      const val experts = t.let(problem[&p::experts]);
      const val scores = t.let(t.warp_rank() * 2u * experts);  // places in shared memory
      const val choices = t.let(scores + experts);
      const val type = t.let(problem[&p::type]);
      const val shift = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
      const val row = row_of_experts(t, problem[&p::logits], token, shift);

      var largest(t, -infinity), sum(t, 0.0f);
      each_own<4>(t, experts, [&](const val<u32>& e, const val<u32>&) {
        const val x = logit(t, row, type, e);
        largest = max(largest, x);
        memory[scores + e] = x;
      });
      const val top = warp_reduce(t, largest, maximum{});
      const val is_sigmoid = t.let(problem[&p::is_sigmoid] != 0u);
      each_own(t, experts, [&](const val<u32>& e, const val<u32>&) {
        var score(t, memory[scores + e]);
        if (auto by_sigmoid = t.when(is_sigmoid)) score = sigmoid(score);
        if (auto by_softmax = t.otherwise()) score = exp(score - top);
        sum += score;
        memory[scores + e] = score;
      });
      const val of_all = warp_reduce(t, sum, plus{});
      const val total = t.let(select(is_sigmoid, 1.0f, of_all));
      const val bias = t.let(problem[&p::bias]);
      each_own(t, experts, [&](const val<u32>& e, const val<u32>&) {
        const val score = t.let(memory[scores + e] / total);
        memory[scores + e] = score;
        var choice(t, score);
        if (auto given = t.when(bias != u64{0}))
          choice += pointer_at<in<f32>>(t, bias)[cast<i64>(e) * problem[&p::bias_stride]];
        memory[choices + e] = choice;
      });
      sync_warp(t);

      var left(t, 0xffffffffu);  // bit i: expert lane + 32 i may be chosen
      if (auto limited = t.when(problem[&p::kept_groups] < problem[&p::groups])) {
        const val kept = kept_groups(t, problem, memory, choices);
        each_own(t, experts, [&](const val<u32>& e, const val<u32>& round) {
          const quotient group = divide(t, e, problem[&p::of_group]);
          if (auto out_of_it = t.when((kept >> group.whole & 1u) == 0u)) left &= ~(val<u32>(1u) << round);
        });
      }
      var best(t, u64{0});
      const auto find = [&] {
        best = u64{0};
        each_own<4>(t, experts, [&](const val<u32>& e, const val<u32>& round) {
          const val choice = t.let(memory[choices + e]);
          const val key = key_of(t, choice, e);
          if (auto may = t.when((left >> round & 1u) != 0u)) best = max(best, key);
        });
      };
      find();
      var chosen(t, 0u);  // lane j: choice j
      for (auto j : t.range(0u, t.let(problem[&p::k])).no_unroll()) {
        const val largest_key = warp_reduce(t, best, maximum{});
        const val e = t.let(~cast<u32>(largest_key));
        if (auto its_turn = t.when(lane == j)) chosen = e;
        if (auto had_it = t.when((e & 31u) == lane)) {
          left &= ~(val<u32>(1u) << (e >> 5u));
          find();
        }
        sync_warp(t);
      }

      const val has = t.let(lane < problem[&p::k]);
      var weight(t, 0.0f);
      if (auto own = t.when(has)) weight = memory[scores + chosen];
      if (auto scales = t.when(problem[&p::renormalise] != 0u)) {
        const val of_chosen = warp_reduce(t, weight, plus{});
        // Sigmoids of very negative logits are 0, and so may be their sum. The summand is DeepSeek-V3's.
        weight = weight / (of_chosen + 1e-20f);
      }
      if (auto own = t.when(has)) {
        const val indices = row_of_experts(t, problem[&p::indices], token, 2u);
        const val weights = row_of_experts(t, problem[&p::weights], token, 2u);
        pointer_at<out<u32>>(t, indices)[lane] = chosen;
        pointer_at<out<f32>>(t, weights)[lane] = weight * problem[&p::factor];
      }
    }
  }
};

// Launched with a warp for each token, and router_shared_bytes.
template <class = void>
inline constexpr auto router_tokens =
    kaio::kernel<"topk_router", 32 * router_warps, kernel_options{.target = {70}}>(
        [](thread t, val<router_problem> problem) { router_body::run(t, problem); });

}  // namespace kaio::ops
