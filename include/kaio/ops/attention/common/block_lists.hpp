#pragma once
// Block-sparse masks as kernels read them. Queries and keys are cut into blocks; for each block of queries
// of a head there are two lists of blocks of keys: those in which the mask decides (partial), and those of
// which it keeps every key (full). Blocks of keys in neither list are skipped.
//
// Source: Dong et al., "Flex Attention: A Programming Model for Generating Optimized Attention Kernels", 2024.

#include <kaio/dsl/number/scalar.hpp>

namespace kaio::ops {

// The lists of all heads: for each block of queries how many blocks of keys, and which. Strides in elements,
// 0 where batches or heads share their lists.
struct block_list {
  u64 counts;  // the address of i32; 0: every list is empty
  i64 counts_batch, counts_head, counts_row;
  u64 indices;  // the address of i32, of a list neighbours
  i64 indices_batch, indices_head, indices_row;
  u32 most;  // numbers that a list has room for
  u32 unused;
};

struct attention_block_lists {
  block_list partial, full;
  u32 queries, keys;  // of a block
  u32 masks;          // 0: the mask keeps every key, and need not run
  u32 unused;
};

}  // namespace kaio::ops
