#pragma once
// How a sequence is divided among ranks.
//
//   contiguous   rank r has the r-th of `ranks` pieces
//   zigzag       of 2 * ranks pieces, rank r has piece r and, after it, piece 2 * ranks - 1 - r. With a causal mask
//                all ranks then have equal work
//
//   4 ranks, zigzag     rank 0: 0 7    rank 1: 1 6    rank 2: 2 5    rank 3: 3 4
//
// Piece i of n begins at row i * rows / n, rounded down, so any number of rows is divided.
//
// Packed sequences of given lengths follow each other in one row. contiguous cuts the row as a whole; zigzag cuts each
// sequence, and a rank has its two pieces of each, sequence by sequence. Sequences of 5 and 7 rows on two ranks, zigzag:
//
//   row        a0 a1 a2 a3 a4 b0 b1 b2 b3 b4 b5 b6
//   pieces     a:  01 2 3 4     b:  0 12 34 56
//   rank 0     a0 a1 a4 b0 b5 b6
//   rank 1     a2 a3 b1 b2 b3 b4
//
// A sequence of n rows gives each of the 2 * ranks pieces n / (2 * ranks) rows. The rows that are left go to one piece
// each; the first of them is the piece after the one that got the last such row of the sequence before. So the numbers of
// rows of two ranks differ by at most 1, for any lengths.

#include <kaio/ops/distributed/communicator.hpp>
#include <kaio/ops/shared/any_view.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kaio::ops {

enum class context_layout : std::uint8_t { contiguous, zigzag };

// Neighbouring rows of a sequence.
struct context_rows {
  std::int64_t begin = 0, count = 0;
  friend bool operator==(const context_rows&, const context_rows&) = default;
};

// The rows of a rank, in the order in which it has them. Throws invalid_argument: no such rank, a negative number.
std::vector<context_rows> context_rows_of(context_layout layout, std::int64_t rows, int ranks, int rank);
// The place in the sequence of each row of a rank: the positions of rotary embeddings.
std::vector<std::int32_t> context_positions(context_layout layout, std::int64_t rows, int ranks, int rank);

// context_rows_of for packed sequences: places in the row of all sequences. Pieces without rows are left out. Throws
// invalid_argument: a negative length, more than 2^31 - 1 rows in all.
std::vector<context_rows> context_rows_of(context_layout layout, std::span<const std::int64_t> lengths,
                                          int ranks, int rank);
// The place of each row of a rank in its own sequence.
std::vector<std::int32_t> context_positions(context_layout layout, std::span<const std::int64_t> lengths,
                                            int ranks, int rank);

// Copies a rank's rows of a whole tensor on its device. whole: (B, S, ...), local: (B, rows of the rank, ...), without
// gaps, of one element type. No rank needs another one. lengths: of packed sequences, S rows in all; none: one sequence.
void context_shard(const communicator& c, const stream& s, const any_view& whole, const any_view& local,
                   context_layout layout = context_layout::zigzag,
                   std::span<const std::int64_t> lengths = {});
// The opposite: each rank gets the rows of all. All ranks call it.
void context_unshard(const communicator& c, const stream& s, const any_view& local, const any_view& whole,
                     context_layout layout = context_layout::zigzag,
                     std::span<const std::int64_t> lengths = {});

}  // namespace kaio::ops

namespace kaio {
using ops::context_layout;
using ops::context_positions;
using ops::context_rows;
using ops::context_rows_of;
using ops::context_shard;
using ops::context_unshard;
}  // namespace kaio
