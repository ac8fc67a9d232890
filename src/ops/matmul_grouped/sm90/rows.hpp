#pragma once
// The kernel of matmul_grouped for sm_90a.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include "ops/matmul_grouped/common/call.hpp"

namespace kaio::ops {

// Whether the operands are as tensor copies need them: lines at multiples of 16 bytes, and neighbours of A along K,
// of B along K or N, of C along N.
bool grouped_sm90_takes(const grouped_call& call);
void launch_grouped_sm90(const stream& s, const grouped_call& call);
const ptx::kernel_image& grouped_sm90_image();

}  // namespace kaio::ops
