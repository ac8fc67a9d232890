#pragma once
// Rows of a tensor of (batch, token, head, element), and how the kernels of rows divide them among threads: a
// group of 1 to 32 neighbouring lanes has a row, and groups fill a block.

#include <kaio/dsl/number/scalar.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr std::uint32_t run_size = 8;       // neighbouring elements that a thread moves at once
inline constexpr std::uint32_t row_threads = 256;  // threads of a block

// Addresses of rows: the first one, and strides in elements.
struct row_strides {
  u64 address;
  i64 batch, token, head;
};

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
