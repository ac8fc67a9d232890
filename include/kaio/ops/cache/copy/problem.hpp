#pragma once
// Parameters of the kernels of copy_pages and gather_kv.

#include <kaio/ops/cache/common/problem.hpp>

namespace kaio::ops {

struct copy_pages_problem {
  u64 address;
  i64 layer, page, row, head;  // strides in elements of 1 << shift bytes
  u64 pairs;                   // i32, (copies, 2)
  i64 pair, pair_second;       // strides
  u32 layers, pages, page_rows, heads;
  u32 rows;   // copies * page_rows * heads
  u32 bytes;  // bytes of a row
  u32 shift, aligned, lanes_log;
};

// Rows of K or V, out of the cache and into a tensor.
struct gathered_rows {
  page_strides from;
  row_strides to;
  u64 scale;  // f32; 0: none
  i64 scale_page, scale_row, scale_head;
  u32 kept;     // a kept_type
  u32 size;     // elements of a row
  u32 aligned;  // rows begin at multiples of 16 bytes (8-bit elements: 8 bytes)
};

struct gather_problem {
  gathered_rows k, v;
  cache_places places;
  u64 cu;                   // as in append_problem
  u32 sequences;            // sequences of cu
  u32 tokens, heads, rows;  // tokens of a batch; rows: 2 * heads * tokens * batches
  u32 type;                 // an element_type, if elements are kept in 8 bits
  u32 shift;                // for the elements that are written
  u32 lanes_log;
};

}  // namespace kaio::ops
