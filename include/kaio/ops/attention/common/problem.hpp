#pragma once
// The numbers of an attention as its kernels take them: extents, strides and where the log-sum-exp goes. The
// caller's tensors are (batch, sequence, head, element) by strides; neighbours along the last one are adjacent.

#include <kaio/dsl/number/scalar.hpp>

namespace kaio::ops {

// Where the rows of Q, K, V or O begin: the address of the first one, and from one to the next in elements.
struct attention_strides {
  u64 address;
  i64 batch, row, head;
  u32 by_16;  // 1 where every row begins at a multiple of 16 bytes, and is a multiple of 16 bytes long
  u32 unused;
};

struct attention_problem {
  attention_strides q, k, v, o;
  u64 lse;  // the address of f32 numbers; 0: they are not wanted
  i64 lse_batch, lse_head, lse_row;
  u32 queries, keys;    // of a sequence
  u32 batches, heads;   // of queries
  u32 heads_of_group;   // query heads that share a head of K and V
  u32 qk_size, v_size;  // elements of a row of Q and K, of V and O
  u32 query_tiles;      // of a head
  u32 longest_first;    // 1: the last tiles of queries, which have the most keys, begin first
  f32 scale;
};

}  // namespace kaio::ops
