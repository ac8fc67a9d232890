#pragma once
// Arguments of matmul_fp8: views and options.

#include <kaio/ops/matmul/call/arguments.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

struct matmul_fp8_options {
  // Scales of A's rows and B's columns: vectors of f32, f16 or bf16 with one number per row or column, or one
  // number for all. With two dimensions: one vector per product of the batch. None: 1.
  matmul_view scale_a{};
  matmul_view scale_b{};
  // Scales of groups of 128 along K, both or none, f32 with any strides. With three dimensions the batch
  // comes first.
  //
  //   groups_a[m][g]   M x ceil(K / 128)                row m of A
  //   blocks_b[g][j]   ceil(K / 128) x ceil(N / 128)    columns 128 j ... 128 j + 127 of B
  matmul_view groups_a{};
  matmul_view blocks_b{};
  f32 alpha = 1;
  matmul_bias bias{};
  matmul_view residual{};  // f32, f16 or bf16, with C's extents
  matmul_activation activation = matmul_activation::none;
  f32 out_scale = 1;  // an e4m3 C is the result / out_scale
  constant_inputs constant = constant_inputs::none;
  std::string_view
      variant{};  // the kernel to run, by a name that matmul_fp8_variants gives; empty: the best one
};

namespace detail {

// A call, not yet checked.
struct matmul_fp8_arguments {
  std::string_view operation;
  matmul_view a, b, c;
  const matmul_fp8_options* options;
};

template <class T>
inline constexpr bool is_fp8 = std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>;

template <class A, class B, class C, std::size_t RankA, std::size_t RankB, std::size_t RankC>
constexpr void require_matmul_fp8_types() {
  static_assert(is_fp8<std::remove_const_t<A>> && is_fp8<std::remove_const_t<B>>,
                "kaio: the operands of matmul_fp8 are e4m3 or e5m2");
  static_assert(!std::is_const_v<C>,
                "kaio: the output of matmul_fp8 is a view of elements that are not const");
  static_assert(is_matmul_output<C> || std::is_same_v<C, e4m3>,
                "kaio: the output of matmul_fp8 is f32, f16, bf16 or e4m3");
  static_assert(RankC == 2 || RankC == 3,
                "kaio: the output of matmul_fp8 has two dimensions, or three with the batch first");
  static_assert((RankA == 2 || RankA == RankC) && (RankB == 2 || RankB == RankC),
                "kaio: the operands of matmul_fp8 have two dimensions, or three where the output has three");
}

}  // namespace detail
}  // namespace kaio::ops
