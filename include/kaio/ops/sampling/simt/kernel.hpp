#pragma once
// sample in one launch. A team of 1 to 8 blocks has a row, and each warp of the team a part of it.
//
//   pass 1        largest logit, of the row and of 1024 groups of it
//   pass 2        weights of each part; candidates: logits of the k-th largest group and above
//   few           the first block sorts the candidates, applies top-k, top-p and min-p, and draws
//   or many       a threshold for top-k, then one for top-p (threshold.hpp), each with a pass for the weights
//                 above it; the first block draws the warp's part, and then in it the token
//
// All sums are of integers, so the token is a function of the row and of its options alone.

#include <kaio/dsl/async.hpp>
#include <kaio/ops/sampling/simt/candidates.hpp>
#include <kaio/ops/sampling/simt/draw.hpp>
#include <kaio/ops/sampling/simt/keep.hpp>
#include <kaio/ops/sampling/simt/threshold.hpp>

#include <cstdint>

namespace kaio::ops {

template <std::uint32_t Sm>
struct sample_body {
  using team = sample_team<Sm>;
  static constexpr u32 runs_ahead = 4;        // that a thread has asked L2 for
  static constexpr u32 most_groups = 512;     // of top-k: candidates then fit, unless many are equal
  static constexpr u32 groups_of_mass = 256;  // of top-p without top-k

  static constexpr void run(thread t, const val<sample_problem>& problem) {
    const sample_memory memory(t);
    const team blocks = team::of(t);
    const val i = t.let(t.thread_rank());
    const val is_first = t.let(blocks.rank == 0u);
    if constexpr (team::has_clusters) {
      launch_dependents(t);
      grid_dependency_wait(t);
    }
    if (auto one = t.when(i == 0u)) {
      for (u32 w = 0; w < 8; ++w) memory.words[w] = 0u;
      for (u32 w = 0; w < 4; ++w) memory.sums[w] = u64{0};
      memory.word(sample_word::first) = 0xffffffffu;
    }
    const val size = t.let(problem[&sample_problem::vocabulary]);
    const val type = t.let(problem[&sample_problem::type]);
    const val log_bytes = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
    const val row_start =
        t.let(cast<u64>(problem[&sample_problem::stride] * cast<i64>(blocks.row)) << log_bytes);
    const logits_row row = logits_row::at(t, t.let(problem[&sample_problem::logits] + row_start), size, type);
    const row_choice chosen = row_choice::of(t, problem, blocks.row, size);
    const val of_warp = t.let(problem[&sample_problem::of_warp]);
    const val first_place = t.let(blocks.warp * of_warp);
    const sample_part part{first_place, t.let(min(first_place + of_warp, row.shift + size))};
    const val first_run = t.let(part.first / run_size + t.lane_rank());
    const val limit = t.let((max(part.limit, part.first) + (run_size - 1)) / run_size);
    auto x = array_of<run_size>([&](u32) { return var(t, 0.0f); });

    var best(t, minus_infinity);
    var best_run(t, 0u), nan(t, 0u);
    const val next_run = t.let(first_run + 32u), fetched = t.let(min(limit, first_run + 32u * runs_ahead));
    for (auto r : t.range(next_run, fetched, 32u).no_unroll()) row.fetch(t, r);
    for (auto r : t.range(first_run, limit, 32u).no_unroll()) {
      const val later = t.let(r + 32u * runs_ahead);
      if (auto exists = t.when(later < limit)) row.fetch(t, later);
      row.load(t, r, x);
      const val largest = largest_of(t, x);
      best_run = select(largest > best, r, best_run);
      best = max(best, largest);
      nan = select(any_of(isnan(x[0]), isnan(x[1]), isnan(x[2]), isnan(x[3]), isnan(x[4]), isnan(x[5]),
                          isnan(x[6]), isnan(x[7])),
                   1u, nan);
    }
    const val has_nan = block_any(t, nan != 0u);
    var of_group(t, best);
    if constexpr (team::has_clusters)
      for (u32 distance = 1; distance < sample_blocks; distance *= 2) {
        const val other = shfl_xor(of_group, distance);
        of_group = select(blocks.size > distance, max(of_group, other), of_group);
      }
    const val log_size = t.let(31u - clz(blocks.size));
    if (auto one = t.when((i & (blocks.size - 1u)) == 0u)) memory.largest[i >> log_size] = of_group;
    team::barrier(t);

    const val log_groups = t.let(10u - log_size);
    static_assert(sample_threads == 1u << 10);
    const val groups = t.let(sample_threads >> log_size);
    const val own_group = t.let(team::in(memory.largest, i & (groups - 1u), i >> log_groups));
    const val most = block_reduce(t, own_group, maximum{});
    const val exists = t.let(most > minus_infinity);
    const logit_weights weights{
        t.let(min(most, largest_f32)),
        t.let(clamp(1.4426950408889634f / chosen.temperature, std::numeric_limits<f32>::min(), largest_f32))};
    if (auto reports = t.when(all_of(has_nan, i == 0u)))
      store(team::in(memory.words, index_of(sample_word::invalid), 0u), 1u);
    if (auto mine = t.when(all_of(chosen.greedy, exists, best == most)))
      for (auto e : t.range(0u, run_size).no_unroll()) {
        const val at = t.let(best_run * run_size + e - row.shift);
        if (auto inside = t.when(at < size))
          if (auto equal = t.when(row.element(t, at) == most))
            atomic_min(team::in(memory.words, index_of(sample_word::first), 0u), at, order::relaxed,
                       team::reach());
      }

    const val is_drawn = t.let(all_of(exists, !chosen.greedy));
    const val wanted = t.let(select(chosen.by_k, chosen.k, groups_of_mass));
    const val collects = t.let(all_of(is_drawn, any_of(chosen.by_k, chosen.by_p),
                                      any_of(wanted <= most_groups, size <= sample_candidates)));
    const val reports_mass = t.let(any_of(problem[&sample_problem::logprobs][&row_numbers::address] != 0u,
                                          problem[&sample_problem::lse][&row_numbers::address] != 0u));
    const val needs_row = t.let(any_of(reports_mass, all_of(is_drawn, !chosen.by_k)));
    var bound(t, -largest_f32);
    if (auto few = t.when(collects)) bound = max(bound_of(t, own_group, wanted), -largest_f32);
    const val last = t.let(
        select(is_drawn, select(any_of(chosen.by_p, chosen.by_min_p), 2u, select(chosen.by_k, 1u, 0u)), 0u));

    sample_threshold threshold{var(t, minus_infinity), var(t, 0u)};
    var tie_weight(t, 0u), half(t, 0u);
    var total(t, u64{0}), of_row(t, u64{0});
    var round(t, select(all_of(is_drawn, !collects, !needs_row), 1u, 0u));
    for (auto rounds : t.loop()) {
      const val is_last = t.let(round == last);
      if (auto searches = t.when(any_of(round == 1u, all_of(round == 2u, chosen.by_p)))) {
        const val by_weight = t.let(round == 2u);
        var goal(t, cast<u64>(chosen.k));
        if (auto weighs = t.when(by_weight)) goal = mass_to_reach(t, chosen.p, t.let(total));
        find_threshold(t, memory, blocks, row, weights, part, by_weight, t.let(goal), half, threshold);
      }
      const val least = t.let(select(round == 2u, chosen.min_p, 0.0f));
      const val of_tie = weights.relative(t, t.let(threshold.logit));
      tie_weight = select(of_tie >= least, logit_weights::of_relative(t, of_tie), 0u);
      const val gathers = t.let(all_of(collects, round == 0u));
      const val weighs = t.let(any_of(round != 0u, needs_row));

      var mass(t, u64{0});
      var ties(t, 0u), full(t, 0u);
      const val end = t.let(select(any_of(gathers, weighs), limit, 0u));
      for (auto r : t.range(first_run, end, 32u).no_unroll()) {
        row.load(t, r, x);
        if (auto some = t.when(all_of(gathers, full == 0u, largest_of(t, x) >= bound)))
          gather<Sm>(t, memory, row, r, x, bound, full);
        if (auto all = t.when(weighs)) {
          for (u32 e = 0; e < run_size; ++e) {
            const val relative = weights.relative(t, t.let(x[e]));
            const val weight = logit_weights::of_relative(t, relative);
            const val is_kept = t.let(all_of(x[e] > threshold.logit, relative >= least));
            mass += cast<u64>(select(is_kept, weight, 0u));
            ties = select(x[e] == threshold.logit, ties + 1u, ties);
          }
        }
      }
      const val of_part = warp_reduce(t, mass, plus{});
      const val ties_of_part = warp_reduce(t, ties, plus{});
      if (auto one = t.when(t.lane_rank() == 0u)) {
        store(team::in(memory.masses, blocks.warp, 0u), of_part);
        store(team::in(memory.ties, blocks.warp, 0u), ties_of_part);
      }
      team::barrier(t);

      // In the last round the first block may end before the others would read.
      if (auto continues = t.when(any_of(is_first, !is_last))) {
        var own(t, u64{0});
        if (auto has = t.when(i < blocks.size * sample_warps)) own = team::in(memory.masses, i, 0u);
        total = block_reduce(t, own, plus{}) + mul_wide(threshold.quota, tie_weight);
      }
      of_row = select(round == 0u, total, of_row);
      if (auto first = t.when(is_first)) {
        var kind(t, 3u), count(t, 0u);  // of the drawing
        if (auto tries = t.when(all_of(gathers, memory.word(sample_word::candidates) <= sample_candidates)))
          keep_candidates(t, memory, weights, chosen, total, kind, count);
        kind = select(all_of(is_last, is_drawn, kind == 3u), 1u, kind);
        const val draws = t.let(kind != 3u);
        if (auto drawn = t.when(draws))
          draw_token(t, problem, memory, blocks, row, weights, threshold, tie_weight, least, kind, count);
        if (auto one = t.when(all_of(i == 0u, any_of(draws, is_last))))
          write_row(t, problem, memory, blocks.row, row, weights, exists, chosen.greedy, of_row);
        if (auto some = t.when(all_of(draws, !is_last, i < blocks.size)))
          store(team::in(memory.words, index_of(sample_word::done), i), 1u);
      }
      rounds.break_if(is_last);
      team::barrier(t);
      rounds.break_if(memory.word(sample_word::done) != 0u);
      round = select(all_of(round == 0u, chosen.by_k), 1u, 2u);
    }
  }
};

// Launched with a team of blocks for each row; from sm_90 on a cluster, as a programmatic dependent launch.
template <std::uint32_t Sm>
inline constexpr auto sample_rows =
    kaio::kernel<"sample_sm" + decimal<Sm>, sample_threads, kernel_options{.target = {Sm, false}}>(
        [](thread t, val<sample_problem> problem) { sample_body<Sm>::run(t, problem); });

}  // namespace kaio::ops
