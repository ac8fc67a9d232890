#pragma once
// What the kernels of copy_pages and gather_kv take.

#include <kaio/ops/cache/common/problem.hpp>

namespace kaio::ops {

struct copy_pages_problem {
  u64 address;
  i64 layer, page, row, head;  // strides in elements of 1 << shift bytes
  u64 pairs;                   // i32, (copies, 2)
  i64 pair, pair_second;       // strides
  u32 layers, pages, page_rows, heads;
  u32 rows;   // copies * page_rows * heads
  u32 bytes;  // of a row
  u32 shift, aligned, lanes_log;
};

struct gather_problem {
  page_strides k, v;
  row_strides to_k, to_v;
  cache_places places;
  u64 cu;                   // as of append_problem
  u32 sequences;            // of cu
  u32 tokens, heads, rows;  // tokens of a batch of to_k; rows: 2 * heads * tokens * batches
  u32 k_bytes, v_bytes;     // of a row
  u32 shift, k_aligned, v_aligned, lanes_log;
};

}  // namespace kaio::ops
