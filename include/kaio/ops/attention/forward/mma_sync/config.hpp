#pragma once
// The tile shapes of attention by mma.sync, and the numbers that follow from them.

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_mma_config {
  std::uint32_t depth_qk = 128;  // the most elements of a row of Q and K
  std::uint32_t depth_v = 128;   // the most elements of a row of V and O
  std::uint32_t keys = 64;       // keys of a tile
  std::uint32_t warps = 4;       // 16 queries each
  std::uint32_t column_warps =
      1;  // warps that share 16 queries: each has a part of O's columns and of the sums of S
  bool q_in_registers = true;  // Q stays in registers; else it is read again for every tile
  std::uint32_t min_blocks = 1;
  std::uint16_t sm = 80;  // 75: f16 without asynchronous copies, by instructions of half the depth

  constexpr std::uint32_t queries() const { return warps * 16; }
  constexpr std::uint32_t threads() const { return warps * column_warps * 32; }
  constexpr std::uint32_t own_depth_qk() const { return depth_qk / column_warps; }  // per warp
  constexpr std::uint32_t own_depth_v() const { return depth_v / column_warps; }
  // Whether the block's numbers are computed twice, before the loop over keys and after it, to save
  // registers.
  constexpr bool finds_block_again() const { return q_in_registers && depth_qk > 128; }
  constexpr bool valid() const {
    return depth_qk % (64 * column_warps) == 0 && depth_v % (64 * column_warps) == 0 &&
           own_depth_v() <= 256 && keys % 16 == 0 && keys >= threads() / 8 && warps >= 2 && warps % 2 == 0 &&
           (column_warps == 1 || column_warps == 2) && (sm == 75 || sm == 80);
  }
};

// For f16 and bf16. The registers of a thread bound the tile: own_depth_v / 2 of them hold O, keys / 2 hold
// S, own_depth_qk / 4 hold Q.
constexpr attention_mma_config attention_mma_for(std::uint32_t depth_qk, std::uint32_t depth_v) {
  const std::uint32_t depth = depth_qk > depth_v ? depth_qk : depth_v;
  if (depth <= 64) return {.depth_qk = 64, .depth_v = 64, .keys = 64, .min_blocks = 3};
  if (depth <= 128) return {.depth_qk = 128, .depth_v = 128, .keys = 64, .min_blocks = 2};
  if (depth_qk <= 192 && depth_v <= 128)
    return {.depth_qk = 192, .depth_v = 128, .keys = 64, .min_blocks = 2};
  if (depth <= 256) return {.depth_qk = 256, .depth_v = 256, .keys = 32, .q_in_registers = false};
  return {.depth_qk = 512, .depth_v = 512, .keys = 32, .column_warps = 2, .q_in_registers = false};
}

// Head size 512 if a block has 99 KB of shared memory (sm_86, sm_89, sm_120).
inline constexpr attention_mma_config attention_mma_512_small{
    .depth_qk = 512, .depth_v = 512, .keys = 16, .warps = 2, .column_warps = 2, .q_in_registers = false};

// f16 on sm_75, whose blocks have 64 KB of shared memory.
constexpr attention_mma_config attention_mma_sm75(std::uint32_t depth) {
  attention_mma_config config = attention_mma_for(depth, depth);
  config.sm = 75;
  return config;
}

// tf32, up to head size 256. Rows are twice as long, and a thread has own_depth_qk / 2 registers of Q. A
// block of head size 256 fits into 99 KB.
constexpr attention_mma_config attention_mma_tf32(std::uint32_t depth) {
  if (depth <= 64) return {.depth_qk = 64, .depth_v = 64, .keys = 64, .min_blocks = 2};
  if (depth <= 128) return {.depth_qk = 128, .depth_v = 128, .keys = 32, .min_blocks = 2};
  return {.depth_qk = 256, .depth_v = 256, .keys = 16, .q_in_registers = false};
}

}  // namespace kaio::ops
