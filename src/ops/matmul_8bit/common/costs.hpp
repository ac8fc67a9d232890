#pragma once
// What the cost model knows of the kernels of matmul_fp8 and matmul_int8.

#include "ops/matmul/choice/table.hpp"
#include "ops/matmul_8bit/common/fitted.hpp"

namespace kaio::ops {

// Gives a kernel of a list, which is for scales of groups or not, what was measured of its configuration, or
// what was measured of plain products of 8-bit floats where none was.
inline void take_costs_of_bytes(matmul_variant& v, bool groups) {
  detail::take_fitted_costs(v);
  const bool is_int8 = v.operand == matmul_type::i8;
  for (const byte_kernel_costs& row : fitted_byte_kernels) {
    const bool fits = row.family == v.family && row.is_int8 == is_int8 && row.groups == groups &&
                      row.general == v.general && row.m == v.m && row.n == v.n && row.k == v.k;
    if (!fits) continue;
    v.start_clocks = row.start_clocks;
    v.rate = row.rate;
    v.step_clocks = row.step_clocks;
  }
}

}  // namespace kaio::ops
