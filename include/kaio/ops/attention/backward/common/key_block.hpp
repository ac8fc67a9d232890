#pragma once
// The work of a backward block that owns a tile of keys, of one KV head of one sequence. For each query head
// of the group, the block walks over the tiles of queries that attend to the keys.
//
//   heads of K | 0           | 1                The tiles of a head follow each other. With a causal mask
//   tiles      | 0   1   2   | 0   1   2        the first tiles have the most queries: after the leading
//                                               heads, the first tiles of all other heads come first.

#include <kaio/ops/attention/backward/common/problem.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/mask.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

struct attention_key_block {
  val<u32> batch, group;  // group: the head of K and V
  val<u32> first_key;     // of the tile, within its sequence
  val<u32> queries, keys;
  val<u32> query_limit;  // queries from here on are not computed
  val<u32> tensor_batch, first_q_row, first_k_row;
  val<i32> offset;  // keys - queries

  // Another tile of the same head of K.
  constexpr attention_key_block at(const val<u32>& other_key) const {
    return {batch,       group,        other_key,   queries,     keys,
            query_limit, tensor_batch, first_q_row, first_k_row, offset};
  }
  // A tile of queries of one head, in the form that functions of the forward take.
  constexpr attention_block of_head(const val<u32>& head, const val<u32>& first_query) const {
    return {batch, head,         group,       first_query, query_limit, queries,
            keys,  tensor_batch, first_q_row, first_k_row, offset};
  }
};

// The tile at place `index` of the order above.
constexpr tile_of_head key_tile_in_order(thread t, const val<attention_problem>& problem,
                                         const val<attention_gradients>& gradients, const val<u32>& index) {
  const val tiles = t.let(gradients[&attention_gradients::key_tiles]);
  const val heads = t.let(gradients[&attention_gradients::key_heads] * problem[&attention_problem::batches]);
  const val longest_first = t.let(problem[&attention_problem::longest_first]);
  const auto [head, tile] = tile_in_order(t, index, tiles, heads, longest_first,
                                          t.let(gradients[&attention_gradients::leading_key_heads]));
  // If the last queries attend to the most keys, the first keys have the most queries.
  return {head, t.let(select(longest_first != 0u, tiles - 1u - tile, tile))};
}

// The place of a tile of `rows` keys.
struct key_place {
  val<u32> batch, group, first_key;
  static constexpr key_place of(thread t, const val<attention_gradients>& gradients, const tile_of_head& tile,
                                std::uint32_t rows) {
    const val heads = t.let(gradients[&attention_gradients::key_heads]);
    const val batch = t.let(tile.head / heads);
    return {batch, t.let(tile.head - batch * heads), t.let(tile.tile * rows)};
  }
};
constexpr attention_key_block find_key_block(thread t, const val<attention_problem>& problem,
                                             const key_place& place) {
  const val batch = place.batch;
  const attention_sequence sequence(t, problem, batch);
  const val queries = t.let(sequence.queries), keys = t.let(sequence.keys);
  return {batch,
          place.group,
          place.first_key,
          queries,
          keys,
          t.let(min(queries, problem[&attention_problem::queries])),
          t.let(sequence.tensor_batch),
          t.let(sequence.first_q_row),
          t.let(sequence.first_k_row),
          t.let(cast<i32>(keys) - cast<i32>(queries))};
}

constexpr attention_key_block find_key_block(thread t, const val<attention_problem>& problem,
                                             const val<attention_gradients>& gradients,
                                             const tile_of_head& tile, std::uint32_t rows) {
  return find_key_block(t, problem, key_place::of(t, gradients, tile, rows));
}

// The tiles of `Queries` queries that attend to a tile of keys, and the queries that need no mask.
template <std::uint32_t Queries>
struct query_range_walk {
  val<u32> first, last;              // tiles [first, last)
  val<u32> whole_first, whole_last;  // queries [whole_first, whole_last) attend to every key

  // of(block, first key, last key) is queries_of the mask. A tile beyond the sequence has no queries.
  template <class Of>
  static constexpr query_range_walk over(thread t, const attention_key_block& block, std::uint32_t rows,
                                         const Of& of) {
    const val last_key = t.let(min(block.first_key + rows, block.keys) - 1u);
    const query_range range = of(block, block.first_key, last_key);
    const val exists = t.let(block.first_key < block.keys);
    return {t.let(select(exists, range.first / Queries, 0u)),
            t.let(select(exists, (min(range.last, block.query_limit) + (Queries - 1)) / Queries, 0u)),
            range.whole_first, range.whole_last};
  }
  // Whether the mask has to run for the `Of` queries from `query` on.
  template <std::uint32_t Of = Queries>
  constexpr val<bool> is_partial(thread t, const val<u32>& query) const {
    return t.let(any_of(query<whole_first, query + Of> whole_last));
  }
};

// The numbers of a query in the workspace.
struct query_numbers {
  val<f32> shift, delta;
};

// exp(score - lse), from exponents of two. It is 0 if the exponent is -inf (a masked score) or the shift is
// +inf (a query without keys, or none), whatever the other number is. It is at most 1: near the lowest finite
// number the error of lse exceeds any exponent.
constexpr val<f32> probability(thread t, const val<f32>& exponent, const val<f32>& shift) {
  const val below = t.let(exponent - shift);
  const val p = t.let(fast::ftz::exp2(select(below > 0.0f, 0.0f, below)));
  constexpr f32 infinity = std::numeric_limits<f32>::infinity();
  return t.let(select(any_of(exponent == -infinity, shift == infinity), 0.0f, p));
}

// The index of a head's first query in shifts and deltas.
constexpr val<u64> first_number(thread t, const val<attention_problem>& problem,
                                const val<attention_gradients>& gradients, const attention_block& block) {
  return t.let((cast<u64>(block.tensor_batch) * cast<u64>(problem[&attention_problem::heads]) +
                cast<u64>(block.head)) *
                   cast<u64>(gradients[&attention_gradients::q_rows]) +
               cast<u64>(block.first_q_row));
}

// The numbers of query `query` of a head. A query that does not exist gets those of a query without keys.
constexpr query_numbers numbers_of_query(thread t, const val<attention_problem>& problem,
                                         const val<attention_gradients>& gradients,
                                         const attention_block& block, const val<u32>& query) {
  var shift(t, std::numeric_limits<f32>::infinity()), delta(t, 0.0f);
  if (auto exists = t.when(query < block.query_limit)) {
    const val at = t.let(first_number(t, problem, gradients, block) + cast<u64>(query));
    shift = pointer_at<in<f32>>(t, t.let(gradients[&attention_gradients::shifts]))[at];
    delta = pointer_at<in<f32>>(t, t.let(gradients[&attention_gradients::deltas]))[at];
  }
  return {t.let(shift), t.let(delta)};
}

}  // namespace kaio::ops
