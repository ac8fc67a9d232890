#pragma once
// The kernels of matmul_grouped_backward for the gradients of the matrices: with matrix instructions of a warp.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include "ops/matmul_grouped/common/sums_call.hpp"

namespace kaio::ops {

void launch_grouped_sums_mma(const stream& s, const grouped_sums_call& call);
const ptx::kernel_image& grouped_sums_mma_image(element_kind type);

}  // namespace kaio::ops
