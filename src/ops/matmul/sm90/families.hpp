#pragma once
// The configurations of the kernels for sm_90a that the library has, in the groups that families.def lists.

#include "ops/matmul/sm90/rows.hpp"

namespace kaio::ops {

// Many tiles: 128 x 256, alone and in clusters of two that share their tiles of B; then smaller tiles, for C
// of fewer of them. The smallest fill a multiprocessor with their rings, so that the blocks of the next
// kernel spread over all of them. Measured on an H200: bench/results.
inline constexpr sm90_config sm90_pair{.m = 128, .n = 256, .stages = 4, .cluster_m = 2};
inline constexpr sm90_config sm90_single{.m = 128, .n = 256, .stages = 4};
inline constexpr sm90_config sm90_medium{.m = 128, .n = 128, .stages = 6};
inline constexpr sm90_config sm90_narrow{.m = 128, .n = 64, .stages = 8};
inline constexpr sm90_config sm90_small{.m = 64, .n = 64, .stages = 5, .depth = 2};
inline constexpr sm90_config sm90_tiny{.m = 64, .n = 32, .stages = 6, .depth = 2};

// alpha alone. Results in f32 are twice the bytes, which smaller tiles do not help.
template <class T, class Out>
void add_sm90_scaled_tiles(variant_list& list) {
  add_sm90_scaled_layouts<sm90_pair, T, Out>(list);
  add_sm90_scaled_layouts<sm90_medium, T, Out>(list);
  add_sm90_scaled_layouts<sm90_small, T, Out>(list);
  if constexpr (sizeof(Out) == 2) {
    add_sm90_scaled_layouts<sm90_single, T, Out>(list);
    add_sm90_scaled_layouts<sm90_narrow, T, Out>(list);
    add_sm90_scaled_layouts<sm90_tiny, T, Out>(list);
  }
}
// All epilogue arguments, which hide less of a tile.
template <class T>
void add_sm90_general_tiles(variant_list& list) {
  add_sm90_general_layouts<sm90_pair, T>(list);
  add_sm90_general_layouts<sm90_medium, T>(list);
  add_sm90_general_layouts<sm90_small, T>(list);
}

// Few columns, at most `columns`: the time is that of reading A once. Blocks that share a tile of C have its
// K in parts.
constexpr sm90_split_config sm90_columns(std::uint32_t columns, std::uint32_t stages, std::uint32_t depth,
                                         std::uint32_t splits) {
  return {.m = 64, .n = columns, .stages = stages, .depth = depth, .splits = splits};
}
// Few rows: the same for C^T, with B in place of A.
constexpr sm90_split_config sm90_rows(std::uint32_t rows, std::uint32_t stages, std::uint32_t depth,
                                      std::uint32_t splits) {
  sm90_split_config result = sm90_columns(rows, stages, depth, splits);
  result.transposed = true;
  return result;
}
// A hundred rows or so, and a long K.
inline constexpr sm90_split_config sm90_two_128x64{.m = 128, .n = 64, .stages = 7, .splits = 2};

template <class T>
void add_sm90_splits(variant_list& list) {
  add_sm90_split_layouts<sm90_two_128x64, T>(list);
  add_sm90_split_along_k<sm90_columns(16, 5, 4, 2), T>(list);
  add_sm90_split_along_k<sm90_columns(64, 6, 2, 2), T>(list);
}

template <class T>
void add_sm90_few_rows(variant_list& list) {
  add_sm90_split_along_k<sm90_rows(8, 5, 4, 1), T>(list);
  add_sm90_split_along_k<sm90_rows(8, 5, 4, 2), T>(list);
  add_sm90_split_along_k<sm90_rows(16, 5, 4, 2), T>(list);
  add_sm90_split_along_k<sm90_rows(32, 8, 2, 2), T>(list);
  add_sm90_split_along_k<sm90_rows(64, 6, 2, 2), T>(list);
}

// 8-bit floats, which are k-major.
template <class T, class Out>
void add_sm90_f8_scaled(variant_list& list) {
  add_sm90_scaled<sm90_pair, T, Out>(list);
  add_sm90_scaled<sm90_medium, T, Out>(list);
  add_sm90_scaled<sm90_small, T, Out>(list);
}

template <class T>
void add_sm90_f8_of(variant_list& list) {
  add_sm90_f8_scaled<T, f32>(list);
  add_sm90_f8_scaled<T, f16>(list);
  add_sm90_f8_scaled<T, bf16>(list);
  add_sm90_general<sm90_medium, T>(list);
  add_sm90_split<sm90_rows(16, 5, 4, 2), T>(list);
  add_sm90_split<sm90_rows(64, 6, 2, 2), T>(list);
}
template <class... T>
void add_sm90_f8_tiles(variant_list& list) {
  (add_sm90_f8_of<T>(list), ...);
}

}  // namespace kaio::ops
