#pragma once
// Numbers of int8 codes and their scales, as quantise_int8 and files of weights have them.
//
//   int8_dequant(s, codes, 0.0125f, x);          // one scale: x = codes * scale
//   int8_dequant(s, codes, scales, x);           // scales (rows, 1) or (rows, columns / group)
//   int8_dequant(s, int8_words(words), ...);     // four codes in each u32, the first in its lowest byte
//
// x: f32, f16 or bf16; the product is in f32, rounded once. Scales are f32, f16 or bf16. With scales in
// device memory a call is dequantise(s, scaled_bytes{...}, x) of kaio/ops/weight_only/dequantise.hpp, which
// has block scales of rows and columns too. Nothing is allocated, read back or waited for. Throws
// invalid_argument, which names the argument, before anything runs; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace kaio::ops {

namespace detail {
void run_int8_dequant(const stream& s, const any_view& codes, f32 scale, const any_view& x);
inline void run_int8_dequant_groups(const stream& s, const any_view& codes, const any_view& scales,
                                    const any_view& x) {
  const std::int64_t columns = codes.extents[1], groups = scales.extents[1];
  scaled_bytes source;
  source.weight.view = codes;
  source.scale.view = scales;
  source.block_rows = scales.extents[0] == 1 && codes.extents[0] > 1 ? codes.extents[0] : 1;
  source.block_columns = groups > 1 ? (columns + groups - 1) / groups : columns > 1 ? columns : 1;
  run_dequantise_codes(s, code_source_of(source), x);
}
}  // namespace detail

// The codes in words of four: (4 n) of (n), (rows, 4 n) of (rows, n). Words of a row are adjacent.
inline tensor_view<const i8, 1> int8_words(const tensor_view<const u32, 1>& words) {
  const device_pointer<i8> memory{words.address(), words.bytes(), words.device()};
  return {memory, extents(words.extent(0) * 4)};
}
inline tensor_view<const i8, 2> int8_words(const tensor_view<const u32, 2>& words) {
  const device_pointer<i8> memory{words.address(), words.bytes(), words.device()};
  return {memory, extents(words.extent(0), words.extent(1) * 4), strides(words.stride(0) * 4, 1)};
}

// x = codes * scale. codes, x: equal extents, one to five dimensions, any strides. scale: finite.
template <class Code, class X, std::size_t Rank>
void int8_dequant(const stream& s, const tensor_view<Code, Rank>& codes, std::type_identity_t<f32> scale,
                  const tensor_view<X, Rank>& x) {
  static_assert(std::is_same_v<std::remove_const_t<Code>, i8>, "kaio: the codes of int8_dequant are i8");
  static_assert(is_wide(element_kind_of<X>()) && !std::is_const_v<X> && Rank <= 5,
                "kaio: int8_dequant writes to a view of f32, f16 or bf16 of up to five dimensions");
  detail::run_int8_dequant(s, codes, scale, x);
}

// x(r, c) = codes(r, c) * scales(r, c / group). codes, x: (rows, columns), neighbours of a row adjacent;
// scales: (rows or 1, groups); a group has columns / groups columns, rounded up.
template <class Code, class Scale, class X>
void int8_dequant(const stream& s, const tensor_view<Code, 2>& codes, const tensor_view<Scale, 2>& scales,
                  const tensor_view<X, 2>& x) {
  static_assert(std::is_same_v<std::remove_const_t<Code>, i8>, "kaio: the codes of int8_dequant are i8");
  static_assert(is_wide(element_kind_of<Scale>()), "kaio: the scales of int8_dequant are f32, f16 or bf16");
  static_assert(is_wide(element_kind_of<X>()) && !std::is_const_v<X>,
                "kaio: int8_dequant writes to a view of f32, f16 or bf16");
  detail::run_int8_dequant_groups(s, codes, scales, x);
}

// Loads the kernels ahead of their first use.
void int8_dequant_warmup(const runtime::device& gpu);

// The images of the kernels with one scale.
std::vector<const ptx::kernel_image*> int8_dequant_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::int8_dequant;
using ops::int8_dequant_warmup;
using ops::int8_words;
}  // namespace kaio
