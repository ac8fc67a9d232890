#pragma once
// How the kernels of rows divide a row among threads, and the part of their parameters that is common to all.
// Each thread has some of a row's pieces of 16 bytes (stage.hpp):
//
//   row of             threads for it
//   up to 16 KB        1 to 256 neighbours, the lanes; a block has 256 / lanes rows at once
//   up to 32 KB        a block
//   more               a cluster of 2 to 16 blocks; before sm_90, a block
//
// The division is a function of the row's size, its element type, the kind of its pieces and the device's largest
// cluster alone, and so is the order of sums: a row has the same bits alone and among others.

#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/shared/rows.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 piece_bytes = 16;
inline constexpr u32 most_row_blocks = 16;
inline constexpr u32 pieces_of_block = 32 * 1024 / piece_bytes;  // of a row, before the next block has some

struct row_division {
  u32 lanes_log = 0;  // log2 of the threads of a block for a row
  u32 blocks = 1;     // of a cluster, for a row

  // vectors: the kind of pieces (stage.hpp). most_blocks: the largest cluster that the device runs; 1: it has none.
  static constexpr row_division of(u32 size, u32 element_bytes, bool vectors, u32 most_blocks) {
    const u32 per_lane = vectors ? 4 : 8, least_lanes = vectors ? 4 : 8;
    const u32 width = piece_bytes / element_bytes;
    const u32 pieces = size / width + (size % width != 0 ? 1 : 0);
    row_division result;
    while (result.blocks < most_blocks && result.blocks < most_row_blocks &&
           pieces > pieces_of_block * result.blocks)
      result.blocks *= 2;
    const u32 few = pieces < least_lanes ? pieces : least_lanes, wanted = (pieces + per_lane - 1) / per_lane;
    const u32 lanes = wanted > few ? wanted : few;
    while ((u32{1} << result.lanes_log) < row_threads && (u32{1} << result.lanes_log) < lanes)
      ++result.lanes_log;
    return result;
  }
};

struct rows_problem {
  u32 rows, size;
  divisor heads, tokens;
  u32 is_flat;    // only the stride of heads counts: a row's number times it is the row's place
  u32 lanes_log;  // see row_division
  u32 blocks;
  u32 share;               // elements of a row that a block has
  u32 staged;              // pieces that a block holds in shared memory, a multiple of its threads
  u32 has_staged_factors;  // next to them, pieces of numbers that belong to the elements of each row
};

}  // namespace kaio::ops
