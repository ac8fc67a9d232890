#pragma once
// qkv_project in one launch for few rows: whether a call is one, and its launch.

#include <kaio/ops/qkv_project/call/arguments.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <vector>

#include "ops/qkv_project/choice/plan.hpp"
#include "ops/qkv_project/common/resolve.hpp"
#include "ops/qkv_project/choice/variant.hpp"

namespace kaio::ops {

struct qkv_few_rows {
  const qkv_few_rows_variant* variant = nullptr;  // none: another form has the call
  qkv_few_rows_call call{};                       // without the memory of packed weights
};

// Throws invalid_argument, where the options name one of these kernels that cannot run the call. `takes_norm`: of those
// for one row alone, which take a norm of x on; without one the others take less time, unless they are named.
qkv_few_rows choose_qkv_few_rows(const void* device, const device_properties& properties,
                                 const detail::qkv_arguments& arguments, const detail::qkv_call& call,
                                 bool takes_norm = false);
// Those that can run a call, each with its numbers of parts.
void list_qkv_few_rows(std::vector<qkv_choice>& choices, const detail::qkv_arguments& arguments,
                       const detail::qkv_call& call, const device_properties& properties);
void run_qkv_few_rows(const stream& s, const detail::qkv_arguments& arguments, const qkv_few_rows& of);

// Among how many blocks of a cluster K is divided: where a multiprocessor has the least to do.
std::uint32_t plan_qkv_parts(const qkv_few_rows_variant& v, std::uint32_t clusters, std::uint32_t tiles_k,
                             const device_properties& device);

}  // namespace kaio::ops
