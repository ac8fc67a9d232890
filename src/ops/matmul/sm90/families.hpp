#pragma once
// The library's configurations of the kernels for sm_90a, in the groups of src/ops/families.cmake.

#include <type_traits>

#include "ops/matmul/sm90/rows.hpp"

namespace kaio::ops {

// Many tiles. Measured on an H200: bench/results.
//
//   clusters of two   share their tiles of B, so that L2 delivers half of them; this counts double if lines
//                     of K begin inside a line of L2
//   blocks alone      for fewer tiles; with 16-bit elements the launch chooses between the two
//   192 columns       fill waves that 128 and 256 do not
//   flat              for few rows and many columns: a pair of 128 rows reads B once. With a B along K, tiles
//                     are as close together as memory likes it (tile_spacing.hpp)
//   smallest          fill a multiprocessor with their rings, so that the blocks of the next kernel spread
//                     over all multiprocessors
inline constexpr sm90_config sm90_large_pair{.m = 128, .n = 256, .stages = 4, .cluster_m = 2};
// The whole producer frees registers for a strip of C next to a thread's 128 sums.
inline constexpr sm90_config sm90_large_general{
    .m = 128, .n = 256, .stages = 4, .cluster_m = 2, .whole_producer = true};
inline constexpr sm90_config sm90_medium{.m = 128, .n = 128, .stages = 6};
inline constexpr sm90_config sm90_wide_by_launch{
    .m = 128, .n = 192, .stages = 5, .cluster_m = 0, .widths = 2};
inline constexpr sm90_config sm90_medium_by_launch{.m = 128, .n = 128, .stages = 6, .cluster_m = 0};
inline constexpr sm90_config sm90_narrow_by_launch{.m = 128, .n = 64, .stages = 8, .cluster_m = 0};
inline constexpr sm90_config sm90_flat_by_launch{.m = 64, .n = 128, .stages = 8, .cluster_m = 0};
inline constexpr sm90_config sm90_small{.m = 64, .n = 64, .stages = 5, .depth = 2};
inline constexpr sm90_config sm90_tiny{.m = 64, .n = 32, .stages = 6, .depth = 2};

// C by tensor copies. Results in f32 have twice the bytes: smaller tiles do not help there, and large ones
// gain 1 %. The kernels with all epilogue arguments serve instead.
template <sm90_config C, class... T>
void add_sm90_copied_halves(variant_list& list) {
  (add_sm90_copied_layouts<of_both_types<C>, T, T>(list), ...);
}
template <class... T>
void add_sm90_copied_tiles(variant_list& list) {
  add_sm90_copied_halves<sm90_medium_by_launch, T...>(list);
  add_sm90_copied_halves<sm90_small, T...>(list);
  add_sm90_copied_halves<sm90_wide_by_launch, T...>(list);
  add_sm90_copied_halves<sm90_narrow_by_launch, T...>(list);
  add_sm90_copied_halves<sm90_flat_by_launch, T...>(list);
  add_sm90_copied_halves<sm90_tiny, T...>(list);
  // Next to 128 sums per thread registers are short, so each type has a kernel of its own.
  (add_sm90_copied_layouts<sm90_large_pair, T, T>(list), ...);
}
template <class... T>
void add_sm90_copied_f32_tiles(variant_list& list) {
  (add_sm90_copied_layouts<of_both_types<sm90_medium_by_launch>, T, f32>(list), ...);
  (add_sm90_copied_layouts<of_both_types<sm90_small>, T, f32>(list), ...);
}
// All epilogue arguments; they hide less of a tile.
template <class... T>
void add_sm90_general_tiles(variant_list& list) {
  (add_sm90_general_layouts<of_both_types<sm90_large_general>, T>(list), ...);
  (add_sm90_general_layouts<of_both_types<sm90_medium_by_launch>, T>(list), ...);
  (add_sm90_general_layouts<of_both_types<sm90_small>, T>(list), ...);
}

// At most `columns` columns: the time is that of reading A once. Blocks that share a tile of C split its K.
constexpr sm90_split_config sm90_columns(std::uint32_t columns, std::uint32_t stages, std::uint32_t depth,
                                         std::uint32_t splits) {
  return {.m = 64, .n = columns, .stages = stages, .depth = depth, .splits = splits};
}
// Few rows: likewise for C^T, with B in place of A.
constexpr sm90_split_config sm90_rows(std::uint32_t rows, std::uint32_t stages, std::uint32_t depth,
                                      std::uint32_t splits) {
  sm90_split_config result = sm90_columns(rows, stages, depth, splits);
  result.transposed = true;
  return result;
}
// For a K so long that C has fewer tiles than the device has multiprocessors: two, four or eight blocks share
// a tile.
inline constexpr sm90_split_config sm90_split_128x128{
    .m = 128, .n = 128, .stages = 6, .splits = 0, .reuses_ring = true, .shares = true};
inline constexpr sm90_split_config sm90_split_128x64{
    .m = 128, .n = 64, .stages = 8, .splits = 0, .reuses_ring = true, .shares = true};
inline constexpr sm90_split_config sm90_eight_64x32{
    .m = 64, .n = 32, .stages = 9, .depth = 2, .splits = 8, .reuses_ring = true};

constexpr sm90_split_config without_sharing(sm90_split_config c) {
  c.shares = false;
  return c;
}

template <class... T>
void add_sm90_splits(variant_list& list) {
  (add_sm90_split_layouts<of_both_types<sm90_split_128x128>, T>(list), ...);
  (add_sm90_split_layouts<of_both_types<sm90_split_128x64>, T>(list), ...);
  (add_sm90_split_along_k<of_both_types<sm90_columns(16, 5, 4, 2)>, T>(list), ...);
  (add_sm90_split_along_k<of_both_types<sm90_columns(64, 6, 2, 2)>, T>(list), ...);
  (add_sm90_split_along_k<of_both_types<sm90_eight_64x32>, T>(list), ...);
}

// Lines of one operand or both begin anywhere.
constexpr sm90_split_config sm90_anywhere(std::uint32_t columns, major a, major b) {
  return {.m = 128,
          .n = columns,
          .stages = columns == 64 ? 4u : 3u,
          .splits = 0,
          .reuses_ring = true,
          .raw_stages = columns == 64 || (a == major::k && b == major::k) ? 4u : 3u,
          .a = a,
          .b = b,
          .type_by_launch = true};
}
template <std::uint32_t Columns, class T>
void add_sm90_anywhere_layouts(variant_list& list) {
  add_sm90_split<sm90_anywhere(Columns, major::k, major::k), T>(list);
  add_sm90_split<sm90_anywhere(Columns, major::mn, major::k), T>(list);
  add_sm90_split<sm90_anywhere(Columns, major::k, major::mn), T>(list);
  add_sm90_split<sm90_anywhere(Columns, major::mn, major::mn), T>(list);
}
template <class... T>
void add_sm90_anywhere_tiles(variant_list& list) {
  (add_sm90_anywhere_layouts<128, T>(list), ...);
  (add_sm90_anywhere_layouts<64, T>(list), ...);
}

// Few rows of an A across K, whose lines are short. Two blocks share a multiprocessor's memory, so that one
// begins while the other one ends.
inline constexpr sm90_split_config sm90_short_lines{.m = 64,
                                                    .n = 64,
                                                    .stages = 6,
                                                    .splits = 0,
                                                    .transposed = true,
                                                    .reuses_ring = true,
                                                    .min_blocks = 2,
                                                    .loads_b = true};

template <class... T>
void add_sm90_few_rows(variant_list& list) {
  (add_sm90_split_along_k<of_both_types<sm90_rows(8, 5, 4, 1)>, T>(list), ...);
  (add_sm90_split_along_k<of_both_types<sm90_rows(16, 5, 4, 2)>, T>(list), ...);
  (add_sm90_split_along_k<of_both_types<sm90_rows(32, 8, 2, 2)>, T>(list), ...);
  (add_sm90_split<with_lines<of_both_types<sm90_short_lines>>(major::k, major::mn), T>(list), ...);
  (add_sm90_split<with_lines<of_both_types<sm90_short_lines>>(major::mn, major::mn), T>(list), ...);
}

// The tile of C^T with the same shape.
template <auto C>
constexpr auto transposed_tile() {
  auto result = C;
  result.transposed = true;
  return result;
}

// f32 as tf32. wgmma reads tf32 only along K: an A across K goes through registers; a B across K, next to an
// A along K, is the A of C^T. Registers are short for 256 columns and the fragments of A.
template <sm90_config C>
void add_sm90_tf32_copied(variant_list& list) {
  add_sm90_copied<with_lines<C>(major::k, major::k), f32, f32>(list);
  add_sm90_copied<with_lines<C>(major::mn, major::k), f32, f32>(list);
  add_sm90_copied<with_lines<transposed_tile<C>()>(major::mn, major::k), f32, f32>(list);
}
template <sm90_config C>
void add_sm90_tf32_general(variant_list& list) {
  add_sm90_general<with_lines<C>(major::k, major::k), f32>(list);
  add_sm90_general<with_lines<C>(major::mn, major::k), f32>(list);
  add_sm90_general<with_lines<transposed_tile<C>()>(major::mn, major::k), f32>(list);
}
template <class = void>
void add_sm90_tf32_tiles(variant_list& list) {
  add_sm90_copied<sm90_large_pair, f32, f32>(list);
  add_sm90_tf32_copied<sm90_medium>(list);
  add_sm90_tf32_copied<sm90_small>(list);
  add_sm90_tf32_general<sm90_medium>(list);
  add_sm90_tf32_general<sm90_small>(list);
  add_sm90_split_along_k<without_sharing(sm90_split_128x64), f32>(list);
  add_sm90_split_along_k<sm90_rows(16, 9, 2, 2), f32>(list);
  add_sm90_split_along_k<sm90_rows(64, 6, 2, 2), f32>(list);
}

// f32 as tf32, word by word: for lines that begin anywhere, and for a B across K. The other operand comes by
// tensor copies if its lines begin at multiples of 16 bytes. With few tiles the blocks of a cluster split K.
struct sm90_word_lines {
  major a, b;
  bool loads_a = true, loads_b = true;
};
template <class Config>
constexpr Config sm90_words(std::uint32_t size, sm90_word_lines lines) {
  return {.m = size,
          .n = size,
          .stages = size == 64 ? 10u : 5u,
          .loads_a = lines.loads_a,
          .loads_b = lines.loads_b,
          .a = lines.a,
          .b = lines.b,
          .a_by_launch = lines.loads_a && lines.loads_b,
          .b_by_launch = lines.loads_a && lines.loads_b};
}
constexpr sm90_split_config sm90_split_words(std::uint32_t size, sm90_word_lines lines) {
  sm90_split_config result = sm90_words<sm90_split_config>(size, lines);
  result.splits = 0;
  result.reuses_ring = true;
  return result;
}
template <std::uint32_t Size, sm90_word_lines... Lines>
void add_sm90_words(variant_list& list) {
  (add_sm90_general<sm90_words<sm90_config>(Size, Lines), f32>(list), ...);
}
template <std::uint32_t Size, sm90_word_lines... Lines>
void add_sm90_split_words(variant_list& list) {
  (add_sm90_split<sm90_split_words(Size, Lines), f32>(list), ...);
}
template <class = void>
void add_sm90_word_tiles(variant_list& list) {
  constexpr major k = major::k, mn = major::mn;
  constexpr sm90_word_lines nt{k, k}, nn{k, mn}, tt{mn, k}, tn{mn, mn};
  constexpr sm90_word_lines words_of_b_nn{k, mn, false}, words_of_b_tn{mn, mn, false},
      words_of_a{mn, k, true, false};
  add_sm90_words<128, nt, nn, tt, tn, words_of_b_nn, words_of_b_tn>(list);
  add_sm90_split_words<128, words_of_b_nn, words_of_b_tn>(list);
  add_sm90_words<64, nt, nn, tt, tn, words_of_b_nn, words_of_b_tn>(list);
  add_sm90_split_words<64, nt, nn, tt, tn, words_of_b_nn, words_of_b_tn, words_of_a>(list);
}

// 8-bit floats, which are k-major. Large products of two e5m2 are rare.
template <class T, class Out>
void add_sm90_f8_copied(variant_list& list) {
  if constexpr (std::is_same_v<T, e4m3>) add_sm90_copied<sm90_large_pair, T, Out>(list);
  add_sm90_copied<of_both_types<sm90_medium>, T, Out>(list);
  add_sm90_copied<of_both_types<sm90_small>, T, Out>(list);
}

template <class T>
void add_sm90_f8_of(variant_list& list) {
  add_sm90_f8_copied<T, f32>(list);
  add_sm90_f8_copied<T, f16>(list);
  add_sm90_f8_copied<T, bf16>(list);
  add_sm90_general<of_both_types<sm90_medium>, T>(list);
  add_sm90_split<of_both_types<sm90_rows(16, 5, 4, 2)>, T>(list);
  add_sm90_split<of_both_types<sm90_rows(64, 6, 2, 2)>, T>(list);
}
template <class... T>
void add_sm90_f8_tiles(variant_list& list) {
  (add_sm90_f8_of<T>(list), ...);
}

}  // namespace kaio::ops
