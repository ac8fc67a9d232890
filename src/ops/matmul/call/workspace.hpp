#pragma once
// matmul_workspace_bytes for operations that have other names.

#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops::detail {

std::uint64_t workspace_of_matmul(std::string_view operation, const stream& s, const matmul_view& a,
                                  const matmul_view& b, const matmul_view& c, const matmul_options& options);

}  // namespace kaio::ops::detail
