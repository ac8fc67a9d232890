#pragma once
// How the kernels of rows divide a row among threads, and the part of their parameters that is common to all.
// Each thread has some of a row's pieces of 16 bytes (stage.hpp):
//
//   row of             threads for it
//   up to 16 KB        1 to 256 neighbours, the lanes; a block has 256 / lanes rows at once
//   up to 64 KB        a block
//   more               a cluster of 2 to 16 blocks; before sm_90, a block
//
// The division depends on the operation, the row's size, its element type, the kind of its pieces and the device's largest
// cluster, and on nothing else. So does the order of sums: a row has the same bits alone and among others.

#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/shared/rows.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 piece_bytes = 16;
inline constexpr u32 most_row_blocks = 16;
inline constexpr u32 pieces_of_kib = 1024 / piece_bytes;
inline constexpr u32 pieces_of_row_alone = 64 * pieces_of_kib;  // of the longest row that one block has
// The largest part that a block has of a row, if a cluster has the row. Single elements need more threads' time than
// pieces do, so there a block more costs more than it gives.
constexpr u32 pieces_of_part(bool vectors) { return (vectors ? 48 : 56) * pieces_of_kib; }
inline constexpr u32 pieces_of_long_part = 32 * pieces_of_kib;  // that a block holds, if its part is larger

struct row_division {
  u32 lanes_log = 0;  // log2 of the threads of a block for a row
  u32 blocks = 1;     // of a cluster, for a row

  // vectors: the kind of pieces (stage.hpp). most_blocks: the largest cluster that the device runs; 1: it has none.
  // has_factors: numbers such as weights that belong to the elements of each row. They take a thread's time too, so
  // fewer pieces of a lane are enough. tensors: whose rows are staged together.
  static constexpr row_division of(u32 size, u32 element_bytes, bool vectors, u32 most_blocks,
                                   bool has_factors, u32 tensors = 1) {
    constexpr u32 least_lanes = 4;
    const u32 per_lane = has_factors ? 4 : 5;  // at least, if the row has; less if lanes are few
    const u32 width = piece_bytes / element_bytes;
    const u32 pieces = size / width + (size % width != 0 ? 1 : 0);
    row_division result;
    if (pieces > pieces_of_row_alone / tensors)
      while (result.blocks < most_blocks && result.blocks < most_row_blocks &&
             pieces > pieces_of_part(vectors) * result.blocks)
        result.blocks *= 2;
    const auto lanes = [&] { return u32{1} << result.lanes_log; };
    while (lanes() < row_threads && 2 * lanes() * (lanes() < 8 ? 3 : per_lane) <= pieces) ++result.lanes_log;
    while (lanes() < least_lanes && lanes() < pieces) ++result.lanes_log;
    return result;
  }
};

struct rows_problem {
  u32 rows, size;
  divisor heads, tokens;
  u32 is_flat;   // only the stride of heads counts: a row's number times it is the row's place
  u32 is_dense;  // the rows of a block are copied as one: they follow each other without gaps, in every tensor
  u32 lanes_log;  // see row_division
  u32 blocks;
  u32 share;               // elements of a row that a block has
  u32 staged;              // pieces that a block holds in shared memory, a multiple of its threads
  u32 has_staged_factors;  // next to them, pieces of numbers that belong to the elements of each row
};

}  // namespace kaio::ops
