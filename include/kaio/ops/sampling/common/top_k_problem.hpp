#pragma once
// Parameters of the kernel of top_k.

#include <kaio/ops/sampling/common/problem.hpp>

namespace kaio::ops {

inline constexpr u32 most_top_k = sample_threads;

// An output of k elements for each row, which are adjacent.
struct top_k_rows_out {
  u64 address;
  i64 stride;  // from row to row, in elements
};

struct top_k_problem {
  u64 x;
  i64 stride;
  u32 type;  // an element_type
  u32 rows, size, k;
  u32 log_list;  // a block sorts lists of 2^log_list elements, a row each; none: 32, a team has a row
  u32 of_warp;
  u32 wide;  // indices are i64, else i32
  top_k_rows_out values, indices;
};

// log2 of the list that holds a row of at most a block's threads.
constexpr u32 top_k_log_list(u32 size) {
  if (size > sample_threads) return 32;
  u32 log = 0;
  while ((u32{1} << log) < size) ++log;
  return log;
}

}  // namespace kaio::ops
