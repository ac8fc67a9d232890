#pragma once
// Arguments of the grouped products of operands of 8 bits, without types.

#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <string_view>
#include <type_traits>

namespace kaio::ops {

struct matmul_fp8_grouped_options {
  // (rows), i32, neighbours adjacent: row r of c is of row rows[r] of a. Without it, of row r of a. An index that is no
  // row of a counts as a row of zeros.
  any_view rows{};
  // Scales, f32, f16 or bf16; none: 1.
  //
  //   scale_a    (rows of a), or (1) for all rows
  //   scale_b    (groups, n), or (groups, 1)
  any_view scale_a{};
  any_view scale_b{};
  // Scales of groups of 128 along k, both or none, f32 with any strides:
  //
  //   groups_a    (rows of a, ceil(k / 128))
  //   blocks_b    (groups, ceil(k / 128), ceil(n / 128)); blocks (groups, n / 128, k / 128) are transposed()
  any_view groups_a{};
  any_view blocks_b{};
  any_view bias{};  // (groups, n), f32, f16 or bf16
  // Not none: columns 8 i to 8 i + 3 of b are gates, the next four are their values, and c is (rows, n / 2):
  //
  //   c[r, 4 i + j] = gate(min(y[r, 8 i + j], limit)) * (clamp(y[r, 8 i + 4 + j], -limit, limit) + up_offset)
  //
  // n / 2 is a multiple of 4; with blocks_b of 64. blocks_b are of the weights with all gates first. Scales of columns,
  // their sums and the bias are in the order of b. c is of f32, f16 or bf16.
  matmul_activation gate = matmul_activation::none;
  f32 alpha = 1;      // of silu; finite, above 0
  f32 limit = 0;      // 0: none; else finite, above 0
  f32 up_offset = 0;  // finite
};

struct matmul_int8_grouped_options {
  any_view rows{};  // as in matmul_fp8_grouped_options
  any_view scale_a{};
  any_view scale_b{};
  // Asymmetric a: i32 zero points of its rows, (rows of a), or (1) for all. They need the sums of b's columns over k,
  // (groups, n), i32, which int8_column_sums computes once.
  any_view zero_a{};
  any_view column_sums{};
  any_view bias{};
  matmul_activation gate = matmul_activation::none;
  f32 alpha = 1;
  f32 limit = 0;
  f32 up_offset = 0;
};

namespace detail {

struct grouped_bytes_arguments {
  std::string_view operation;
  any_view a, b, offsets, c;  // (rows, k), (groups, k, n), (groups + 1), (rows, n)
  const matmul_fp8_grouped_options* options;
  any_view zero_a{}, column_sums{};  // of integers
};

inline matmul_fp8_grouped_options as_fp8_options(const matmul_int8_grouped_options& o) {
  return {.rows = o.rows,
          .scale_a = o.scale_a,
          .scale_b = o.scale_b,
          .bias = o.bias,
          .gate = o.gate,
          .alpha = o.alpha,
          .limit = o.limit,
          .up_offset = o.up_offset};
}

template <class Offset>
constexpr void require_group_offsets() {
  static_assert(std::is_same_v<std::remove_const_t<Offset>, i32>, "kaio: the offsets of groups are i32");
}

}  // namespace detail

}  // namespace kaio::ops
