#pragma once
// The kernels of rms_norm_backward and layer_norm_backward.

#include <kaio/ops/norm/backward/problem.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <vector>

#include "ops/norm/backward/plan.hpp"

namespace kaio::ops {

const row_variants<norm_backward_problem>& norm_backward_variants();

void launch_norm_columns(const stream& s, const norm_backward_plan& plan,
                         const norm_columns_problem& problem);
// Adds the partial sums of dweight and dbias.
void launch_norm_partials(const stream& s, const norm_partials_problem& problem);

// The kernels of a device that calls with any type of elements run.
std::vector<const ptx::kernel_image*> norm_backward_sums_kernels(const device_properties& device);

}  // namespace kaio::ops
