#pragma once
// Sorts the choices of tokens by expert, by counting. Among choices of an expert the order of entries stays,
// whatever the order of atomics is.
//
//   count    experts + 1 counts of each block's entries; not needed for one block
//   place    a block adds the counts of all blocks, and knows where its entries of each expert begin. A warp has
//            neighbouring entries. It goes through them 32 at a time: an entry's place is the expert's next one,
//            plus the number of lower lanes with this expert.
//
// Entries without an expert (a negative index, or one that is too large) are sorted to the end.

#include <kaio/ops/experts/common/problem.hpp>

namespace kaio::ops {

inline constexpr u32 order_threads = 256, order_warps = order_threads / 32;
constexpr u32 order_shared_bytes(u32 experts) { return order_warps * (experts + 1) * u32{sizeof(u32)}; }

struct expert_order_body {
  using p = expert_order_problem;

  struct entry {
    val<u32> token, choice, expert;  // expert: `experts` if there is none
  };
  template <class Problem>
  static constexpr entry entry_at(thread t, const Problem& problem, const val<u32>& i) {
    const quotient of = divide(t, i, problem[&p::k]);
    const val row = row_of_experts(t, problem[&p::indices], of.whole, 2u);
    const val index = t.let(pointer_at<in<u32>>(t, row)[of.rest]);
    return {of.whole, of.rest, t.let(min(index, problem[&p::experts]))};
  }
  // The entries of this warp: from first to before last.
  struct part {
    val<u32> first, last;
  };
  template <class Problem>
  static constexpr part part_of_warp(thread t, const Problem& problem) {
    const val of_warp = t.let(problem[&p::of_warp]), entries = t.let(problem[&p::entries]);
    const val first = t.let(min((block_idx_x() * order_warps + t.warp_rank()) * of_warp, entries));
    return {first, t.let(min(first + of_warp, entries))};
  }
  // Counts the entries of each warp: memory[warp][expert].
  template <class Problem, class Memory>
  static constexpr void count(thread t, const Problem& problem, const Memory& memory, const val<u32>& all) {
    for (auto i : t.block_stride(t.let(all * order_warps))) memory[i] = 0u;
    t.barrier();
    const part own = part_of_warp(t, problem);
    const val lane = t.lane_rank();
    const val row = t.let(t.warp_rank() * all);
    for (auto i : t.range(t.let(own.first + lane), own.last, 32u).no_unroll()) {
      const entry e = entry_at(t, problem, t.let(i));
      atomic_add(memory[row + e.expert], 1u);
    }
    t.barrier();
  }

  template <class Problem>
  static constexpr void count_block(thread t, const Problem& problem) {
    const dynamic_shared<u32> memory(t);
    const val all = t.let(problem[&p::experts] + 1u);
    count(t, problem, memory, all);
    const auto partial = pointer_at<out<u32>>(t, t.let(problem[&p::partial]));
    for (auto e : t.block_stride(all)) {
      var sum(t, 0u);
      for (u32 w = 0; w < order_warps; ++w) sum += memory[all * w + e];
      partial[block_idx_x() * all + e] = sum;
    }
  }

  // Turns counts into the first places of each warp's entries of each expert. The first block stores the
  // offsets of experts.
  template <class Problem, class Memory>
  static constexpr void find_places(thread t, const Problem& problem, const Memory& memory,
                                    const val<u32>& all) {
    const val rank = t.thread_rank();
    const val blocks = t.let(problem[&p::blocks]), block = t.let(block_idx_x() + 0u);
    const val counts = t.let(problem[&p::counts]);
    var carried(t, 0u);
    for (auto base : t.range(0u, all, order_threads).no_unroll()) {
      const val e = t.let(base + rank);
      const val exists = t.let(e < all);
      var total(t, 0u), before(t, 0u);
      if (auto one = t.when(all_of(exists, blocks == 1u)))
        for (u32 w = 0; w < order_warps; ++w) total += memory[all * w + e];
      if (auto several = t.when(all_of(exists, blocks != 1u))) {
        const auto partial = pointer_at<in<u32>>(t, t.let(problem[&p::partial]));
        for (auto b : t.range(0u, blocks).template unroll<4>()) {
          const val of_block = t.let(partial[b * all + e]);
          total += of_block;
          before += select(b < block, of_block, 0u);
        }
      }
      const val own = t.let(total);
      const val scanned = block_exclusive_scan(t, own, plus{}, 0u);
      const val start = t.let(carried + scanned);
      const val sum = block_reduce(t, own, plus{});
      carried += sum;
      if (auto inside = t.when(exists)) {
        var place(t, start + before);
        for (u32 w = 0; w < order_warps; ++w) {
          const val of_warp = t.let(memory[all * w + e]);
          memory[all * w + e] = place;
          place += of_warp;
        }
        if (auto first = t.when(block == 0u)) {
          pointer_at<out<u32>>(t, t.let(problem[&p::offsets]))[e] = start;
          if (auto wanted = t.when(all_of(counts != u64{0}, e < problem[&p::experts])))
            pointer_at<out<u32>>(t, counts)[e] = own;
        }
      }
    }
    t.barrier();
  }

  template <class Problem>
  static constexpr void place_block(thread t, const Problem& problem) {
    const dynamic_shared<u32> memory(t);
    const val experts = t.let(problem[&p::experts]);
    const val all = t.let(experts + 1u);
    count(t, problem, memory, all);
    find_places(t, problem, memory, all);

    const part own = part_of_warp(t, problem);
    const val lane = t.lane_rank();
    const val row = t.let(t.warp_rank() * all);
    const val tokens = t.let(problem[&p::tokens]);
    const val positions = t.let(problem[&p::positions][&expert_rows::address]);
    for (auto from : t.range(own.first, own.last, 32u).no_unroll()) {
      const val i = t.let(from + lane);
      const val exists = t.let(i < own.last);
      const entry e = entry_at(t, problem, t.let(min(i, own.last - 1u)));
      const val key = t.let(select(exists, e.expert, 0xffffffffu));
      const val peers = match_any(key);
      const val lower = t.let(popc(peers & lanemask_lt()));
      const val cell = t.let(row + e.expert);
      const val next = t.let(memory[cell]);
      sync_warp(t);
      if (auto first = t.when(all_of(exists, lower == 0u))) memory[cell] = next + popc(peers);
      sync_warp(t);
      if (auto writes = t.when(exists)) {
        const val place = t.let(next + lower);
        const val has_none = t.let(e.expert == experts);
        if (auto wanted = t.when(tokens != u64{0}))
          pointer_at<out<u32>>(t, tokens)[place] = select(has_none, 0xffffffffu, e.token);
        if (auto wanted = t.when(positions != u64{0})) {
          const val to = row_of_experts(t, problem[&p::positions], e.token, 2u);
          pointer_at<out<u32>>(t, to)[e.choice] = select(has_none, 0xffffffffu, place);
        }
      }
    }
  }
};

// Launched with `blocks` blocks, and order_shared_bytes.
template <class = void>
inline constexpr auto count_experts =
    kaio::kernel<"sort_by_expert_count", order_threads, kernel_options{.target = {70}}>(
        [](thread t, val<expert_order_problem> problem) { expert_order_body::count_block(t, problem); });
template <class = void>
inline constexpr auto place_experts =
    kaio::kernel<"sort_by_expert_place", order_threads, kernel_options{.target = {70}}>(
        [](thread t, val<expert_order_problem> problem) { expert_order_body::place_block(t, problem); });

}  // namespace kaio::ops
