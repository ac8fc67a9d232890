#pragma once
// Draws a row's token, and writes the results of the row.

#include <kaio/ops/sampling/common/philox.hpp>
#include <kaio/ops/sampling/simt/memory.hpp>
#include <kaio/ops/sampling/simt/options.hpp>
#include <kaio/ops/sampling/simt/row.hpp>
#include <kaio/ops/sampling/simt/team.hpp>
#include <kaio/ops/sampling/simt/threshold.hpp>

#include <cstdint>
#include <utility>

namespace kaio::ops {

// Draws from entries in order. kind 0: candidates. kind 1: parts of warps, and then kind 2: a part's pieces,
// one for each thread.
template <std::uint32_t Sm>
constexpr void draw_token(thread t, const val<sample_problem>& problem, const sample_memory& memory,
                          const sample_team<Sm>& blocks, const logits_row& row, const logit_weights& weights,
                          const sample_threshold& threshold, const var<u32>& tie_weight,
                          const val<f32>& least, const var<u32>& kind, const var<u32>& count) {
  const val i = t.let(t.thread_rank());
  const val seed_at = place_of_number(t, problem[&sample_problem::seed], blocks.row, 8);
  const val offset_at = place_of_number(t, problem[&sample_problem::offset], blocks.row, 8);
  const val seed = t.let(pointer_at<inout<u64>>(t, seed_at)[0]);
  const val offset = t.let(pointer_at<inout<u64>>(t, offset_at)[0]);
  const val random = philox_of(t, seed, offset);
  const val of_warp = t.let(problem[&sample_problem::of_warp]);
  const val of_thread = t.let((of_warp + (sample_threads - 1)) / sample_threads);
  var target(t, u64{0});
  var entry(t, 0u), quota(t, threshold.quota), begin(t, 0u), end(t, 0u);
  const auto class_of = [&](const val<u32>& at) {
    const val x = row.element(t, at);
    const val relative = weights.relative(t, x);
    const val is_kept = t.let(all_of(x > threshold.logit, relative >= least));
    const val weight = t.let(select(is_kept, logit_weights::of_relative(t, relative), 0u));
    return std::pair{weight, t.let(x == threshold.logit)};
  };
  const val last_kind = t.let(select(kind == 0u, 1u, 3u));
  for (auto now : t.range(t.let(kind), last_kind).no_unroll()) {
    var mass(t, u64{0});
    var ties(t, 0u);
    if (auto of_candidates = t.when(all_of(now == 0u, i < count))) mass = memory.pool[i] & u64{0xffffffffu};
    if (auto of_parts = t.when(all_of(now == 1u, i < blocks.size * sample_warps))) {
      mass = memory.masses[i];
      ties = memory.ties[i];
    }
    if (auto of_pieces = t.when(now == 2u)) {
      const val from = t.let(entry * of_warp), to = t.let(min(from + of_warp, row.shift + row.size));
      const val first = t.let(min(from + i * of_thread, to));
      begin = max(first, row.shift) - row.shift;
      end = max(min(first + of_thread, to), row.shift) - row.shift;
      for (auto at : t.range(begin, end).no_unroll()) {
        const auto [weight, is_tie] = class_of(at);
        mass += cast<u64>(weight);
        ties = select(is_tie, ties + 1u, ties);
      }
    }
    const val earlier = block_exclusive_scan(t, t.let(ties), plus{}, 0u);
    const val own_quota = t.let(min(max(quota, earlier) - earlier, ties));
    const val own = t.let(mass + mul_wide(own_quota, tie_weight));
    const val through = block_inclusive_scan(t, own, plus{});
    const val before = t.let(through - own);
    if (auto one = t.when(all_of(now != 2u, i == sample_threads - 1u)))
      memory.sum(sample_mass::all) = through;
    t.barrier();
    if (auto starts = t.when(now != 2u)) target = mul_hi(random, memory.sum(sample_mass::all));
    if (auto has = t.when(all_of(before <= target, target < through))) {
      if (auto of_candidates = t.when(now == 0u))
        memory.word(sample_word::token) = ~cast<u32>(memory.pool[i] >> 32);
      if (auto of_parts = t.when(now == 1u)) {
        memory.word(sample_word::entry) = i;
        memory.word(sample_word::quota) = own_quota;
        memory.sum(sample_mass::rest) = target - before;
      }
      if (auto of_pieces = t.when(now == 2u)) {
        var rest(t, target - before);
        var equal(t, own_quota);
        for (auto at : t.range(begin, end).no_unroll()) {
          const auto [weight, is_tie] = class_of(at);
          const val takes_tie = t.let(all_of(is_tie, equal != 0u));
          const val one = t.let(cast<u64>(select(takes_tie, tie_weight, weight)));
          equal = select(takes_tie, equal - 1u, equal);
          memory.word(sample_word::token) = at;
          at.break_if(rest < one);
          rest -= one;
        }
      }
    }
    t.barrier();
    entry = memory.word(sample_word::entry);
    quota = memory.word(sample_word::quota);
    target = memory.sum(sample_mass::rest);
  }
}

constexpr void write_row(thread t, const val<sample_problem>& problem, const sample_memory& memory,
                         const val<u32>& of, const logits_row& row, const logit_weights& weights,
                         const val<bool>& exists, const val<bool>& greedy, const var<u64>& of_row) {
  const val largest = t.let(memory.word(sample_word::first));
  const val drawn = t.let(memory.word(sample_word::token));
  const val token = t.let(select(exists, select(greedy, largest, drawn), 0u));
  const val to = t.let(problem[&sample_problem::tokens][&row_numbers::address]);
  const val place = t.let(problem[&sample_problem::tokens][&row_numbers::stride] * cast<i64>(of));
  if (auto wide = t.when(problem[&sample_problem::wide] != 0u))
    pointer_at<out<i64>>(t, to)[place] = cast<i64>(token);
  if (auto narrow = t.otherwise()) pointer_at<out<i32>>(t, to)[place] = cast<i32>(token);
  const val invalid = t.let(problem[&sample_problem::invalid]);
  if (auto counts = t.when(all_of(invalid != 0u, any_of(!exists, memory.word(sample_word::invalid) != 0u))))
    atomic_add(pointer_at<inout<i32>>(t, invalid)[0], 1);
  constexpr f32 ln2 = 0.6931471805599453f;
  const val log_mass = t.let(log2(cast<f32>(of_row)) - 32.0f);
  const auto put = [&](const auto& numbers, const auto& value) {
    const val at = place_of_number(t, numbers, of, 4);
    if (auto given = t.when(numbers[&row_numbers::address] != 0u))
      pointer_at<out<f32>>(t, at)[0] = select(exists, value, minus_infinity);
  };
  const val own = t.let(min(row.element(t, token), largest_f32));
  put(problem[&sample_problem::lse], t.let((weights.top * weights.rate + log_mass) * ln2));
  put(problem[&sample_problem::logprobs], t.let(((own - weights.top) * weights.rate - log_mass) * ln2));
  const auto next = problem[&sample_problem::offset_out];
  if (auto advances = t.when(next[&row_numbers::address] != 0u)) {
    const val from = place_of_number(t, problem[&sample_problem::offset], of, 8);
    const val at = place_of_number(t, next, of, 8);
    const val offset = t.let(pointer_at<inout<u64>>(t, from)[0]);
    pointer_at<out<u64>>(t, at)[0] = offset + u64{1};
  }
}

}  // namespace kaio::ops
