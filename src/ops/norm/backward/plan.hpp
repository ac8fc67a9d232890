#pragma once
// How a call of rms_norm_backward or layer_norm_backward is launched. Two ways, by the size of a row alone:
//
//   sums fit shared memory    rows: dx, and a partial sum for each block          then the sum of these
//   otherwise                 rows: dx, and statistics     columns: partial sums  then the sum of these

#include <kaio/ops/norm/backward/problem.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>
#include <initializer_list>

#include "ops/rows/plan.hpp"

namespace kaio::ops {

struct norm_backward_plan {
  row_plan rows;
  u32 groups = 0;            // of rows
  bool by_columns = false;   // a kernel of its own makes the sums
  bool has_third_x = false;  // a block holds three rows of x
  u32 partials = 0, rows_of_partial = 0;
  std::uint64_t sums_bytes = 0;  // of one gradient's partial sums
  std::uint64_t statistics_bytes = 0;
};

// sums: how many of dweight and dbias are wanted.
norm_backward_plan plan_norm_backward(const device_properties& device, const any_view& x,
                                      std::initializer_list<const any_view*> like,
                                      std::initializer_list<const any_view*> factors, u32 sums);

}  // namespace kaio::ops
