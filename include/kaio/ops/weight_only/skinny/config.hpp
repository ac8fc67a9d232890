#pragma once
// Block shapes of matmul_w4 for up to sixteen rows of x, and what follows from them.

#include <kaio/ops/weight_only/common/layout.hpp>

#include <cstdint>

namespace kaio::ops {

struct w4_few_rows_config {
  std::uint32_t rows = 8;  // rows of x: 8 or 16
  std::uint32_t warps = 8;
  std::uint32_t warps_n = 1;  // warps along N, each with 32 * tiles_n columns; the others divide K
  std::uint32_t tiles_n = 1;  // tiles of W along N per warp, multiplied by the same x
  std::uint32_t stages = 3;   // stages in shared memory, each with `tiles` of K per warp
  std::uint32_t tiles = 2;
  std::uint32_t min_blocks = 2;
  std::uint32_t bits = 4;  // bits per code
  bool pairs = false;      // pairs of numbers are in shared memory (decode_table.hpp)

  constexpr std::uint32_t threads() const { return warps * 32; }
  constexpr std::uint32_t words() const { return w4_tile_codes * bits / 32; }  // words per tile of codes
  constexpr std::uint32_t warps_k() const { return warps / warps_n; }
  constexpr std::uint32_t columns() const { return warps_n * tiles_n * w4_tile_n; }  // columns per block
  constexpr std::uint32_t fragments() const { return rows / 8; }
  constexpr std::uint32_t pitch() const { return columns() + 8; }  // f32 per row of sums in shared memory
  constexpr std::uint32_t rows_at_once() const { return rows; }    // rows of sums in shared memory
  // Words of the tiles of W and of x; the sums use this memory too.
  constexpr std::uint32_t room() const { return stages * warps * tiles * (tiles_n * words() + rows * 32); }
  constexpr bool valid() const {
    return (rows == 8 || rows == 16) && warps % warps_n == 0 && (tiles_n == 1 || warps_n == 1) &&
           stages >= 2 && rows * pitch() * warps_k() <= room();
  }
};

// With 8 rows a warp has 32 columns and two tiles of K per stage. With 16 rows it has 64 columns and one tile
// of K, so that x is read equally often. Codes of eight bits have 32 columns and one tile of K. A warp's
// stage has 4.6 KB; 3.6 KB with eight bits and 8 rows; 0.4 KB more with offsets. Blocks of eight warps that
// fit on a multiprocessor:
//
//   sm_90           8 rows of four bits     three with two stages; 80 registers per thread
//                   16 rows                 two with three stages; 128 registers per thread
//                   eight bits              two with three stages: two tiles in flight are too few
//                   pairs of numbers        two with two stages
//   sm_80                                   two with two stages
//   sm_86, sm_89                            one with two stages
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
// The block shape for dequantisation D.
template <class D>
constexpr w4_few_rows_config w4_few_rows_of(std::uint32_t rows, std::uint32_t sm) {
  return w4_few_rows(rows, sm, D::bits, D::offsets, D::by_table);
}

}  // namespace kaio::ops
