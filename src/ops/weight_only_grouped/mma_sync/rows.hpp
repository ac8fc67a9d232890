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

// The kernels, the best one for fewer rows first:
//
//   8, 16 rows     from sm_90 on
//   32, 64 rows    sm_90a, without offsets
//   32 rows        from sm_80 on
template <class D, scalar T>
std::span<const w4_grouped_variant> matmul_w4_grouped_rows() {
  static const auto& rows = *[] {
    if constexpr (D::offsets)
      return new std::array{describe_w4_grouped_few_rows<D, T, 8, 90>(),
                            describe_w4_grouped_few_rows<D, T, 16, 90>(), describe_w4_grouped_mma<D, T>()};
    else
      return new std::array{describe_w4_grouped_few_rows<D, T, 8, 90>(),
                            describe_w4_grouped_few_rows<D, T, 16, 90>(),
                            describe_w4_grouped_sm90<D, T, 32>(), describe_w4_grouped_sm90<D, T, 64>(),
                            describe_w4_grouped_mma<D, T>()};
  }();
  return rows;
}

}  // namespace kaio::ops
