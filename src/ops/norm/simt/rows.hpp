#pragma once
// The kernels of rms_norm and layer_norm.

#include <kaio/ops/norm/common/problem.hpp>

#include "ops/rows/plan.hpp"

namespace kaio::ops {

const row_variants<norm_problem>& norm_variants();
const row_variants<general_norm_problem>& general_norm_variants();

}  // namespace kaio::ops
