#pragma once
// The arguments of a matmul call: views, options, and the element types they may have.

#include <kaio/dsl/number/float8.hpp>
#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/constant_inputs.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/workspace.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// How products of f32 numbers are computed; other types have one way.
//   ieee    multiply-adds in f32
//   tf32    tensor cores, inputs rounded to 11 significant bits, sums in f32
//   tf32x3  tensor cores, inputs as the sum of two such numbers: about 22 significant bits, three products
enum class matmul_precision : std::uint8_t { ieee, tf32, tf32x3 };

namespace detail {

template <class T>
inline constexpr bool is_matmul_operand =
    std::is_same_v<T, f32> || std::is_same_v<T, f16> || std::is_same_v<T, bf16> || std::is_same_v<T, e4m3> ||
    std::is_same_v<T, e5m2>;
template <class T>
inline constexpr bool is_matmul_output =
    std::is_same_v<T, f32> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

}  // namespace detail

// A type-erased tensor_view: up to three dimensions, an element type from element_kind.
struct matmul_view : any_view {
  constexpr matmul_view() { type = element_kind::f32; }
  template <detail::without_view M>
  matmul_view(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  matmul_view(const tensor_view<T, Rank>& view) : any_view(view) {
    static_assert(detail::is_matmul_operand<std::remove_const_t<T>> ||
                      std::is_same_v<std::remove_const_t<T>, i8> ||
                      std::is_same_v<std::remove_const_t<T>, i32>,
                  "kaio: the elements of a matmul are f32, f16, bf16, e4m3 or e5m2, of matmul_int8 i8");
    static_assert(Rank <= 3, "kaio: a matmul takes views of two dimensions, and of three for a batch");
  }
};

// A vector added to every row of C (one number per column) or to every column (one number per row). With two
// dimensions: one vector per product of the batch. Its type is f32, f16 or bf16, independent of C's.
struct matmul_bias {
  matmul_view vector;
  bool of_rows = false;
};
template <class T, std::size_t Rank>
matmul_bias per_column(const tensor_view<T, Rank>& vector) {
  static_assert(Rank <= 2, "kaio: a bias is a vector, or one for each product of a batch");
  static_assert(detail::is_matmul_output<std::remove_const_t<T>>, "kaio: a bias is of f32, f16 or bf16");
  return {vector, false};
}
template <class M>
  requires(!detail::view_of<M, 0>)
matmul_bias per_column(const M&) {
  detail::refuse_views<M>();
  return {};
}
template <class T, std::size_t Rank>
matmul_bias per_row(const tensor_view<T, Rank>& vector) {
  static_assert(Rank <= 2, "kaio: a bias is a vector, or one for each product of a batch");
  static_assert(detail::is_matmul_output<std::remove_const_t<T>>, "kaio: a bias is of f32, f16 or bf16");
  return {vector, true};
}
template <class M>
  requires(!detail::view_of<M, 0>)
matmul_bias per_row(const M&) {
  detail::refuse_views<M>();
  return {};
}

struct matmul_options {
  f32 alpha = 1;
  f32 beta = 0;
  matmul_bias bias{};
  // f32, f16 or bf16, with the extents of C. With two dimensions it serves the whole batch.
  matmul_view residual{};
  matmul_activation activation = matmul_activation::none;
  matmul_precision precision = matmul_precision::ieee;  // for f32 operands
  // For partial sums of split-K: lets shapes with a long K and a small C use the whole device. It may be larger than
  // needed; no other work may use it until the call is done.
  workspace_view workspace{};
  constant_inputs constant = constant_inputs::none;  // a, b, both
  std::string_view variant{};  // name of the kernel to run, from matmul_variants; empty: the best one
};

namespace detail {

// A call that was not checked yet.
struct matmul_arguments {
  std::string_view operation;
  matmul_view a, b, c;
  const matmul_options* options;
  bool types_are_checked = false;  // the operation checks them by its own rules
};
template <class A, class B, class C, std::size_t RankA, std::size_t RankB, std::size_t RankC>
constexpr void require_matmul_types() {
  using element = std::remove_const_t<A>;
  static_assert(is_matmul_operand<element>,
                "kaio: the operands of a matmul are f32, f16, bf16, e4m3 or e5m2");
  static_assert(std::is_same_v<element, std::remove_const_t<B>>,
                "kaio: both operands of a matmul have the same element type; cast one of them");
  static_assert(!std::is_const_v<C>, "kaio: the output of a matmul is a view of elements that are not const");
  static_assert(is_matmul_output<std::remove_const_t<C>>, "kaio: the output of a matmul is f32, f16 or bf16");
  static_assert(RankC == 2 || RankC == 3,
                "kaio: the output of a matmul has two dimensions, or three with the batch first");
  static_assert((RankA == 2 || RankA == RankC) && (RankB == 2 || RankB == RankC),
                "kaio: the operands of a matmul have two dimensions, or three where the output has three");
}

}  // namespace detail

}  // namespace kaio::ops
