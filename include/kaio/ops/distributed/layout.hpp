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

#include <kaio/ops/distributed/communicator.hpp>
#include <kaio/ops/shared/any_view.hpp>

#include <cstdint>
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

// Copies a rank's rows of a whole tensor on its device. whole: (B, S, ...), local: (B, rows of the rank, ...), without
// gaps, of one element type. No rank needs another one.
void context_shard(const communicator& c, const stream& s, const any_view& whole, const any_view& local,
                   context_layout layout = context_layout::zigzag);
// The opposite: each rank gets the rows of all. All ranks call it.
void context_unshard(const communicator& c, const stream& s, const any_view& local, const any_view& whole,
                     context_layout layout = context_layout::zigzag);

}  // namespace kaio::ops

namespace kaio {
using ops::context_layout;
using ops::context_positions;
using ops::context_rows;
using ops::context_rows_of;
using ops::context_shard;
using ops::context_unshard;
}  // namespace kaio
