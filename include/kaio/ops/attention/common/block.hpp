#pragma once
// The tile of queries that a block of an attention kernel works on: part of one head of one sequence. The
// grid has one dimension. Tiles of a head follow each other, so that concurrent blocks share K and V in L2.
// If the last tiles have the most keys (causal), they come first. The last heads are then interleaved, the
// last tiles of all of them first, so that no long tile is left for the end. Example with four heads of three
// tiles, two of them leading:
//
//   block    0   1   2   3   4   5   6   7   8   9   10  11
//   head     0   0   0   1   1   1   2   3   2   3   2   3
//   tile     2   1   0   2   1   0   2   2   1   1   0   0
//
// If sequences of different lengths share a tensor (packed), their lengths are read here.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/problem.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

struct attention_block {
  val<u32> batch, head, group;        // group: the KV head
  val<u32> first_query;               // of the tile, within the sequence
  val<u32> query_limit;               // the tile's rows are before it
  val<u32> queries, keys;             // lengths of the sequence
  val<u32> tensor_batch;              // the sequence is in this batch of the tensors,
  val<u32> first_q_row, first_k_row;  // from these rows on
  val<i32> offset;                    // keys - queries
};

// A batch's rows in the tensors: those of its sequence if several are packed.
struct attention_sequence {
  var<u32> queries, keys;
  var<u32> tensor_batch, first_q_row, first_k_row;

  constexpr attention_sequence(thread t, const val<attention_problem>& problem, const val<u32>& batch)
      : queries(t, problem[&attention_problem::queries]),
        keys(t, problem[&attention_problem::keys]),
        tensor_batch(t, batch),
        first_q_row(t, 0u),
        first_k_row(t, 0u) {
    if (auto packed = t.when(problem[&attention_problem::packed] != 0u)) {
      const auto number = [&](const val<u64>& address, const val<u32>& i) {
        return t.let(cast<u32>(pointer_at<in<i32>>(t, address)[i]));
      };
      const val cu_q = t.let(problem[&attention_problem::cu_q]),
                cu_k = t.let(problem[&attention_problem::cu_k]);
      const val next = t.let(batch + 1u);
      tensor_batch = 0u;
      first_q_row = number(cu_q, batch);
      first_k_row = number(cu_k, batch);
      queries = number(cu_q, next) - first_q_row;
      keys = number(cu_k, next) - first_k_row;
      const val used_q = t.let(problem[&attention_problem::used_q]);
      const val used_k = t.let(problem[&attention_problem::used_k]);
      if (auto fewer = t.when(used_q != 0u)) queries = min(queries, number(used_q, batch));
      if (auto fewer = t.when(used_k != 0u)) keys = min(keys, number(used_k, batch));
    }
  }
};

// A tile of queries, by its numbers.
struct tile_of_head {
  val<u32> head;  // among the heads of all batches
  val<u32> tile;
};

// Place `index` in the order above, for `heads` heads of `tiles` tiles each.
constexpr tile_of_head tile_in_order(thread t, const val<u32>& index, const val<u32>& tiles,
                                     const val<u32>& heads, const val<u32>& longest_first,
                                     const val<u32>& leading) {
  var head = t.let(index / tiles);
  var tile = t.let(index - head * tiles);
  if (auto longest = t.when(longest_first != 0u)) {
    tile = tiles - 1u - tile;
    if (auto last = t.when(head >= leading)) {
      const val at_once = t.let(heads - leading);
      const val of_last = t.let(index - leading * tiles);
      const val from_last = t.let(of_last / at_once);
      head = leading + (of_last - from_last * at_once);
      tile = tiles - 1u - from_last;
    }
  }
  return {t.let(head), t.let(tile)};
}

// Place `index` among the tiles of queries of a problem.
constexpr tile_of_head tile_in_order(thread t, const val<attention_problem>& problem, const val<u32>& index) {
  const val tiles = t.let(problem[&attention_problem::query_tiles]);
  const val heads = t.let(problem[&attention_problem::heads] * problem[&attention_problem::batches]);
  const val longest_first = t.let(problem[&attention_problem::longest_first]);
  const val leading_heads = t.let(problem[&attention_problem::leading_heads]);
  return tile_in_order(t, index, tiles, heads, longest_first, leading_heads);
}

// Tiles have `rows` queries; `walks` (key_walk.hpp) knows where they begin.
template <class Walks>
constexpr attention_block find_block(thread t, const val<attention_problem>& problem,
                                     const tile_of_head& place, std::uint32_t rows, const Walks& walks) {
  const val heads = t.let(problem[&attention_problem::heads]);
  const val head = place.head, tile = place.tile;
  const val batch = t.let(head / heads);
  const val of_batch = t.let(head - batch * heads);

  const attention_sequence sequence(t, problem, batch);
  const auto& [queries, keys, tensor_batch, q_row, k_row] = sequence;
  const val group = t.let(of_batch / problem[&attention_problem::heads_of_group]);
  const val first_query = walks.first_query(t, tile, rows);
  const val all_queries = t.let(queries);
  return {batch,
          of_batch,
          group,
          first_query,
          walks.query_limit(t, tile, all_queries, rows),
          all_queries,
          t.let(keys),
          t.let(tensor_batch),
          t.let(q_row),
          t.let(k_row),
          t.let(cast<i32>(keys) - cast<i32>(queries))};
}

// The block of tile `index` in the order above.
template <class Walks>
constexpr attention_block find_block(thread t, const val<attention_problem>& problem, const val<u32>& index,
                                     std::uint32_t rows, const Walks& walks) {
  return find_block(t, problem, tile_in_order(t, problem, index), rows, walks);
}

// The keys that a tile of `rows` queries may attend to; none if the sequence has no such tile.
// keys(block, first query, last query) is keys_of the mask.
template <class Keys>
constexpr key_range keys_of_block(thread t, const attention_block& block, std::uint32_t rows,
                                  const Keys& keys) {
  const val last_query = t.let(min(block.first_query + rows, block.queries) - 1u);
  const key_range range = keys(block, block.first_query, last_query);
  const val exists = t.let(block.first_query < block.queries);
  return {t.let(select(exists, range.first, 0u)), t.let(select(exists, range.last, 0u)), range.whole_first,
          range.whole_last};
}

// The places of a thread's scores from key `key` on; keys from `end` on do not exist.
template <std::uint32_t Rows>
constexpr score_origin<Rows> origin_of(thread t, const attention_block& block,
                                       const dsl::register_array<val<u32>, Rows>& query, const val<u32>& key,
                                       const val<u32>& end) {
  return {block.batch, block.head, query, key, t.let(block.queries - 1u), t.let(end - 1u), block.offset};
}

// Offset of row `row` of a head, in elements.
template <class Strides>
constexpr val<i64> head_offset(thread t, const Strides& strides, const attention_block& block,
                               const val<u32>& head, const val<u32>& row) {
  return t.let(cast<i64>(block.tensor_batch) * strides[&attention_strides::batch] +
               cast<i64>(head) * strides[&attention_strides::head] +
               cast<i64>(row) * strides[&attention_strides::row]);
}

// Stores the log-sum-exp of a query, if it is wanted. Threads with a false `writes` do nothing.
constexpr void store_lse(thread t, const val<attention_problem>& problem, const attention_block& block,
                         const val<u32>& query, const val<bool>& writes, const val<f32>& lse) {
  const val address = t.let(problem[&attention_problem::lse]);
  const val exists = t.let(all_of(writes, address != 0u, query < block.query_limit));
  if (auto wanted = t.when(exists)) {
    const val at = t.let(cast<i64>(block.tensor_batch) * problem[&attention_problem::lse_batch] +
                         cast<i64>(block.head) * problem[&attention_problem::lse_head] +
                         cast<i64>(block.first_q_row + query) * problem[&attention_problem::lse_row]);
    pointer_at<out<f32>>(t, address)[at] = lse;
  }
}

// The sink of the block's head as an exponent of two: the score of a key without a value. -inf: no sink.
// Source: Xiao et al., "Efficient Streaming Language Models with Attention Sinks", 2023.
constexpr val<f32> sink_of(thread t, const val<attention_problem>& problem, const attention_block& block) {
  var sink(t, -std::numeric_limits<f32>::infinity());
  const val type = t.let(problem[&attention_problem::sinks_are]);
  if (auto exists = t.when(type != static_cast<u32>(sink_type::none))) {
    const val address = t.let(problem[&attention_problem::sinks]);
    const val at = t.let(cast<i64>(block.head) * problem[&attention_problem::sink_head]);
    if (auto single = t.when(type == static_cast<u32>(sink_type::f32)))
      sink = pointer_at<in<f32>>(t, address)[at] * log2_of_e;
    if (auto half = t.when(type == static_cast<u32>(sink_type::f16)))
      sink = cast<f32>(pointer_at<in<f16>>(t, address)[at]) * log2_of_e;
    if (auto brain = t.when(type == static_cast<u32>(sink_type::bf16)))
      sink = bit_cast<f32>(cast<u32>(pointer_at<in<u16>>(t, address)[at]) << 16) * log2_of_e;
  }
  return t.let(sink);
}

}  // namespace kaio::ops
