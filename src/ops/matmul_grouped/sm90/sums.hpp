#pragma once
// The kernels of matmul_grouped_backward for the gradients of the matrices: with wgmma.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <vector>

#include "ops/matmul_grouped/common/sums_call.hpp"

namespace kaio::ops {

void launch_grouped_sums_sm90(const stream& s, const grouped_sums_call& call);
std::vector<const ptx::kernel_image*> grouped_sums_sm90_images();

}  // namespace kaio::ops
