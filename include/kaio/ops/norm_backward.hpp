#pragma once
// Gradients of rms_norm and layer_norm.
//
//   auto memory = gpu.allocate<u8>(norm_backward_workspace_bytes(s, x));
//   rms_norm_backward(s, x, weight, dy, dx, dweight, {.workspace = memory});
//   layer_norm_backward(s, x, weight, dy, dx, dweight, dbias, {.workspace = memory});
//   rms_norm_backward(s, h, weight, dy, dh, {}, {.dh = dh});  // dh += the gradient, without dweight
//
// For each row of x, in f32, with g = dy * (weight_offset + weight), and means over the row:
//
//   rms_norm      r = 1 / sqrt(mean of x^2 + epsilon)             y = x r
//                 dx = r (g - y mean(g y))
//   layer_norm    r = 1 / sqrt(mean of (x - m)^2 + epsilon)       y = (x - m) r, m = mean of x
//                 dx = r (g - mean(g) - y mean(g y))
//   dweight = sum over rows of dy * y                             dbias = sum over rows of dy
//
// x is what was normed: the sum, if a residual was added to it. Its statistics are computed again. dx + dh,
// dweight and dbias are rounded once. Sums over rows have two steps, and the order of additions depends on
// the extents, on the gradients that are wanted, on whether rows begin at multiples of 16 bytes, and on the
// device: equal calls have equal bits. A row of dx has the same bits alone and among others. A weight that
// was multiplied by a rounded y (the option `casts` of the norms) has the same gradients: rounding counts as
// the identity. NaN and infinity in a row reach its dx, and all of dweight and dbias that their elements do.
// Nothing is allocated, read back or waited for. Throws invalid_argument, which names the argument, before
// anything runs; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct rms_norm_backward_options {
  f32 epsilon = 1e-6f;
  f32 weight_offset = 0;  // 1 for Gemma
  any_view dh{};          // as x: added to dx, a gradient that arrives at x from elsewhere; may be dx itself
  workspace_view workspace{};  // needed for dweight and dbias, at a multiple of 16 bytes
};

struct layer_norm_backward_options {
  f32 epsilon = 1e-5f;
  f32 weight_offset = 0;
  any_view dh{};
  workspace_view workspace{};
};

namespace detail {

void run_rms_norm_backward(const stream& s, const any_view& x, const any_view& weight, const any_view& dy,
                           const any_view& dx, const any_view& dweight,
                           const rms_norm_backward_options& options);
void run_layer_norm_backward(const stream& s, const any_view& x, const any_view& weight, const any_view& dy,
                             const any_view& dx, const any_view& dweight, const any_view& dbias,
                             const layer_norm_backward_options& options);
std::uint64_t norm_backward_workspace(const stream& s, const any_view& x);

template <class X, class Dy, class Dx, std::size_t Rank>
constexpr void require_norm_backward_types() {
  using element = std::remove_const_t<X>;
  static_assert(is_wide(element_kind_of<element>()),
                "kaio: the elements of a norm's gradient are f32, f16 or bf16");
  static_assert(std::is_same_v<element, std::remove_const_t<Dy>> && std::is_same_v<element, Dx>,
                "kaio: dy and dx have the element type of x, and dx is not const");
  static_assert(Rank >= 2 && Rank <= 4, "kaio: a norm's gradient takes views of two to four dimensions");
}

}  // namespace detail

// The bytes of workspace for a call with dweight or dbias, whatever its options are. x: as below.
template <class X, std::size_t Rank>
std::uint64_t norm_backward_workspace_bytes(const stream& s, const tensor_view<X, Rank>& x) {
  return detail::norm_backward_workspace(s, x);
}

// x, dy, dx: (..., size) of two to four dimensions, f32, f16 or bf16, rows of any stride, neighbours
// adjacent. weight: (size), of the type of x or f32; {}: there is none, which is a factor of 1. dweight:
// (size), f32 or of the type of x; {}: left out. Outputs share memory with no other argument, except dx with
// `dh`. Fewer than 2^31 rows. Fastest if rows begin at multiples of 16 bytes and have a multiple of 16 bytes.
// If x has no rows, dweight and dbias are 0.
template <class X, class Dy, class Dx, std::size_t Rank>
void rms_norm_backward(const stream& s, const tensor_view<X, Rank>& x, const any_view& weight,
                       const tensor_view<Dy, Rank>& dy, const tensor_view<Dx, Rank>& dx,
                       const output_view& dweight, const rms_norm_backward_options& options = {}) {
  detail::require_norm_backward_types<X, Dy, Dx, Rank>();
  detail::run_rms_norm_backward(s, x, weight, dy, dx, dweight, options);
}
// dbias: as dweight.
template <class X, class Dy, class Dx, std::size_t Rank>
void layer_norm_backward(const stream& s, const tensor_view<X, Rank>& x, const any_view& weight,
                         const tensor_view<Dy, Rank>& dy, const tensor_view<Dx, Rank>& dx,
                         const output_view& dweight, const output_view& dbias,
                         const layer_norm_backward_options& options = {}) {
  detail::require_norm_backward_types<X, Dy, Dx, Rank>();
  detail::run_layer_norm_backward(s, x, weight, dy, dx, dweight, dbias, options);
}
// Refuses arguments that are no such views.
template <class X, class Dy, class Dx>
  requires(!detail::views<0, X, Dy, Dx>)
void rms_norm_backward(const stream&, const X&, const any_view&, const Dy&, const Dx&, const output_view&,
                       const rms_norm_backward_options& = {}) {
  detail::refuse_views<X, Dy, Dx>();
}
template <class X, class Dy, class Dx>
  requires(!detail::views<0, X, Dy, Dx>)
void layer_norm_backward(const stream&, const X&, const any_view&, const Dy&, const Dx&, const output_view&,
                         const output_view&, const layer_norm_backward_options& = {}) {
  detail::refuse_views<X, Dy, Dx>();
}

// Loads the kernels for elements of `kind` ahead of their first use.
void norm_backward_warmup(const runtime::device& gpu, element_kind kind);

// The images of the kernels of both operations.
std::vector<const ptx::kernel_image*> norm_backward_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::element_kind;
using ops::layer_norm_backward;
using ops::layer_norm_backward_options;
using ops::norm_backward_warmup;
using ops::norm_backward_workspace_bytes;
using ops::rms_norm_backward;
using ops::rms_norm_backward_options;
}  // namespace kaio
