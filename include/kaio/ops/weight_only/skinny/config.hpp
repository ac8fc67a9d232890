#pragma once
// The shapes of a block of matmul_w4 for up to sixteen rows of x, and what follows from them.

#include <kaio/ops/weight_only/common/layout.hpp>

#include <cstdint>

namespace kaio::ops {

struct w4_few_rows_config {
  std::uint32_t rows = 8;  // of x: 8 or 16
  std::uint32_t warps = 8;
  std::uint32_t warps_n = 1;  // of them along the columns, each with 32 * tiles_n; the others divide K
  std::uint32_t tiles_n = 1;  // of W along the columns, of a warp, which multiplies them by the same x
  std::uint32_t stages = 3;   // in shared memory, of `tiles` of K for each warp
  std::uint32_t tiles = 2;
  std::uint32_t min_blocks = 2;
  std::uint32_t bits = 4;  // of a code
  bool pairs = false;      // of numbers are in shared memory (decode_table.hpp)

  constexpr std::uint32_t threads() const { return warps * 32; }
  constexpr std::uint32_t words() const { return w4_tile_codes * bits / 32; }  // of a tile of codes
  constexpr std::uint32_t warps_k() const { return warps / warps_n; }
  constexpr std::uint32_t columns() const { return warps_n * tiles_n * w4_tile_n; }  // of a block
  constexpr std::uint32_t fragments() const { return rows / 8; }
  constexpr std::uint32_t pitch() const { return columns() + 8; }  // f32 of a row of sums in shared memory
  constexpr std::uint32_t rows_at_once() const { return rows; }    // of sums in shared memory
  // Words of the tiles, and of those of x, which is the room of sums too.
  constexpr std::uint32_t room() const { return stages * warps * tiles * (tiles_n * words() + rows * 32); }
  constexpr bool valid() const {
    return (rows == 8 || rows == 16) && warps % warps_n == 0 && (tiles_n == 1 || warps_n == 1) &&
           stages >= 2 && rows * pitch() * warps_k() <= room();
  }
};

// Of 8 rows a warp has 32 columns and two tiles of K in a stage; of 16, 64 columns and one tile of K, so that x
// is read as often. A stage has 4.6 KB for a warp, also of eight bits, with 32 columns and one tile of K; 3.6 of
// those and 8 rows. On a multiprocessor of sm_90 three blocks of eight warps with two stages have room and registers
// (80 a thread) for 8 rows of four bits. Of 16 rows, which take 128 registers, and of eight bits, for which two tiles
// are too few in flight, two blocks with three stages have; with pairs of numbers in shared memory, two with two. With
// two stages two fit on one of sm_80, and one on those of sm_86 and sm_89. Codes with offsets have 0.4 KB more.
constexpr w4_few_rows_config w4_few_rows(std::uint32_t rows, std::uint32_t sm, std::uint32_t bits = 4,
                                         bool offsets = false, bool by_table = false) {
  const bool pairs = by_table && sm >= 90;
  const bool is_wide = rows > 8 && bits == 4;
  const bool has_three = sm >= 90 && rows == 8 && bits == 4 && !offsets && !pairs;
  return {.rows = rows,
          .tiles_n = is_wide ? 2u : 1u,
          .stages = sm >= 90 && !has_three && !offsets && !pairs ? 3u : 2u,
          .tiles = is_wide || bits == 8 ? 1u : 2u,
          .min_blocks = has_three ? 3u : 2u,
          .bits = bits,
          .pairs = pairs};
}
// Of a dequantisation.
template <class D>
constexpr w4_few_rows_config w4_few_rows_of(std::uint32_t rows, std::uint32_t sm) {
  return w4_few_rows(rows, sm, D::bits, D::offsets, D::by_table);
}

}  // namespace kaio::ops
