#pragma once
// What a block of an attention kernel works on: a tile of queries of one head of one batch. The grid has one
// dimension; tiles of a head follow each other, or, where the last ones have the most keys (causal), the last tiles
// of all heads come first, so that no long one is left for the end.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_block {
  val<u32> batch, head, group;  // group: the head of K and V
  val<u32> first_query;
};

// Tiles have `rows` queries.
constexpr attention_block find_block(thread t, const val<attention_problem>& problem, const val<u32>& index,
                                     std::uint32_t rows) {
  const val tiles = t.let(problem[&attention_problem::query_tiles]);
  const val heads = t.let(problem[&attention_problem::heads]);
  const val all_heads = t.let(heads * problem[&attention_problem::batches]);
  var head = t.let(index / tiles);
  var tile = t.let(index - head * tiles);
  if (auto longest = t.when(problem[&attention_problem::longest_first] != 0u)) {
    const val from_last = t.let(index / all_heads);
    head = index - from_last * all_heads;
    tile = tiles - 1u - from_last;
  }
  const val batch = t.let(head / heads);
  const val of_batch = t.let(head - batch * heads);
  return {batch, of_batch, t.let(of_batch / problem[&attention_problem::heads_of_group]), t.let(tile * rows)};
}

// The offset of row 0 of a head, in elements.
template <class Strides>
constexpr val<i64> head_offset(thread t, const Strides& strides, const val<u32>& batch,
                               const val<u32>& head) {
  return t.let(cast<i64>(batch) * strides[&attention_strides::batch] +
               cast<i64>(head) * strides[&attention_strides::head]);
}

// Where the log-sum-exp of a query goes; nothing is done where it is not wanted, or by threads for which `writes` is
// false.
constexpr void store_lse(thread t, const val<attention_problem>& problem, const attention_block& block,
                         const val<u32>& query, const val<bool>& writes, const val<f32>& lse) {
  const val address = t.let(problem[&attention_problem::lse]);
  const val exists = t.let(all_of(writes, address != 0u, query < problem[&attention_problem::queries]));
  if (auto wanted = t.when(exists)) {
    const val at = t.let(cast<i64>(block.batch) * problem[&attention_problem::lse_batch] +
                         cast<i64>(block.head) * problem[&attention_problem::lse_head] +
                         cast<i64>(query) * problem[&attention_problem::lse_row]);
    pointer_at<out<f32>>(t, address)[at] = lse;
  }
}

}  // namespace kaio::ops
