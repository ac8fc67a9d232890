#pragma once
// Checks of qkv_project before anything runs.

#include <kaio/ops/qkv_project/call/arguments.hpp>
#include <kaio/ops/qkv_project/common/problem.hpp>

#include <array>
#include <cstdint>

#include "ops/qkv_project/common/product.hpp"

namespace kaio::ops::detail {

struct qkv_call {
  qkv_problem problem{};
  std::array<projection_columns, 3> projections{};
  std::uint32_t count = 1;     // projections
  std::uint64_t tokens = 0;    // tokens of all batches
  std::uint32_t n = 0, k = 0;  // columns of the product, and its inner dimension
  std::uint64_t rows = 0;      // rows of heads
  bool follows = true;         // rows of x are equally far apart, across batches too
  bool empty() const { return rows == 0; }
};

// Throws invalid_argument.
qkv_call resolve_qkv(const void* device, const qkv_arguments& arguments);

}  // namespace kaio::ops::detail
