#pragma once
// The tile shapes of attention by multiply-adds for many queries, and the numbers that follow from them.

#include <kaio/ptx/standard.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

struct attention_simt_wide_config {
  std::uint32_t depth = 128;  // the most elements of a row of Q, K, V and O
  std::uint32_t warps = 4;
  std::uint32_t rows = 8;    // per thread
  std::uint32_t chunk = 32;  // columns of K in shared memory
  std::uint32_t blocks = 2;  // resident blocks that the registers allow

  static constexpr std::uint32_t row_lanes = 2, column_lanes = 16;  // a warp is row_lanes x column_lanes
  static constexpr std::uint32_t keys = 128, columns = keys / column_lanes;
  static constexpr std::uint32_t stages = 2;   // chunks of K and V in shared memory
  static constexpr std::uint32_t padding = 4;  // neighbours of a column are in different banks
  constexpr std::uint32_t threads() const { return warps * 32; }
  constexpr std::uint32_t warp_rows() const { return rows * row_lanes; }
  constexpr std::uint32_t queries() const { return warps * warp_rows(); }
  // Vectors of four columns of O per thread.
  constexpr std::uint32_t fours() const { return depth / (4 * column_lanes); }
  // Keys whose V has the size of a chunk of K.
  constexpr std::uint32_t value_keys() const { return keys * chunk / depth; }
  constexpr std::uint32_t stage_floats() const { return keys * (chunk + padding); }
  constexpr bool valid() const {
    return depth % (4 * column_lanes) == 0 && depth % chunk == 0 &&
           rows * std::max(columns, 4 * fours()) <= 64;
  }
};

constexpr attention_simt_wide_config attention_simt_wide_for(std::uint32_t depth) {
  if (depth <= 128) return {.depth = depth <= 64 ? 64u : 128u};
  return {.depth = 256, .warps = 8, .rows = 4, .chunk = 64, .blocks = 1};
}

}  // namespace kaio::ops
