#pragma once
// The kernels of matmul_grouped and gate_up_grouped with matrix instructions of a warp.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <vector>

#include "ops/matmul_grouped/common/call.hpp"

namespace kaio::ops {

// The kernel for the type and the layout of a call that is_aligned().
void launch_grouped_mma(const stream& s, const grouped_call& call);
const ptx::kernel_image& grouped_mma_image(const grouped_call& call);
std::vector<const ptx::kernel_image*> grouped_mma_images();
std::vector<const ptx::kernel_image*> gate_up_mma_images();

}  // namespace kaio::ops
