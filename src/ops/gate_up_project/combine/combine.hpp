#pragma once
// The kernel of gate_up_project that combines its products.

#include <kaio/ops/gate_up_project/combine/kernel.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <vector>

namespace kaio::ops {

const ptx::kernel_image& gate_up_combine_image(const device_properties& device);
void run_gate_up_combine(const stream& s, const gate_up_problem& problem, std::uint64_t blocks);

}  // namespace kaio::ops
