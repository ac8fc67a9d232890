#pragma once
// Parameters of the kernels of rms_norm_backward and layer_norm_backward.

#include <kaio/ops/rows/division.hpp>

namespace kaio::ops {

inline constexpr u32 pair_rounds = 4;  // pieces of a row that a thread has, before the next block has some
inline constexpr u32 pair_stages = 2;  // rows that a block holds if it copies them ahead

// Elements from a row of partial sums to the next one: each row begins at a multiple of 16 bytes.
template <class Size>
constexpr auto partial_pitch(const Size& size) {
  return (size + 3u) & ~3u;
}

struct norm_backward_problem {
  rows_problem rows;
  row_strides x, dy, dx;
  row_strides dh;  // added to dx; address 0: none
  u64 weight;      // 0: none, which is a factor of 1
  // Sums over the rows of a block, f32: (partials, size), rows at partial_pitch. 0: not wanted.
  u64 weight_sums, bias_sums;
  u64 statistics;  // f32: the mean and the inverse of each row; 0: not wanted
  f32 epsilon, weight_offset;
  u32 is_weight_f32;  // whatever x is
  u32 is_centred;     // layer_norm
  u32 groups;         // of rows; a block has a group at once
  u32 has_third_x;    // stage of x, in shared memory
};

// Sums over rows for columns that do not fit shared memory.
struct norm_columns_problem {
  rows_problem rows;
  row_strides x, dy;
  u64 weight_sums, bias_sums;  // (partials, size) each, as above
  u64 statistics;
  u32 type;  // of x, an element_type
  u32 rows_of_partial;
};

// The last step: partial sums in their order, rounded once.
struct norm_partials_problem {
  u64 weight_sums, bias_sums;
  u64 dweight, dbias;
  u32 dweight_type, dbias_type;  // element_type
  u32 partials, size;
};

}  // namespace kaio::ops
