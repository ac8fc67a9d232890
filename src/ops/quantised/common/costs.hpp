#pragma once
// What the cost model knows of the kernels of matmul_fp8 and matmul_int8.

#include "ops/matmul/choice/table.hpp"
#include "ops/quantised/common/fitted.hpp"

namespace kaio::ops {

// Gives a kernel of a list, which is for scales of groups or not, what was measured of its configuration; those
// of other configurations have what was measured of products of 8-bit floats.
inline void take_costs_of_bytes(matmul_variant& v, bool groups) {
  detail::take_fitted_costs(v);
  for (const byte_kernel_costs& row : fitted_byte_kernels) {
    const bool is_int8 = v.operand == matmul_type::i8;
    if (row.family != v.family || row.is_int8 != is_int8 || row.groups != groups || row.general != v.general ||
        row.m != v.m || row.n != v.n || row.k != v.k)
      continue;
    v.start_clocks = row.start_clocks;
    v.rate = row.rate;
  }
}

}  // namespace kaio::ops
