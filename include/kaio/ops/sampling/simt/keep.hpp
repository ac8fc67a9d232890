#pragma once
// The kept tokens among the candidates of a row.

#include <kaio/ops/sampling/simt/candidates.hpp>
#include <kaio/ops/sampling/simt/options.hpp>
#include <kaio/ops/sampling/simt/sort.hpp>

#include <cstdint>

namespace kaio::ops {

// Sorts the candidates and applies top-k, top-p and min-p. If they suffice, kind becomes 0 and pool[0] to
// pool[count - 1] are the kept tokens by index: inverted index and weight; or 0.
constexpr void keep_candidates(thread t, const sample_memory& memory, const logit_weights& weights,
                               const row_choice& chosen, const var<u64>& total, var<u32>& kind,
                               var<u32>& count) {
  const val i = t.let(t.thread_rank());
  const val found = t.let(memory.word(sample_word::candidates));
  const val padded = whole_power(t, found);
  if (auto pads = t.when(i >= found)) memory.pool[i] = u64{0};
  sort_descending(t, memory.pool, padded, padded);
  const val is_one = t.let(i < min(found, chosen.k));
  const val candidate = t.let(memory.pool[i]);
  const val relative = weights.relative(t, logit_of_key(t, t.let(cast<u32>(candidate >> 32))));
  const val weight = t.let(select(is_one, logit_weights::of_relative(t, relative), 0u));
  const val own = t.let(cast<u64>(weight));
  const val through = block_inclusive_scan(t, own, plus{});
  if (auto one = t.when(i == sample_threads - 1u)) memory.sum(sample_mass::all) = through;
  t.barrier();
  const val all = t.let(memory.sum(sample_mass::all));
  var goal(t, all);
  if (auto some = t.when(chosen.by_p))
    goal = mass_to_reach(t, chosen.p, t.let(select(chosen.by_k, all, total)));
  if (auto suffices = t.when(any_of(chosen.by_k, all >= goal))) {
    const val is_inside = t.let(all_of(is_one, through - own < goal));
    const val is_kept = t.let(all_of(is_inside, relative >= chosen.min_p));
    kind = 0u;
    count = whole_power(t, block_count(t, is_inside));
    memory.pool[i] = select(is_kept, (candidate << 32) | own, u64{0});
    const val kept = t.let(count);
    sort_descending(t, memory.pool, kept, kept);
  }
}

}  // namespace kaio::ops
