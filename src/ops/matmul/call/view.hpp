#pragma once
// Operands of matmul made from the views of other operations, and transposed views.

#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/ops/shared/any_view.hpp>

#include <cstdint>
#include <utility>

namespace kaio::ops {

// `v` has at most three dimensions, and a type that matmul has.
inline matmul_view matmul_view_of(const any_view& v) {
  matmul_view result;
  static_cast<any_view&>(result) = v;
  return result;
}

// Exchanges the last two dimensions, if there are two.
inline matmul_view transposed(matmul_view v) {
  if (v.rank < 2) return v;
  std::swap(v.extents[v.rank - 2], v.extents[v.rank - 1]);
  std::swap(v.strides[v.rank - 2], v.strides[v.rank - 1]);
  return v;
}

}  // namespace kaio::ops
