#pragma once
// The block shape of matmul_w4 for one row of x, and what follows from it.

#include <kaio/ops/weight_only/common/layout.hpp>

#include <cstdint>

namespace kaio::ops {

// A multiprocessor has one block. With codes of four bits, 64 KB of weights are in flight. Registers and
// shared memory then leave room for a small block of the previous kernel, so that weights arrive while it
// runs. Codes of eight bits are twice the bytes, and 128 KB in flight were faster. Two blocks of half the
// warps and stages were slower on an H200: with four bits, 28672 x 4096 took 18.4 us instead of 16.4, and
// 4096 x 4096 took 5.5 us instead of 5.1.
struct w4_one_row_config {
  std::uint32_t bits = 4;    // bits per code
  std::uint32_t warps = 16;  // they divide the K of a block
  std::uint32_t stages = 3;  // stages in shared memory, each with `tiles` of K per warp
  std::uint32_t tiles = 2;
  std::uint32_t columns = 8;      // tiles of 32 columns whose sums are in shared memory at once
  std::uint32_t k = 4096;         // K of a block, at most
  std::uint32_t most_splits = 4;  // splits of K, at most: the blocks of a cluster

  constexpr std::uint32_t words() const { return w4_tile_codes / 32 * bits; }  // words per tile of codes
  // f32 of the warps' sums, for `columns` tiles of columns. With act-order, x in its own order is there
  // first.
  constexpr std::uint32_t partial() const { return columns * warps * w4_tile_n; }
  constexpr std::uint32_t act_order_k() const { return partial() * 2; }  // at most, with act-order
};

inline constexpr w4_one_row_config w4_one_row{};
inline constexpr w4_one_row_config w8_one_row{.bits = 8, .stages = 5, .tiles = 1};

// The work of a launch.
struct w4_one_row_work {
  u32 units, rest;  // units of columns per cluster; the first `rest` clusters have one more
  // norm: the K weights of an rms_norm of x that is applied first; 0: none. residual: is added to x before
  // the norm, and the sum is stored to residual_out; 0: none. lanes_log: log2 of the lanes that a row has in
  // rms_norm.
  u64 norm, residual, residual_out;
  u32 lanes_log;
  f32 epsilon, weight_offset;
};

}  // namespace kaio::ops
