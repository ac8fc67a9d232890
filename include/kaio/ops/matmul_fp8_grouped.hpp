#pragma once
// Products of groups of rows, each with a matrix of its own, of 8-bit floats with scales: the experts of a
// mixture (W8A8).
//
//   matmul_fp8_grouped(s, x, w.transposed(), offsets, y, {.scale_a = of_rows, .scale_b = of_columns});
//   matmul_fp8_grouped(s, x, w.transposed(), offsets, y,
//                      {.groups_a = of_parts, .blocks_b = of_blocks.transposed()});      // DeepSeek-V3
//
//   s = sum over k of a * b, or with scales of parts of 128 along k:
//   s = sum over p of groups_a[r][p] * blocks_b[g][p][n / 128] * (sum over 128 p <= k < 128 (p + 1) of a * b)
//   c[r, :] = s * scale_a[r] * scale_b[g][n] + bias[g][n] where offsets[g] <= r < offsets[g + 1]
//
// Rows of a may be gathered by their indices, and pairs of columns may be a gate and its value (the options).
//
// The numbers are those of matmul_fp8; the offsets are those of matmul_grouped: read on the device alone, so
// that a call may be captured into a graph and replayed with other groups. Groups have any number of rows, 0
// too. Equal calls give equal bits. Throws invalid_argument, which names the argument, before anything runs;
// and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/matmul_8bit/fp8/arguments.hpp>
#include <kaio/ops/matmul_8bit_grouped/call/arguments.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
void run_matmul_fp8_grouped(const stream& s, const grouped_bytes_arguments& arguments);
}  // namespace detail

// a: (rows, k), e4m3 or e5m2; with options.rows of any number of rows. b: (groups, k, n), e4m3 or e5m2; weights
// (groups, n, k) are transposed().
// offsets: (groups + 1), i32, neighbours adjacent, not decreasing; group g has the rows offsets[g] to
// offsets[g + 1] - 1. Offsets beyond the rows count as their number, negative ones too. c: (rows, n) of f32,
// f16 or bf16, neighbours along n adjacent, apart from everything else; rows of no group are not written. a
// and b have any strides. Fastest if a and b are e4m3 with neighbours along k, and lines that begin at
// multiples of 16 bytes.
template <class A, class B, class Offset, class C>
void matmul_fp8_grouped(const stream& s, const tensor_view<A, 2>& a, const tensor_view<B, 3>& b,
                        const tensor_view<Offset, 1>& offsets, const tensor_view<C, 2>& c,
                        const matmul_fp8_grouped_options& options = {}) {
  static_assert(detail::is_fp8<std::remove_const_t<A>> && detail::is_fp8<std::remove_const_t<B>>,
                "kaio: the operands of matmul_fp8_grouped are e4m3 or e5m2");
  static_assert(std::is_same_v<C, f32> || std::is_same_v<C, f16> || std::is_same_v<C, bf16>,
                "kaio: the output of matmul_fp8_grouped is f32, f16 or bf16, and is not const");
  detail::require_group_offsets<Offset>();
  detail::run_matmul_fp8_grouped(s, {"matmul_fp8_grouped", a, b, offsets, c, &options});
}
// Refuses arguments that are no such views.
template <class A, class B, class Offset, class C>
  requires(!(detail::views<2, A, C> && detail::views<3, B> && detail::views<1, Offset>))
void matmul_fp8_grouped(const stream&, const A&, const B&, const Offset&, const C&,
                        const matmul_fp8_grouped_options& = {}) {
  detail::refuse_views<A, B, Offset, C>();
}

// Loads the kernels that the device may run ahead of their first use: the calls may then be captured into a
// graph.
void matmul_fp8_grouped_warmup(const runtime::device& gpu);

// The images of all kernels of matmul_fp8_grouped and matmul_int8_grouped.
std::vector<const ptx::kernel_image*> grouped_bytes_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::matmul_activation;
using ops::matmul_fp8_grouped;
using ops::matmul_fp8_grouped_options;
using ops::matmul_fp8_grouped_warmup;
}  // namespace kaio
