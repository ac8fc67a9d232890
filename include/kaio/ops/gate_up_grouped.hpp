#pragma once
// The first half of the gated feed-forward blocks of a mixture of experts (SwiGLU, GeGLU, ReGLU): two products of the
// rows of each group, where one gates the other, in one launch.
//
//   sort_by_expert(s, indices, offsets, {.tokens = tokens, .positions = positions});
//   gate_up_grouped(s, x, gate.transposed(), up.transposed(), offsets, h, {.rows = tokens});
//   matmul_grouped(s, h, down.transposed(), offsets, y);
//   combine_experts(s, y, weights, positions, out);
//
//   g = x[rows[r], :] * gate[e] + gate_bias[e]       u = x[rows[r], :] * up[e] + up_bias[e]       sums in f32
//   y[r, :] = activation(min(g, limit)) * (clamp(u, -limit, limit) + up_offset)                   rounded once
//
// Gate and up may be two views of one tensor: its halves, or its even and odd rows (slice(1, 0, n) of a view with twice
// the stride). With silu, activation(g) is g / (1 + e^(-alpha g)): gpt-oss has {.alpha = 1.702f, .limit = 7,
// .up_offset = 1}.
//
// The offsets are read on the device alone: nothing is allocated, read back or waited for, so a call may be captured
// into a graph and replayed with other groups. Equal calls give equal bits. A kernel is loaded when it is first used on
// a device (gate_up_grouped_warmup). Throws invalid_argument, which names the argument, before anything runs; and what
// a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct gate_up_grouped_options {
  tensor_view<const i32, 1> rows{};  // (rows): the row of x for each row of y, as matmul_grouped has it
  tensor_view<const f32, 2> gate_bias{}, up_bias{};        // (groups, n), neighbours adjacent
  matmul_activation activation = matmul_activation::silu;  // not none
  f32 alpha = 1;                                           // of silu; finite, above 0
  f32 limit = 0;                                           // 0: none; else finite, above 0
  f32 up_offset = 0;                                       // finite
};

namespace detail {
void run_gate_up_grouped(const stream& s, const any_view& x, const any_view& gate, const any_view& up,
                         const any_view& offsets, const any_view& y, const gate_up_grouped_options& options);
}  // namespace detail

// x: (rows, k), f16 or bf16; with options.rows of any number of rows. gate, up: (groups, k, n), of x's type; weights
// (groups, n, k) are transposed(). offsets: (groups + 1), i32, as for matmul_grouped. y: (rows, n), of x's type or f32,
// apart from everything else; rows of no group are not written. Any strides; fewer than 2^31 rows, columns and k.
// Fastest, from sm_80 on, if x has neighbours along k, y along n, and gate and up have equal strides, with neighbours
// along k or n. Lines then begin at multiples of 16 bytes. On sm_90, y also has x's type, and n is a multiple of 8.
template <class X, class W, class Offset, class Y>
void gate_up_grouped(const stream& s, const tensor_view<X, 2>& x, const tensor_view<W, 3>& gate,
                     const tensor_view<W, 3>& up, const tensor_view<Offset, 1>& offsets,
                     const tensor_view<Y, 2>& y, const gate_up_grouped_options& options = {}) {
  using element = std::remove_const_t<X>;
  static_assert(std::is_same_v<element, f16> || std::is_same_v<element, bf16>,
                "kaio: the elements of gate_up_grouped are f16 or bf16");
  static_assert(std::is_same_v<element, std::remove_const_t<W>>,
                "kaio: x and the weights of gate_up_grouped have the same element type");
  static_assert(std::is_same_v<std::remove_const_t<Offset>, i32>,
                "kaio: the offsets of gate_up_grouped are i32");
  static_assert(std::is_same_v<Y, element> || std::is_same_v<Y, f32>,
                "kaio: the output of gate_up_grouped has the element type of x, or f32, and is not const");
  detail::run_gate_up_grouped(s, x, gate, up, offsets, y, options);
}
// Refuses arguments that are no such views.
template <class X, class Gate, class Up, class Offset, class Y>
  requires(!(detail::views<2, X, Y> && detail::views<3, Gate, Up> && detail::views<1, Offset>))
void gate_up_grouped(const stream&, const X&, const Gate&, const Up&, const Offset&, const Y&,
                     const gate_up_grouped_options& = {}) {
  detail::refuse_views<X, Gate, Up, Offset, Y>();
}

// Loads the kernels that the device may run ahead of their first use.
void gate_up_grouped_warmup(const runtime::device& gpu);

// The images of the kernels of gate_up_grouped.
std::vector<const ptx::kernel_image*> gate_up_grouped_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::gate_up_grouped;
using ops::gate_up_grouped_options;
using ops::gate_up_grouped_warmup;
using ops::matmul_activation;
}  // namespace kaio
