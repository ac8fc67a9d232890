#pragma once
// Dequantises weights in the formats of files to a matrix, on the device.
//
//   dequantise(s, block_format::q4_k, bytes, w);                                    // GGUF
//   dequantise(s, bnb_4bit{.weight = codes, .absmax = absmax}, w);                  // nf4
//   dequantise(s, mxfp4_tensors{.packed = blocks, .scales = scales}, w);
//   dequantise(s, scaled_bytes{.weight = codes, .scale = weight_scale_inv}, w);     // FP8, 128 x 128
//
// w: (n, k) of f32, f16 or bf16; rows at any stride, elements of a row adjacent. Values are bit for bit those
// of the formats' f32 references (kaio::weights, read_values), rounded once to the type of w. It is fastest
// if w and its rows begin at multiples of 16 bytes. Nothing is allocated, read back or waited for. Throws
// invalid_argument with the argument's name before anything runs, and what a launch throws.

#include <kaio/ops/weight_only/formats/arguments.hpp>
#include <kaio/ops/weight_only/formats/block_format.hpp>
#include <kaio/ops/weight_only/repack_blocks.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
void run_dequantise_blocks(const stream& s, block_format format, const any_view& bytes, const any_view& out);
void run_dequantise_codes(const stream& s, const code_source& source, const any_view& out);
template <class T>
constexpr void require_dequantised() {
  static_assert(is_wide(element_kind_of<T>()) && !std::is_const_v<T>,
                "kaio: weights are dequantised to a view of f32, f16 or bf16 that are not const");
}
}  // namespace detail

// bytes: packed_bytes(format, n * k) bytes without gaps, blocks row after row, at a multiple of 2 (MXFP4,
// NVFP4: anywhere). k is a multiple of the elements of a block.
template <class T>
void dequantise(const stream& s, block_format format, const tensor_view<const u8, 1>& bytes,
                const tensor_view<T, 2>& out) {
  detail::require_dequantised<T>();
  detail::run_dequantise_blocks(s, format, bytes, out);
}

// Refuses a format that is no block_format, such as the weight_format of a file's tensor.
template <class Format, class T>
  requires std::is_enum_v<Format> && (!std::is_same_v<Format, block_format>)
void dequantise(const stream&, Format, const tensor_view<const u8, 1>&, const tensor_view<T, 2>&) {
  static_assert(std::is_same_v<Format, block_format>,
                "kaio: dequantise takes a block_format; of a tensor of a file that is "
                "block_format_named(facts(tensor.format).name)");
}

// Codes and scales in tensors of their own (arguments.hpp).
template <class Source, class T>
  requires requires(const Source& source) { detail::code_source_of(source); }
void dequantise(const stream& s, const Source& source, const tensor_view<T, 2>& out) {
  detail::require_dequantised<T>();
  detail::run_dequantise_codes(s, detail::code_source_of(source), out);
}

// Loads the kernels ahead of their first use: calls may then be captured into a graph.
void dequantise_warmup(const runtime::device& gpu);

// The images of all kernels for the formats of files.
std::vector<const ptx::kernel_image*> format_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::bnb_4bit;
using ops::bnb_code;
using ops::bnb_int8;
using ops::bnb_nested;
using ops::dequantise;
using ops::mxfp4_tensors;
using ops::nvfp4_tensors;
using ops::scaled_bytes;
}  // namespace kaio
