#pragma once
// Operands of matmul from the views of other operations, and transposed.

#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/ops/shared/any_view.hpp>

#include <cstdint>
#include <utility>

namespace kaio::ops {

// Of at most three dimensions, and a type that matmul has.
inline matmul_view matmul_view_of(const any_view& v) {
  matmul_view result;
  switch (v.kind) {
    case element_kind::f16: result.type = matmul_type::f16; break;
    case element_kind::bf16: result.type = matmul_type::bf16; break;
    case element_kind::e4m3: result.type = matmul_type::e4m3; break;
    case element_kind::e5m2: result.type = matmul_type::e5m2; break;
    case element_kind::i8: result.type = matmul_type::i8; break;
    default: result.type = matmul_type::f32; break;
  }
  result.rank = v.rank;
  result.address = v.address;
  result.bytes = v.bytes;
  result.device = v.device;
  for (std::uint32_t d = 0; d < v.rank; ++d) {
    result.extents[d] = v.extents[d];
    result.strides[d] = v.strides[d];
  }
  return result;
}

// The last two dimensions exchanged, where there are two.
inline matmul_view transposed(matmul_view v) {
  if (v.rank < 2) return v;
  std::swap(v.extents[v.rank - 2], v.extents[v.rank - 1]);
  std::swap(v.strides[v.rank - 2], v.strides[v.rank - 1]);
  return v;
}

}  // namespace kaio::ops
