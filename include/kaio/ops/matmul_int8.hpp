#pragma once
// Products of 8-bit integers with scales (W8A8): C = activation(scale_a[m] * scale_b[n] * (A * B)) +
// residual, with sums that are exact in i32.
//
//   tensor_view<const i8, 2> x(activations, m, k), w(weights, n, k);      // both with K contiguous
//   matmul_int8(gpu.stream(), x, w.transposed(), y, {.scale_a = of_tokens, .scale_b = of_channels});
//
//   s = sum over k of a * b - zero_a[m] * column_sums[n]                           i32
//   y = activation(f32(s) * scale_a[m] * scale_b[n] * alpha + bias) + residual     f32, from left to right
// C = s if it is i32, y if it is f32, f16 or bf16, y / out_scale if it is i8
//
// Each product and quotient is rounded to f32, then the result once to the type of C, to the nearest even; i8
// is clamped to -128 ... 127. Sums are exact within i32, which all sums of K up to 131071 are, and wrap
// around beyond. An i32 output takes no scales, alpha, bias, activation and residual.
//
// Layouts: the rows of A and of C are contiguous, and either the columns or the rows of B. Columns of B
// (weights stored N x K, transposed()) are the fast way, if lines of both begin at multiples of 16 bytes.
// Batches, empty extents, memory and streams: as in matmul. From sm_70 on.
//
// Throws invalid_argument, which names the argument, before anything runs; unsupported_device if no kernel is
// made for the device; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_8bit/int8/arguments.hpp>
#include <kaio/ops/shared/kernel_choice.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::ops {

namespace detail {
void run_matmul_int8(const stream& s, const matmul_int8_arguments& arguments);
void run_int8_column_sums(const stream& s, const matmul_view& b, const matmul_view& sums);
}  // namespace detail

// A: M x K, B: K x N, both i8; C: M x N of f32, f16, bf16, i8 or i32; with three dimensions the batch comes
// first. Asynchronous, in the order of the stream. C shares no memory with an input, but the residual may be
// C itself.
template <class A, class B, class C, std::size_t RankA, std::size_t RankB, std::size_t RankC>
void matmul_int8(const stream& s, const tensor_view<A, RankA>& a, const tensor_view<B, RankB>& b,
                 const tensor_view<C, RankC>& c, const matmul_int8_options& options = {}) {
  detail::require_matmul_int8_types<A, B, C, RankA, RankB, RankC>();
  detail::run_matmul_int8(s, {"matmul_int8", a, b, c, &options});
}
// Refuses arguments that are no such views.
template <class A, class B, class C>
  requires(!(detail::views<0, A, B, C>))
void matmul_int8(const stream&, const A&, const B&, const C&, const matmul_int8_options& = {}) {
  detail::refuse_views<A, B, C>();
}

// sums[n] = sum over k of B[k][n], exact, for column_sums of asymmetric products: once for each weight. B may
// have any strides.
template <class B>
void int8_column_sums(const stream& s, const tensor_view<B, 2>& b, const tensor_view<i32, 1>& sums) {
  static_assert(std::is_same_v<std::remove_const_t<B>, i8>, "kaio: int8_column_sums adds up a view of i8");
  detail::run_int8_column_sums(s, b, sums);
}
// Refuses arguments that are no such views.
template <class B>
  requires(!(detail::views<2, B>))
void int8_column_sums(const stream&, const B&, const tensor_view<i32, 1>&) {
  detail::refuse_views<B>();
}

// Loads what this call launches, ahead of its first use. The contents of the views are not looked at. Throws
// what the call itself would.
void matmul_int8_warmup(const runtime::device& gpu, const matmul_view& a, const matmul_view& b,
                        const matmul_view& c, const matmul_int8_options& options = {});

// All kernels for the types and layouts of a call: the fastest by the cost model first, those that cannot run
// it last. Throws what the call itself would.
std::vector<matmul_variant_info> matmul_int8_variants(const stream& s, const matmul_view& a,
                                                      const matmul_view& b, const matmul_view& c,
                                                      const matmul_int8_options& options = {});

// The name of the kernel that a call takes: the cost model's, or the one that tune_matmul_int8 (tune.hpp) has
// found. Throws what the call itself would.
kernel_choice matmul_int8_choice(const stream& s, const matmul_view& a, const matmul_view& b,
                                 const matmul_view& c, const matmul_int8_options& options = {});

// The images of all kernels that matmul_int8, int8_column_sums and quantise_int8 may launch: to list them,
// and to load them ahead with device::warmup.
std::vector<const ptx::kernel_image*> matmul_int8_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::constant_inputs;
using ops::int8_column_sums;
using ops::matmul_int8;
using ops::matmul_int8_options;
}  // namespace kaio
