#pragma once
// Parameters of the kernel of scan.

#include <kaio/ops/reduce/common/problem.hpp>

namespace kaio::ops {

inline constexpr u32 scan_threads = 256;

// What a launch does with its chunks. totals: writes the sum of each chunk to `carries`. whole: rows of one
// chunk. carried: chunks that begin with the sum of all chunks before, from `carries`.
enum class scan_step : u32 { totals, whole, carried };

struct scan_problem {
  u64 from, to;
  u64 carries;  // at [row * splits + split]
  i64 from_stride, to_stride;
  u64 size;  // elements of a row
  u32 chunk, splits;
  u32 rows;
  u32 lanes_log;  // log2 of the threads of a row
  u32 from_aligned, to_aligned;
  u32 exclusive;
  u32 step;  // a scan_step
  kept_dimensions kept;
};

}  // namespace kaio::ops
