#pragma once
// Quantises numbers to i8 for matmul_int8: activations per token, weights per channel, or by a known scale.
//
//   quantise_int8(gpu.stream(), x, codes, scales);           // x ~ codes * scales[row]
//   quantise_int8(gpu.stream(), x, codes, scales, zeros);    // x ~ (codes - zeros[row]) * scales[row]
//   quantise_int8(gpu.stream(), x, codes, 0.05f);            // x ~ codes * 0.05
//
//   symmetric    scale = max |x| / 127; code = x / scale
//   asymmetric   low ... high is the row's range, 0 included: scale = (high - low) / 255,
//                zero = -128 - low / scale; code = x / scale + zero
//
// Quotients are f32. Codes are rounded to the nearest even and clamped to -128 ... 127. A row with no number
// except 0 has scale 1. NaN gets the code of 0 and does not count for its row's scale. A row with an infinity
// has an infinite scale. Channels of a K x N weight are rows of its transpose: quantise the N x K matrix.
//
// x: rows x K of f32, f16 or bf16; codes: the same extents; both with contiguous rows. Asynchronous. Throws
// invalid_argument, which names the argument, before anything runs.

#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>

namespace kaio::ops {

namespace detail {
void run_quantise_int8(const stream& s, const matmul_view& x, const matmul_view& codes,
                       const matmul_view& scales, const matmul_view& zero_points, f32 scale);
template <class X>
constexpr void require_quantise_int8_types() {
  static_assert(is_matmul_output<std::remove_const_t<X>>,
                "kaio: quantise_int8 reads a view of f32, f16 or bf16");
}
}  // namespace detail

template <class X>
void quantise_int8(const stream& s, const tensor_view<X, 2>& x, const tensor_view<i8, 2>& codes,
                   const tensor_view<f32, 1>& scales) {
  detail::require_quantise_int8_types<X>();
  detail::run_quantise_int8(s, x, codes, scales, {}, 0);
}
template <class X>
void quantise_int8(const stream& s, const tensor_view<X, 2>& x, const tensor_view<i8, 2>& codes,
                   const tensor_view<f32, 1>& scales, const tensor_view<i32, 1>& zero_points) {
  detail::require_quantise_int8_types<X>();
  detail::run_quantise_int8(s, x, codes, scales, zero_points, 0);
}
template <class X>
void quantise_int8(const stream& s, const tensor_view<X, 2>& x, const tensor_view<i8, 2>& codes, f32 scale) {
  detail::require_quantise_int8_types<X>();
  detail::run_quantise_int8(s, x, codes, {}, {}, scale);
}

}  // namespace kaio::ops

namespace kaio {
using ops::quantise_int8;
}  // namespace kaio
