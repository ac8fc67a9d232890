#pragma once
// The kernel table of matmul_w4 for one dequantisation and element type.

#include <kaio/ops/weight_only/choice/variant.hpp>
#include <kaio/ops/weight_only/common/decode_bytes.hpp>
#include <kaio/ops/weight_only/common/decode_e2m1.hpp>
#include <kaio/ops/weight_only/common/decode_rounded.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>
#include <kaio/ops/weight_only/mma_sync/kernel.hpp>

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace kaio::ops {

// The kernels that round weights, for all rows that their launches may choose.
template <class D, scalar T, std::uint32_t Rows>
void add_w4_rounded(std::vector<w4_variant>& all) {
  constexpr w4_sm90_config config = w4_sm90_of<D>(Rows);
  for (std::uint32_t rows = config.least_rows; rows <= config.rows; rows += 16)
    all.push_back(describe_w4_sm90<D, T, Rows>(rows));
}
template <class D, scalar T>
void add_w4_rounded(std::vector<w4_variant>& all) {
  add_w4_rounded<D, T, 128>(all);
  add_w4_rounded<D, T, 256>(all);
}

// The kernels, in this order:
//
//   1 row of x             integers, from sm_90 on
//   8 rows, then 16        each from sm_90 on, then from sm_80 on
//   Rows                   from sm_80 on
//   32, 64, 128 rows       sm_90a, without offsets: sums of x would be products of their own
//   16 to 128, to 256      sm_90a, integers without offsets, rounds weights, rows by launch; w4: scales of the type
//                          of x, then of the other type
template <class D, scalar T, std::uint32_t... Rows>
std::span<const w4_variant> matmul_w4_rows() {
  static const auto& rows = *[] {
    if constexpr (D::offsets)
      return new std::vector{describe_w4_few_rows<D, T, 8, 90>(), describe_w4_few_rows<D, T, 8, 80>(),
                             describe_w4_few_rows<D, T, 16, 90>(), describe_w4_few_rows<D, T, 16, 80>(),
                             describe_w4<D, T, Rows>()...};
    else {
      auto* all = new std::vector<w4_variant>;
      if constexpr (std::is_same_v<D, w4_integers>) all->push_back(describe_w4_one_row<w4_one_row, T>());
      if constexpr (std::is_same_v<D, w8_integers>) all->push_back(describe_w4_one_row<w8_one_row, T>());
      all->insert(all->end(), {describe_w4_few_rows<D, T, 8, 90>(), describe_w4_few_rows<D, T, 8, 80>(),
                               describe_w4_few_rows<D, T, 16, 90>(), describe_w4_few_rows<D, T, 16, 80>(),
                               describe_w4<D, T, Rows>()..., describe_w4_sm90<D, T, 32>(),
                               describe_w4_sm90<D, T, 64>(), describe_w4_sm90<D, T, 128>()});
      if constexpr (std::is_same_v<D, w4_integers>) {
        add_w4_rounded<w4_rounded<D, w4_rounding::of_own_scales>, T>(*all);
        add_w4_rounded<w4_rounded<D, w4_rounding::in_f32>, T>(*all);
      }
      if constexpr (std::is_same_v<D, w8_integers>)
        add_w4_rounded<w4_rounded<D, w4_rounding::of_any_scales>, T>(*all);
      return all;
    }
  }();
  return rows;
}

}  // namespace kaio::ops
