#pragma once
// Parameters of the kernels of reduce, and how an index of the dimensions that remain becomes an offset.

#include <kaio/ops/shared/divisor.hpp>

namespace kaio::ops {

inline constexpr u32 reduce_threads = 256;
inline constexpr u32 reduce_vectors = 4;  // vectors of 16 bytes that a thread has in flight

// The dimensions that remain, at most four; the last one changes fastest. Strides count elements.
struct kept_dimensions {
  divisor last, third, second;
  i64 from[4], to[4];
};

struct reduce_problem {
  u64 from, to;
  i64 stride;     // of the input along the axis
  i64 to_column;  // columns: of the output from column to column
  u64 size;       // elements of the axis
  u64 count;      // what `finish` gets
  u32 chunk;      // elements of the axis that a block reduces
  u32 splits;     // chunks of the axis
  u32 rows;       // kept indices, without that of the column
  u32 columns;
  divisor column_blocks;
  u32 lanes_log;  // log2 of the threads next to each other in a row, or with neighbouring columns
  u32 depth_log;  // columns: log2 of the threads that share a column
  u32 aligned;    // vectors begin at multiples of 16 bytes
  // 1: `to` is the output. 0: `to` has accumulators, at [(row * columns + column) * splits + split].
  u32 finished;
  u32 out_type;  // of an output with accumulators of f32: an element_type
  kept_dimensions kept;
};

struct kept_offsets {
  val<i64> from, to;
};

template <class Kept>
constexpr kept_offsets offsets_of(thread t, const val<u32>& index, const Kept& kept) {
  const quotient last = divide(t, index, kept[&kept_dimensions::last]);
  const quotient third = divide(t, last.whole, kept[&kept_dimensions::third]);
  const quotient second = divide(t, third.whole, kept[&kept_dimensions::second]);
  const auto sum = [&](const auto& strides) {
    return t.let(cast<i64>(second.whole) * strides[0] + cast<i64>(second.rest) * strides[1] +
                 cast<i64>(third.rest) * strides[2] + cast<i64>(last.rest) * strides[3]);
  };
  const val from = sum(kept[&kept_dimensions::from]);
  const val to = sum(kept[&kept_dimensions::to]);
  return {from, to};
}

}  // namespace kaio::ops
