#pragma once
// The shape of a block of matmul_w4 for one row of x, and what follows from it.

#include <kaio/ops/weight_only/common/layout.hpp>

#include <cstdint>

namespace kaio::ops {

// A multiprocessor has one block. By codes of four bits its registers and shared memory leave room for a small block of
// the kernel before, so that weights arrive while that one runs: 64 KB of them. By codes of eight bits, which are twice
// as many bytes, 128 KB under way were faster. Blocks of half the warps and stages, two of which have room, were slower
// on an H200: 28672 x 4096 by codes of four bits took 18.4 us in place of 16.4, and 4096 x 4096 5.5 in place of 5.1.
struct w4_one_row_config {
  std::uint32_t bits = 4;    // of a code
  std::uint32_t warps = 16;  // they divide the K of a block
  std::uint32_t stages = 3;  // in shared memory, of `tiles` of K of each warp
  std::uint32_t tiles = 2;
  std::uint32_t columns = 8;     // tiles of 32 columns whose sums are in shared memory at once
  std::uint32_t k = 4096;        // of a block, at most
  std::uint32_t most_parts = 4;  // of K, which are the blocks of a cluster

  constexpr std::uint32_t words() const { return w4_tile_codes / 32 * bits; }  // of a tile of codes
  // f32 of the sums of warps, of so many columns; x in another order than the weights' is there first.
  constexpr std::uint32_t partial() const { return columns * warps * w4_tile_n; }
  constexpr std::uint32_t ordered_k() const { return partial() * 2; }  // at most, with an order
};

inline constexpr w4_one_row_config w4_one_row{};
inline constexpr w4_one_row_config w8_one_row{.bits = 8, .stages = 5, .tiles = 1};

// Of a launch.
struct w4_one_row_work {
  u32 units, rest;  // units of columns of a cluster, and how many of the first clusters have one more
  // x is divided by its root of the mean square and multiplied by `norm`, of K elements, as rms_norm has it, whose rows
  // have so many lanes; 0: as it is. The residual is added before, and the sum stored; 0: there is none.
  u64 norm, residual, residual_out;
  u32 lanes_log;
  f32 epsilon, weight_offset;
};

}  // namespace kaio::ops
