#pragma once
// The tile shapes of attention with multiply-adds, and what follows from them.

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kaio::ops {

struct attention_simt_config {
  std::uint32_t depth = 128;    // the most elements of a row of Q, K, V and O
  std::uint32_t row_lanes = 4;  // lanes of a warp that have other queries than their neighbours
  std::uint32_t least_groups = 4, most_groups = 8;  // warps that share rows: a power of two
  std::uint32_t blocks = 1;                         // that registers are left for on a multiprocessor

  static constexpr std::uint32_t warps = 8, threads = warps * 32;
  static constexpr std::uint32_t rows = 4;        // of a thread
  static constexpr std::uint32_t tile_keys = 32;  // of a warp
  static constexpr std::uint32_t chunk = 32;      // columns of K in shared memory
  static constexpr std::uint32_t padding = 4;     // so that neighbours of a column are in different banks
  constexpr std::uint32_t column_lanes() const { return 32 / row_lanes; }
  constexpr std::uint32_t warp_rows() const { return rows * row_lanes; }
  // Of a tile of keys, of those whose V is in shared memory: as many numbers as of K.
  constexpr std::uint32_t value_keys() const { return tile_keys * chunk / depth; }
  constexpr std::uint32_t division() const { return most_groups / least_groups; }
  // Of a block whose keys are divided among so many groups, and the keys of its tiles.
  constexpr std::uint32_t queries(std::uint32_t groups) const { return warps / groups * warp_rows(); }
  constexpr std::uint32_t keys(std::uint32_t groups) const { return groups * tile_keys; }
  constexpr std::uint32_t kv_floats() const {
    return most_groups * std::max(tile_keys * (chunk + padding), value_keys() * (depth + padding));
  }
  constexpr bool valid() const {
    return std::has_single_bit(row_lanes) && row_lanes <= 4 && depth % (4 * column_lanes()) == 0 &&
           depth <= 512 && std::has_single_bit(depth) && least_groups >= 2 && least_groups <= most_groups &&
           most_groups <= warps;
  }
};

constexpr attention_simt_config attention_simt_for(std::uint32_t depth) {
  if (depth <= 64) return {.depth = 64, .blocks = 2};
  if (depth <= 128) return {.depth = 128, .row_lanes = 2, .blocks = 2};
  if (depth <= 256) return {.depth = 256};
  return {.depth = 512, .row_lanes = 2, .least_groups = 2, .most_groups = 4};
}

// For devices whose blocks have 64 KB of shared memory (sm_75): any head size.
inline constexpr attention_simt_config attention_simt_small{
    .depth = 512, .row_lanes = 2, .least_groups = 4, .most_groups = 4};

}  // namespace kaio::ops
