#pragma once
// softmax and log_softmax of rows, and their gradients.
//
//   softmax(s, x, y);                                  // y = e^x / sum of e^x along the last dimension
//   softmax(s, x, y, {.lse = lse, .scale = 0.5f});     // of x / 2; lse gets the logarithms of the sums
//   log_softmax(s, x, y);                              // y = x - log(sum of e^x)
//   softmax_backward(s, y, dy, dx);                    // from y, not from x
//
//   v = scale * x        softmax = e^(v - m) / sum of e^(v - m)        m = largest v
//   lse = m + log(sum of e^(v - m))        log_softmax = (v - m) - log(sum of e^(v - m))
//
// Everything is in f32, and rounded once to the element type T of x. The relative error of a probability is
// at most 1e-6 + 2e-7 |v - m| before that; probabilities below 2^-126 may be 0. The order of sums depends
// only on the size of a row and on whether rows begin at multiples of 16 bytes: a row has the same bits alone
// and among others.
//
//   row of scale * x             softmax    log_softmax    lse
//   all elements are -infinity   0          -infinity      -infinity
//   has NaN or +infinity         NaN        NaN            NaN
//
// Nothing is allocated, read back or waited for, so a call may be captured into a graph; a kernel is loaded
// when it is first used on a device (softmax_warmup). Throws invalid_argument, which names the argument,
// before anything runs; and what a launch throws.
//
// Source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018, section 2 (safe
// softmax).

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct softmax_options {
  // f32, one for each row: the extents of x except the last, any strides. Rows without elements leave it as
  // it is.
  output_view lse{};
  f32 scale = 1;  // finite; may be negative
};
struct softmax_backward_options {
  f32 scale = 1;  // that of the forward call
};

namespace detail {

void run_softmax(const stream& s, const any_view& x, const any_view& y, const softmax_options& options);
void run_log_softmax(const stream& s, const any_view& x, const any_view& y, const softmax_options& options);
void run_softmax_backward(const stream& s, const any_view& y, const any_view& dy, const any_view& dx,
                          const softmax_backward_options& options);
void run_log_softmax_backward(const stream& s, const any_view& y, const any_view& dy, const any_view& dx,
                              const softmax_backward_options& options);

template <class X, class Out, std::size_t Rank>
constexpr void require_softmax_types() {
  using element = std::remove_const_t<X>;
  static_assert(is_wide(element_kind_of<element>()), "kaio: the elements of softmax are f32, f16 or bf16");
  static_assert(std::is_same_v<element, Out>,
                "kaio: the output of softmax has the element type of its input, and is not const");
  static_assert(Rank >= 2 && Rank <= 4, "kaio: softmax takes views of two to four dimensions");
}
template <class Y, class Dy, class Dx, std::size_t Rank>
constexpr void require_softmax_backward_types() {
  require_softmax_types<Y, Dx, Rank>();
  static_assert(std::is_same_v<std::remove_const_t<Y>, std::remove_const_t<Dy>>,
                "kaio: y, dy and dx of softmax_backward have one element type");
}

}  // namespace detail

// x, y: (..., size) of two to four dimensions, rows of any stride, neighbours adjacent. y is x itself,
// element by element, or apart from it. Fewer than 2^31 rows, and elements of a row. Fastest if rows begin at
// multiples of 16 bytes and the size is a multiple of 16 bytes.
template <class X, class Y, std::size_t Rank>
void softmax(const stream& s, const tensor_view<X, Rank>& x, const tensor_view<Y, Rank>& y,
             const softmax_options& options = {}) {
  detail::require_softmax_types<X, Y, Rank>();
  detail::run_softmax(s, x, y, options);
}
template <class X, class Y, std::size_t Rank>
void log_softmax(const stream& s, const tensor_view<X, Rank>& x, const tensor_view<Y, Rank>& y,
                 const softmax_options& options = {}) {
  detail::require_softmax_types<X, Y, Rank>();
  detail::run_log_softmax(s, x, y, options);
}

// y: the output of softmax; dy: its gradient; dx: the gradient of x. Shapes as in softmax. dx is y or dy
// itself, element by element, or apart from them.
//
//   softmax        dx = scale * y * (dy - sum of y * dy)
//   log_softmax    dx = scale * (dy - e^y * sum of dy)
template <class Y, class Dy, class Dx, std::size_t Rank>
void softmax_backward(const stream& s, const tensor_view<Y, Rank>& y, const tensor_view<Dy, Rank>& dy,
                      const tensor_view<Dx, Rank>& dx, const softmax_backward_options& options = {}) {
  detail::require_softmax_backward_types<Y, Dy, Dx, Rank>();
  detail::run_softmax_backward(s, y, dy, dx, options);
}
template <class Y, class Dy, class Dx, std::size_t Rank>
void log_softmax_backward(const stream& s, const tensor_view<Y, Rank>& y, const tensor_view<Dy, Rank>& dy,
                          const tensor_view<Dx, Rank>& dx, const softmax_backward_options& options = {}) {
  detail::require_softmax_backward_types<Y, Dy, Dx, Rank>();
  detail::run_log_softmax_backward(s, y, dy, dx, options);
}

// Refuse arguments that are no such views.
template <class X, class Y>
  requires(!detail::views<0, X, Y>)
void softmax(const stream&, const X&, const Y&, const softmax_options& = {}) {
  detail::refuse_views<X, Y>();
}
template <class X, class Y>
  requires(!detail::views<0, X, Y>)
void log_softmax(const stream&, const X&, const Y&, const softmax_options& = {}) {
  detail::refuse_views<X, Y>();
}
template <class Y, class Dy, class Dx>
  requires(!detail::views<0, Y, Dy, Dx>)
void softmax_backward(const stream&, const Y&, const Dy&, const Dx&, const softmax_backward_options& = {}) {
  detail::refuse_views<Y, Dy, Dx>();
}
template <class Y, class Dy, class Dx>
  requires(!detail::views<0, Y, Dy, Dx>)
void log_softmax_backward(const stream&, const Y&, const Dy&, const Dx&,
                          const softmax_backward_options& = {}) {
  detail::refuse_views<Y, Dy, Dx>();
}

// Loads the kernels for elements of `kind`, of softmax, log_softmax and their gradients, ahead of their first
// use.
void softmax_warmup(const runtime::device& gpu, element_kind kind);

// The images of these kernels.
std::vector<const ptx::kernel_image*> softmax_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::element_kind;
using ops::log_softmax;
using ops::log_softmax_backward;
using ops::softmax;
using ops::softmax_backward;
using ops::softmax_backward_options;
using ops::softmax_options;
using ops::softmax_warmup;
}  // namespace kaio
