#pragma once
// Products of 8-bit floats with scales: C = activation(scale_a[m] * scale_b[n] * (A * B)) + residual.
//
//   tensor_view<const e4m3, 2> x(activations, m, k), w(weights, n, k);      // both with K contiguous
//   matmul_fp8(gpu.stream(), x, w.transposed(), y, {.scale_a = of_tokens, .scale_b = of_channels});
//   matmul_fp8(gpu.stream(), x, w.transposed(), y,
//              {.groups_a = of_groups, .blocks_b = of_blocks.transposed()});
//
//   s = sum over k of a * b, or with scales of groups:
//   s = sum over g of groups_a[m][g] * blocks_b[g][n / 128] * (sum over 128 g <= k < 128 (g + 1) of a * b)
//   y = activation(s * scale_a[m] * scale_b[n] * alpha + bias) + residual     f32, from left to right
//   C = y if it is f32, f16 or bf16, y / out_scale if it is e4m3
//
// Sums over k are those of the device's matrix instructions: on sm_90a they have about 14 significant bits.
// Sums of groups are added in f32. Each product and quotient after them is rounded to f32, then the result
// once to the type of C, to the nearest even; e4m3 saturates at 448, and NaN stays NaN.
//
// Layouts: the fast kernels take A and B of one type along K (weights stored N x K, transposed()), with lines
// that begin at multiples of 16 bytes. Others are multiplied as f16, which takes longer. Without groups C may
// be column-major. Batches, empty extents, memory and streams: as in matmul. From sm_70 on.
//
// Throws invalid_argument, which names the argument, before anything runs; unsupported_device if no kernel is
// made for the device; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_8bit/fp8/arguments.hpp>
#include <kaio/ops/shared/kernel_choice.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace kaio::ops {

namespace detail {
void run_matmul_fp8(const stream& s, const matmul_fp8_arguments& arguments);
}  // namespace detail

// A: M x K, B: K x N, each e4m3 or e5m2; C: M x N of f32, f16, bf16 or e4m3; with three dimensions the batch
// comes first. Asynchronous, in the order of the stream. C shares no memory with an input, but the residual
// may be C itself.
template <class A, class B, class C, std::size_t RankA, std::size_t RankB, std::size_t RankC>
void matmul_fp8(const stream& s, const tensor_view<A, RankA>& a, const tensor_view<B, RankB>& b,
                const tensor_view<C, RankC>& c, const matmul_fp8_options& options = {}) {
  detail::require_matmul_fp8_types<A, B, C, RankA, RankB, RankC>();
  detail::run_matmul_fp8(s, {"matmul_fp8", a, b, c, &options});
}
// Refuses arguments that are no such views.
template <class A, class B, class C>
  requires(!(detail::views<0, A, B, C>))
void matmul_fp8(const stream&, const A&, const B&, const C&, const matmul_fp8_options& = {}) {
  detail::refuse_views<A, B, C>();
}

// Loads what this call launches, ahead of its first use. The contents of the views are not looked at. Throws
// what the call itself would.
void matmul_fp8_warmup(const runtime::device& gpu, const matmul_view& a, const matmul_view& b,
                       const matmul_view& c, const matmul_fp8_options& options = {});

// All kernels for the types, layouts and scales of a call: the fastest by the cost model first, those that
// cannot run it last. Throws what the call itself would.
std::vector<matmul_variant_info> matmul_fp8_variants(const stream& s, const matmul_view& a,
                                                     const matmul_view& b, const matmul_view& c,
                                                     const matmul_fp8_options& options = {});

// The name of the kernel that a call takes: the cost model's, or the one that tune_matmul_fp8 (tune.hpp) has
// found. Throws what the call itself would.
kernel_choice matmul_fp8_choice(const stream& s, const matmul_view& a, const matmul_view& b,
                                const matmul_view& c, const matmul_fp8_options& options = {});

// The images of all kernels that matmul_fp8 and quantise_fp8 may launch: to list them, and to load them ahead
// with device::warmup.
std::vector<const ptx::kernel_image*> matmul_fp8_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::constant_inputs;
using ops::matmul_fp8;
using ops::matmul_fp8_options;
}  // namespace kaio
