#pragma once
// The tables of the kernels of softmax and of its gradient.

#include <kaio/ops/softmax/common/problem.hpp>

#include "ops/rows/plan.hpp"

namespace kaio::ops {

const row_variants<softmax_problem>& softmax_variants();
const row_variants<softmax_backward_problem>& softmax_backward_variants();

}  // namespace kaio::ops
