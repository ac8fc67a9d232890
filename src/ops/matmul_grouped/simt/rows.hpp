#pragma once
// The kernels of matmul_grouped and gate_up_grouped for any device and any strides.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include "ops/matmul_grouped/common/call.hpp"

namespace kaio::ops {

std::uint64_t grouped_simt_blocks(const grouped_call& call);
void launch_grouped_simt(const stream& s, const grouped_call& call);
const ptx::kernel_image& grouped_simt_image();
const ptx::kernel_image& gate_up_simt_image();

}  // namespace kaio::ops
