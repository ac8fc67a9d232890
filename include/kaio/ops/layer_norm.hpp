#pragma once
// Layer norm of rows, with the addition of a residual that precedes it in a transformer.
//
//   layer_norm(s, x, weight, bias, y);                                  // y = (x - mean) / deviation * weight + bias
//   layer_norm(s, x, weight, bias, y, {.residual = h, .residual_out = h});      // h = h + x; y is the norm of h
//   layer_norm(s, x, {}, {}, y, {.scale = scale, .shift = shift});              // adaptive: no weight and no bias
//   layer_norm(s, x, weight, bias, codes, scales);                              // y ~ codes * scales[row]
//   layer_norm(s, x, weight, bias, codes, groups);                              // y ~ codes * groups[row][column / 128]
//
//   h = x * gate + residual                                      if given: f32, rounded once to T
//   n = (h - mean) / sqrt(variance + epsilon) * (weight_offset + weight) + bias
//   y = n * (1 + scale) + shift                                  f32, rounded once to T
//
// The variance is the mean square of h - mean, in a pass of its own: a large mean costs no precision. Types, orders of
// sums, graphs and errors are those of rms_norm (rms_norm.hpp). Source: Ba, Kiros and Hinton, "Layer Normalization",
// 2016.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/norm/call/arguments.hpp>
#include <kaio/ops/shared/any_view.hpp>
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

// x, out: (..., size) of two to four dimensions, rows of any stride, neighbours adjacent. weight, bias: (size), both of
// x's type or both f32; a null view, or {}, is left out. The norm is along the last dimension. out is x itself, element
// by element, or apart from it, and apart from everything else. Fewer than 2^31 rows.
template <class X, class Out, std::size_t Rank>
  requires(!detail::norm_code<Out>)
void layer_norm(const stream& s, const tensor_view<X, Rank>& x, const any_view& weight, const any_view& bias,
                const tensor_view<Out, Rank>& out, const layer_norm_options& options = {}) {
  detail::require_norm_types<X, X, Out, Rank>();
  detail::run_layer_norm(s, x, weight, bias, out, options);
}

// layer_norm into codes of i8 or e4m3, which are apart from everything else. scales: f32, one for each row, with the
// extents of x except the last, any strides.
template <class X, detail::norm_code Code, std::size_t Rank>
void layer_norm(const stream& s, const tensor_view<X, Rank>& x, const any_view& weight, const any_view& bias,
                const tensor_view<Code, Rank>& codes, const tensor_view<f32, Rank - 1>& scales,
                const layer_norm_options& options = {}) {
  detail::require_norm_types<X, X, Code, Rank>();
  detail::run_layer_norm_codes(s, x, weight, bias, codes, scales, 0, options);
}
// layer_norm into codes with a scale for each 128 neighbours of a row. groups: f32, (..., ceil(size / 128)), any strides.
template <class X, detail::norm_code Code, std::size_t Rank>
void layer_norm(const stream& s, const tensor_view<X, Rank>& x, const any_view& weight, const any_view& bias,
                const tensor_view<Code, Rank>& codes, const tensor_view<f32, Rank>& groups,
                const layer_norm_options& options = {}) {
  detail::require_norm_types<X, X, Code, Rank>();
  detail::run_layer_norm_codes(s, x, weight, bias, codes, groups, 0, options);
}
// layer_norm into codes by a known scale, above 0 and finite.
template <class X, detail::norm_code Code, std::size_t Rank>
void layer_norm(const stream& s, const tensor_view<X, Rank>& x, const any_view& weight, const any_view& bias,
                const tensor_view<Code, Rank>& codes, f32 scale, const layer_norm_options& options = {}) {
  detail::require_norm_types<X, X, Code, Rank>();
  detail::run_layer_norm_codes(s, x, weight, bias, codes, {}, scale, options);
}
// Refuses arguments that are no such views.
template <class X, class Out>
  requires(!detail::views<0, X, Out>)
void layer_norm(const stream&, const X&, const any_view&, const any_view&, const Out&,
                const layer_norm_options& = {}) {
  detail::refuse_views<X, Out>();
}

// Loads the kernels for elements of `kind`, into such elements and into codes, ahead of their first use.
void layer_norm_warmup(const runtime::device& gpu, element_kind kind);

}  // namespace kaio::ops

namespace kaio {
using ops::layer_norm;
using ops::layer_norm_warmup;
}  // namespace kaio
