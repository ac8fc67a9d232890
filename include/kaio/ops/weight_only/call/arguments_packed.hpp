#pragma once
// Weights packed for other libraries' kernels: AutoAWQ's gemv and gemv_fast, Marlin of vLLM, tinygemm of
// PyTorch, and torchao's plain int4.

#include <kaio/ops/weight_only/call/arguments.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// AutoAWQ's version "gemv". zw = G / 8, rounded up; to a multiple of 2 with groups of 64, of 4 with groups of
// 32.
struct awq_gemv_w4 {
  w4_words qweight{};  // (n, k / 8)
  w4_words qzeros{};   // (n, zw)
  w4_scales scales{};  // (n, 8 zw)
};
// AutoAWQ's version "gemv_fast", as in llm-awq: W = scale q + qzeros. For w4_shape{.scales = f32,
// .zero_points = false, .offsets = true, .zero = 0}. k is a multiple of 64, n of 4.
struct awq_gemv_fast_w4 {
  tensor_view<const i16, 2> qweight{};  // (n / 4, k)
  w4_scales scales{};                   // (8 zw, n)
  w4_scales qzeros{};                   // (8 zw, n), type of the scales
};
// Marlin of vLLM: codes with bias 8, k a multiple of 16, n of 64. With act-order, k is sorted while packing,
// and x is not permuted here.
struct marlin_w4 {
  w4_words b{};        // (k / 16, 2 n)
  w4_scales scales{};  // (G, n), permuted
  w4_words zeros{};    // (G, n / 8), permuted, as for AWQ's weights
};
// aten::_convert_weight_to_int4pack: W = scale (q - 8) + zero. For w4_shape{.scales = f32, .offsets = true},
// with k and n as packed: padded to multiples of 16 inner_k_tiles and of 8. inner_k_tiles is 2, 4 or 8.
struct tinygemm_w4 {
  tensor_view<const i32, 4> packed{};  // (n / 8, k / (16 inner_k_tiles), 32, inner_k_tiles / 2): 2, 4, 8
  tensor_view<const bf16, 3> scales_and_zeros{};  // (k / group, n, 2)
};
// torchao's Int4Tensor: W = scale q + zero_point, with q in two's complement. For w4_shape{.scales = f32,
// .offsets = true}.
struct torchao_int4_w4 {
  w4_words qdata{};   // (n, k / 8): the file's (n, k / 2) bytes, the even k in the lower half, four as a word
  w4_scales scale{};  // (G, n)
  w4_scales zero_point{};  // (G, n), type of the scales
};

namespace detail {

w4_source_arguments arguments_of(const awq_gemv_w4& source);
w4_source_arguments arguments_of(const awq_gemv_fast_w4& source);
w4_source_arguments arguments_of(const marlin_w4& source);
w4_source_arguments arguments_of(const tinygemm_w4& source);
w4_source_arguments arguments_of(const torchao_int4_w4& source);

}  // namespace detail

}  // namespace kaio::ops
