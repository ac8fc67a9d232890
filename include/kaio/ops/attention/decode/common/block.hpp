#pragma once
// The work of a block of attention_decode: rows of a sequence, and a split of the keys that these attend to.
// Rows are queries and heads that share a KV head. All about the sequence is read from device memory.
//
//   keys of a sequence    | padding |  not attended  |  split 0  |  split 1  |  split 2  | room |
//                                                    ^ low                            ^ high
//
// The grid has one dimension. From inner to outer it counts KV heads (neighbours in memory), tiles of rows
// (which share keys), splits, and sequences. If the splits of a tile are a cluster, they are innermost.

#include <kaio/dsl/block.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/decode/common/problem.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// A sequence in a cache.
struct cached_sequence {
  val<u32> keys;         // of the sequence, including the padding
  val<u32> left;         // keys before this one do not exist
  val<u32> cache_batch;  // of a contiguous cache
  val<u64> pages;        // the address of its page numbers
};

// Element i of lengths, tables and the like, in device memory.
constexpr val<i32> cached_number(thread t, const val<u64>& address, const val<u32>& i) {
  return t.let(pointer_at<in<i32>>(t, address)[i]);
}

// The number of keys of a sequence in addition to its length.
constexpr val<u32> added_keys(thread t, const val<attention_cache>& cache, const val<u32>& batch) {
  var added(t, cache[&attention_cache::added]);
  const val cu_added = t.let(cache[&attention_cache::cu_added]);
  if (auto own = t.when(cu_added != u64{0})) {
    const val end = cached_number(t, cu_added, t.let(batch + 1u)), begin = cached_number(t, cu_added, batch);
    added = cast<u32>(max(end - begin, 0));
  }
  return t.let(added);
}

// length_of() returns lengths[batch]; it is called only if there are lengths.
template <class LengthOf>
constexpr cached_sequence find_sequence(thread t, const val<attention_cache>& cache, const val<u32>& batch,
                                        const LengthOf& length_of) {
  const auto number = [&](const val<u64>& address, const val<u32>& i) {
    return cached_number(t, address, i);
  };
  const val form = t.let(cache[&attention_cache::form]);
  var keys(t, cache[&attention_cache::max_keys]);
  var cache_batch(t, batch);
  var pages(t, cache[&attention_cache::pages]);
  if (auto listed = t.when(form == static_cast<u32>(cache_form::list))) {
    const val indptr = t.let(cache[&attention_cache::indptr]);
    const val first = number(indptr, batch);
    const val count = t.let(cast<u32>(max(number(indptr, t.let(batch + 1u)) - first, 0)));
    pages += cast<u64>(cast<i64>(first)) * sizeof(i32);
    const val size = t.let(cache[&attention_cache::page][&divisor::value]);
    const val room = t.let(cast<u64>(count) * cast<u64>(size));
    keys = cast<u32>(min(cast<u64>(keys), room));
    const val last_page = t.let(cache[&attention_cache::last_page]);
    if (auto given = t.when(all_of(last_page != u64{0}, count != 0u))) {
      const val rows = t.let(cast<u64>(cast<i64>(max(number(last_page, batch), 0))));
      keys = cast<u32>(min(cast<u64>(keys), room - cast<u64>(size) + rows));
    }
  }
  if (auto tabled = t.when(form == static_cast<u32>(cache_form::table)))
    pages += cast<u64>(cast<i64>(batch) * cache[&attention_cache::pages_row]) * sizeof(i32);
  const val lengths = t.let(cache[&attention_cache::lengths]);
  if (auto given = t.when(lengths != u64{0})) {
    const val length = t.let(length_of());
    const val added = added_keys(t, cache, batch);
    keys = min(keys, select(length < 0, 0u, cast<u32>(length) + added));
  }
  const val batch_index = t.let(cache[&attention_cache::batch_index]);
  if (auto given = t.when(batch_index != u64{0})) cache_batch = cast<u32>(number(batch_index, batch));
  const val left_padding = t.let(cache[&attention_cache::left_padding]);
  var left(t, 0u);
  if (auto given = t.when(left_padding != u64{0})) left = cast<u32>(max(number(left_padding, batch), 0));
  return {t.let(keys), t.let(left), t.let(cache_batch), t.let(pages)};
}

// The queries of a sequence.
struct sequence_queries {
  val<u32> queries;
  val<u32> query_row;  // the first query's row of Q and O
};
constexpr sequence_queries find_queries(thread t, const val<attention_problem>& problem,
                                        const val<u32>& batch) {
  var queries(t, problem[&attention_problem::queries]);
  var query_row(t, 0u);
  if (auto packed = t.when(problem[&attention_problem::packed] != 0u)) {
    const val cu = t.let(problem[&attention_problem::cu_q]);
    const val begin = cached_number(t, cu, batch), end = cached_number(t, cu, t.let(batch + 1u));
    queries = min(queries, cast<u32>(max(end - begin, 0)));
    query_row = select(queries == 0u, 0u, cast<u32>(begin));  // always a row that exists
  }
  return {t.let(queries), t.let(query_row)};
}

// The rows of a block. They follow from its place and the queries of its sequence.
struct decode_rows {
  val<u32> batch, group, first_row, queries, query_row;  // as in decode_block
};

struct decode_block {
  val<u32> batch, group;  // group: the KV head
  val<u32> first_row;     // of the tile
  val<u32> split;
  cached_sequence sequence;
  val<i32> offset;                   // keys - queries
  val<u32> first, last;              // keys [first, last) of this split
  val<u32> whole_first, whole_last;  // keys [whole_first, whole_last) that all queries of the tile attend to
  val<u32> queries;                  // of the sequence
  val<u32> query_row;                // the first query's row of Q and O
};

// The first key of the sequence that may not be in memory yet when the kernel begins.
constexpr val<u32> settled_keys(thread t, const val<attention_cache>& cache,
                                const val<attention_split>& split, const decode_block& block) {
  var settled(t, 0u);
  const val kind = t.let(split[&attention_split::unsettled]);
  if (auto some = t.when(kind == static_cast<u32>(decode_unsettled::new_keys))) {
    const val keys = block.sequence.keys;
    settled = keys - min(keys, added_keys(t, cache, block.batch));
  }
  return t.let(settled);
}

// Returns the block with its queries read again, so that they take no registers in between.
constexpr decode_block find_again(thread t, const val<attention_problem>& problem,
                                  const decode_block& block) {
  const sequence_queries found = find_queries(t, problem, block.batch);
  return {block.batch, block.group, block.first_row,   block.split,      block.sequence, block.offset,
          block.first, block.last,  block.whole_first, block.whole_last, found.queries,  found.query_row};
}

// The number of rows of all tiles: queries of the heads that share a KV head.
template <class Block>
constexpr val<u32> rows_of_sequence(thread t, const val<attention_split>& split, const Block& block) {
  return t.let(block.queries * split[&attention_split::group][&divisor::value]);
}

// The number of splits of a tile's keys.
constexpr auto splits_of(const val<attention_split>& split) {
  return split[&attention_split::splits][&divisor::value];
}

// The tile and the split of a block. They follow from its place in the grid.
struct decode_place {
  val<u32> batch, group, tile, split;
};
template <bool HasClusters>
constexpr decode_place find_place(thread t, const val<attention_split>& split) {
  const auto splits = split[&attention_split::splits];
  const val block = t.let(block_idx_x());
  var index(t, block), own_split(t, 0u);
  if constexpr (HasClusters)
    if (auto clusters = t.when(split[&attention_split::in_cluster] != 0u)) {
      const quotient of_block = divide(t, block, splits);
      index = of_block.whole;
      own_split = of_block.rest;
    }
  const quotient of_heads = divide(t, t.let(index), split[&attention_split::key_heads]);
  const quotient of_tiles = divide(t, of_heads.whole, split[&attention_split::row_tiles]);
  var batch(t, of_tiles.whole);
  const auto take = [&] {
    const quotient of_splits = divide(t, of_tiles.whole, splits);
    batch = of_splits.whole;
    own_split = of_splits.rest;
  };
  if constexpr (HasClusters) {
    if (auto apart = t.when(split[&attention_split::in_cluster] == 0u)) take();
  } else {
    take();
  }
  return {t.let(batch), of_heads.rest, of_tiles.rest, t.let(own_split)};
}

// Call it before a kernel first reads memory. Then the next kernel may start, and numbers that the previous
// kernel wrote are visible. Its other writes are visible after a grid_dependency_wait.
template <bool IsProgrammatic>
constexpr void begin_early(thread t, const val<attention_split>& split) {
  if constexpr (IsProgrammatic) {
    launch_dependents(t);
    const val everything =
        t.let(split[&attention_split::unsettled] == static_cast<u32>(decode_unsettled::everything));
    if (auto written = t.when(everything)) grid_dependency_wait(t);
  }
}

// `rows`: rows of a tile.
constexpr decode_rows find_rows(thread t, const val<attention_problem>& problem, const decode_place& place,
                                std::uint32_t rows) {
  const sequence_queries own = find_queries(t, problem, place.batch);
  return {place.batch, place.group, t.let(place.tile * rows), own.queries, own.query_row};
}

// functions: decode_functions. length_of: see find_sequence.
template <class Functions, class LengthOf>
constexpr decode_block find_decode_block(thread t, const val<attention_cache>& cache,
                                         const val<attention_split>& split, const Functions& functions,
                                         const decode_rows& of_block, const val<u32>& own_split,
                                         std::uint32_t rows, std::uint32_t keys_of_tile,
                                         const LengthOf& length_of) {
  const val batch = of_block.batch, group = of_block.group, first_row = of_block.first_row;
  const cached_sequence sequence = find_sequence(t, cache, batch, length_of);
  const val keys = sequence.keys;
  const val own_queries = of_block.queries;
  const val own_rows = rows_of_sequence(t, split, of_block);
  const val offset = t.let(cast<i32>(keys) - cast<i32>(own_queries));

  const val last_row = t.let(max(min(first_row + rows, own_rows), 1u) - 1u);
  const val first_query = divide(t, first_row, split[&attention_split::group]).whole;
  const val last_query = divide(t, last_row, split[&attention_split::group]).whole;
  const key_range range = functions.keys(first_query, last_query, keys, offset);
  const val low = t.let(max(range.first, sequence.left)), high = t.let(max(range.last, low));
  const val count = t.let(high - low);
  const auto splits = split[&attention_split::splits];
  const val tiles = t.let((count + (keys_of_tile - 1)) / keys_of_tile);
  const val even = t.let(divide(t, t.let(tiles + splits[&divisor::value] - 1u), splits).whole * keys_of_tile);
  const val fixed = t.let(split[&attention_split::chunk]);
  const val chunk = t.let(select(fixed != 0u, fixed, max(even, split[&attention_split::least])));
  const val before = t.let(min(cast<u64>(own_split) * cast<u64>(chunk), cast<u64>(count)));
  const val first = t.let(low + cast<u32>(before));
  const val last = t.let(first + min(chunk, high - first));
  return {batch, group, first_row,         own_split,        sequence,    offset,
          first, last,  range.whole_first, range.whole_last, own_queries, of_block.query_row};
}

// Finds the block at the beginning of a kernel. A kernel with clusters is launched programmatically. On
// return, all writes of the previous kernel are visible.
template <bool HasClusters = false, class Functions>
constexpr decode_block find_decode_block(thread t, const val<attention_problem>& problem,
                                         const val<attention_cache>& cache, const val<attention_split>& split,
                                         const Functions& functions, std::uint32_t rows,
                                         std::uint32_t keys_of_tile) {
  const decode_place place = find_place<HasClusters>(t, split);
  begin_early<HasClusters>(t, split);
  const decode_block block = find_decode_block(
      t, cache, split, functions, find_rows(t, problem, place, rows), place.split, rows, keys_of_tile,
      [&] { return cached_number(t, t.let(cache[&attention_cache::lengths]), place.batch); });
  if constexpr (HasClusters) grid_dependency_wait(t);
  return block;
}

// A row of a tile: its query and its query head.
struct decode_row {
  val<u32> query, head;
};
template <class Block>
constexpr decode_row find_row(thread t, const val<attention_split>& split, const Block& block,
                              const val<u32>& row) {
  const auto group = split[&attention_split::group];
  const quotient at = divide(t, row, group);
  return {at.whole, t.let(block.group * group[&divisor::value] + at.rest)};
}

// The place of a row's scores. `key` is the first key; keys from the end of the split on do not exist.
constexpr score_origin<1> origin_of_row(thread t, const decode_block& block, const decode_row& row,
                                        const val<u32>& key) {
  return {block.batch, row.head, {{row.query}}, key, t.let(block.queries - 1u), t.let(block.last - 1u),
          block.offset};
}

// A row as an attention_block, for functions that attention shares. query_row: the first query's row of the
// tensors.
constexpr attention_block block_of_row(thread t, const val<u32>& batch, const val<u32>& head,
                                       const val<u32>& queries, const val<u32>& query_row) {
  const val none = t.let(0u);
  return {batch, head, none, none, queries, queries, none, batch, query_row, none, t.let(0)};
}
constexpr attention_block block_of_row(thread t, const decode_block& block, const decode_row& row) {
  return block_of_row(t, block.batch, row.head, block.queries, block.query_row);
}

// The place of a row in Q and O.
constexpr decode_row row_of_tensor(thread t, const decode_block& block, const decode_row& row) {
  return {t.let(block.query_row + row.query), row.head};
}

// The places of rows of keys and values: a page, and a row of it.
class cached_places {
 public:
  constexpr cached_places(thread t, const val<attention_cache>& cache, const cached_sequence& sequence)
      : t_(t),
        cache_(cache),
        sequence_(sequence),
        is_paged_(t.let(cache[&attention_cache::form] != static_cast<u32>(cache_form::contiguous))) {}

  // f(find) in a branch for the form of the cache; find(key) is the place of a key that exists.
  struct place {
    val<u32> page, row;
  };
  template <class F>
  constexpr void with(const F& f) const {
    if (auto paged = t_.when(is_paged_))
      f([&](const val<u32>& key) -> place {
        const quotient at = divide(t_, key, cache_[&attention_cache::page]);
        return {t_.let(cast<u32>(cached_number(t_, sequence_.pages, at.whole))), at.rest};
      });
    if (auto contiguous = t_.otherwise())
      f([&](const val<u32>& key) -> place { return {sequence_.cache_batch, key}; });
  }

 private:
  thread t_;
  const val<attention_cache>& cache_;
  const cached_sequence& sequence_;
  val<bool> is_paged_;
};

// The offset of a place in elements; `strides` are those of k or v.
template <class Strides, class Page, class Row>
constexpr val<i64> offset_of(thread t, const Strides& strides, const Page& page, const Row& row) {
  return t.let(cast<i64>(page) * strides[&attention_strides::batch] +
               cast<i64>(row) * strides[&attention_strides::row]);
}

// The row of the workspace for the block's split of a query's keys.
constexpr val<u64> partial_row(thread t, const val<attention_problem>& problem,
                               const val<attention_split>& split, const decode_block& block,
                               const decode_row& row) {
  const val before = t.let(select(problem[&attention_problem::packed] != 0u, cast<u64>(block.query_row),
                                  cast<u64>(block.batch) * cast<u64>(problem[&attention_problem::queries])));
  const val of_query = t.let(before + cast<u64>(row.query));
  const val of_head = t.let(of_query * cast<u64>(problem[&attention_problem::heads]) + cast<u64>(row.head));
  return t.let(of_head * cast<u64>(splits_of(split)) + cast<u64>(block.split));
}

constexpr void store_total(thread t, const val<attention_split>& split, const val<u64>& row,
                           const softmax_total& total) {
  const auto to = pointer_at<out<f32>>(t, t.let(split[&attention_split::totals]));
  store_vec(to[row * u64{2}], make_vec(total.largest, total.sum));
}

// Whether a block has anything to compute. A tile without rows has nothing. A split without keys has nothing,
// unless it is the only split.
constexpr val<bool> has_work(thread t, const val<attention_split>& split, const decode_block& block) {
  return t.let(all_of(block.first_row < rows_of_sequence(t, split, block),
                      any_of(block.first < block.last, splits_of(split) == 1u)));
}

// Writes the totals of a block without work, for its tile of `rows` rows.
constexpr void store_nothing(thread t, const val<attention_problem>& problem,
                             const val<attention_split>& split, const decode_block& block,
                             std::uint32_t rows) {
  const softmax_total none{t.let(-std::numeric_limits<f32>::infinity()), t.let(-1.0f)};
  for (auto i : t.block_stride(rows)) {
    const val row = t.let(block.first_row + i);
    if (auto exists = t.when(row < rows_of_sequence(t, split, block)))
      store_total(t, split, partial_row(t, problem, split, block, find_row(t, split, block, row)), none);
  }
}

}  // namespace kaio::ops
