#pragma once
// The tile shapes of the backward of attention for sm_90a.

#include <cstdint>

namespace kaio::ops {

struct attention_backward_sm90_config {
  std::uint32_t depth_qk = 128;  // the most elements of a row of Q and K,
  std::uint32_t depth_v = 128;   // of V and dO
  std::uint32_t queries = 64;    // of a tile that a block walks over, in halves of 64 where they are 128
  // dP is computed together with S, before the scores are: where they need few registers.
  bool early_dp = true;
  std::uint32_t score_parts = 1;  // in which the scores of a step, or half of it, are computed
  // A block has one tile of keys after the other: where registers suffice for it.
  bool many_tiles = true;

  static constexpr std::uint32_t panel = 64;                 // elements of 128 bytes
  static constexpr std::uint32_t consumers = 2, keys = 128;  // warpgroups of 64 keys each
  static constexpr std::uint32_t stages = 2;                 // of the rings of Q and dO; of dS and dQ
  static constexpr std::uint32_t threads = (consumers + 1) * 128;
  // Of a thread, 64512 in all: what a consumer needs at depth 128, where the others spend few.
  constexpr std::uint32_t consumer_registers() const { return depth_qk > 64 ? 240 : 232; }
  constexpr std::uint32_t producer_registers() const { return depth_qk > 64 ? 24 : 40; }
  constexpr std::uint32_t halves() const { return queries / 64; }
  // Each consumer has 64 x 64 of dQ.
  constexpr bool valid() const {
    return depth_v % panel == 0 && queries * depth_qk == consumers * 64 * 64 && queries % 64 == 0;
  }
};

// A thread of a consumer has 32 registers of S for each half, 32 of dP, which become P and dS of half as
// many, depth_qk / 2 of dK, depth_v / 2 of dV, and 32 of dQ.
constexpr attention_backward_sm90_config attention_backward_sm90_for(std::uint32_t depth, bool plain_score,
                                                                     std::uint32_t score_parts = 1) {
  attention_backward_sm90_config config{
      .early_dp = plain_score, .score_parts = score_parts, .many_tiles = plain_score || depth <= 64};
  if (depth <= 64) config.depth_qk = config.depth_v = 64, config.queries = 128;
  return config;
}

}  // namespace kaio::ops
