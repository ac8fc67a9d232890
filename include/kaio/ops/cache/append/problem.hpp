#pragma once
// Parameters of the kernel of append_kv.

#include <kaio/ops/cache/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

// given: by the place of a row; of_sequence: given, with scale_page as the stride between sequences.
enum class scale_source : u32 { none, given, computed, of_sequence };

// Destinations of the rows of K or V.
struct cache_rows {
  page_strides at;
  u64 scale;  // f32
  i64 scale_page, scale_row, scale_head;
  u32 kept, scales_are;  // a kept_type, a scale_source
  u32 size;              // elements of a row
  u32 aligned;           // runs begin at multiples of 16 bytes (8-bit elements: 8 bytes)
};

struct append_problem {
  row_strides k, v, q, q_out;  // q: address 0: none
  cache_rows of_k, of_v;
  rotary_tables tables;  // no pairs: nothing is rotated
  token_numbers positions, slots;
  cache_places places;
  u64 cu;         // i32, (sequences + 1), for packed sequences; 0: batch b is sequence b
  u32 sequences;  // sequences of cu
  u32 tokens;     // tokens of a batch: the larger number of
  u32 key_tokens, query_tokens;
  u32 key_heads, query_heads, rows;  // rows: (2 key_heads + query_heads) * tokens * batches
  u32 type;                          // element_type of k, v and q
  u32 q_aligned, q_in_place, q_at_first;
  u32 computes_scales;  // for K or for V
  u32 lanes_log;
  u32 constant;  // 1: no work before this launch writes the numbers that place rows
};

}  // namespace kaio::ops
