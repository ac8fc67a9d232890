#pragma once
// The tile shapes of the backward of attention for sm_90a.

#include <kaio/ptx/standard.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

struct attention_backward_sm90_config {
  std::uint32_t depth_qk = 128;  // longest row of Q and K, in elements
  std::uint32_t depth_v = 128;   // longest row of V and dO
  std::uint32_t queries = 64;    // per tile of the walk; 128 are two halves of 64
  // Issues dP together with S, before the scores are computed: only if they need few registers.
  bool early_dp = true;
  std::uint32_t score_parts = 1;  // parts in which the scores of a step, or half of it, are computed
  // A block takes one tile of keys after the other: only if registers suffice for it.
  bool many_tiles = true;
  bool divides_queries = true;  // several blocks may share a tile of keys (parts.hpp)

  static constexpr std::uint32_t panel = 64;                 // elements in 128 bytes
  static constexpr std::uint32_t consumers = 2, keys = 128;  // warpgroups of 64 keys each
  static constexpr std::uint32_t stages = 2;                 // per ring: Q, dO, dS and dQ
  static constexpr std::uint32_t threads = (consumers + 1) * 128;
  // Registers per thread, 64512 in all: a consumer needs most at depth 128, and the others few.
  // Columns of the tiles, whole panels. Products take only the depth's.
  constexpr std::uint32_t columns_qk() const { return (depth_qk + panel - 1) / panel * panel; }
  constexpr std::uint32_t columns_v() const { return (depth_v + panel - 1) / panel * panel; }
  constexpr std::uint32_t consumer_registers() const { return depth_qk > 96 ? 240 : 232; }
  constexpr std::uint32_t producer_registers() const { return depth_qk > 96 ? 24 : 40; }
  constexpr std::uint32_t halves() const { return queries / 64; }
  // Each consumer has 64 x 64 of dQ.
  constexpr bool valid() const {
    return depth_qk % 32 == 0 && depth_v % 32 == 0 && queries * columns_qk() == consumers * 64 * 64 &&
           queries % 64 == 0;
  }
};

// Registers of a consumer's thread:
//
//   S     32 per half, which become 16 of P     dK   depth_qk / 2     dQ   32
//   dP    32, which become 16 of dS             dV   depth_v / 2
constexpr attention_backward_sm90_config attention_backward_sm90_for(std::uint32_t depth, bool plain_score,
                                                                     std::uint32_t score_parts = 1) {
  attention_backward_sm90_config config{.early_dp = plain_score,
                                        .score_parts = score_parts,
                                        .many_tiles = plain_score || depth <= 64,
                                        .divides_queries = plain_score};
  config.depth_qk = config.depth_v = std::max(depth, 64u);
  if (depth <= 64) config.queries = 128;
  return config;
}

}  // namespace kaio::ops
