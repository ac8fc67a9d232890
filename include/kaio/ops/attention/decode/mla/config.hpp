#pragma once
// The tile shapes of attention_decode with values that are the first elements of the keys.

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_mla_config {
  std::uint32_t rows = 64;  // per tile: queries of the heads that share a KV head
  std::uint32_t keys = 32;  // per tile
  // Two warps have the same 16 rows. true: each multiplies half of the keys with Q, and they exchange S.
  // false: both multiply all keys.
  bool exchanges = true;
  std::uint32_t stages = 2;      // tiles of K in shared memory
  std::uint32_t least_rows = 0;  // if a call has fewer, another shape is better
  std::uint32_t min_blocks = 1;

  static constexpr std::uint32_t depth = 576, depth_v = 512;  // longest row of Q and K; of O
  static constexpr std::uint32_t column_warps = 2;            // share 16 rows
  static constexpr std::uint32_t operands = 1;                // per stage: V is in the rows of K
  static constexpr std::uint32_t key_warps = 1;               // in the ring: tiles have all keys
  constexpr std::uint32_t row_warps() const { return rows / 16; }
  constexpr std::uint32_t threads() const { return row_warps() * column_warps * 32; }
  constexpr std::uint32_t own_keys() const { return keys; }
  constexpr std::uint32_t own_depth_v() const { return depth_v / column_warps; }
  constexpr bool valid() const { return rows % 16 == 0 && keys == (exchanges ? 32 : 16) && stages >= 2; }
};

// 160 KB of shared memory: Q and two tiles of 37 KB. More rows need more products, but no more reads.
inline constexpr attention_mla_config attention_mla_many{.least_rows = 33};
// Up to 32 rows, and for devices with 99 KB per block (sm_86, sm_89): three tiles of 18 KB.
inline constexpr attention_mla_config attention_mla_few{
    .rows = 32, .keys = 16, .exchanges = false, .stages = 3, .min_blocks = 2};

}  // namespace kaio::ops
