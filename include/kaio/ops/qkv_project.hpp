#pragma once
// qkv_project turns hidden states into queries, keys and values: the three projections of an attention, and
// all steps of each head on the way to the cache.
//
//   qkv_weights w{weight};                                    // (Nq + Nk + Nv, K); or {w_q, w_k, w_v}
//   auto workspace = gpu.allocate<u8>(qkv_project_workspace_bytes(s, x, w, {q, cache}));
//   qkv_project(s, x, w, {q, cache},                          // x: (B, S, K), q: (B, S, Hq, D)
//               {.q_norm = q_norm, .k_norm = k_norm, .rotary = {.cos = cos, .sin = sin},
//                .workspace = workspace});
//
// Each step of a row of a head is in f32 and rounded to the element type T of the outputs:
//
//   x = norm of x                    with x_norm: as in rms_norm (norm/call/x_norm.hpp)
//   y = x W^T + bias                 sums in f32; rounded once, and before the bias by `separate`
//   y = y / rms(y) * norm            q_norm, k_norm: rms(y) = sqrt(mean of y^2 + epsilon), over the head
//   y = rotated by position          Q and K, if there are tables: as in rotary
//   y = y * q_scale                  Q, if q_scale is not 1
//
// Then K and V are appended to the cache as in append_kv, with its scales in 8 bits. Given the same sums, the
// bits are those of a separate operation for each step. A step of your own goes before or after the rotation:
// <kaio/ops/qkv_project_with.hpp>.
//
// Nothing is allocated, read back or waited for, so a captured call may be replayed with other lengths, pages
// and positions. Repeated calls give equal bits. Throws invalid_argument, which names the argument, before
// anything runs; unsupported_device if the product has no kernel for the device; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/qkv_project/call/arguments.hpp>
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

void run_qkv_project(const stream& s, const qkv_arguments& arguments);

template <class X, std::size_t Rank>
constexpr void require_qkv_types() {
  using element = std::remove_const_t<X>;
  static_assert(std::is_same_v<element, f16> || std::is_same_v<element, bf16> ||
                    is_quantised(element_kind_of<element>()),
                "kaio: the hidden states of qkv_project are f16 or bf16; i8, e4m3 or e5m2 with such weights");
  static_assert(Rank == 2 || Rank == 3,
                "kaio: the hidden states of qkv_project are (tokens, K) or (batches, tokens, K)");
}

}  // namespace detail

// x: (batches, tokens, K) with outputs of (batches, tokens, heads, size), or (tokens, K) with (tokens, heads,
// size). Neighbours along K are adjacent; other strides are free (with weights of 8 and 4 bits, the batches
// follow each other). Q and K have heads of one size, V its own, up to 512; each has its own number of heads.
// Weights: projection_weight. Outputs, cache and workspace share no memory with anything else.
template <class X, std::size_t Rank>
void qkv_project(const stream& s, const tensor_view<X, Rank>& x, const qkv_weights& weights,
                 const qkv_outputs& outputs, const qkv_project_options& options = {}) {
  detail::require_qkv_types<X, Rank>();
  detail::run_qkv_project(s, {"qkv_project", x, &weights, &outputs, &options});
}
// Refuses arguments that are no such views.
template <class X>
  requires(!(detail::views<0, X>))
void qkv_project(const stream&, const X&, const qkv_weights&, const qkv_outputs&,
                 const qkv_project_options& = {}) {
  detail::refuse_views<X>();
}

// The bytes of workspace that a call takes, from extents, options and the device. The contents of the views
// are not looked at.
std::uint64_t qkv_project_workspace_bytes(const stream& s, const any_view& x, const qkv_weights& weights,
                                          const qkv_outputs& outputs,
                                          const qkv_project_options& options = {});

// The name of the kernel that a call takes; "separate": a product, and then the heads; empty: the call does
// nothing.
kernel_choice qkv_project_choice(const stream& s, const any_view& x, const qkv_weights& weights,
                                 const qkv_outputs& outputs, const qkv_project_options& options = {});

// Loads what this call launches, ahead of its first use: the call may then be captured into a graph.
void qkv_project_warmup(const runtime::device& gpu, const any_view& x, const qkv_weights& weights,
                        const qkv_outputs& outputs, const qkv_project_options& options = {});

// The images of the kernels of qkv_project.
std::vector<const ptx::kernel_image*> qkv_project_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::constant_inputs;
using ops::fp8_weights;
using ops::int8_weights;
using ops::projection_weight;
using ops::qkv_outputs;
using ops::qkv_project;
using ops::qkv_project_options;
using ops::qkv_project_warmup;
using ops::qkv_project_workspace_bytes;
using ops::qkv_rotary;
using ops::qkv_weights;
}  // namespace kaio
