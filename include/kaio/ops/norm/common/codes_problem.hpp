#pragma once
// Parameters of the kernels of rms_norm into 8-bit codes.

#include <kaio/ops/norm/common/problem.hpp>

namespace kaio::ops {

struct rms_norm_codes_problem {
  rms_norm_problem norm;  // out: codes; if aligned, their runs begin at multiples of 8 bytes
  row_strides scales;     // f32, one per row; address 0: `scale` serves all rows
  u32 kept;               // a kept_type: e4m3 or i8
  f32 scale;
};

}  // namespace kaio::ops
