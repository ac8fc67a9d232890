#pragma once
// The tile shapes of attention for sm_90a, and what follows from them.

#include <cstdint>

namespace kaio::ops {

struct attention_sm90_config {
  std::uint32_t depth_qk = 128;  // the most elements of a row of Q and K,
  std::uint32_t depth_v = 128;   // of V and O
  std::uint32_t keys = 128;      // of a tile
  std::uint32_t consumers = 2;   // warpgroups of 64 queries each
  std::uint32_t stages = 2;      // of the rings of K and V

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
    return depth_qk % panel == 0 && depth_qk <= 256 && depth_v % panel == 0 && depth_v <= depth_qk &&
           keys % 16 == 0 && keys <= 256 && (consumers == 2 || consumers == 3);
  }
};

// A thread of a consumer has keys / 2 registers of S, keys / 4 of P and depth_v / 2 of O.
constexpr attention_sm90_config attention_sm90_for(std::uint32_t depth_qk, std::uint32_t depth_v) {
  if (depth_qk <= 64 && depth_v <= 64) return {.depth_qk = 64, .depth_v = 64, .consumers = 3};
  if (depth_qk <= 128 && depth_v <= 128) return {.depth_qk = 128, .depth_v = 128};
  if (depth_qk <= 192 && depth_v <= 128) return {.depth_qk = 192, .depth_v = 128};
  return {.depth_qk = 256, .depth_v = 256, .keys = 80};
}

}  // namespace kaio::ops
