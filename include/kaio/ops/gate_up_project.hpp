#pragma once
// The first half of a gated feed-forward block (SwiGLU, GeGLU, ReGLU): two projections of hidden states,
// where one gates the other.
//
//   gate_up_weights w{gate, up};                          // (F, K) each; or {both}, (2 F, K), the gate first
//   auto workspace = gpu.allocate<u8>(gate_up_project_workspace_bytes(s, x, w, out));
//   gate_up_project(s, x, w, out, {.activation = matmul_activation::silu, .workspace = workspace});
//
//   x = norm of x                                      with x_norm: as in rms_norm (norm/call/x_norm.hpp)
//   g = x Wg^T     u = x Wu^T                          sums as in the product, rounded once to T
//   out = activation(g + gate_bias) * (u + up_bias)    f32, rounded once to T, the element type of out
//
// The bits are those of matmul, matmul_int8, matmul_fp8, matmul_w4 or matmul_w8, followed by these steps. Few
// rows are one launch, with sums in an order of its own: by integers of four bits, and from sm_90 on by
// integers of eight bits, nf4 and fp4. Repeated calls give equal bits. Nothing is allocated, read back or
// waited for, so a call may be captured into a graph, after gate_up_project_warmup. Throws invalid_argument,
// which names the argument, before anything runs; unsupported_device if the product has no kernel for the
// device; and what a launch throws.
//
// Source: Shazeer, "GLU Variants Improve Transformer", 2020.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/gate_up_project/call/arguments.hpp>
#include <kaio/ops/shared/kernel_choice.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {

void run_gate_up(const stream& s, const gate_up_arguments& arguments);

template <class X, class Out, std::size_t Rank>
constexpr void require_gate_up_types() {
  static_assert(is_wide(element_kind_of<X>()) || is_quantised(element_kind_of<X>()),
                "kaio: the hidden states of gate_up_project are f32, f16 or bf16, or i8, e4m3 or e5m2 with "
                "weights of 8 bits");
  static_assert(is_wide(element_kind_of<Out>()) && !std::is_const_v<Out>,
                "kaio: the output of gate_up_project is f32, f16 or bf16, and not const");
  static_assert(Rank == 2 || Rank == 3,
                "kaio: the hidden states of gate_up_project are (rows, K) or (batches, rows, K)");
}

}  // namespace detail

// x: (rows, K) with out (rows, F), or (batches, rows, K) with (batches, rows, F). Neighbours along the last
// dimension are adjacent, rows are at any distance; the batches of x follow each other. Types:
//
//   x                  weights          out
//   f32, f16, bf16     of x's type      f32, f16, bf16
//   f16, bf16          packed           f32, or the type of x
//   i8                 int8_weights     f32, f16, bf16
//   e4m3, e5m2         fp8_weights      f32, f16, bf16
//
// out and the workspace share no memory with anything else.
template <class X, class Out, std::size_t Rank>
void gate_up_project(const stream& s, const tensor_view<X, Rank>& x, const gate_up_weights& weights,
                     const tensor_view<Out, Rank>& out, const gate_up_project_options& options = {}) {
  detail::require_gate_up_types<X, Out, Rank>();
  detail::run_gate_up(s, {"gate_up_project", x, out, &weights, &options});
}
// Refuses arguments that are no such views.
template <class X, class Out>
  requires(!(detail::views<0, X, Out>))
void gate_up_project(const stream&, const X&, const gate_up_weights&, const Out&,
                     const gate_up_project_options& = {}) {
  detail::refuse_views<X, Out>();
}

// The bytes of workspace that a call takes, from extents, options and the device. The contents of the views
// are not looked at.
std::uint64_t gate_up_project_workspace_bytes(const stream& s, const any_view& x,
                                              const gate_up_weights& weights, const any_view& out,
                                              const gate_up_project_options& options = {});

// The name of the kernel that a call takes; "separate": products, and then the kernel that combines them;
// empty: the call does nothing.
kernel_choice gate_up_project_choice(const stream& s, const any_view& x, const gate_up_weights& weights,
                                     const any_view& out, const gate_up_project_options& options = {});

// Loads what this call launches, ahead of its first use: the call may then be captured into a graph.
void gate_up_project_warmup(const runtime::device& gpu, const any_view& x, const gate_up_weights& weights,
                            const any_view& out, const gate_up_project_options& options = {});

// The images of the kernels of gate_up_project, except those of products in memory.
std::vector<const ptx::kernel_image*> gate_up_project_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::constant_inputs;
using ops::fp8_weights;
using ops::gate_up_project;
using ops::gate_up_project_options;
using ops::gate_up_project_warmup;
using ops::gate_up_project_workspace_bytes;
using ops::gate_up_weights;
using ops::int8_weights;
using ops::matmul_activation;
using ops::projection_weight;
using ops::w4_weights;
using ops::w8_weights;
}  // namespace kaio
