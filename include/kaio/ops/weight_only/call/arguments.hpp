#pragma once
// What callers give of weights of four bits, and the same without its types.

#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/weight_only/common/codes.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

struct w4_variant;

// The weight W of y = x W^T: n = out_features by k = in_features, W[n][k] = scale[g][n] * (q[n][k] -
// zero[g][n]) with g = k / group.
struct w4_shape {
  std::int64_t n = 0, k = 0;
  // A multiple of 16; or k, which -1 is too. Of int4 without offsets the last group may have fewer k, of others it
  // divides k.
  std::int64_t group = 128;
  w4_scale_type scales = w4_scale_type::f16;
  bool zero_points = false;  // of each group and column; else all of them are 8
  bool ordered = false;      // act-order: the groups of k are given by an index
  // int4; nf4 and fp4 with scales of f32 in groups of multiples of 64; e2m1 with scales of e8m0 in groups of
  // 32, or of e4m3 in groups of 16; or codes of the user's own, see shape_for of matmul_w4_with.
  w4_codes codes = w4_codes::int4;
  bool factors = false;         // W[n] is multiplied by an f32 too, as the scale of a tensor of NVFP4
  bool own_neighbours = false;  // the order that own codes are kept in
  std::uint8_t own_slots = 0;   // how finely groups divide 64 k, of own codes
  // W = scale (q - zero) + offset[g][n]: of int4 with scales of f32, and f32 offsets, in groups of multiples
  // of 32, or k. `zero` is 8 without offsets.
  bool offsets = false;
  std::uint8_t zero = 8;
};

// Bytes of packed weights. Throws invalid_argument where the shape is none of weights.
std::uint64_t packed_bytes(const w4_shape& shape);

// Device memory of packed_bytes(shape) bytes, at a multiple of 16: written by repack, read by all else.
struct w4_weights {
  w4_shape shape{};
  attention_workspace memory{};
};

// Packed words, of i32 or u32.
struct w4_words {
  any_view view;
  w4_words() = default;
  template <class T>
  w4_words(const tensor_view<T, 2>& v) : view(v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, i32> || std::is_same_v<element, u32>,
                  "kaio: weights of four bits come in words of i32 or u32");
  }
};
// f16 or bf16, as the shape has it.
struct w4_scales {
  any_view view;
  w4_scales() = default;
  template <class T>
  w4_scales(const tensor_view<T, 2>& v) : view(v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, f16> || std::is_same_v<element, bf16>,
                  "kaio: the scales of weights of four bits are f16 or bf16; cast them");
  }
};

// Tensors as files have them, of any strides; G = k / group, sizes rounded up. Zero points are given where the
// shape has them, and an index of groups where it is ordered, and else neither is: repack refuses it.
struct gptq_w4 {
  w4_words qweight{};  // (k / 8, n)
  w4_words qzeros{};   // (G, n / 8)
  w4_scales scales{};  // (G, n)
  // (k): each group has `group` of them, and the last one the rest; all 0: k / group
  tensor_view<const i32, 1> g_idx{};
  bool v2 = false;  // checkpoint_format "gptq_v2"; "gptq" stores zero points less 1
  // Of a code: 2, 3 or 4 (gptq_w8 has 8). Words are then (k bits / 32, n) and (G, n bits / 32); without zero
  // points these are 2^(bits - 1), and with fewer than 4 bits codes and zero points are packed as others
  // with the same differences.
  std::int64_t bits = 4;
};
struct awq_w4 {        // of version "gemm"
  w4_words qweight{};  // (k, n / 8)
  w4_words qzeros{};   // (G, n / 8)
  w4_scales scales{};  // (G, n)
};
struct compressed_tensors_w4 {               // format pack-quantized
  w4_words weight_packed{};                  // (n, k / 8)
  w4_words weight_zero_point{};              // (n / 8, G)
  w4_scales weight_scale{};                  // (n, G)
  tensor_view<const i32, 1> weight_g_idx{};  // (k), of actorder "group"
  std::int64_t bits = 4;                     // 2, 3 or 4, as of gptq_w4
};
// Bytes of two codes, or of an e8m0 or e4m3 scale.
struct w4_bytes {
  any_view view;
  w4_bytes() = default;
  template <class T>
  w4_bytes(const tensor_view<T, 2>& v) : view(v) {
    static_assert(std::is_same_v<std::remove_const_t<T>, u8> || std::is_same_v<std::remove_const_t<T>, e4m3>,
                  "kaio: codes and scales of this format are bytes of u8, or scales of e4m3");
  }
};
// nf4 or fp4: the weights, flattened row by row, in blocks of `group`, which divides k.
struct bitsandbytes_w4 {
  w4_bytes weight{};                   // (n, k / 2), the even k in the upper half of a byte
  tensor_view<const f32, 2> absmax{};  // (n, k / group)
  // Instead, where scales are quantised themselves: absmax = nested_quant_map[code] * nested_absmax[block /
  // nested_blocksize] + nested_offset, of block n * (k / group) + group.
  w4_bytes absmax_codes{};                       // (n, k / group), rows adjacent
  tensor_view<const f32, 1> nested_quant_map{};  // (256)
  tensor_view<const f32, 1> nested_absmax{};
  f32 nested_offset = 0;
  std::int64_t nested_blocksize = 256;
};
struct mxfp4_w4 {     // of gpt-oss (its last two dimensions as one) and of compressed-tensors
  w4_bytes blocks{};  // (n, k / 2), the even k in the lower half of a byte
  w4_bytes scales{};  // (n, k / 32), e8m0
};
struct nvfp4_w4 {
  w4_bytes weight{};  // (n, k / 2), the even k in the lower half of a byte
  w4_bytes scales{};  // (n, k / 16), e4m3
  // Of the tensor, (1), or of each n, as of fused layers: where the shape has factors.
  tensor_view<const f32, 1> tensor_scale{};
  bool divides = false;  // compressed-tensors' weight_global_scale; ModelOpt's multiplies
};
struct kaio_int4 {     // of matmul_int4
  w4_words packed{};   // (n, k / 8), two's complement
  w4_scales scales{};  // (G, n)
};

struct matmul_w4_options {
  any_view bias{};                  // (n), of the element type of x
  attention_workspace workspace{};  // of matmul_w4_workspace_bytes, at a multiple of 16 bytes
  // Into how many parts K is divided; 0: as the device is filled best. The bits depend on it, and on the rows
  // of the kernel, alone. On sm_90a 2, 4 and 8 may be the blocks of a cluster, which need no workspace.
  std::int64_t parts = 0;
  // The kernel to run, as matmul_w4_choice names it, or tune_matmul_w4 with its parts; empty: what tuning found, where
  // the workspace is large enough for it, or the best one by a model. "dequantise": W as a matrix in the workspace, and
  // matmul, where each weight is rounded once to the type of x; "dequantise:4": in four slices of the columns of y.
  std::string_view variant{};
  // A hint: no work in the stream before the call writes the weights. Of up to sixteen rows of x from sm_90 on, and of
  // more on sm_90a, they are asked for before it has ended.
  bool constant_weights = false;
  // No weight is rounded to the type of x before it is multiplied, which from 129 rows of x on would be faster; nor is
  // any with a number of parts. A variant that rounds them does it all the same.
  bool exact_weights = false;
};

namespace detail {

// Whether a source is packed into w8_weights, and not into w4_weights.
template <class Source>
inline constexpr bool is_of_w8 = false;

// Packed weights that were not checked yet.
enum class w4_word_layout : std::uint8_t { along_k, along_n, awq_fast, marlin, tinygemm };
struct w4_source_arguments {
  std::string_view words_name, zeros_name, scales_name, order_name, offsets_name;
  any_view words, zeros, scales, offsets;
  tensor_view<const i32, 1> order{};
  w4_word_layout layout = w4_word_layout::along_k;  // along_n: (k, n / 8) in AutoAWQ's order
  std::int64_t bits = 4;
  bool words_n_first = false;      // (n, k / 8)
  bool zeros_n_first = false;      // (n / 8, G)
  bool zeros_along_group = false;  // (n, G / 8)
  bool scales_n_first = false;     // (n, G)
  bool padded = false;             // more groups of scales and zero points than there are
  std::uint32_t flip = 0, zeros_add = 0;
  std::uint8_t zero = 8;           // of all weights
  bool eight_bits = false;         // of matmul_w8
  std::int64_t inner_k_tiles = 0;  // of tinygemm
};
w4_source_arguments arguments_of(const gptq_w4& source);
w4_source_arguments arguments_of(const awq_w4& source);
w4_source_arguments arguments_of(const compressed_tensors_w4& source);
w4_source_arguments arguments_of(const kaio_int4& source);

// How codes are laid out in memory: bytes of 8 / bits codes (n, k / (8 / bits)); words of four bytes along k,
// (n, k / 4) or (k / 4, n); blocks of 34 bytes, a scale of f16 and 32 codes.
enum class w4_code_layout : std::uint8_t { bytes, words, words_k_first, q8_0 };

// The same of weights in bytes.
struct w4_bytes_arguments {
  std::string_view codes_name, scales_name, factors_name, zeros_name, order_name;
  any_view codes{}, scales{}, factors{}, zeros{};
  std::uint32_t codes_types = 0;  // bits: the w4_codes that these may be
  w4_code_layout layout = w4_code_layout::bytes;
  w4_scale_type scales_type = w4_scale_type::f32;  // of the packed weights
  bool high_first = false, divides = false;
  bool scales_group_first = false;                         // (G, n)
  bool scales_of_many = false;                             // may be (1, 1), (n, 1), or of blocks of 128 x 128
  bool zeros_in_words = false, zeros_group_first = false;  // (n / 4, G) or (G, n / 4); else bytes (n, G)
  std::uint32_t flip = 0, zeros_add = 0;
  f32 scale_factor = 1;
  tensor_view<const i32, 1> order{};
  any_view nested_table{}, nested_scales{};
  f32 nested_offset = 0;
  std::int64_t nested_block = 256;
};
w4_bytes_arguments arguments_of(const bitsandbytes_w4& source);
w4_bytes_arguments arguments_of(const mxfp4_w4& source);
w4_bytes_arguments arguments_of(const nvfp4_w4& source);

// A matmul_w4 that was not checked yet.
struct matmul_w4_arguments {
  std::string_view operation;
  any_view x, out;
  const w4_weights* weights;
  const matmul_w4_options* options;
  const w4_variant* own = nullptr;  // the kernels of a dequantisation of the user's own, fewer rows first
  std::size_t own_count = 0;
};

}  // namespace detail

}  // namespace kaio::ops
