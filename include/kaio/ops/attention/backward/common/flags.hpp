#pragma once
// Flags of blocks whose gradients have to be computed again. A block of a kernel with matrix instructions
// sets its flag if a sum is not finite, since a masked place may have caused that. The multiply-add kernels
// read the flags. Each flag covers 64 keys, or queries, of a head and one part of the columns. The parts
// follow each other.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr std::uint32_t rows_of_flag = 64;

struct backward_flags {
  val<u64> address;      // 0: no flags
  val<u64> first, part;  // first: index of the flag in part 0; part: flags per part
  val<u32> parts;
};

constexpr backward_flags flags_of_keys(thread t, const val<attention_gradients>& gradients,
                                       const attention_key_block& keys) {
  const val tiles = t.let(cast<u64>(gradients[&attention_gradients::flag_key_tiles]));
  const val heads = t.let(cast<u64>(gradients[&attention_gradients::key_heads]));
  const val batches = t.let(cast<u64>(gradients[&attention_gradients::batches]));
  return {t.let(gradients[&attention_gradients::key_flags]),
          t.let((cast<u64>(keys.batch) * heads + cast<u64>(keys.group)) * tiles +
                cast<u64>(keys.first_key / rows_of_flag)),
          t.let(batches * heads * tiles), t.let(gradients[&attention_gradients::flag_key_parts])};
}

constexpr backward_flags flags_of_queries(thread t, const val<attention_problem>& problem,
                                          const val<attention_gradients>& gradients,
                                          const attention_block& block) {
  const val tiles = t.let(cast<u64>(gradients[&attention_gradients::flag_query_tiles]));
  const val heads = t.let(cast<u64>(problem[&attention_problem::heads]));
  const val batches = t.let(cast<u64>(gradients[&attention_gradients::batches]));
  return {t.let(gradients[&attention_gradients::query_flags]),
          t.let((cast<u64>(block.batch) * heads + cast<u64>(block.head)) * tiles +
                cast<u64>(block.first_query / rows_of_flag)),
          t.let(batches * heads * tiles), t.let(gradients[&attention_gradients::flag_query_parts])};
}

// Called by all threads of the block that owns the flag of part `part`.
constexpr void leave_flag(thread t, const backward_flags& flags, const val<u32>& part,
                          const val<bool>& wrong) {
  if (auto leads = t.when(t.thread_rank() == 0u))
    pointer_at<kaio::out<u32>>(t, flags.address)[flags.first + cast<u64>(part) * flags.part] =
        select(wrong, 1u, 0u);
}

// Whether a multiply-add block has work: there are no flags, or the flag of any part of its rows is set.
constexpr val<bool> is_flagged(thread t, const backward_flags& flags) {
  var found(t, 1u);
  if (auto exist = t.when(flags.address != u64{0})) {
    found = 0u;
    for (auto part : t.range(0u, flags.parts).no_unroll())
      found |= pointer_at<in<u32>>(t, flags.address)[flags.first + cast<u64>(part) * flags.part];
  }
  return t.let(found != 0u);
}

}  // namespace kaio::ops
