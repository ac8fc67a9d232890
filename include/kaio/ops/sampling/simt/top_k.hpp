#pragma once
// top_k in one launch. A block sorts several rows of at most 1024 elements. A longer row has a team of blocks:
// it collects candidates as sample does. If they do not fit, or too few exist above -inf, the k-th key is found
// by its digits, and then among equal keys the last index that is kept.

#include <kaio/dsl/async.hpp>
#include <kaio/ops/sampling/common/top_k_problem.hpp>
#include <kaio/ops/sampling/simt/candidates.hpp>
#include <kaio/ops/sampling/simt/sort.hpp>
#include <kaio/ops/sampling/simt/threshold.hpp>

#include <cstdint>

namespace kaio::ops {

template <std::uint32_t Sm>
struct top_k_body {
  using team = sample_team<Sm>;
  static constexpr u32 most_groups = 512;

  static constexpr void run(thread t, const val<top_k_problem>& problem) {
    const sample_memory memory(t);
    const team blocks = team::of(t);
    const val i = t.let(t.thread_rank());
    if constexpr (team::has_clusters) {
      launch_dependents(t);
      grid_dependency_wait(t);
    }
    const val size = t.let(problem[&top_k_problem::size]);
    const val k = t.let(problem[&top_k_problem::k]);
    const val log_list = t.let(problem[&top_k_problem::log_list]);
    const val has_lists = t.let(log_list != 32u);
    // Thread i has place `place` of the row `of`, and element i of the sorted lists.
    var of(t, blocks.row), place(t, i), length(t, 0u), members(t, 0u);
    if (auto lists = t.when(has_lists)) {
      const val list = t.let(val<u32>(1u).node() << log_list);
      const val first = t.let(blocks.row << (10u - log_list));
      of = first + (i >> log_list);
      place = i & (list - 1u);
      length = list;
      members = sample_threads;
    }
    const val exists = t.let(of < problem[&top_k_problem::rows]);
    const val row_of = t.let(select(exists, of, 0u));
    const val type = t.let(problem[&top_k_problem::type]);
    const val log_bytes = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
    const val start = t.let(cast<u64>(problem[&top_k_problem::stride] * cast<i64>(row_of)) << log_bytes);
    const logits_row row = logits_row::at(t, t.let(problem[&top_k_problem::x] + start), size, type);
    if (auto lists = t.when(has_lists)) {
      memory.pool[i] = u64{0};
      if (auto inside = t.when(all_of(exists, place < size))) memory.pool[i] = entry_of(t, row, t.let(place));
    }
    if (auto team_of_row = t.otherwise()) {
      collect(t, problem, memory, blocks, row, k);
      length = whole_power(t, k);
      if (auto first = t.when(blocks.rank == 0u)) {
        const val found = t.let(memory.word(sample_word::candidates));
        if (auto pads = t.when(i >= found)) memory.pool[i] = u64{0};
        length = whole_power(t, found);
      }
      members = length;
    }
    if (auto first = t.when(any_of(has_lists, blocks.rank == 0u))) {
      const val list = t.let(length), all = t.let(members);
      sort_descending(t, memory.pool, list, all);
      if (auto inside = t.when(all_of(exists, place < k))) {
        const val own_place = t.let(place), index = t.let(~cast<u32>(memory.pool[i]));
        write(t, problem, row, row_of, own_place, index);
      }
    }
  }

 private:
  // The key of an element, NaN as -inf, and its inverted index.
  static constexpr val<u64> entry_of(thread t, const logits_row& row, const val<u32>& at) {
    const val key = order_key(t, t.let(max(row.element(t, at), minus_infinity)));
    return t.let(cast<u64>(key) << 32 | cast<u64>(~at));
  }
  // Brings the k first elements, and perhaps more, into the first block's pool; their number is its word
  // `candidates`.
  static constexpr void collect(thread t, const val<top_k_problem>& problem, const sample_memory& memory,
                                const team& blocks, const logits_row& row, const val<u32>& k) {
    const val i = t.let(t.thread_rank());
    if (auto one = t.when(i == 0u)) {
      for (u32 w = 0; w < 8; ++w) memory.words[w] = 0u;
      for (u32 w = 0; w < 4; ++w) memory.sums[w] = u64{0};
    }
    const val of_warp = t.let(problem[&top_k_problem::of_warp]);
    const val first_place = t.let(blocks.warp * of_warp);
    const sample_part part{first_place, t.let(min(first_place + of_warp, row.shift + row.size))};
    const val first_run = t.let(part.first / run_size + t.lane_rank());
    const val limit = t.let((max(part.limit, part.first) + (run_size - 1)) / run_size);
    const val tries = t.let(k <= most_groups);
    auto x = array_of<run_size>([&](u32) { return var(t, 0.0f); });
    var best(t, minus_infinity), bound(t, 0.0f);
    var full(t, 0u);
    // Round 0: the largest element of each group. Round 1: candidates.
    for (auto round : t.range(t.let(select(tries, 0u, 2u)), 2u).no_unroll()) {
      for (auto r : t.range(first_run, limit, 32u).no_unroll()) {
        row.load(t, r, x);
        const val largest = largest_of(t, x);
        best = max(best, largest);
        if (auto some = t.when(all_of(round == 1u, full == 0u, largest >= bound)))
          gather<Sm>(t, memory, row, r, x, bound, full);
      }
      if (auto groups = t.when(round == 0u)) {
        const val own = own_group(t, memory, blocks, best);
        bound = max(bound_of(t, own, k), -largest_f32);
      }
    }
    team::barrier(t);
    const val found = t.let(team::in(memory.words, index_of(sample_word::candidates), 0u));
    team::barrier(t);
    if (auto searches = t.when(any_of(found<k, found> sample_candidates))) {
      var half(t, 0u);
      key_digits digits{var(t, 0u), var(t, cast<u64>(k)), var(t, 0u)};
      var key(t, 0u);
      const auto each_place = [&](const val<u32>& place, const auto& f) {
        const val at = t.let(place - row.shift);
        if (auto inside = t.when(at < row.size)) f(at, entry_of(t, row, at));
      };
      for (auto stage : t.range(0u, 2u).no_unroll()) {
        const auto read = [&](const val<u32>& place, const auto& add) {
          each_place(place, [&](const val<u32>&, const val<u64>& entry) {
            const val own = t.let(cast<u32>(entry >> 32));
            const val digits_of = t.let(select(stage == 0u, own, cast<u32>(entry)));
            if (auto counts = t.when(any_of(stage == 0u, own == key))) add(digits_of, 1u);
          });
        };
        find_digits(t, memory, blocks, part, t.let(val<u32>(0u)), read, half, digits);
        key = select(stage == 0u, digits.prefix, key);
      }
      const val last = t.let(cast<u64>(key) << 32 | cast<u64>(digits.prefix));
      if (auto one = t.when(i == 0u)) memory.word(sample_word::candidates) = 0u;
      team::barrier(t);  // the histograms, where the pool is, have been read
      const val first = t.let(part.first + t.lane_rank());
      for (auto place : t.range(first, part.limit, 32u).no_unroll())
        each_place(place, [&](const val<u32>&, const val<u64>& entry) {
          if (auto kept = t.when(entry >= last)) {
            const val slot = atomic_add(team::in(memory.words, index_of(sample_word::candidates), 0u), 1u,
                                        order::relaxed, team::reach());
            store(team::in(memory.pool, slot, 0u), entry);
          }
        });
      team::barrier(t);
    }
  }
  // The largest element of group i of 1024.
  static constexpr val<f32> own_group(thread t, const sample_memory& memory, const team& blocks,
                                      const var<f32>& best) {
    const val i = t.let(t.thread_rank());
    const val log_size = t.let(31u - clz(blocks.size));
    var of_group(t, best);
    if constexpr (team::has_clusters)
      for (u32 distance = 1; distance < sample_blocks; distance *= 2) {
        const val other = shfl_xor(of_group, distance);
        of_group = select(blocks.size > distance, max(of_group, other), of_group);
      }
    if (auto one = t.when((i & (blocks.size - 1u)) == 0u)) memory.largest[i >> log_size] = of_group;
    team::barrier(t);
    const val groups = t.let(sample_threads >> log_size), log_groups = t.let(10u - log_size);
    return t.let(team::in(memory.largest, i & (groups - 1u), i >> log_groups));
  }
  static constexpr void write(thread t, const val<top_k_problem>& problem, const logits_row& row,
                              const val<u32>& of, const val<u32>& place, const val<u32>& index) {
    const auto values = problem[&top_k_problem::values], indices = problem[&top_k_problem::indices];
    const val to = t.let(values[&top_k_rows_out::stride] * cast<i64>(of) + cast<i64>(place));
    const val index_to = t.let(indices[&top_k_rows_out::stride] * cast<i64>(of) + cast<i64>(place));
    const val value_memory = t.let(values[&top_k_rows_out::address]);
    const val index_memory = t.let(indices[&top_k_rows_out::address]);
    const auto copy = [&]<class Bits>(Bits) {
      const val bits = t.let(pointer_at<inout<Bits>>(t, row.address)[index]);
      pointer_at<out<Bits>>(t, value_memory)[to] = bits;
    };
    if (auto single = t.when(row.is_single)) copy(u32{});
    if (auto two_bytes = t.otherwise()) copy(u16{});
    if (auto wide = t.when(problem[&top_k_problem::wide] != 0u))
      pointer_at<out<i64>>(t, index_memory)[index_to] = cast<i64>(index);
    if (auto narrow = t.otherwise()) pointer_at<out<i32>>(t, index_memory)[index_to] = cast<i32>(index);
  }
};

// Launched with a team of blocks for each row, or a block for several rows.
template <std::uint32_t Sm>
inline constexpr auto top_k_rows = kaio::kernel<"top_k_sm" + decimal<Sm>, sample_threads,
                                                // ptxas aims at two blocks and spills.
                                                kernel_options{.target = {Sm, false}, .min_blocks = 1}>(
    [](thread t, val<top_k_problem> problem) { top_k_body<Sm>::run(t, problem); });

}  // namespace kaio::ops
