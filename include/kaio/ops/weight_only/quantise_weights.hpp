#pragma once
// Quantises numbers into the formats of files, on the device, bit for bit as the formats' references do.
//
//   quantise_weights(s, w, block_format::q4_0, bytes);                                    // GGUF Q4_0, Q8_0
//   quantise_weights(s, w, bnb_4bit_output{.weight = codes, .absmax = absmax});           // nf4, fp4
//   quantise_weights(s, w, mxfp4_output{.packed = codes, .scales = scales});              // OCP, floor
//   quantise_weights(s, w, nvfp4_output{.packed = codes, .scales = scales, .global = t}); // two levels
//   quantise_weights(s, w, w4_output{.weight_packed = codes, .weight_scale = scales});    // for repack
//
// w: (n, k) of f32, f16 or bf16; rows at any stride, elements of a row adjacent. It is fastest if rows begin
// at multiples of 16 bytes. Computed in f32. Nothing is allocated, read back or waited for. Throws
// invalid_argument with the argument's name before anything runs, and what a launch throws.

#include <kaio/ops/weight_only/call/arguments.hpp>
#include <kaio/ops/weight_only/formats/arguments.hpp>
#include <kaio/ops/weight_only/formats/block_format.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

// bitsandbytes' format, as bnb_4bit reads it. If blocks do not end with rows, the rows of w have no gaps
// between them.
struct bnb_4bit_output {
  bnb_code code = bnb_code::nf4;
  tensor_view<u8, 1> weight{};   // n k / 2 bytes, rounded up
  tensor_view<f32, 1> absmax{};  // n k / blocksize, rounded up
  std::int64_t blocksize = 64;   // a power of two, 32 to 65536
};
// The format of mxfp4_tensors, with scales of 2^(floor(log2 absmax) - 2). A block with an infinity or a NaN
// has the scale NaN.
struct mxfp4_output {
  tensor_view<u8, 2> packed{};  // (n, k / 2)
  tensor_view<u8, 2> scales{};  // (n, k / 32)
};
// The format of nvfp4_tensors whose `global` multiplies: scales of absmax / 6, at least 2^-6. With `global`
// these are divided by the matrix' absmax / 2688, which is written there (1 for zeros).
struct nvfp4_output {
  tensor_view<u8, 2> packed{};    // (n, k / 2)
  tensor_view<e4m3, 2> scales{};  // (n, k / 16)
  tensor_view<f32, 1> global{};   // 1, or none: one level
};

// Codes of four bits in groups along k, rounded to nearest, in compressed-tensors' layout for repack
// (compressed_tensors_w4). Scales are rounded to their type first; a group of zeros has scale 1. Then
//
//   symmetric    scale = absmax / 7.5           code = w / scale
//   asymmetric   scale = (high - low) / 15      code = w / scale + zero      zero = -8 - low / scale
//
// where low and high bound the group's range, 0 included. Codes and zero points are rounded to nearest even,
// clamped to -8 to 7, and stored + 8.
struct w4_output {
  tensor_view<i32, 2> weight_packed{};      // (n, k / 8)
  w4_scales weight_scale{};                 // (n, k / group), f16 or bf16
  tensor_view<i32, 2> weight_zero_point{};  // (n / 8, k / group), or none: symmetric
  std::int64_t group = 128;                 // a multiple of 16 that divides k; or k, also given as -1
};

namespace detail {
void run_quantise_w4(const stream& s, const any_view& w, const w4_output& to);
// An output, not yet checked.
struct quantised_output {
  std::uint32_t kind;  // quantised_kind
  std::int64_t size;   // elements of a block
  std::string_view codes_name, scales_name;
  any_view codes, scales, global{};
};
quantised_output quantised_output_of(block_format format, const tensor_view<u8, 1>& bytes);
quantised_output quantised_output_of(const bnb_4bit_output& to);
quantised_output quantised_output_of(const mxfp4_output& to);
quantised_output quantised_output_of(const nvfp4_output& to);
void run_quantise_weights(const stream& s, const any_view& w, const quantised_output& to);
template <class T>
constexpr void require_quantisable() {
  static_assert(is_wide(element_kind_of<T>()), "kaio: quantise_weights reads a view of f32, f16 or bf16");
}
}  // namespace detail

// format: q4_0 or q8_0. bytes: packed_bytes(format, n * k) bytes, at a multiple of 2. k is a multiple of 32.
template <class T>
void quantise_weights(const stream& s, const tensor_view<T, 2>& w, block_format format,
                      const tensor_view<u8, 1>& bytes) {
  detail::require_quantisable<T>();
  detail::run_quantise_weights(s, w, detail::quantised_output_of(format, bytes));
}
template <class T, class Output>
  requires requires(const Output& to) { detail::quantised_output_of(to); }
void quantise_weights(const stream& s, const tensor_view<T, 2>& w, const Output& to) {
  detail::require_quantisable<T>();
  detail::run_quantise_weights(s, w, detail::quantised_output_of(to));
}

template <class T>
void quantise_weights(const stream& s, const tensor_view<T, 2>& w, const w4_output& to) {
  detail::require_quantisable<T>();
  detail::run_quantise_w4(s, w, to);
}

// Loads the kernels ahead of their first use.
void quantise_weights_warmup(const runtime::device& gpu);

}  // namespace kaio::ops

namespace kaio {
using ops::bnb_4bit_output;
using ops::mxfp4_output;
using ops::nvfp4_output;
using ops::quantise_weights;
using ops::w4_output;
}  // namespace kaio
