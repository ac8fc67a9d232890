#pragma once
// Products of groups of rows, each with packed weights of its own: the experts of a mixture in four bits
// (W4A16).
//
//   const w4_shape shape{.n = 5760, .k = 2880, .group = 32, .scales = w4_scale_type::e8m0,
//                        .codes = w4_codes::e2m1};
//   buffer<u8> packed = gpu.allocate<u8>(packed_bytes(shape, 128));
//   const grouped_w4_weights w{shape, 128, packed};
//   for (std::int64_t g = 0; g < w.groups; ++g) repack(s, mxfp4_w4{...}, w[g]);   // once, at load
//
//   sort_by_expert(s, indices, offsets, {.tokens = tokens, .positions = positions});
//   matmul_w4_grouped(s, x, w, offsets, h, {.rows = tokens, .gate = matmul_activation::silu});
//   matmul_w4_grouped(s, h, down, offsets, y);
//   combine_experts(s, y, weights, positions, out);
//
//   y[r, :] = h[r, :] * down[g]^T where offsets[g] <= r < offsets[g + 1]
//
// The first product gathers its rows, and multiplies gates with their values (the options).
//
// The offsets are read on the device alone: nothing is allocated, read back or waited for, so a call may be
// captured into a graph and replayed with other groups. Groups have any number of rows, 0 too. Weights of
// groups without rows are not read. Numbers are those of matmul_w4 without rounding: codes are multiplied by
// x, and sums by scales in f32. Equal calls give equal bits. Kernels are loaded when they are first used on a
// device. Throws invalid_argument, which names the argument, before anything runs; unsupported_device before
// sm_70; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/shared/kernel_choice.hpp>
#include <kaio/ops/weight_only_grouped/call/arguments.hpp>
#include <kaio/ptx/kernel_image.hpp>

#include <type_traits>
#include <vector>

namespace kaio::ops {

namespace detail {
void run_matmul_w4_grouped(const stream& s, const matmul_w4_grouped_arguments& arguments);

template <class X, class Offset, class Out>
constexpr void require_w4_grouped_types() {
  require_w4_types<X, Out>();
  static_assert(std::is_same_v<std::remove_const_t<Offset>, i32>, "kaio: the offsets of groups are i32");
}
}  // namespace detail

// x: (rows, k), with options.rows of any number of rows; out: (rows, n), with a gate (rows, n / 2); of any strides
// from row to row; neighbours along a row are adjacent. offsets:
// (groups + 1), i32, neighbours adjacent, not decreasing; group g has the rows offsets[g] to offsets[g + 1] -
// 1. Offsets beyond the rows count as their number, negative ones too. Rows of no group are not written. out
// shares no memory with any other argument. Fastest if rows of x begin at multiples of 16 bytes and k is a
// multiple of 64.
template <class X, class Offset, class Out>
void matmul_w4_grouped(const stream& s, const tensor_view<X, 2>& x, const grouped_w4_weights& w,
                       const tensor_view<Offset, 1>& offsets, const tensor_view<Out, 2>& out,
                       const matmul_w4_grouped_options& options = {}) {
  detail::require_w4_grouped_types<X, Offset, Out>();
  detail::run_matmul_w4_grouped(s, {"matmul_w4_grouped", x, offsets, out, &w, &options});
}
// Refuses arguments that are no such views.
template <class X, class Offset, class Out>
  requires(!(detail::views<2, X, Out> && detail::views<1, Offset>))
void matmul_w4_grouped(const stream&, const X&, const grouped_w4_weights&, const Offset&, const Out&,
                       const matmul_w4_grouped_options& = {}) {
  detail::refuse_views<X, Offset, Out>();
}

// The kernel that a call runs; nothing if the call does nothing.
kernel_choice matmul_w4_grouped_choice(const stream& s, const any_view& x, const grouped_w4_weights& w,
                                       const matmul_w4_grouped_options& options = {});

// Loads what this call launches, ahead of its first use: the call may then be captured into a graph.
void matmul_w4_grouped_warmup(const runtime::device& gpu, const any_view& x, const grouped_w4_weights& w,
                              const matmul_w4_grouped_options& options = {});

// The images of all kernels of matmul_w4_grouped and matmul_w8_grouped.
std::vector<const ptx::kernel_image*> w4_grouped_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::grouped_w4_weights;
using ops::matmul_activation;
using ops::matmul_w4_grouped;
using ops::matmul_w4_grouped_options;
using ops::matmul_w4_grouped_warmup;
}  // namespace kaio
