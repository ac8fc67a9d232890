#pragma once
// qkv_project in one launch for few rows: the choice of its kernel, and its launch.

#include <kaio/ops/qkv_project/call/arguments.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <vector>

#include "ops/qkv_project/choice/plan.hpp"
#include "ops/qkv_project/choice/variant.hpp"
#include "ops/qkv_project/common/resolve.hpp"

namespace kaio::ops {

struct qkv_few_rows {
  const qkv_few_rows_variant* variant = nullptr;  // none: the call takes another form
  qkv_few_rows_call call{};                       // without the memory of packed weights
};

// Throws invalid_argument if the options name one of these kernels and it cannot run the call. `takes_norm`:
// only a kernel for one row, which applies a norm of x itself.
qkv_few_rows choose_qkv_few_rows(const void* device, const device_properties& properties,
                                 const detail::qkv_arguments& arguments, const detail::qkv_call& call,
                                 bool takes_norm = false);
// Appends the kernels that can run a call, once for each number of splits.
void list_qkv_few_rows(std::vector<qkv_choice>& choices, const detail::qkv_arguments& arguments,
                       const detail::qkv_call& call, const device_properties& properties);
void run_qkv_few_rows(const stream& s, const detail::qkv_arguments& arguments, const qkv_few_rows& of);

// The number of blocks of a cluster that divide K: the one that leaves a multiprocessor the least to do.
std::uint32_t plan_qkv_splits(const qkv_few_rows_variant& v, std::uint32_t clusters, std::uint32_t tiles_k,
                              const device_properties& device);

}  // namespace kaio::ops
