#pragma once
// The tile shapes of attention_decode where values are the first elements of the keys, and what follows.

#include <cstdint>

namespace kaio::ops {

struct attention_mla_config {
  std::uint32_t rows = 64;  // of a tile: queries of the heads that share a head of keys
  std::uint32_t keys = 32;  // of a tile
  // Of the two warps that have 16 rows each multiplies half of the keys with Q, and they exchange S; else both
  // multiply all of them.
  bool exchanges = true;
  std::uint32_t stages = 2;      // tiles of K in shared memory
  std::uint32_t least_rows = 0;  // of a call, below which another shape is better
  std::uint32_t min_blocks = 1;

  static constexpr std::uint32_t depth = 576, depth_v = 512;  // the most elements of a row of Q and K, of O
  static constexpr std::uint32_t column_warps = 2;            // that share 16 rows
  static constexpr std::uint32_t operands = 1;                // of a stage: V is in the rows of K
  static constexpr std::uint32_t key_warps = 1;               // of the ring: tiles have all keys
  constexpr std::uint32_t row_warps() const { return rows / 16; }
  constexpr std::uint32_t threads() const { return row_warps() * column_warps * 32; }
  constexpr std::uint32_t own_keys() const { return keys; }
  constexpr std::uint32_t own_depth_v() const { return depth_v / column_warps; }
  constexpr bool valid() const { return rows % 16 == 0 && keys == (exchanges ? 32 : 16) && stages >= 2; }
};

// 160 KB of shared memory: Q and two tiles of 37 KB. What is multiplied grows with the rows, what is read does not.
inline constexpr attention_mla_config attention_mla_many{.least_rows = 33};
// Up to 32 rows, and for devices whose blocks have 99 KB (sm_86, sm_89): three tiles of 18 KB.
inline constexpr attention_mla_config attention_mla_few{
    .rows = 32, .keys = 16, .exchanges = false, .stages = 3, .min_blocks = 2};

}  // namespace kaio::ops
