#pragma once
// How far the tiles of the kernels for sm_90a are apart: closer together than they are wide where products of few rows or
// columns wait for memory. With as many tiles as blocks run at once no multiprocessor is without one, and each takes its
// part of the memory's bandwidth.
//
//   14336 columns, 132 blocks, tiles of 128:    112 tiles of 128, and 20 blocks without one
//                                               128 tiles of 112, which load and store no more than that

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// The products of a launch: their extents, the stages along K of a block, and how many tiles run at once.
struct sm90_extents {
  std::uint64_t m, n, batches;
  std::uint32_t k_blocks;
  std::uint64_t at_once;
};

// The lines of tiles of at most `tile` lines, a multiple of 8, by which an extent has as many as run at once, in as many
// rounds as with whole ones. `other`: the extent across it. Products of more than 64 lines there wait for L2 rather than
// for memory, and more tiles would read it more often. It is for operands along K: boxes of others are parts of lines,
// which would begin inside lines of L2 and read them twice.
constexpr std::uint32_t lines_of_tile(std::uint64_t extent, std::uint32_t tile, std::uint64_t other,
                                      const sm90_extents& of) {
  constexpr std::uint32_t unit = 8;
  const auto divided = [](std::uint64_t x, std::uint64_t by) { return (x + by - 1) / by; };
  if (other > 64 || of.batches > of.at_once || tile % (2 * unit) != 0) return tile;
  const std::uint64_t whole = divided(extent, tile);
  const std::uint64_t tiles = divided(whole * of.batches, of.at_once) * of.at_once / of.batches;
  const std::uint64_t lines = divided(divided(extent, std::max(tiles, whole)), unit) * unit;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(lines, tile / 2, tile));
}

}  // namespace kaio::ops
