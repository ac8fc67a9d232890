#pragma once
// The shapes of a block of matmul_w4 for up to eight rows of x, and what follows from them.

#include <kaio/ops/quantised/w4/layout.hpp>

#include <cstdint>

namespace kaio::ops {

struct w4_few_rows_config {
  std::uint32_t warps = 8;
  std::uint32_t warps_n = 1;  // of them along the columns, each with 32; the others divide K
  std::uint32_t stages = 3;   // in shared memory, of `tiles` of K for each warp
  std::uint32_t tiles = 2;
  std::uint32_t min_blocks = 2;
  std::uint32_t bits = 4;  // of a code

  static constexpr std::uint32_t rows = 8;
  constexpr std::uint32_t threads() const { return warps * 32; }
  constexpr std::uint32_t words() const { return w4_tile_codes * bits / 32; }  // of a tile of codes
  constexpr std::uint32_t warps_k() const { return warps / warps_n; }
  constexpr std::uint32_t columns() const { return warps_n * w4_tile_n; }  // of a block
  static constexpr std::uint32_t fragments() { return 1; }
  constexpr std::uint32_t pitch() const { return columns() + 8; }  // f32 of a row of sums in shared memory
  static constexpr std::uint32_t rows_at_once() { return rows; }   // of sums in shared memory
  // Their room is that of the tiles.
  constexpr bool valid() const {
    return warps % warps_n == 0 && stages >= 2 &&
           rows * pitch() * warps_k() <= stages * warps * tiles * words();
  }
};

// A stage has 4.6 KB for a warp, 3.6 of eight bits. Two blocks of eight warps with three stages fit on a
// multiprocessor of sm_90, with two on one of sm_80, and one on those of sm_86 and sm_89. Codes with offsets have
// 0.4 KB more.
constexpr w4_few_rows_config w4_few_rows(std::uint32_t sm, std::uint32_t bits = 4, bool offsets = false) {
  return {.stages = sm >= 90 && !offsets ? 3u : 2u, .tiles = bits == 8 ? 1u : 2u, .bits = bits};
}

}  // namespace kaio::ops
