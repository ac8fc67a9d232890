#pragma once
// Gives the kernels of matmul_fp8 and matmul_int8 the constants of their cost model.

#include "ops/matmul/choice/table.hpp"
#include "ops/matmul_8bit/common/fitted.hpp"

namespace kaio::ops {

// Takes the costs measured for a kernel's configuration, with or without group scales. If there are none,
// those of matmul's kernel for plain 8-bit products stay, or those of its family. A tile that is narrower than
// its kernel's takes the costs of the narrowest one that it fits in.
inline void take_costs_of_bytes(matmul_variant& v, bool groups) {
  detail::take_fitted_costs(v);
  const bool is_int8 = v.operand == element_kind::i8;
  std::uint32_t narrowest = ~0u;
  for (const byte_kernel_costs& row : fitted_byte_kernels) {
    const bool fits = row.family == v.family && row.is_int8 == is_int8 && row.groups == groups &&
                      row.general == v.general && row.across == v.across && row.m == v.m &&
                      (v.is_narrow ? row.n >= v.n && row.n < narrowest : row.n == v.n) && row.k == v.k &&
                      row.alignment == v.a_alignment;
    if (!fits) continue;
    narrowest = row.n;
    v.start_clocks = row.start_clocks;
    v.rate = row.rate;
    v.step_clocks = row.step_clocks;
  }
}

}  // namespace kaio::ops
