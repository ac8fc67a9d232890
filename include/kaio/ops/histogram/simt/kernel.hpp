#pragma once
// Counts elements in bins. Each block counts in shared memory and adds its bins to those of the result at the end;
// few bins have a copy for each of up to eight warps. More bins than shared memory holds are counted in global
// memory. Integer atomics make the result independent of the order.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/histogram/common/problem.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>

#include <type_traits>

namespace kaio::ops {

// T: u8, u32 (for i32 too) or f32.
template <class T>
struct histogram_body {
  static constexpr u32 width = 16 / sizeof(T), batch = 16 / width;  // vectors that a thread has in flight

  template <class Problem>
  static constexpr void run(thread t, const Problem& problem) {
    shared<u32, histogram_words> of_block(t);
    const val bins = t.let(problem[&histogram_problem::bins]);
    const val copies_log = t.let(problem[&histogram_problem::copies_log]);
    const val in_shared = t.let(problem[&histogram_problem::in_shared] != 0u);
    const val words = t.let(select(in_shared, bins << copies_log, 0u));
    for (auto i : t.block_stride(words)) of_block[i] = 0u;
    t.barrier();

    const auto counts = pointer_at<inout<u32>>(t, t.let(problem[&histogram_problem::counts]));
    const val counts_stride = t.let(problem[&histogram_problem::counts_stride]);
    const val own_bins = t.let((t.warp_rank() & ((val<u32>(1u) << copies_log) - 1u)) * bins);
    auto outside = array_of<3>([&](u32) { return var(t, 0u); });
    const auto count = [&](const val<T>& x) {
      const place_of_element at = find(t, problem, x, bins);
      if (auto inside = t.when(at.inside)) {
        if (auto held = t.when(in_shared)) atomic_add(of_block[own_bins + at.bin], 1u);
        if (auto beyond = t.otherwise()) atomic_add(counts[cast<i64>(at.bin) * counts_stride], 1u);
      }
      if (auto beyond = t.otherwise()) {
        outside[0] += select(at.below, 1u, 0u);
        outside[1] += select(at.above, 1u, 0u);
        if constexpr (std::is_same_v<T, f32>) outside[2] += select(isnan(x), 1u, 0u);
      }
    };
    const val units = t.let(problem[&histogram_problem::units]);
    const val blocks = t.let(grid_dim_x());
    for (auto unit : t.range(t.let(block_idx_x()), units, blocks).no_unroll())
      count_unit(t, problem, unit, count);

    t.barrier();
    if (auto held = t.when(in_shared))
      for (auto bin : t.block_stride(bins)) {
        var sum(t, 0u);
        for (auto at : t.range(bin, words, bins).no_unroll()) sum += of_block[at];
        if (auto some = t.when(sum != 0u)) atomic_add(counts[cast<i64>(bin) * counts_stride], t.let(sum));
      }
    const val to = t.let(problem[&histogram_problem::outside]);
    if (auto counted = t.when(to != 0u)) {
      const auto totals = pointer_at<inout<u32>>(t, to);
      const val stride = t.let(problem[&histogram_problem::outside_stride]);
      for (u32 i = 0; i < 3; ++i) {
        const val own = t.let(outside[i]);
        const val of_warp = warp_reduce(t, own, plus{});
        if (auto one = t.when(all_of(t.lane_rank() == 0u, of_warp != 0u)))
          atomic_add(totals[stride * i64{i}], of_warp);
      }
    }
  }

 private:
  struct place_of_element {
    val<bool> inside, below, above;
    val<u32> bin;
  };
  template <class Problem>
  static constexpr place_of_element find(thread t, const Problem& problem, const val<T>& x,
                                         const val<u32>& bins) {
    if constexpr (std::is_same_v<T, f32>) {
      const val low = t.let(problem[&histogram_problem::low]),
                high = t.let(problem[&histogram_problem::high]);
      const val place = t.let((x - low) * problem[&histogram_problem::scale]);
      const val below = t.let(x < low), above = t.let(x > high);
      const val inside = t.let(all_of(x >= low, x <= high));
      return {inside, below, above, t.let(min(cast<u32>(place), bins - 1u))};
    } else {
      const val ordered = t.let(cast<u32>(x) ^ problem[&histogram_problem::flip]);
      const val first = t.let(problem[&histogram_problem::first]);
      const val bin = t.let(ordered - first);
      const val below = t.let(ordered < first), inside = t.let(all_of(!below, bin < bins));
      return {inside, below, t.let(!below), bin};
    }
  }
  template <class Problem, class Count>
  static constexpr void count_unit(thread t, const Problem& problem, const val<u32>& unit,
                                   const Count& count) {
    const val lanes_log = t.let(problem[&histogram_problem::lanes_log]);
    const val lanes = t.let(val<u32>(1u) << lanes_log);
    const val rank = t.let(t.thread_rank());
    const val lane = t.let(rank & (lanes - 1u));
    const quotient place = divide(t, unit, problem[&histogram_problem::splits]);
    const val row = t.let(place.whole * (val<u32>(histogram_threads) >> lanes_log) + (rank >> lanes_log));
    if (auto exists = t.when(row < problem[&histogram_problem::rows])) {
      const kept_offsets offsets = offsets_of(t, row, problem[&histogram_problem::kept]);
      const val chunk = t.let(problem[&histogram_problem::chunk]);
      const val begin = t.let(cast<u64>(place.rest) * cast<u64>(chunk));
      const val rest = t.let(problem[&histogram_problem::size] - begin);
      const val size = t.let(select(rest < cast<u64>(chunk), cast<u32>(rest), chunk));
      const val stride = t.let(problem[&histogram_problem::stride]);
      const val from = t.let(problem[&histogram_problem::from] +
                             cast<u64>(offsets.from + cast<i64>(begin) * stride) * u64{sizeof(T)});
      var done(t, 0u);
      if (auto aligned = t.when(problem[&histogram_problem::aligned] != 0u)) {
        const auto memory = pointer_at<in<vec<T, width>>>(t, from);
        const val step = t.let(lanes * batch);
        const val batches = t.let(size / (width * batch) / lanes);
        for (auto b : t.range(0u, batches).no_unroll()) {
          const val first = t.let(b * step + lane);
          const auto x = array_of<batch>([&](u32 i) {
            val one = memory[first + lanes * i];
            return one;
          });
          for (u32 i = 0; i < batch; ++i)
            for (u32 k = 0; k < width; ++k) count(t.let(x[i][k]));
        }
        done = batches * step * width;
      }
      const auto memory = pointer_at<in<T>>(t, from);
      for (auto i : t.range(t.let(done + lane), size, lanes).no_unroll()) {
        const val one = t.let(memory[cast<i64>(i) * stride]);
        count(one);
      }
    }
  }
};

template <class T>
inline constexpr auto histogram_bins =
    kaio::kernel<"histogram_" + type_name<T>, histogram_threads, kernel_options{.target = {70}}>(
        [](thread t, val<histogram_problem> problem) { histogram_body<T>::run(t, problem); });

// Numbers that are `stride` apart become 0.
template <class = void>
inline constexpr auto histogram_clear =
    kaio::kernel<"histogram_clear", histogram_threads, kernel_options{.target = {70}}>(
        [](thread t, val<u64> counts, val<i64> stride, val<u64> size) {
          const val i = t.global_id<u64>();
          if (auto exists = t.when(i < size)) pointer_at<out<u32>>(t, counts)[cast<i64>(i) * stride] = 0u;
        });

}  // namespace kaio::ops
