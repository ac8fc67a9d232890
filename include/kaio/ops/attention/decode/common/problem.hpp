#pragma once
// The parameters of attention_decode's kernels, in addition to an attention_problem: where the keys of a
// sequence are, and how blocks divide them. In the attention_problem, the strides of k and v go from page to
// page (batch), from row to row of a page, and from head to head. `keys`, `cu_k`, `used_q` and `used_k` are
// unused. If it is packed, the batch strides of Q and O are 0.

#include <kaio/ops/attention/common/problem.hpp>
#include <kaio/ops/shared/any_element.hpp>
#include <kaio/ops/shared/divisor.hpp>

#include <cstdint>

namespace kaio::ops {

enum class cache_form : u32 { contiguous, table, list };

// The numbers of a cache in device memory, all of them i32. Address 0: not given.
struct attention_cache {
  u32 form;      // cache_form
  u32 max_keys;  // the room of a sequence; no key from here on is read, whatever the numbers say
  divisor page;  // rows of a page
  u64 pages;     // a table has rows `pages_row` apart; a list has the pages of all sequences
  i64 pages_row;
  u64 indptr;       // of a list
  u64 lengths;      // per sequence
  u64 last_page;    // of a list, instead of lengths
  u64 batch_index;  // of a contiguous cache
  u64 left_padding;
  // Keys in addition to `lengths`: `added` per sequence. If cu_added is not 0, sequence b has cu_added[b + 1]
  // - cu_added[b] of them.
  u32 added;
  u64 cu_added;
};

// The inputs of the kernel that earlier work may still write when the kernel begins:
//   everything   any input
//   elements     q and the cache, but not the numbers of the cache and of the sequences
//   new_keys     q, and the keys that `added` and `cu_added` count: append_kv has been launched just before
enum class decode_unsettled : u32 { everything, elements, new_keys };

// Rows of a tile are the queries of all heads that share a KV head: row = query * heads_of_group + head. If
// splits > 1, each block leaves sums and totals of its keys, and a second kernel adds them up.
struct attention_split {
  divisor key_heads;
  u32 rows;           // queries * heads_of_group; packed: of the longest sequence
  divisor row_tiles;  // per KV head
  divisor group;      // heads_of_group
  divisor splits;     // per tile
  u32 chunk;          // keys per split; 0: the keys of a sequence are divided evenly
  u32 least;          // smallest number of keys per split if chunk is 0
  u32 pitch;          // f32 from one row of sums to the next, a multiple of 4
  u64 sums;           // f32: sum of p * v, (batch, query, head, split, column); packed: (row, head, ...)
  u64 totals;         // f32: softmax_total, (batch, query, head, split, 2); a sum of -1: no keys, and no sums
  u32 type, out_type;  // element_type: of q, k and v; of out
  u32 in_cluster;      // 1: the splits of a tile are a cluster, which adds them up; no second kernel
  u32 unsettled;       // decode_unsettled
};

// The format of K and V in the cache: the type of Q, or codes of 8 bits; element = code * scale.
enum class cache_elements : u32 { same, e4m3, e5m2, i8 };

// f32 scales of keys; address 0 means a scale of 1. by_key: the scale depends on page or row. Otherwise
// `page` is the stride from sequence to sequence.
struct cache_scale {
  u64 address;
  i64 page, row, head;
  u32 by_key;
};
struct attention_codes {
  u32 kept;  // cache_elements
  cache_scale k, v;
};

}  // namespace kaio::ops
