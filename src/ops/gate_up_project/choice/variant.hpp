#pragma once
// The kernels of gate_up_project that need no product in memory, as data.

#include <kaio/ops/gate_up_project/combine/kernel.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/weight_only/common/codes.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

struct gate_up_variant {
  const ptx::kernel_image* image = nullptr;
  // norm: norm of x, if x has one row.
  void (*run)(const stream&, const w4_problem&, const gate_up_problem&,
              const w4_one_row_work& norm) = nullptr;
  element_type type = element_type::f16;       // element type of x and out
  w4_codes codes = w4_codes::int4;             // codes of weights; nf4 also takes fp4
  std::uint32_t rows = 0;                      // rows of x, at most
  std::uint32_t columns = 0;                   // columns of the product per block
  const w4_one_row_config* one_row = nullptr;  // for gate_up_w4_one_row, else none
  f32 unit = 1;                                // w4_problem::unit, if the decoder has one
};

}  // namespace kaio::ops
