#pragma once
// The tile shapes of attention_decode with the matrix instructions of a warp, and what follows from them.

#include <cstdint>

namespace kaio::ops {

struct attention_decode_config {
  std::uint32_t depth = 128;    // the most elements of a row of Q, K, V and O
  std::uint32_t rows = 16;      // of a tile: queries of the heads that share a head of keys
  std::uint32_t keys = 64;      // of a tile
  std::uint32_t key_warps = 4;  // that share 16 rows, each with a part of the keys of every tile
  std::uint32_t stages = 2;     // tiles of K and V in shared memory
  bool q_in_registers = true;   // Q stays there, else it is read again for every tile
  std::uint32_t min_blocks = 1;
  // 90: launched programmatically, and the parts of a tile may be a cluster.
  std::uint16_t sm = 80;

  constexpr bool has_clusters() const { return sm >= 90; }
  static constexpr std::uint32_t operands = 2;  // of a stage: K and V
  constexpr std::uint32_t warps() const { return rows / 16 * key_warps; }
  constexpr std::uint32_t threads() const { return warps() * 32; }
  constexpr std::uint32_t own_keys() const { return keys / key_warps; }  // of a warp, of a tile
  constexpr bool valid() const {
    const std::uint32_t apart = threads() / 8;  // rows that all threads copy together
    return depth % 64 == 0 && depth <= 256 && rows % 16 == 0 && keys % key_warps == 0 &&
           own_keys() % 16 == 0 && stages >= 2 && (rows == 16 || key_warps == 1) && apart % 8 == 0 &&
           keys % apart == 0 && own_keys() % apart == 0;
  }
};

// Up to 16 rows: four warps share them, so that a tile of keys, which is what is waited for, is read by all.
// What counts are bytes under way on a multiprocessor: 64 KB a block, of which three fit, but for 99 KB
// (sm_86, sm_89), where one is enough for a smaller bandwidth.
constexpr attention_decode_config attention_decode_few(std::uint32_t depth) {
  if (depth <= 64) return {.depth = 64, .rows = 16, .keys = 128, .key_warps = 4, .min_blocks = 3};
  if (depth <= 128) return {.depth = 128, .rows = 16, .keys = 64, .key_warps = 4, .min_blocks = 3};
  return {.depth = 256, .rows = 16, .keys = 32, .key_warps = 2, .q_in_registers = false, .min_blocks = 3};
}

// The same for sm_90: one more tile under way, for the few blocks of a small call that have their
// multiprocessors alone, and two blocks that fit, which read a large cache as fast as three.
constexpr attention_decode_config attention_decode_few_sm90(std::uint32_t depth) {
  attention_decode_config config = attention_decode_few(depth);
  config.stages = 3;
  config.min_blocks = 2;
  config.sm = 90;
  return config;
}

// The same for sm_90 in the kernel of its own (mma_sync_sm90/kernel.hpp), D up to 128: two blocks fit, which have the registers
// that they need, and so does a block of the next launch before this one has ended.
constexpr attention_decode_config attention_decode_short_sm90(std::uint32_t depth) {
  attention_decode_config config = attention_decode_few(depth);
  config.min_blocks = 2;
  config.sm = 90;
  return config;
}

// The same of codes of 8 bits: as many keys, and as many bytes, in twice the tiles.
constexpr attention_decode_config attention_decode_codes(std::uint32_t depth) {
  attention_decode_config config = attention_decode_few(depth);
  config.stages *= 2;
  return config;
}

// Codes of 8 bits for sm_90 in the kernel of its own (mma_sync_8bit/sm90_kernel.hpp), D up to 128: tiles of as many bytes.
constexpr attention_decode_config attention_decode_short_codes_sm90(std::uint32_t depth) {
  attention_decode_config config = attention_decode_short_sm90(depth);
  config.keys *= 2;
  return config;
}

// Larger heads of codes: their tiles are half as many bytes, so that twice as many are under way.
constexpr attention_decode_config attention_decode_codes_sm90(std::uint32_t depth) {
  attention_decode_config config = attention_decode_few_sm90(depth);
  config.stages *= 2;
  return config;
}

// More rows: a warp has 16 of them, and all keys of a tile.
constexpr attention_decode_config attention_decode_many(std::uint32_t depth) {
  if (depth <= 64) return {.depth = 64, .rows = 64, .keys = 64, .key_warps = 1, .min_blocks = 2};
  if (depth <= 128) return {.depth = 128, .rows = 64, .keys = 64, .key_warps = 1, .min_blocks = 2};
  return {.depth = 256, .rows = 64, .keys = 32, .key_warps = 1, .q_in_registers = false};
}

}  // namespace kaio::ops
