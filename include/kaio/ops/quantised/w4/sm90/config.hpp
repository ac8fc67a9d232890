#pragma once
// The tile shapes of matmul_w4 for sm_90a, and what follows from them.

#include <kaio/ops/quantised/w4/layout.hpp>

#include <cstdint>

namespace kaio::ops {

struct w4_sm90_config {
  std::uint32_t rows = 64;      // of x, of a block: the N of wgmma
  std::uint32_t consumers = 4;  // warpgroups, each with 64 columns of y
  std::uint32_t stages = 3;
  std::uint32_t tiles = 4;  // of 64 of K, in a stage
  std::uint32_t bits = 4;   // of a code

  // Of 256 rows the accumulators take more registers than each of three warpgroups has: one that copies leaves them its.
  constexpr bool whole_producer() const { return rows > 128; }
  constexpr std::uint32_t threads() const { return consumers * 128 + (whole_producer() ? 128 : 32); }
  constexpr std::uint32_t columns() const { return consumers * 64; }
  constexpr std::uint32_t tiles_n() const { return columns() / w4_tile_n; }
  constexpr std::uint32_t words() const { return w4_tile_codes * bits / 32; }  // of a tile of W
  constexpr bool valid() const {
    return rows % 8 == 0 && rows <= 256 && (rows & (rows - 1)) == 0 && consumers >= 1 && stages >= 2 &&
           tiles >= 1;
  }
};

// Up to 64 rows of x a block has 256 columns, so that x is read from the cache half as often; more rows have
// accumulators for 128. A stage has 4 KB of the codes of 32 columns, or 2 KB: a copy of less takes as long.
// About 200 KB of shared memory.
constexpr w4_sm90_config w4_sm90_rows(std::uint32_t rows, std::uint32_t bits = 4) {
  const std::uint32_t tiles = bits == 4 ? 4 : 2;
  if (rows <= 64)
    return {.rows = 64, .consumers = 4, .stages = bits == 4 ? 3u : 4u, .tiles = tiles, .bits = bits};
  if (rows > 128) return {.rows = 256, .consumers = 2, .stages = 3, .tiles = 2, .bits = bits};
  return {.rows = 128, .consumers = 2, .stages = bits == 4 ? 5u : 4u, .tiles = 2, .bits = bits};
}

}  // namespace kaio::ops
