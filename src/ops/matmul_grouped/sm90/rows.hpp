#pragma once
// The kernels of matmul_grouped and gate_up_grouped with wgmma.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <vector>

#include "ops/matmul_grouped/common/call.hpp"

namespace kaio::ops {

// Whether these kernels compute a call that is_aligned().
bool grouped_sm90_takes(const grouped_call& call);
void launch_grouped_sm90(const stream& s, const grouped_call& call);
// The kernels of matmul_grouped, and after them that of gate_up_grouped.
std::vector<const ptx::kernel_image*> grouped_sm90_images();
void launch_gate_up_sm90(const stream& s, const grouped_call& call);
const ptx::kernel_image& gate_up_sm90_image();

}  // namespace kaio::ops
