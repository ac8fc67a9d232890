#pragma once
// The tile shapes of attention_decode with the matrix instructions of a warp.

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_decode_config {
  std::uint32_t depth = 128;    // longest row of Q, K, V and O, in elements
  std::uint32_t rows = 16;      // per tile: queries of the heads that share a KV head
  std::uint32_t keys = 64;      // per tile
  std::uint32_t key_warps = 4;  // share 16 rows; each has a split of the keys of every tile
  std::uint32_t stages = 2;     // tiles of K and V in shared memory
  bool q_in_registers = true;   // else Q is read again for every tile
  std::uint32_t min_blocks = 1;
  // 90: launched programmatically, and the splits of a tile may be a cluster.
  std::uint16_t sm = 80;

  constexpr bool has_clusters() const { return sm >= 90; }
  static constexpr std::uint32_t operands = 2;  // per stage: K and V
  constexpr std::uint32_t warps() const { return rows / 16 * key_warps; }
  constexpr std::uint32_t threads() const { return warps() * 32; }
  constexpr std::uint32_t own_keys() const { return keys / key_warps; }  // of a tile, per warp
  constexpr bool valid() const {
    const std::uint32_t apart = threads() / 8;  // rows that all threads copy together
    return depth % 64 == 0 && depth <= 256 && rows % 16 == 0 && keys % key_warps == 0 &&
           own_keys() % 16 == 0 && stages >= 2 && (rows == 16 || key_warps == 1) && apart % 8 == 0 &&
           keys % apart == 0 && own_keys() % apart == 0;
  }
};

// Up to 16 rows. Four warps share them, so that all of them read a tile of keys, which is what they wait for.
// Speed follows the bytes in flight on a multiprocessor. A block keeps 64 KB in flight; three blocks fit. On
// sm_86 and sm_89 (99 KB of shared memory) one block fits, which suffices for their lower bandwidth.
constexpr attention_decode_config attention_decode_few(std::uint32_t depth) {
  if (depth <= 64) return {.depth = 64, .rows = 16, .keys = 128, .key_warps = 4, .min_blocks = 3};
  if (depth <= 128) return {.depth = 128, .rows = 16, .keys = 64, .key_warps = 4, .min_blocks = 3};
  return {.depth = 256, .rows = 16, .keys = 32, .key_warps = 2, .q_in_registers = false, .min_blocks = 3};
}

// Up to 16 rows on sm_90. One more tile is in flight, for the few blocks of a small call that have a
// multiprocessor alone. Two blocks fit, which read a large cache as fast as three.
constexpr attention_decode_config attention_decode_few_sm90(std::uint32_t depth) {
  attention_decode_config config = attention_decode_few(depth);
  config.stages = 3;
  config.min_blocks = 2;
  config.sm = 90;
  return config;
}

// Up to 16 rows on sm_90, in the kernel of mma_sync_sm90/kernel.hpp, D up to 128. Two blocks fit, and have
// the registers that they need. A block of the next launch also fits before this one has ended.
constexpr attention_decode_config attention_decode_short_sm90(std::uint32_t depth) {
  attention_decode_config config = attention_decode_few(depth);
  config.min_blocks = 2;
  config.sm = 90;
  return config;
}

// Codes of 8 bits, up to 16 rows: twice the tiles, with the same keys per tile and the same bytes in all.
constexpr attention_decode_config attention_decode_codes(std::uint32_t depth) {
  attention_decode_config config = attention_decode_few(depth);
  config.stages *= 2;
  return config;
}

// Codes of 8 bits on sm_90 (kernel: mma_sync_8bit/sm90_kernel.hpp), D up to 128: tiles of the same bytes.
constexpr attention_decode_config attention_decode_short_codes_sm90(std::uint32_t depth) {
  attention_decode_config config = attention_decode_short_sm90(depth);
  config.keys *= 2;
  return config;
}

// Codes of 8 bits with larger heads on sm_90: tiles have half the bytes, so twice the tiles are in flight.
constexpr attention_decode_config attention_decode_codes_sm90(std::uint32_t depth) {
  attention_decode_config config = attention_decode_few_sm90(depth);
  config.stages *= 2;
  return config;
}

// More than 16 rows: a warp has 16 of them, and all keys of a tile.
constexpr attention_decode_config attention_decode_many(std::uint32_t depth) {
  if (depth <= 64) return {.depth = 64, .rows = 64, .keys = 64, .key_warps = 1, .min_blocks = 2};
  if (depth <= 128) return {.depth = 128, .rows = 64, .keys = 64, .key_warps = 1, .min_blocks = 2};
  return {.depth = 256, .rows = 64, .keys = 32, .key_warps = 1, .q_in_registers = false};
}

}  // namespace kaio::ops
