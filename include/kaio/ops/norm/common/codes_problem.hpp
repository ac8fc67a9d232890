#pragma once
// What the kernels of rms_norm into codes of 8 bits take.

#include <kaio/ops/norm/common/problem.hpp>

namespace kaio::ops {

struct rms_norm_codes_problem {
  rms_norm_problem norm;  // out: codes, where aligned in runs that begin at multiples of 8 bytes
  row_strides scales;     // f32, one of each row; address 0: all by `scale`
  u32 kept;               // kept_type, of e4m3 and i8
  f32 scale;
};

}  // namespace kaio::ops
