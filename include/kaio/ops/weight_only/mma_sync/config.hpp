#pragma once
// Tile shapes of matmul_w4, and what follows from them.

#include <kaio/ops/weight_only/common/layout.hpp>

#include <cstdint>

namespace kaio::ops {

struct w4_config {
  std::uint32_t rows = 16;    // rows of x per block; a multiple of 8
  std::uint32_t warps_n = 2;  // warps that share a tile of x, each with 32 columns of y
  std::uint32_t stages = 5;   // stages in shared memory, each with a tile of K for each of warps_k() warps
  std::uint32_t min_blocks = 1;
  std::uint32_t bits = 4;  // bits per code

  static constexpr std::uint32_t warps = 8;
  static constexpr std::uint32_t threads() { return warps * 32; }
  constexpr std::uint32_t words() const { return w4_tile_codes * bits / 32; }  // words of a warp's tile
  constexpr std::uint32_t warps_k() const { return warps / warps_n; }
  constexpr std::uint32_t columns() const { return warps_n * w4_tile_n; }  // columns per block
  constexpr std::uint32_t fragments() const { return rows / 8; }
  // Pieces of 16 bytes that a thread copies of its tile of x.
  constexpr std::uint32_t pieces() const { return rows * 8 / (warps_n * 32); }
  constexpr std::uint32_t pitch() const { return columns() + 8; }  // f32 per row of sums in shared memory
  // Rows of sums of all warps that fit into the memory of the codes.
  constexpr std::uint32_t rows_at_once() const {
    std::uint32_t at_once = rows;
    while (at_once * pitch() * warps_k() > stages * warps * words()) at_once /= 2;
    return at_once;
  }
  constexpr bool valid() const {
    return (rows == 16 || rows == 32 || rows == 64) && warps % warps_n == 0 && stages >= 2 && pieces() >= 1 &&
           pieces() * warps_n * 32 == rows * 8 && rows_at_once() >= 8;
  }
};

// More rows need more columns per block, or x would be read too often. A stage has 18.5 KB; five stages, 92.5
// KB, fit on every device from sm_80 on. Registers allow two blocks, except with 64 rows. Codes of eight bits
// and codes with offsets have larger, and so fewer, stages.
constexpr w4_config w4_rows(std::uint32_t rows, std::uint32_t bits = 4, bool offsets = false) {
  const std::uint32_t stages = bits == 8 ? 3 : offsets ? 4 : 5;
  if (rows <= 32)
    return {.rows = 32, .warps_n = 4, .stages = stages, .min_blocks = bits == 8 ? 1u : 2u, .bits = bits};
  return {.rows = 64, .warps_n = 8, .stages = stages, .min_blocks = 1, .bits = bits};
}

}  // namespace kaio::ops
