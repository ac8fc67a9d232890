#pragma once
// Candidates of a row: logits that reach a bound which at least k logits of the row reach. The first block of the
// team holds them, as the key of a logit and its inverted index, so that greater numbers come first.

#include <kaio/ops/sampling/common/weight.hpp>
#include <kaio/ops/sampling/simt/memory.hpp>
#include <kaio/ops/sampling/simt/row.hpp>
#include <kaio/ops/sampling/simt/team.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 bound_bits = 20;  // of the key of the bound

template <class X>
constexpr val<f32> largest_of(thread t, const X& x) {
  const val a = t.let(max(max(x[0], x[1]), max(x[2], x[3])));
  return t.let(max(a, max(max(x[4], x[5]), max(x[6], x[7]))));
}
// A logit that the k-th largest of the groups reaches, by the upper bits of its key; at least k logits of
// the row reach it.
constexpr val<f32> bound_of(thread t, const val<f32>& own, const val<u32>& k) {
  const val key = order_key(t, own);
  var prefix(t, 0u), bit(t, 0x80000000u);
  for ([[maybe_unused]] auto b : t.range(0u, bound_bits).no_unroll()) {
    const val trial = t.let(prefix | bit);
    const val count = block_count(t, key >= trial);
    prefix = select(count >= k, trial, prefix);
    bit = bit >> 1;
  }
  return logit_of_key(t, t.let(prefix));
}
// Adds the run's logits of at least `bound` to the first block's candidates: key and inverted index.
template <std::uint32_t Sm, class X>
constexpr void gather(thread t, const sample_memory& memory, const logits_row& row, const val<u32>& run,
                      const X& x, const var<f32>& bound, var<u32>& full) {
  var mask(t, 0u);
  for (u32 e = 0; e < run_size; ++e) mask |= select(x[e] >= bound, 1u << e, 0u);
  const val count = t.let(popc(mask));
  const val before = atomic_add(sample_team<Sm>::in(memory.words, index_of(sample_word::candidates), 0u),
                                count, order::relaxed, sample_team<Sm>::reach());
  full = select(before + count > sample_candidates, 1u, 0u);
  var slot(t, before);
  if (auto fits = t.when(full == 0u))
    for (auto each : t.loop()) {
      each.break_if(mask == 0u);
      const val at = t.let(run * run_size + ctz(mask) - row.shift);
      const val key = order_key(t, row.element(t, at));
      store(sample_team<Sm>::in(memory.pool, slot, 0u), cast<u64>(key) << 32 | cast<u64>(~at));
      slot += 1u;
      mask &= mask - 1u;
    }
}
// count numbers, rounded up to a power of two.
constexpr val<u32> whole_power(thread t, const val<u32>& count) {
  return t.let(val<u32>(1u).node() << (32u - clz(count - 1u)));
}

}  // namespace kaio::ops
