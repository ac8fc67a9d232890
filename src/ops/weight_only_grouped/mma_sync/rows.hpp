#pragma once
// The kernel table of matmul_w4_grouped for one dequantisation and element type.

#include <kaio/ops/weight_only/common/decode_bytes.hpp>
#include <kaio/ops/weight_only/common/decode_e2m1.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>
#include <kaio/ops/weight_only_grouped/choice/variant.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace kaio::ops {

// The kernels, fewer rows first:
//
//   8 rows        from sm_90 on
//   16, Rows      from sm_80 on
//   128 rows      sm_90a, without offsets
template <class D, scalar T, std::uint32_t Rows>
std::span<const w4_grouped_variant> matmul_w4_grouped_rows() {
  static const auto& rows = *[] {
    if constexpr (D::offsets)
      return new std::array{describe_w4_grouped_few_rows<D, T, 8, 90>(),
                            describe_w4_grouped_few_rows<D, T, 16, 80>(),
                            describe_w4_grouped_mma<D, T, Rows>()};
    else
      return new std::array{describe_w4_grouped_few_rows<D, T, 8, 90>(),
                            describe_w4_grouped_few_rows<D, T, 16, 80>(),
                            describe_w4_grouped_mma<D, T, Rows>(), describe_w4_grouped_sm90<D, T, 128>()};
  }();
  return rows;
}

}  // namespace kaio::ops
