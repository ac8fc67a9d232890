#pragma once
// Arguments of the grouped products of operands of 8 bits, without types.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <string_view>
#include <type_traits>

namespace kaio::ops {

struct matmul_fp8_grouped_options {
  // Scales, f32, f16 or bf16; none: 1.
  //
  //   scale_a    (rows), or (1) for all rows
  //   scale_b    (groups, n), or (groups, 1)
  any_view scale_a{};
  any_view scale_b{};
  // Scales of groups of 128 along k, both or none, f32 with any strides:
  //
  //   groups_a    (rows, ceil(k / 128))
  //   blocks_b    (groups, ceil(k / 128), ceil(n / 128)); blocks (groups, n / 128, k / 128) are transposed()
  any_view groups_a{};
  any_view blocks_b{};
  any_view bias{};  // (groups, n), f32, f16 or bf16
};

struct matmul_int8_grouped_options {
  any_view scale_a{};  // as in matmul_fp8_grouped_options
  any_view scale_b{};
  any_view bias{};
};

namespace detail {

struct grouped_bytes_arguments {
  std::string_view operation;
  any_view a, b, offsets, c;  // (rows, k), (groups, k, n), (groups + 1), (rows, n)
  const matmul_fp8_grouped_options* options;
};

template <class Offset>
constexpr void require_group_offsets() {
  static_assert(std::is_same_v<std::remove_const_t<Offset>, i32>, "kaio: the offsets of groups are i32");
}

}  // namespace detail

}  // namespace kaio::ops
