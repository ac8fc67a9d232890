#pragma once
// The product of qkv_project_with. Its heads are launched at the call site.

#include <kaio/ops/qkv_project/call/arguments.hpp>
#include <kaio/ops/qkv_project/common/problem.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>

namespace kaio::runtime {
class device;
}

namespace kaio::ops::detail {

// What the launch of the heads takes, once the product is launched. Without rows there is nothing to do.
struct launched_qkv_product {
  qkv_problem problem{};
  qkv_product product{};
};
launched_qkv_product run_qkv_product(const stream& s, const qkv_arguments& arguments);
std::uint64_t workspace_of_qkv(const stream& s, const qkv_arguments& arguments);
// Returns whether the call launches anything.
bool warm_up_qkv_product(const runtime::device& gpu, const qkv_arguments& arguments);

}  // namespace kaio::ops::detail
