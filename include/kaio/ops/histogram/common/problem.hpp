#pragma once
// Parameters of the kernel of histogram.

#include <kaio/ops/reduce/common/problem.hpp>

namespace kaio::ops {

inline constexpr u32 histogram_threads = 256;
inline constexpr u32 histogram_words = 4096;  // of shared memory: bins, or copies of fewer bins

struct histogram_problem {
  u64 from;
  i64 stride;  // of neighbours in a row
  u64 size;    // elements of a row
  u32 chunk;   // elements of a row that a group of threads counts at once
  divisor splits;
  u32 units;  // blocks of rows, times splits
  u32 rows;
  u32 lanes_log;
  u32 aligned;
  u32 bins;
  u32 copies_log;  // log2 of the copies in shared memory
  u32 in_shared;   // 0: more bins than shared memory holds
  u64 counts;
  i64 counts_stride;
  u64 outside;  // below, above, NaN; 0: not counted
  i64 outside_stride;
  // Integers: x ^ flip is unsigned and in order; `first` is that of the first bin.
  u32 flip, first;
  f32 low, high, scale;
  kept_dimensions kept;
};

}  // namespace kaio::ops
