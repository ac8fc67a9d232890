#pragma once
// Parameters of the kernels of softmax and log_softmax, and of their gradients.

#include <kaio/ops/rows/division.hpp>

namespace kaio::ops {

struct softmax_problem {
  rows_problem rows;
  row_strides x, out;
  row_strides lse;  // f32, one for each row; address 0: there is none
  f32 scale;        // x is multiplied by it
  u32 is_log;       // log_softmax
};

struct softmax_backward_problem {
  rows_problem rows;
  row_strides y, dy, dx;
  f32 scale;
  u32 is_log;
};

}  // namespace kaio::ops
