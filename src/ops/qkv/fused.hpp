#pragma once
// What the kernels that multiply and finish heads ask of a call, and the weights as they take them.

#include <kaio/ops/qkv/arguments.hpp>
#include <kaio/ops/qkv/problem.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>
#include <string_view>

#include "ops/qkv/resolve.hpp"

namespace kaio::ops {

// Why such a kernel cannot run a call; empty: it can. For its heads:
std::string_view obstacle_of_heads(const qkv_problem& p);
// For heads, and for x and weights of the type of the outputs:
std::string_view obstacle_of_matrices(const detail::qkv_arguments& a, const detail::qkv_call& call);
// On a device:
std::string_view obstacle_of_device(const ptx::kernel_image& image, const device_properties& device);

qkv_w16_weights matrices_of(const detail::qkv_arguments& a, const detail::qkv_call& call);

}  // namespace kaio::ops
