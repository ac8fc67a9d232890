#pragma once
// The checks of the operations on packed weights, before anything runs.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>

#include <string>
#include <string_view>

namespace kaio::ops::detail {

[[noreturn]] void refuse_w4(std::string_view operation, const std::string& what);
// Throws for repack: "the shape of argument weights has `has`, and `given`; set shape.`setting`".
[[noreturn]] void refuse_w4_shape(const std::string& has, const std::string& given,
                                  const std::string& setting);
// Throws if zero points are given for a shape without them.
void check_no_w4_zeros(std::string_view name, const any_view& zeros);
std::string_view name_of(w4_codes codes);
std::string_view name_of(w4_scale_type type);

// Throws invalid_argument if the shape is not valid. A group of -1, or above k, becomes k.
w4_layout check_w4_shape(std::string_view operation, w4_shape& shape);
// The packed weights as kernels take them. Without their memory only the shape is checked.
w4_packed check_w4_weights(std::string_view operation, const void* device, const w4_weights& w,
                           bool with_memory);
// All of the packed memory, as a view of bytes.
any_view memory_view(const w4_weights& w);
// The address of a file's index of groups for `to`; 0 if `to` is not ordered.
std::uint64_t check_w4_act_order(const validation& check, std::string_view name,
                                 const tensor_view<const i32, 1>& act_order, const w4_weights& to);

// The checked problem, without the fields that the kernel decides. choice_alone: there is no output.
w4_problem resolve_w4_product(const void* device, const matmul_w4_arguments& arguments, bool choice_alone);
w4_source resolve_repack_w4(const void* device, const w4_source_arguments& source, const w4_weights& to);
w4_bytes_source resolve_repack_w4(const void* device, const w4_bytes_arguments& source, const w4_weights& to);
w4_matrix resolve_dequantise_w4(const void* device, const w4_weights& w, const any_view& out);

}  // namespace kaio::ops::detail
