#pragma once
// The rows of the kernels of matmul_w4 in the table, for one dequantisation and element type.

#include <kaio/ops/quantised/w4/kernel.hpp>
#include <kaio/ops/quantised/w4/variant.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace kaio::ops {

template <class D, scalar T, std::uint32_t... Rows>
std::span<const w4_variant> matmul_w4_rows() {
  static const auto& rows = *new std::array{describe_w4<D, T, Rows>()...};
  return rows;
}

}  // namespace kaio::ops
