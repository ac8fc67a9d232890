#pragma once
// The kernels of matmul_grouped_backward for the gradients of the matrices: for any device and any strides.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include "ops/matmul_grouped/common/sums_call.hpp"

namespace kaio::ops {

void launch_grouped_sums_simt(const stream& s, const grouped_sums_call& call);
const ptx::kernel_image& grouped_sums_simt_image();

}  // namespace kaio::ops
