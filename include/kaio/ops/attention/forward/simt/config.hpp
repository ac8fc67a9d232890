#pragma once
// The tile shapes of attention by multiply-adds, and the numbers that follow from them.

#include <kaio/ptx/standard.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kaio::ops {

struct attention_simt_config {
  std::uint32_t depth = 128;    // the most elements of a row of Q, K, V and O
  std::uint32_t row_lanes = 4;  // lanes along the rows of a warp; each has queries of its own
  std::uint32_t least_groups = 4, most_groups = 8;  // warps that share rows: a power of two
  std::uint32_t blocks = 1;                         // resident blocks that the registers allow

  static constexpr std::uint32_t warps = 8, threads = warps * 32;
  static constexpr std::uint32_t rows = 4;        // per thread
  static constexpr std::uint32_t tile_keys = 32;  // per warp
  static constexpr std::uint32_t chunk = 32;      // columns of K in shared memory
  static constexpr std::uint32_t padding = 4;     // neighbours of a column are in different banks
  constexpr std::uint32_t column_lanes() const { return 32 / row_lanes; }
  constexpr std::uint32_t warp_rows() const { return rows * row_lanes; }
  // Keys of a tile whose V is in shared memory at once: tile_keys * chunk numbers, like K.
  constexpr std::uint32_t value_keys() const { return tile_keys * chunk / depth; }
  constexpr std::uint32_t division() const { return most_groups / least_groups; }
  // Queries of a block whose keys are divided among `groups` warps, and keys of its tiles.
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

// For devices with 64 KB of shared memory per block (sm_75): any head size.
inline constexpr attention_simt_config attention_simt_small{
    .depth = 512, .row_lanes = 2, .least_groups = 4, .most_groups = 4};

}  // namespace kaio::ops
