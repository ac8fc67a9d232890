#pragma once
// What the kernels that multiply and finish heads ask of a call, and the weights as they take them.

#include <kaio/ops/qkv_project/call/arguments.hpp>
#include <kaio/ops/qkv_project/common/problem.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ops/qkv_project/common/resolve.hpp"
#include "ops/qkv_project/choice/variant.hpp"

namespace kaio::ops {

// Why such a kernel cannot run a call; empty: it can. For its heads:
std::string_view obstacle_of_heads(const qkv_problem& p);
// For heads, and for x and weights of the type of the outputs:
std::string_view obstacle_of_matrices(const detail::qkv_arguments& a, const detail::qkv_call& call);
// Whether tensor copies take x and the weight, of such a call:
bool has_tensor_maps(const detail::qkv_arguments& a, const detail::qkv_call& call);
// On a device:
std::string_view obstacle_of_device(const ptx::kernel_image& image, const device_properties& device);
// All of them, of a kernel for many rows:
std::string_view obstacle_of_fused(const qkv_variant& v, const detail::qkv_arguments& a,
                                   const detail::qkv_call& call, const device_properties& device);

// The kernels for many rows with outputs of this type: those for sm_90a last.
std::array<std::span<const qkv_variant>, 2> fused_variants(element_kind kind);

qkv_w16_weights matrices_of(const detail::qkv_arguments& a, const detail::qkv_call& call);

}  // namespace kaio::ops
