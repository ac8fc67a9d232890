#pragma once
// The spacing of tiles of the kernels for sm_90a. Products of few rows or columns wait for memory; their
// tiles are closer together than they are wide. If the tiles equal the blocks that run at once, no
// multiprocessor idles, and each takes its part of the memory's bandwidth.
//
//   14336 columns, 132 blocks, tiles of 128:    112 tiles of 128, and 20 idle blocks
//                                               128 tiles of 112, which load and store no more than that

#include <kaio/ops/shared/ceil_div.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// The products of a launch: their extents, a block's stages along K, and the tiles that run at once.
struct sm90_extents {
  std::uint64_t m, n, batches;
  std::uint32_t k_blocks;
  std::uint64_t at_once;
};

// Chooses a tile height (a multiple of 8, from tile / 2 to `tile`) so that the last wave is full; the number
// of waves stays that of full-height tiles. `other`: the extent across it. Above 64 lines there, products
// wait for L2 rather than for memory, and more tiles would read L2 more often. For operands along K only:
// boxes of others are parts of lines, which would begin inside lines of L2 and read them twice.
constexpr std::uint32_t lines_of_tile(std::uint64_t extent, std::uint32_t tile, std::uint64_t other,
                                      const sm90_extents& of) {
  constexpr std::uint32_t unit = 8;
  if (other > 64 || of.batches > of.at_once || tile % (2 * unit) != 0) return tile;
  const std::uint64_t whole = ceil_div(extent, tile);
  const std::uint64_t tiles = ceil_div(whole * of.batches, of.at_once) * of.at_once / of.batches;
  const std::uint64_t lines = ceil_div(ceil_div(extent, std::max(tiles, whole)), unit) * unit;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(lines, tile / 2, tile));
}

}  // namespace kaio::ops
