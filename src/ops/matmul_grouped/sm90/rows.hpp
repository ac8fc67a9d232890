#pragma once
// The kernel of matmul_grouped for sm_90a.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <vector>

#include "ops/matmul_grouped/common/call.hpp"

namespace kaio::ops {

// For a call that is_aligned().
void launch_grouped_sm90(const stream& s, const grouped_call& call);
std::vector<const ptx::kernel_image*> grouped_sm90_images();

}  // namespace kaio::ops
