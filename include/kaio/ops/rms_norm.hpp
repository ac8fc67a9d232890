#pragma once
// RMS norm of rows, with the addition of a residual that precedes it in a transformer.
//
//   rms_norm(s, x, weight, y);                                      // y = x / rms(x) * weight
//   rms_norm(s, x, weight, y, {.residual = h, .residual_out = h});  // h = h + x; y = h / rms(h) * weight
//   rms_norm(s, x, weight, codes, scales);                          // y ~ codes * scales[row], i8 or e4m3
//   rms_norm(s, x, weight, codes, groups);                          // y ~ codes * groups[row][column / 128]
//
//   h = x * gate + residual                      if given: f32, rounded once to T
//   n = h / rms(h) * (weight_offset + weight)    rms(h) = sqrt(mean of h^2 + epsilon)
//   y = n * (1 + scale) + shift                  f32, rounded once to T
//
// T is the element type of x; the weight may be f32. Sums of squares are in f32. Their order depends only on the
// size of a row, on whether the rows of all tensors begin at multiples of 16 bytes (codes: 8), and on the device: a row
// has the same bits alone and among others. The residual that is written is h as rounded, and y is its norm. Codes and scales are those of
// quantise_int8 or quantise_fp8 of y, bit for bit. Nothing is allocated, read back or waited for, so a call may be
// captured into a graph; a kernel is loaded when it is first used on a device (rms_norm_warmup). Throws
// invalid_argument, which names the argument, before anything runs; and what a launch throws.
//
// Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/norm/call/arguments.hpp>
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

// x, out: (..., size) of two to four dimensions, rows of any stride, neighbours adjacent; weight: (size), of x's type
// or f32. The norm is along the last dimension. out is x itself, element by element, or apart from it, and apart from
// everything else. Fewer than 2^31 rows. Fastest if rows begin at multiples of 16 bytes and the size is a
// multiple of 8.
template <class X, class Weight, class Out, std::size_t Rank>
  requires(!detail::norm_code<Out>)
void rms_norm(const stream& s, const tensor_view<X, Rank>& x, const tensor_view<Weight, 1>& weight,
              const tensor_view<Out, Rank>& out, const rms_norm_options& options = {}) {
  detail::require_norm_types<X, Weight, Out, Rank>();
  detail::run_rms_norm(s, x, weight, out, options);
}

// rms_norm into codes of i8 or e4m3, which are apart from everything else. scales: f32, one for each row,
// with the extents of x except the last, any strides. Fastest if rows of codes begin at multiples of 8 bytes
// too.
template <class X, class Weight, detail::norm_code Code, std::size_t Rank>
void rms_norm(const stream& s, const tensor_view<X, Rank>& x, const tensor_view<Weight, 1>& weight,
              const tensor_view<Code, Rank>& codes, const tensor_view<f32, Rank - 1>& scales,
              const rms_norm_options& options = {}) {
  detail::require_norm_types<X, Weight, Code, Rank>();
  detail::run_rms_norm_codes(s, x, weight, codes, scales, 0, options);
}
// rms_norm into codes with a scale for each 128 neighbours of a row, as matmul_fp8 takes them. groups: f32,
// (..., ceil(size / 128)), any strides.
template <class X, class Weight, detail::norm_code Code, std::size_t Rank>
void rms_norm(const stream& s, const tensor_view<X, Rank>& x, const tensor_view<Weight, 1>& weight,
              const tensor_view<Code, Rank>& codes, const tensor_view<f32, Rank>& groups,
              const rms_norm_options& options = {}) {
  detail::require_norm_types<X, Weight, Code, Rank>();
  detail::run_rms_norm_codes(s, x, weight, codes, groups, 0, options);
}
// rms_norm into codes by a known scale, above 0 and finite.
template <class X, class Weight, detail::norm_code Code, std::size_t Rank>
void rms_norm(const stream& s, const tensor_view<X, Rank>& x, const tensor_view<Weight, 1>& weight,
              const tensor_view<Code, Rank>& codes, f32 scale, const rms_norm_options& options = {}) {
  detail::require_norm_types<X, Weight, Code, Rank>();
  detail::run_rms_norm_codes(s, x, weight, codes, {}, scale, options);
}
// Refuses arguments that are no such views.
template <class X, class Weight, class Out>
  requires(!(detail::views<0, X, Out> && detail::views<1, Weight>))
void rms_norm(const stream&, const X&, const Weight&, const Out&, const rms_norm_options& = {}) {
  detail::refuse_views<X, Weight, Out>();
}
template <class X, class Weight, class Codes, class Scales>
  requires(!(detail::views<0, X, Codes> && detail::views<1, Weight> &&
             (detail::views<0, Scales> || std::is_convertible_v<Scales, f32>)))
void rms_norm(const stream&, const X&, const Weight&, const Codes&, const Scales&,
              const rms_norm_options& = {}) {
  detail::refuse_views<X, Weight, Codes, Scales>();
}

// Loads the kernels for elements of `kind`, into such elements and into codes, ahead of their first use.
void rms_norm_warmup(const runtime::device& gpu, element_kind kind);

// The images of the kernels of rms_norm.
std::vector<const ptx::kernel_image*> rms_norm_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::element_kind;
using ops::rms_norm;
using ops::rms_norm_warmup;
}  // namespace kaio
