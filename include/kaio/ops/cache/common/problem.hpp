#pragma once
// Views and tables as the kernels of caches take them.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/shared/rows.hpp>

#include <cstdint>

namespace kaio::ops {

// Addresses of the rows of K or V of a cache; a contiguous one has a page for each batch.
struct page_strides {
  u64 address;
  i64 page, row, head;
};

// How the rows of sequences are found: addresses of i32; 0: none. lengths, last_page_len, batch_index and
// left_padding have a number for each sequence.
struct cache_places {
  u64 table, indptr, indices, batch_index, lengths, last_page_len, left_padding;
  i64 table_row, table_column;  // strides
  u32 table_columns;
  u32 pages, page_rows;
};

// Numbers of i32 or i64, one for each token: (batches, tokens).
struct token_numbers {
  u64 address;  // 0: none
  i64 batch, token;
  u32 are_64;
};

struct rotary_tables {
  u64 cos, sin;          // (rows, pairs) elements
  i64 cos_row, sin_row;  // strides
  u32 type;              // an element_type
  u32 rows, pairs;       // rows: positions
  u32 interleaved, inverse;
  u32 aligned;  // rows begin at multiples of 16 bytes
};

struct rotary_problem {
  row_strides x, y;
  rotary_tables tables;
  token_numbers positions;  // in place of offsets
  u64 offsets, cu;          // i32, one for each sequence; (sequences + 1) for packed ones; 0: none
  u32 sequences;            // sequences of cu
  u32 tokens, heads, rows;  // tokens of a batch; rows: batches * tokens * heads
  u32 size;                 // elements of a row
  u32 type;                 // an element_type
  u32 lanes_log;
  u32 aligned;   // runs begin at multiples of 16 bytes
  u32 in_place;  // Y is X
};

// The number of units of 16 elements in a row: all units, or the rotated ones (rotate.hpp).
constexpr std::uint32_t units_of_row(std::uint32_t pairs, std::uint32_t size, bool all) {
  const std::uint32_t rotated = (pairs + run_size - 1) / run_size;
  return all ? rotated + (size - 2 * pairs + 2 * run_size - 1) / (2 * run_size) : rotated;
}

}  // namespace kaio::ops
