#pragma once
// The flags that the blocks of the kernels with matrix instructions leave, and the kernels of multiply-adds
// read: whether a NaN is in their sums, which may be that of a masked place. A flag is of 64 keys, or queries,
// of a head, and of a part of the columns; parts come one after the other.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr std::uint32_t rows_of_flag = 64;

struct backward_flags {
  val<u64> address;      // 0: there are none
  val<u64> first, part;  // of part 0; how many flags a part has
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

// By all threads of the block whose flag it is.
constexpr void leave_flag(thread t, const backward_flags& flags, const val<bool>& wrong) {
  if (auto leads = t.when(t.thread_rank() == 0u))
    pointer_at<kaio::out<u32>>(t, flags.address)[flags.first + cast<u64>(block_idx_y()) * flags.part] =
        select(wrong, 1u, 0u);
}

// Whether a block of multiply-adds has something to do: there are no flags, or one of its rows is set.
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
