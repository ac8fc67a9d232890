#pragma once
// The tile shapes of attention for sm_90a, and what follows from them.

#include <cstdint>

namespace kaio::ops {

struct attention_sm90_config {
  std::uint32_t depth_qk = 128;    // the most elements of a row of Q and K,
  std::uint32_t depth_v = 128;     // of V and O
  std::uint32_t keys = 128;        // of a tile
  std::uint32_t consumers = 2;     // warpgroups of 64 queries each
  std::uint32_t stages = 2;        // of the rings of K and V
  std::uint32_t query_stages = 2;  // of the ring of Q

  static constexpr std::uint32_t panel = 64;  // elements of 128 bytes
  constexpr std::uint32_t queries() const { return consumers * 64; }
  constexpr std::uint32_t threads() const { return (consumers + 1) * 128; }
  constexpr std::uint32_t q_bytes() const { return queries() * depth_qk * 2; }
  constexpr std::uint32_t k_bytes() const { return keys * depth_qk * 2; }
  constexpr std::uint32_t v_bytes() const { return keys * depth_v * 2; }
  // 65536 registers, less what the producer keeps.
  constexpr std::uint32_t producer_registers() const { return consumers == 2 ? 24 : 32; }
  constexpr std::uint32_t consumer_registers() const { return consumers == 2 ? 240 : 160; }
  constexpr bool valid() const {
    return depth_qk % panel == 0 && depth_qk <= 256 && depth_v % panel == 0 && depth_v <= 256 &&
           keys % 16 == 0 && keys <= 256 && (consumers == 2 || consumers == 3);
  }
};

// A thread of a consumer has keys / 2 registers of S, keys / 4 of P and depth_v / 2 of O. With three consumers it
// has 160 in all, which a plain score leaves room for 128 keys in. Tiles of block-sparse masks divide blocks of
// 128 queries and 128 keys.
constexpr attention_sm90_config attention_sm90_for(std::uint32_t depth_qk, std::uint32_t depth_v,
                                                   bool plain_score = false, bool block_sparse = false) {
  if (depth_qk <= 64 && depth_v <= 64) {
    if (block_sparse) return {.depth_qk = 64, .depth_v = 64};
    return {.depth_qk = 64, .depth_v = 64, .keys = plain_score ? 128u : 112u, .consumers = 3};
  }
  if (depth_qk <= 128 && depth_v <= 128) return {.depth_qk = 128, .depth_v = 128};
  if (depth_qk <= 192 && depth_v <= 128) return {.depth_qk = 192, .depth_v = 128, .query_stages = 1};
  return {.depth_qk = 256, .depth_v = 256, .keys = block_sparse ? 64u : 80u, .query_stages = 1};
}

// For long sequences: with fewer steps, each of them longer, but tiles of keys that waste more at the ends.
inline constexpr attention_sm90_config attention_sm90_long_128{.keys = 176, .query_stages = 1};

}  // namespace kaio::ops
