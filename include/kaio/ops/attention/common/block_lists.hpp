#pragma once
// Block-sparse masks as kernels read them. Queries and keys are cut into blocks. Each block of queries of a
// head has two lists of blocks of keys: partial ones, where the mask decides, and full ones, where every key
// is kept. Blocks of keys in neither list are skipped.
//
// Source: Dong et al., "Flex Attention: A Programming Model for Generating Optimized Attention Kernels",
// 2024.

#include <kaio/dsl/number/scalar.hpp>

namespace kaio::ops {

// The lists of all heads: the number of blocks of keys for each block of queries, and their indices. Strides
// count elements; they are 0 if batches or heads share their lists.
struct block_list {
  u64 counts;  // address of i32; 0: every list is empty
  i64 counts_batch, counts_head, counts_row;
  u64 indices;  // address of i32; neighbours of a list are adjacent
  i64 indices_batch, indices_head, indices_row;
  u32 most;  // room of a list, in numbers
  u32 unused;
};

struct attention_block_lists {
  block_list partial, full;
  u32 queries, keys;  // per block
  u32 masks;          // 0: the mask keeps every key, and need not run
  u32 unused;
};

}  // namespace kaio::ops
