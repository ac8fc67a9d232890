#pragma once
// Products of groups of rows, each with a matrix of its own, of 8-bit integers: the experts of a mixture
// (W8A8).
//
//   matmul_int8_grouped(s, x, w.transposed(), offsets, y, {.scale_a = of_rows, .scale_b = of_columns});
//
//   s = sum over k of a * b - zero_a[r] * column_sums[g][n]    exact, in i32
//   c[r, :] = s, or s * scale_a[r] * scale_b[g][n] + bias[g][n]    where offsets[g] <= r < offsets[g + 1]
//
// The numbers are those of matmul_int8; all else is as in matmul_fp8_grouped.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/matmul_8bit_grouped/call/arguments.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
void run_matmul_int8_grouped(const stream& s, const grouped_bytes_arguments& arguments);
}  // namespace detail

// a: (rows, k), i8. b: (groups, k, n), i8; weights (groups, n, k) are transposed(). offsets: (groups + 1),
// i32. c: (rows, n) of i32, f32, f16 or bf16; i32 has the sums, without scales, bias or gate.
template <class A, class B, class Offset, class C>
void matmul_int8_grouped(const stream& s, const tensor_view<A, 2>& a, const tensor_view<B, 3>& b,
                         const tensor_view<Offset, 1>& offsets, const tensor_view<C, 2>& c,
                         const matmul_int8_grouped_options& options = {}) {
  static_assert(std::is_same_v<std::remove_const_t<A>, i8> && std::is_same_v<std::remove_const_t<B>, i8>,
                "kaio: the operands of matmul_int8_grouped are i8");
  static_assert(
      std::is_same_v<C, f32> || std::is_same_v<C, f16> || std::is_same_v<C, bf16> || std::is_same_v<C, i32>,
      "kaio: the output of matmul_int8_grouped is i32, f32, f16 or bf16, and is not const");
  detail::require_group_offsets<Offset>();
  const matmul_fp8_grouped_options all = detail::as_fp8_options(options);
  detail::run_matmul_int8_grouped(
      s, {"matmul_int8_grouped", a, b, offsets, c, &all, options.zero_a, options.column_sums});
}
// Refuses arguments that are no such views.
template <class A, class B, class Offset, class C>
  requires(!(detail::views<2, A, C> && detail::views<3, B> && detail::views<1, Offset>))
void matmul_int8_grouped(const stream&, const A&, const B&, const Offset&, const C&,
                         const matmul_int8_grouped_options& = {}) {
  detail::refuse_views<A, B, Offset, C>();
}

// Loads the kernels that the device may run ahead of their first use.
void matmul_int8_grouped_warmup(const runtime::device& gpu);

}  // namespace kaio::ops

namespace kaio {
using ops::matmul_activation;
using ops::matmul_int8_grouped;
using ops::matmul_int8_grouped_options;
using ops::matmul_int8_grouped_warmup;
}  // namespace kaio
