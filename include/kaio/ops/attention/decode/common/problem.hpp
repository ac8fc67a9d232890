#pragma once
// What the kernels of attention_decode take next to an attention_problem: where the keys of a sequence are,
// and how they are divided among blocks. Of the attention_problem, strides of k and v are from page to page
// (batch), from row to row of a page, and from head to head; `keys`, `cu_k`, `used_q` and
// `used_k` are unused. Where it is packed, strides from batch to batch of Q and O are 0.

#include <kaio/ops/shared/any_element.hpp>
#include <kaio/ops/attention/common/problem.hpp>
#include <kaio/ops/matmul/common/tile_walk.hpp>

#include <cstdint>

namespace kaio::ops {

enum class cache_form : u32 { contiguous, table, list };

// The numbers of a cache in device memory, all of them i32. An address of 0: they are not there.
struct attention_cache {
  u32 form;      // cache_form
  u32 max_keys;  // what a sequence has room for; no key from here on is read, whatever the numbers say
  divisor page;  // rows of a page
  u64 pages;     // of a table: from row to row `pages_row`; of a list: of all sequences
  i64 pages_row;
  u64 indptr;       // of a list
  u64 lengths;      // of each sequence
  u64 last_page;    // of a list, in place of lengths
  u64 batch_index;  // of a contiguous cache
  u64 left_padding;
  // Keys that are there besides `lengths`: so many of each sequence, or from cu_added[b] to before
  // cu_added[b + 1] where that is not 0.
  u32 added;
  u64 cu_added;
};

// What work that has not ended when the kernel begins may still write, of what the kernel reads.
//   everything   nothing is known
//   elements     q and the cache, but not the numbers of the cache and of the sequences
//   new_keys     q, and the keys that `added` and `cu_added` count: append_kv has been launched just before
enum class decode_unsettled : u32 { everything, elements, new_keys };

// Rows of a tile are the queries of all heads that share a head of keys: row = query * heads_of_group + head.
// With parts > 1 each block leaves sums and totals of its keys, and a second kernel adds them up.
struct attention_split {
  divisor key_heads;
  u32 rows;            // queries * heads_of_group; packed: of the longest sequence
  divisor row_tiles;   // of a head of keys
  divisor group;       // heads_of_group
  divisor parts;       // of the keys of each tile
  u32 chunk;           // keys of a part; 0: as many for each part as the sequence gives
  u32 least;           // keys of a part where chunk is 0, at least
  u32 pitch;           // f32 from one row of sums to the next, a multiple of 4
  u64 sums;            // f32: sum of p * v, (batch, query, head, part, column); packed: (row, head, ...)
  u64 totals;          // f32: softmax_total, (batch, query, head, part, 2); a sum of -1: no keys, and no sums
  u32 type, out_type;  // element_type of q, k and v; of out
  u32 in_cluster;      // 1: the parts of a tile are a cluster, which adds them up; no second kernel
  u32 unsettled;       // decode_unsettled
};

// How the elements of K and V are kept: as those of Q, or as codes of 8 bits, which times a scale are the
// elements.
enum class cache_elements : u32 { same, e4m3, e5m2, i8 };

// Scales of f32, by the place of a key: an address of 0 is a scale of 1. by_key: page or row matter; else `page` is
// from sequence to sequence.
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
