#pragma once
// What the kernel of append_kv takes.

#include <kaio/ops/cache/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

// given: by the place of a row; of_sequence: given, and scale_page is from sequence to sequence.
enum class scale_source : u32 { none, given, computed, of_sequence };

// Where the rows of K or V go.
struct cache_rows {
  page_strides at;
  u64 scale;  // f32
  i64 scale_page, scale_row, scale_head;
  u32 kept, scales_are;  // of kept_type, of scale_source
  u32 size;              // elements of a row
  u32 aligned;           // runs begin at multiples of 16 bytes, of 8 bytes where elements have 8 bits
};

struct append_problem {
  row_strides k, v, q, q_out;  // q: address 0: there is none
  cache_rows of_k, of_v;
  rotary_tables tables;  // no pairs: nothing is rotated
  token_numbers positions, slots;
  cache_places places;
  u64 cu;         // i32, (sequences + 1), of tokens that follow each other; 0: batch b is sequence b
  u32 sequences;  // of cu
  u32 tokens;     // of a batch: the larger one of
  u32 key_tokens, query_tokens;
  u32 key_heads, query_heads, rows;  // rows: (2 key_heads + query_heads) * tokens * batches
  u32 type;                          // of k, v and q: element_type
  u32 q_aligned, q_in_place, q_at_first;
  u32 computes_scales;  // of K or of V
  u32 lanes_log;
  u32 constant;  // 1: no work before this one writes the numbers that say where rows go
};

}  // namespace kaio::ops
