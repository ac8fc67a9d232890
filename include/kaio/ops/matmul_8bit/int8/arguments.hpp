#pragma once
// Arguments of matmul_int8: views and options.

#include <kaio/ops/matmul/call/arguments.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

struct matmul_int8_options {
  // Scales of A's rows and B's columns: vectors of f32, f16 or bf16 with one number per row or column, or one
  // number for all. With two dimensions: one vector per product of the batch. None: 1.
  matmul_view scale_a{};
  matmul_view scale_b{};
  // Asymmetric A: i32 zero points of the rows, or one for all. They need the sums of B's columns over K (i32,
  // N), which int8_column_sums computes once.
  matmul_view zero_a{};
  matmul_view column_sums{};
  f32 alpha = 1;
  matmul_bias bias{};
  matmul_view residual{};  // f32, f16 or bf16, with C's extents
  matmul_activation activation = matmul_activation::none;
  f32 out_scale = 1;  // an i8 C is the result / out_scale
  constant_inputs constant = constant_inputs::none;
  std::string_view
      variant{};  // the kernel to run, by a name that matmul_int8_variants gives; empty: the best one
};

namespace detail {

// A call, not yet checked.
struct matmul_int8_arguments {
  std::string_view operation;
  matmul_view a, b, c;
  const matmul_int8_options* options;
};

template <class A, class B, class C, std::size_t RankA, std::size_t RankB, std::size_t RankC>
constexpr void require_matmul_int8_types() {
  static_assert(std::is_same_v<std::remove_const_t<A>, i8> && std::is_same_v<std::remove_const_t<B>, i8>,
                "kaio: the operands of matmul_int8 are i8");
  static_assert(!std::is_const_v<C>,
                "kaio: the output of matmul_int8 is a view of elements that are not const");
  static_assert(is_matmul_output<C> || std::is_same_v<C, i8> || std::is_same_v<C, i32>,
                "kaio: the output of matmul_int8 is f32, f16, bf16, i8 or i32");
  static_assert(RankC == 2 || RankC == 3,
                "kaio: the output of matmul_int8 has two dimensions, or three with the batch first");
  static_assert((RankA == 2 || RankA == RankC) && (RankB == 2 || RankB == RankC),
                "kaio: the operands of matmul_int8 have two dimensions, or three where the output has three");
}

}  // namespace detail
}  // namespace kaio::ops
