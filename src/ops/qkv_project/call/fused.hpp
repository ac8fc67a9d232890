#pragma once
// What the fused kernels, which multiply and finish heads, require of a call; and the weights as they take
// them.

#include <kaio/ops/qkv_project/call/arguments.hpp>
#include <kaio/ops/qkv_project/common/problem.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ops/qkv_project/choice/variant.hpp"
#include "ops/qkv_project/common/resolve.hpp"

namespace kaio::ops {

// Why a fused kernel cannot run a call; empty: it can. For its heads:
std::string_view refusal_of_heads(const qkv_problem& p);
// For its heads, and for x and weights of the type of the outputs:
std::string_view refusal_of_matrices(const detail::qkv_arguments& a, const detail::qkv_call& call);
// Whether tensor copies can read x and the weight of such a call:
bool has_tensor_maps(const detail::qkv_arguments& a, const detail::qkv_call& call);
// For the device:
// For all of these, in a kernel for many rows:
std::string_view refusal_of_fused(const qkv_variant& v, const detail::qkv_arguments& a,
                                  const detail::qkv_call& call, const device_properties& device);

// The kernels for many rows with outputs of this type: those for sm_90a last.
std::array<std::span<const qkv_variant>, 2> fused_variants(element_kind kind);

qkv_w16_weights matrices_of(const detail::qkv_arguments& a, const detail::qkv_call& call);

}  // namespace kaio::ops
