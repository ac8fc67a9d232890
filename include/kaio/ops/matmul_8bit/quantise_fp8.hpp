#pragma once
// Quantises numbers to e4m3 with scales for matmul_fp8: activations per tensor, token, or token and 128
// channels; weights per output channel, or in blocks of 128 x 128.
//
//   quantise_fp8(gpu.stream(), x, codes, 0.05f);             // x ~ codes * 0.05
//   quantise_fp8(gpu.stream(), x, codes, scales);            // x ~ codes * scales[row]
//   quantise_fp8(gpu.stream(), x, codes, groups);            // x ~ codes * groups[row][column / 128]
//   quantise_fp8_blocks(gpu.stream(), w, codes, blocks);     // w ~ codes * blocks[row / 128][column / 128]
//
//   scale = max |x| / 448, or 1 if all numbers are 0;   code = x / scale
//
// Quotients are f32. Codes are rounded once to the nearest even and saturate at 448. NaN stays NaN and does
// not count for a scale. If a number is infinite, so is its scale. Unless all numbers of a scale are 0, codes
// and scales are those of DeepSeek-V3's act_quant (inference/kernel.py).
//
// x: rows x K of f32, f16 or bf16; codes: the same extents; both with contiguous rows. Scales may have any
// strides. Asynchronous. Throws invalid_argument, which names the argument, before anything runs.

#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/runtime/stream.hpp>

#include <string_view>
#include <type_traits>

namespace kaio::ops {

namespace detail {
// Rows and columns that share one scale; 0: all of them.
struct quantise_fp8_tile {
  u32 rows, columns;
};
void run_quantise_fp8(const stream& s, std::string_view operation, const matmul_view& x,
                      const matmul_view& codes, const matmul_view& scales, f32 scale,
                      const quantise_fp8_tile& tile);
template <class X>
constexpr void require_quantise_fp8_types() {
  static_assert(is_matmul_output<std::remove_const_t<X>>,
                "kaio: quantise_fp8 reads a view of f32, f16 or bf16");
}
}  // namespace detail

template <class X>
void quantise_fp8(const stream& s, const tensor_view<X, 2>& x, const tensor_view<e4m3, 2>& codes, f32 scale) {
  detail::require_quantise_fp8_types<X>();
  detail::run_quantise_fp8(s, "quantise_fp8", x, codes, {}, scale, {0, 0});
}
template <class X>
void quantise_fp8(const stream& s, const tensor_view<X, 2>& x, const tensor_view<e4m3, 2>& codes,
                  const tensor_view<f32, 1>& scales) {
  detail::require_quantise_fp8_types<X>();
  detail::run_quantise_fp8(s, "quantise_fp8", x, codes, scales, 0, {1, 0});
}
template <class X>
void quantise_fp8(const stream& s, const tensor_view<X, 2>& x, const tensor_view<e4m3, 2>& codes,
                  const tensor_view<f32, 2>& groups) {
  detail::require_quantise_fp8_types<X>();
  detail::run_quantise_fp8(s, "quantise_fp8", x, codes, groups, 0, {1, 128});
}
template <class X>
void quantise_fp8_blocks(const stream& s, const tensor_view<X, 2>& w, const tensor_view<e4m3, 2>& codes,
                         const tensor_view<f32, 2>& blocks) {
  detail::require_quantise_fp8_types<X>();
  detail::run_quantise_fp8(s, "quantise_fp8_blocks", w, codes, blocks, 0, {128, 128});
}

}  // namespace kaio::ops

namespace kaio {
using ops::quantise_fp8;
using ops::quantise_fp8_blocks;
}  // namespace kaio
