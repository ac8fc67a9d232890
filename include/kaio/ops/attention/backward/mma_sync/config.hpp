#pragma once
// The tile shapes of the backward of attention with the matrix instructions of a warp.

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_backward_mma_config {
  std::uint32_t depth_qk = 128;  // longest row of Q and K, in elements
  std::uint32_t depth_v = 128;   // longest row of V and dO
  std::uint32_t step = 32;       // rows of a tile that the block walks over
  std::uint32_t columns = 128;   // of a gradient that a block sums; other blocks sum the rest of a row
  std::uint32_t min_blocks = 1;

  static constexpr std::uint32_t warps = 4, own = warps * 16, threads = warps * 32;  // own: rows of a block
  constexpr std::uint32_t columns_of(std::uint32_t depth) const { return depth < columns ? depth : columns; }
  constexpr std::uint32_t parts(std::uint32_t size) const { return (size + columns - 1) / columns; }
  constexpr bool valid() const {
    return depth_qk % 64 == 0 && depth_v % 64 == 0 && columns % 64 == 0 && step % 16 == 0;
  }
};

// Registers per thread limit `step`. A column of dK and dV, or of dQ, takes half a register. S, dP and the
// derivatives of the scores take step / 2 registers each. With 256 elements per head the tiles fit into 99 KB
// of shared memory.
constexpr attention_backward_mma_config attention_backward_mma_keys(std::uint32_t depth) {
  if (depth <= 64) return {.depth_qk = 64, .depth_v = 64, .step = 32, .columns = 64, .min_blocks = 2};
  if (depth <= 128) return {.depth_qk = 128, .depth_v = 128, .step = 32, .columns = 128};
  return {.depth_qk = 256, .depth_v = 256, .step = 16, .columns = 128};
}
constexpr attention_backward_mma_config attention_backward_mma_queries(std::uint32_t depth) {
  if (depth <= 64) return {.depth_qk = 64, .depth_v = 64, .step = 64, .columns = 64, .min_blocks = 2};
  if (depth <= 128) return {.depth_qk = 128, .depth_v = 128, .step = 32, .columns = 128, .min_blocks = 2};
  return {.depth_qk = 256, .depth_v = 256, .step = 16, .columns = 256};
}

}  // namespace kaio::ops
