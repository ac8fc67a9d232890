#pragma once
// What a block of a backward kernel works on that owns a tile of keys: of one head of K of one sequence. It
// walks over the tiles of queries that attend to the keys, of each head of queries of the group.
//
//   heads of K | 0           | 1                    tiles of keys of a head follow each other; where the
//   tiles      | 0   1   2   | 0   1   2            first ones have the most queries (causal), the first
//                                                   tiles of all heads begin first

#include <kaio/ops/attention/backward/common/problem.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/mask.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

struct attention_key_block {
  val<u32> batch, group;  // group: the head of K and V
  val<u32> first_key;     // of the tile, in its sequence
  val<u32> queries, keys;
  val<u32> query_limit;  // queries from here on are not asked for
  val<u32> tensor_batch, first_q_row, first_k_row;
  val<i32> offset;  // keys - queries

  // Another tile of the same head of K.
  constexpr attention_key_block at(const val<u32>& other_key) const {
    return {batch,       group,        other_key,   queries,     keys,
            query_limit, tensor_batch, first_q_row, first_k_row, offset};
  }
  // The queries of one head, as the parts of the forward take them.
  constexpr attention_block of_head(const val<u32>& head, const val<u32>& first_query) const {
    return {batch, head,         group,       first_query, query_limit, queries,
            keys,  tensor_batch, first_q_row, first_k_row, offset};
  }
};

// Place `index` of the order above.
constexpr tile_of_head key_tile_in_order(thread t, const val<attention_problem>& problem,
                                         const val<attention_gradients>& gradients, const val<u32>& index) {
  const val tiles = t.let(gradients[&attention_gradients::key_tiles]);
  const val heads = t.let(gradients[&attention_gradients::key_heads] * problem[&attention_problem::batches]);
  const val longest_first = t.let(problem[&attention_problem::longest_first]);
  const auto [head, tile] = tile_in_order(t, index, tiles, heads, longest_first,
                                          t.let(gradients[&attention_gradients::leading_key_heads]));
  // Where the last queries attend to the most keys, the first keys have the most queries.
  return {head, t.let(select(longest_first != 0u, tiles - 1u - tile, tile))};
}

// Tiles have `rows` keys.
constexpr attention_key_block find_key_block(thread t, const val<attention_problem>& problem,
                                             const val<attention_gradients>& gradients,
                                             const tile_of_head& place, std::uint32_t rows) {
  const val heads = t.let(gradients[&attention_gradients::key_heads]);
  const val head = place.head, tile = place.tile;
  const val batch = t.let(head / heads);
  const attention_sequence sequence(t, problem, batch);
  const val queries = t.let(sequence.queries), keys = t.let(sequence.keys);
  return {batch,
          t.let(head - batch * heads),
          t.let(tile * rows),
          queries,
          keys,
          t.let(min(queries, problem[&attention_problem::queries])),
          t.let(sequence.tensor_batch),
          t.let(sequence.first_q_row),
          t.let(sequence.first_k_row),
          t.let(cast<i32>(keys) - cast<i32>(queries))};
}

// The tiles of `Queries` queries that attend to a tile of keys, and in which of them the mask has to run.
template <std::uint32_t Queries>
struct query_range_walk {
  val<u32> first, last;              // numbers of tiles: from first to before last
  val<u32> whole_first, whole_last;  // queries between which every score is attended to

  // of(first key, last key) is queries_of the mask; a tile beyond the sequence has none.
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
  // Of a tile of so many queries from `query` on.
  template <std::uint32_t Of = Queries>
  constexpr val<bool> is_partial(thread t, const val<u32>& query) const {
    return t.let(any_of(query<whole_first, query + Of> whole_last));
  }
};

// The numbers of a query in the workspace.
struct query_numbers {
  val<f32> shift, delta;
};

// exp(score - lse) of exponents of two; 0 of a masked score, whose exponent is -inf, and of queries without keys,
// or that do not exist, which have the shift +inf: whatever the other numbers are. It is at most 1: of scores
// near the lowest finite number lse has an error that is larger than any exponent.
constexpr val<f32> probability(thread t, const val<f32>& exponent, const val<f32>& shift) {
  const val below = t.let(exponent - shift);
  const val p = t.let(fast::ftz::exp2(select(below > 0.0f, 0.0f, below)));
  constexpr f32 infinity = std::numeric_limits<f32>::infinity();
  return t.let(select(any_of(exponent == -infinity, shift == infinity), 0.0f, p));
}

// The first of a head's numbers of queries, in elements.
constexpr val<u64> first_number(thread t, const val<attention_problem>& problem,
                                const val<attention_gradients>& gradients, const attention_block& block) {
  return t.let((cast<u64>(block.tensor_batch) * cast<u64>(problem[&attention_problem::heads]) +
                cast<u64>(block.head)) *
                   cast<u64>(gradients[&attention_gradients::q_rows]) +
               cast<u64>(block.first_q_row));
}

// Of query `query` of a head; one that does not exist has no keys.
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
