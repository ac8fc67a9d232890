#include "ops/weight_only/gemv/norm_of_row.hpp"

#include <kaio/ops/rows/division.hpp>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

bool set_norm_of_row(w4_one_row_work& work, const any_view& x, const x_norm& norm) {
  const auto k = static_cast<u32>(x.extents[x.rank - 1]);
  if (norm.weight.address % 16 != 0 || k % run_size != 0) return false;
  // The kernel has room for as much of a row. A row of a cluster has another order of its sum in rms_norm.
  if (k > 32 * 1024 / x.element_bytes()) return false;
  const row_division division = row_division::of(k, x.element_bytes(), true, 1, true);
  const auto begins_elsewhere = [](const any_view& v) { return is_given(v) && v.address % 16 != 0; };
  if (begins_elsewhere(norm.residual) || begins_elsewhere(norm.residual_out)) return false;
  if (is_given(norm.residual_out) && norm.residual_out.address == norm.residual.address) return false;
  work.norm = norm.weight.address;
  work.residual = is_given(norm.residual) ? norm.residual.address : 0;
  work.residual_out = is_given(norm.residual_out) ? norm.residual_out.address : 0;
  work.lanes_log = division.lanes_log;
  work.epsilon = norm.epsilon;
  work.weight_offset = norm.weight_offset;
  return true;
}

}  // namespace kaio::ops::detail
