#pragma once
// Views and tables as the kernels of caches take them, and how rows are divided among threads.

#include <kaio/dsl/number/scalar.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr std::uint32_t run_size = 8;       // neighbouring elements that a thread moves at once
inline constexpr std::uint32_t row_threads = 256;  // threads of a block

// How a cache keeps elements: in the type that they come in, or as x / scale in 8 bits.
enum class kept_type : u32 { same, e4m3, e5m2, i8 };

// Addresses of rows: the first one, and strides in elements.
struct row_strides {
  u64 address;
  i64 batch, token, head;
};

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

// log2 of the lanes for a row of `pieces` pieces: a lane for each piece, rounded up to a power of two, 32 at
// most.
constexpr std::uint32_t lanes_log2(std::uint32_t pieces) {
  std::uint32_t result = 0;
  while (result < 5 && (1u << result) < pieces) ++result;
  return result;
}
constexpr std::uint64_t row_blocks(std::uint64_t rows, std::uint32_t lanes_log) {
  const std::uint64_t of_block = row_threads >> lanes_log;
  return (rows + of_block - 1) / of_block;
}

}  // namespace kaio::ops
