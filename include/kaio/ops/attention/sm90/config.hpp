#pragma once
// The tile shapes of attention for sm_90a, and what follows from them.

#include <cstdint>

namespace kaio::ops {

struct attention_sm90_config {
  std::uint32_t depth = 128;    // the most elements of a row of Q, K, V and O
  std::uint32_t keys = 128;     // of a tile
  std::uint32_t consumers = 2;  // warpgroups of 64 queries each
  std::uint32_t stages = 2;     // of the rings of K and V

  static constexpr std::uint32_t panel = 64;  // elements of 128 bytes
  constexpr std::uint32_t queries() const { return consumers * 64; }
  constexpr std::uint32_t threads() const { return (consumers + 1) * 128; }
  constexpr std::uint32_t panels() const { return depth / panel; }
  constexpr std::uint32_t q_bytes() const { return queries() * depth * 2; }
  constexpr std::uint32_t kv_bytes() const { return keys * depth * 2; }
  // 65536 registers, less what the producer keeps.
  constexpr std::uint32_t producer_registers() const { return consumers == 2 ? 24 : 32; }
  constexpr std::uint32_t consumer_registers() const { return consumers == 2 ? 240 : 160; }
  constexpr bool valid() const {
    return depth % panel == 0 && depth <= 256 && keys % 16 == 0 && keys <= 256 &&
           (consumers == 2 || consumers == 3);
  }
};

// A thread of a consumer has keys / 2 registers of S, keys / 4 of P and depth / 2 of O. Tiles of block-sparse
// masks divide blocks of 128 queries and 128 keys.
constexpr attention_sm90_config attention_sm90_for(std::uint32_t depth, bool block_sparse = false) {
  return depth <= 64    ? attention_sm90_config{.depth = 64, .keys = 128, .consumers = block_sparse ? 2u : 3u}
         : depth <= 128 ? attention_sm90_config{.depth = 128, .keys = 128}
                        : attention_sm90_config{.depth = 256, .keys = block_sparse ? 64u : 80u};
}

}  // namespace kaio::ops
