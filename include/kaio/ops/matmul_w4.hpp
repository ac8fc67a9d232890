#pragma once
// y = x W^T + bias with weights of four bits (W4A16), packed by repack.
//
//   buffer<u8> memory = gpu.allocate<u8>(matmul_w4_workspace_bytes(s, x, w));
//   matmul_w4(s, x, w, y, {.workspace = memory});
//
// Integers and floats of four bits are exact; numbers of tables are rounded once to the type of x. Sums of x
// * number run over 64 k, or fewer in a smaller group. They are multiplied by the scale in f32, and added in
// f32. From 17 rows of x on, each weight may instead be rounded once to the type of x, in a kernel or in a
// matrix of weights in the workspace; options.exact_weights forbids it. The warps of a block divide K; with
// few columns, blocks divide it too (split-K). Then a second kernel adds up their results in the workspace,
// or, on sm_90a, the blocks of a cluster do it themselves. Repeated calls give equal bits. Nothing is
// allocated, copied or waited for; kernels are loaded when they are first used on a device. Throws
// invalid_argument, which names the argument, before anything runs; unsupported_device before sm_70, and for
// own codes before sm_80; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/shared/kernel_choice.hpp>
#include <kaio/ops/weight_only/repack_w4.hpp>
#include <kaio/ptx/kernel_image.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kaio::ops {

namespace detail {
void run_matmul_w4(const stream& s, const matmul_w4_arguments& arguments);
std::uint64_t workspace_of_matmul_w4(const stream& s, const matmul_w4_arguments& arguments);

template <class X, class Out>
constexpr void require_w4_types() {
  using element = std::remove_const_t<X>;
  static_assert(std::is_same_v<element, f16> || std::is_same_v<element, bf16>,
                "kaio: the activations of matmul_w4 are f16 or bf16; cast them");
  static_assert(!std::is_const_v<Out>, "kaio: matmul_w4 writes its output, whose elements are not const");
  static_assert(std::is_same_v<Out, element> || std::is_same_v<Out, f32>,
                "kaio: the output of matmul_w4 has the element type of x, or f32");
}
}  // namespace detail

// x: (m, k), out: (m, n), of any strides from row to row; neighbours along a row are adjacent. Fastest if
// rows of x begin at multiples of 16 bytes and, with act-order weights, if the workspace has room for x in
// their order. out and the workspace share no memory with any other argument. m may be 0.
template <class X, class Out>
void matmul_w4(const stream& s, const tensor_view<X, 2>& x, const w4_weights& w,
               const tensor_view<Out, 2>& out, const matmul_w4_options& options = {}) {
  detail::require_w4_types<X, Out>();
  detail::run_matmul_w4(s, {"matmul_w4", x, out, &w, &options});
}
// Refuses arguments that are no such views.
template <class X, class Out>
  requires(!(detail::views<2, X, Out>))
void matmul_w4(const stream&, const X&, const w4_weights&, const Out&, const matmul_w4_options& = {}) {
  detail::refuse_views<X, Out>();
}

// The bytes of workspace that a call takes, from its extents, the alignment of x, options and the device; 0
// if no other kernel runs before it or after it. Only the shape of the weights is looked at.
std::uint64_t matmul_w4_workspace_bytes(const stream& s, const any_view& x, const w4_weights& w,
                                        const matmul_w4_options& options = {});

// The kernel that a call runs, and the number of parts of K; nothing if the call does nothing.
kernel_choice matmul_w4_choice(const stream& s, const any_view& x, const w4_weights& w,
                               const matmul_w4_options& options = {});

// Loads what this call launches, ahead of its first use: the call may then be captured into a graph.
void matmul_w4_warmup(const runtime::device& gpu, const any_view& x, const w4_weights& w,
                      const matmul_w4_options& options = {});

namespace detail {
kernel_choice choice_of_matmul_w4(const stream& s, const matmul_w4_arguments& arguments);
void warm_up_matmul_w4(const runtime::device& gpu, const matmul_w4_arguments& arguments);
}  // namespace detail

// The images of all kernels of matmul_w4, matmul_w8, repack and dequantise.
std::vector<const ptx::kernel_image*> w4_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::constant_inputs;
using ops::matmul_w4;
using ops::matmul_w4_options;
using ops::matmul_w4_warmup;
using ops::matmul_w4_workspace_bytes;
}  // namespace kaio
