#pragma once
// A call of reduce as launches. The plan depends on extents, strides and alignment; it is made once for all
// operators.

#include <kaio/ops/reduce/common/problem.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/workspace.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kaio::ops {

struct reduce_options {
  std::int64_t axis = -1;      // below 0: counted from the last one
  bool all = false;            // reduces all dimensions; `axis` is not read
  workspace_view workspace{};  // reduce_workspace_bytes bytes, at a multiple of 16
};

namespace detail {

enum class reduce_kernel : std::uint8_t { rows, columns, final };

// final: rows of accumulators in the workspace, whose elements are no longer mapped.
struct reduce_step {
  reduce_kernel kernel;
  reduce_problem problem;
  std::uint64_t blocks;
  std::uint32_t splits;
};

struct reduce_arguments {
  std::string_view operation;
  any_view x, out;
  const reduce_options* options;
  std::uint32_t accumulator_bytes;
};

// Throws invalid_argument. Nothing to do: no steps.
std::vector<reduce_step> plan_reduce(const void* device, const reduce_arguments& of);
std::uint64_t reduce_bytes(const reduce_arguments& of);

}  // namespace detail

}  // namespace kaio::ops
