#pragma once
// The threshold of top-k or top-p: the largest logit for which it and all greater logits reach a goal, by
// their number or by their weights. Digits of the key are found from the highest on, 11, 11 and 10 bits:
//
//   histogram of a digit, in each block -- sums over blocks, from the largest bin down -- the bin that
//   reaches the goal is the digit; what is above it is subtracted from the goal
//
// A bin has two words. An addition that wraps the low word adds 1 to the high one.

#include <kaio/ops/sampling/common/weight.hpp>
#include <kaio/ops/sampling/simt/memory.hpp>
#include <kaio/ops/sampling/simt/row.hpp>
#include <kaio/ops/sampling/simt/team.hpp>

#include <cstdint>

namespace kaio::ops {

// What a warp takes of a row: places first to limit - 1; element i is at place shift + i.
struct sample_part {
  val<u32> first, limit;
};

// The digits of a key, from the highest on.
struct key_digits {
  var<u32> prefix;  // the key, once all digits are found
  var<u64> goal;    // 1 or more; what equal keys must still reach
  var<u32> found;   // no_bin: all keys together do not reach the goal
};
inline constexpr u32 no_bin = 0xffffffffu;

// half: 0 or sample_bins, and changes with each digit. Bits below last_shift, 0 or 10, are not looked for.
// read(place, add) calls add(key, amount) for a place that counts.
template <std::uint32_t Sm, class Read>
constexpr void find_digits(thread t, const sample_memory& memory, const sample_team<Sm>& blocks,
                           const sample_part& part, const val<u32>& last_shift, const Read& read,
                           var<u32>& half, key_digits& result) {
  using team = sample_team<Sm>;
  const auto& bins = memory.bins;
  const val i = t.let(t.thread_rank());
  var upper(t, 32u);
  result.prefix = 0u;
  for (auto digit : t.loop()) {
    const val shift = t.let(select(upper == 32u, 21u, select(upper == 21u, 10u, 0u)));
    const val low = t.let(half * 2u), high = t.let(low + sample_bins);
    for (u32 b = 0; b < 2 * sample_bins; b += sample_threads) bins[low + b + i] = 0u;
    t.barrier();
    if (auto one = t.when(i == 0u)) memory.word(sample_word::bin) = no_bin;
    const val first = t.let(part.first + t.lane_rank());
    for (auto place : t.range(first, part.limit, 32u).no_unroll())
      read(place, [&](const val<u32>& key, const val<u32>& amount) {
        if (auto inside = t.when((key >> upper) == (result.prefix >> upper))) {
          const val bin = t.let(key >> shift & (sample_bins - 1));
          const val bin_of_digit = t.let(select(upper == 10u, bin & 1023u, bin));
          const val before = atomic_add(bins[low + bin_of_digit], amount, order::relaxed, scope::block);
          if (auto wraps = t.when(before + amount < before))
            atomic_add(bins[high + bin_of_digit], 1u, order::relaxed, scope::block);
        }
      });
    team::barrier(t);
    const val pair = t.let(sample_bins - 2u - 2u * i);
    auto sums = array_of<2>([&](u32) { return var(t, u64{0}); });
    for (auto b : t.range(0u, blocks.size).no_unroll()) {
      const val lower = load_vec<2>(team::in(bins, low + pair, b));
      const val higher = load_vec<2>(team::in(bins, high + pair, b));
      for (u32 e = 0; e < 2; ++e) sums[e] += cast<u64>(lower[e]) + (cast<u64>(higher[e]) << 32);
    }
    const val own = t.let(sums[0] + sums[1]);
    const val through = block_inclusive_scan(t, own, plus{});
    const val before = t.let(through - own);
    if (auto crosses = t.when(all_of(before < result.goal, result.goal <= through))) {
      const val is_upper = t.let(before + sums[1] >= result.goal);
      memory.word(sample_word::bin) = select(is_upper, pair + 1u, pair);
      memory.sum(sample_mass::above) = select(is_upper, before, before + sums[1]);
    }
    t.barrier();
    const val bin = t.let(memory.word(sample_word::bin));
    const val above = t.let(memory.sum(sample_mass::above));
    half ^= sample_bins;
    result.found = bin;
    digit.break_if(bin == no_bin);
    result.prefix |= bin << shift;
    result.goal -= above;
    upper = shift;
    digit.break_if(shift == last_shift);
  }
}

struct sample_threshold {
  var<f32> logit;  // greater logits are kept
  var<u32> quota;  // and the first of those that are equal
};

// If all logits together do not reach the goal, the threshold is -inf.
template <std::uint32_t Sm>
constexpr void find_threshold(thread t, const sample_memory& memory, const sample_team<Sm>& blocks,
                              const logits_row& row, const logit_weights& weights, const sample_part& part,
                              const val<bool>& by_weight, const val<u64>& goal, var<u32>& half,
                              sample_threshold& result) {
  // The lower 10 bits of the keys of 16-bit elements are all 0 or all 1, as the sign says.
  const val last_shift = t.let(select(row.is_single, 0u, 10u));
  key_digits digits{var(t, 0u), var(t, goal), var(t, 0u)};
  const auto read = [&](const val<u32>& place, const auto& add) {
    const val at = t.let(place - row.shift);
    if (auto exists = t.when(at < row.size)) {
      const val x = row.element(t, at);
      if (auto finite = t.when(x > minus_infinity)) {
        const val key = order_key(t, x);
        var amount(t, 1u);
        if (auto weighs = t.when(by_weight)) amount = logit_weights::of_relative(t, weights.relative(t, x));
        add(key, t.let(amount));
      }
    }
  };
  find_digits(t, memory, blocks, part, last_shift, read, half, digits);
  const val is_negative = t.let((digits.prefix & 0x80000000u) == 0u);
  digits.prefix |= select(all_of(last_shift != 0u, is_negative), 1023u, 0u);
  result.logit = minus_infinity;
  result.quota = 0u;
  if (auto exists = t.when(digits.found != no_bin)) {
    const val logit = logit_of_key(t, t.let(digits.prefix));
    result.logit = logit;
    result.quota = cast<u32>(digits.goal);
    if (auto weighs = t.when(by_weight)) {
      const val weight = t.let(cast<u64>(logit_weights::of_relative(t, weights.relative(t, logit))));
      result.quota = cast<u32>((digits.goal + weight - 1u) / weight);
    }
  }
}

}  // namespace kaio::ops
