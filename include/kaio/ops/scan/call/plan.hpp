#pragma once
// A call of scan as launches.

#include <kaio/ops/scan/common/problem.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/workspace.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kaio::ops {

struct scan_options {
  bool exclusive = false;      // out[i] combines the elements before i; out[0] is the identity
  workspace_view workspace{};  // scan_workspace_bytes bytes, at a multiple of 16
};

namespace detail {

struct scan_launch {
  scan_problem problem;
  std::uint64_t blocks;
  std::uint32_t splits;
};

// Throws invalid_argument. Nothing to do: no launches.
std::vector<scan_launch> plan_scan(const void* device, std::string_view operation, const any_view& x,
                                   const any_view& out, const scan_options& options);
std::uint64_t scan_bytes(const any_view& x, const any_view& out);

}  // namespace detail

}  // namespace kaio::ops
