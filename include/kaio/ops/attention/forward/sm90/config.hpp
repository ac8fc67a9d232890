#pragma once
// The tile shapes of attention for sm_90a, and the numbers that follow from them.

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_sm90_config {
  std::uint32_t depth_qk = 128;    // the most elements of a row of Q and K
  std::uint32_t depth_v = 128;     // the most elements of a row of V and O
  std::uint32_t keys = 128;        // keys of a tile
  std::uint32_t consumers = 2;     // warpgroups of 64 queries each
  std::uint32_t stages = 2;        // stages of the rings of K and V
  std::uint32_t query_stages = 2;  // stages of the ring of Q
  bool own_queries = false;        // a stage of Q is for one consumer, in turns; else for all

  static constexpr std::uint32_t panel = 64;          // 64 elements, 128 bytes
  static constexpr std::uint32_t group_queries = 64;  // queries of a warpgroup
  constexpr std::uint32_t queries() const { return consumers * group_queries; }
  constexpr std::uint32_t threads() const { return (consumers + 1) * 128; }
  // Stages of the ring of Q that hold a tile's queries, and the consumers per stage.
  constexpr std::uint32_t tile_stages() const { return own_queries ? consumers : 1; }
  constexpr std::uint32_t stage_consumers() const { return consumers / tile_stages(); }
  constexpr std::uint32_t stage_queries() const { return stage_consumers() * group_queries; }
  constexpr std::uint32_t q_bytes() const { return stage_queries() * depth_qk * 2; }
  constexpr std::uint32_t k_bytes() const { return keys * depth_qk * 2; }
  constexpr std::uint32_t v_bytes() const { return keys * depth_v * 2; }
  // Two blocks per multiprocessor, if one warpgroup in each leaves room for them.
  constexpr std::uint32_t min_blocks() const { return consumers == 1 && depth_qk <= 64 ? 2 : 1; }
  // Blocks of a cluster that may share a tile of queries: each takes a part of its keys (cluster.hpp).
  constexpr std::uint32_t most_parts() const { return consumers == 1 ? 8 : 1; }
  // All blocks share 65536 registers; consumers get those that the producers do not keep.
  constexpr std::uint32_t producer_registers() const {
    return consumers == 3 ? 32 : consumers == 2 ? 24 : 40;
  }
  constexpr std::uint32_t consumer_registers() const {
    return consumers == 3 ? 160 : consumers == 2 ? 240 : min_blocks() == 2 ? 208 : depth_v <= 128 ? 240 : 248;
  }
  constexpr bool valid() const {
    return depth_qk % panel == 0 && depth_qk <= 256 && depth_v % panel == 0 && depth_v <= 256 &&
           keys % 16 == 0 && keys <= 256 && consumers >= 1 && consumers <= 3 &&
           query_stages >= tile_stages() && query_stages <= tile_stages() + 1;  // for query_records
  }
};

// A consumer's thread has keys / 2 registers of S, keys / 4 of P and depth_v / 2 of O. With three consumers
// it has 160 registers in all, enough for 128 keys if the score is plain. Tiles for block-sparse masks divide
// blocks of 128 queries and 128 keys.
// If consumers have their own stages of Q, the next tile's queries can arrive while one consumer still needs
// the current ones. This costs registers. With one stage more than consumers, a stage changes its consumer
// with each tile. That is safe because they take turns: no consumer reaches its next queries before the
// others have those of the tile before.
constexpr attention_sm90_config attention_sm90_for(std::uint32_t depth_qk, std::uint32_t depth_v,
                                                   bool plain_score = false, bool block_sparse = false) {
  if (depth_qk <= 64 && depth_v <= 64) {
    if (block_sparse) return {.depth_qk = 64, .depth_v = 64};
    return {.depth_qk = 64, .depth_v = 64, .keys = plain_score ? 128u : 112u, .consumers = 3};
  }
  if (depth_qk <= 128 && depth_v <= 128) {
    if (block_sparse) return {.query_stages = 3, .own_queries = true};
    return {.depth_qk = 128, .depth_v = 128};
  }
  if (depth_qk <= 192 && depth_v <= 128) {
    if (block_sparse) return {.depth_qk = 192, .depth_v = 128, .query_stages = 1};
    return {.depth_qk = 192, .depth_v = 128, .own_queries = true};
  }
  if (block_sparse) return {.depth_qk = 256, .depth_v = 256, .keys = 64, .query_stages = 1};
  if (plain_score) return {.depth_qk = 256, .depth_v = 256, .keys = 80, .own_queries = true};
  return {.depth_qk = 256, .depth_v = 256, .keys = 80, .query_stages = 1};
}

// For a bias or a mask in memory.
constexpr attention_sm90_config attention_sm90_biased_for(std::uint32_t depth) {
  if (depth <= 64) return {.depth_qk = 64, .depth_v = 64};
  if (depth <= 128) return {};
  return {.depth_qk = 256, .depth_v = 256, .keys = 64, .query_stages = 3, .own_queries = true};
}

// For long sequences: fewer and longer steps, but tiles of keys that waste more at the ends.
inline constexpr attention_sm90_config attention_sm90_long_128{
    .keys = 176, .query_stages = 3, .own_queries = true};

// For a causal mask and at most about a thousand keys: of 192 queries, many would attend to no key of a tile.
inline constexpr attention_sm90_config attention_sm90_short_64{.depth_qk = 64, .depth_v = 64};

// For at most about two thousand keys: tiles that divide the keys better, and room for the next queries.
inline constexpr attention_sm90_config attention_sm90_short_256{
    .depth_qk = 256, .depth_v = 256, .keys = 64, .query_stages = 3, .own_queries = true};

// If there are fewer tiles of queries than multiprocessors.
inline constexpr attention_sm90_config attention_sm90_few_64{.depth_qk = 64, .depth_v = 64, .consumers = 1};
inline constexpr attention_sm90_config attention_sm90_few_128{.consumers = 1};
inline constexpr attention_sm90_config attention_sm90_few_256{
    .depth_qk = 256, .depth_v = 256, .keys = 48, .consumers = 1, .query_stages = 1};

}  // namespace kaio::ops
