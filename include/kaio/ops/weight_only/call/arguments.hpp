#pragma once
// The arguments of callers for weights of four bits, and the same arguments without types.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/constant_inputs.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/weight_only/common/codes.hpp>

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
  // A multiple of 16, or k, also given as -1. The last group may have fewer k for int4 without offsets;
  // otherwise the group divides k.
  std::int64_t group = 128;
  w4_scale_type scales = w4_scale_type::f16;
  bool zero_points = false;  // per group and column; else all are 8
  bool act_order = false;    // act-order: the groups of k are given by an index
  // The codes:
  //
  //   int4
  //   nf4, fp4    scales of f32, groups of multiples of 64
  //   e2m1        scales of e8m0 in groups of 32, or of e4m3 in groups of 16
  //   own         the user's, see shape_for of matmul_w4_with
  w4_codes codes = w4_codes::int4;
  bool factors = false;         // W[n] is also multiplied by an f32, such as NVFP4's tensor scale
  bool own_neighbours = false;  // own codes: their order in a word (layout.hpp)
  std::uint8_t own_slots = 0;   // own codes: groups that a tile of 64 k may overlap
  // W = scale (q - zero) + offset[g][n], with f32 offsets: for int4 with scales of f32, in groups of
  // multiples of 32, or k. Without offsets `zero` is 8.
  bool offsets = false;
  std::uint8_t zero = 8;
};

// Bytes of packed weights. Throws invalid_argument if the shape is not valid.
std::uint64_t packed_bytes(const w4_shape& shape);

// Device memory of packed_bytes(shape) bytes, at a multiple of 16: written by repack, read by all else.
struct w4_weights {
  w4_shape shape{};
  workspace_view memory{};
};

// Packed words, i32 or u32.
struct w4_words {
  any_view view;
  w4_words() = default;
  template <detail::without_view M>
  w4_words(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  w4_words(const tensor_view<T, 2>& v) : view(v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, i32> || std::is_same_v<element, u32>,
                  "kaio: weights of four bits come in words of i32 or u32");
  }
};
// Scales: f16 or bf16, as in the shape.
struct w4_scales {
  any_view view;
  w4_scales() = default;
  template <detail::without_view M>
  w4_scales(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  w4_scales(const tensor_view<T, 2>& v) : view(v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, f16> || std::is_same_v<element, bf16>,
                  "kaio: the scales of weights of four bits are f16 or bf16; cast them");
  }
};

// Tensors as files have them, with any strides; G = k / group; sizes are rounded up. Zero points are given
// exactly if the shape has them, and an index of groups exactly if it is ordered; otherwise repack throws.
struct gptq_w4 {
  w4_words qweight{};  // (k / 8, n)
  w4_words qzeros{};   // (G, n / 8)
  w4_scales scales{};  // (G, n)
  // (k): `group` of them per group, the rest in the last group; all 0: k / group
  tensor_view<const i32, 1> g_idx{};
  bool v2 = false;  // checkpoint_format "gptq_v2"; "gptq" stores zero points less 1
  // Bits per code: 2, 3 or 4 (gptq_w8 has 8). Words are then (k bits / 32, n) and (G, n bits / 32). Without
  // qzeros, zero points are 2^(bits - 1). Fewer than 4 bits: codes and zero points are shifted alike, which
  // keeps their differences.
  std::int64_t bits = 4;
};
struct awq_w4 {        // version "gemm"
  w4_words qweight{};  // (k, n / 8)
  w4_words qzeros{};   // (G, n / 8)
  w4_scales scales{};  // (G, n)
};
struct compressed_tensors_w4 {               // format pack-quantized
  w4_words weight_packed{};                  // (n, k / 8)
  w4_words weight_zero_point{};              // (n / 8, G)
  w4_scales weight_scale{};                  // (n, G)
  tensor_view<const i32, 1> weight_g_idx{};  // (k), with actorder "group"
  std::int64_t bits = 4;                     // 2, 3 or 4, as in gptq_w4
};
// Bytes: each has two codes, or one scale of e8m0 or e4m3.
struct w4_bytes {
  any_view view;
  w4_bytes() = default;
  template <detail::without_view M>
  w4_bytes(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  w4_bytes(const tensor_view<T, 2>& v) : view(v) {
    static_assert(std::is_same_v<std::remove_const_t<T>, u8> || std::is_same_v<std::remove_const_t<T>, e4m3>,
                  "kaio: codes and scales of this format are bytes of u8, or scales of e4m3");
  }
};
// nf4 or fp4. Weights are flattened row by row, in blocks of `group`, which divides k.
struct bitsandbytes_w4 {
  w4_bytes weight{};                   // (n, k / 2), the even k in the upper half of a byte
  tensor_view<const f32, 2> absmax{};  // (n, k / group)
  // If scales are quantised themselves, these members replace absmax:
  //   block  = n * (k / group) + group index
  //   absmax = nested_quant_map[code] * nested_absmax[block / nested_blocksize] + nested_offset
  w4_bytes absmax_codes{};                       // (n, k / group), rows adjacent
  tensor_view<const f32, 1> nested_quant_map{};  // (256)
  tensor_view<const f32, 1> nested_absmax{};
  f32 nested_offset = 0;
  std::int64_t nested_blocksize = 256;
};
struct mxfp4_w4 {     // gpt-oss (its last two dimensions as one) and compressed-tensors
  w4_bytes blocks{};  // (n, k / 2), the even k in the lower half of a byte
  w4_bytes scales{};  // (n, k / 32), e8m0
};
struct nvfp4_w4 {
  w4_bytes weight{};  // (n, k / 2), the even k in the lower half of a byte
  w4_bytes scales{};  // (n, k / 16), e4m3
  // (1) for the tensor, or (n), as in fused layers; given if the shape has factors.
  tensor_view<const f32, 1> tensor_scale{};
  bool divides = false;  // true: compressed-tensors' weight_global_scale; ModelOpt's multiplies
};
struct kaio_int4 {     // weights of matmul_int4
  w4_words packed{};   // (n, k / 8), two's complement
  w4_scales scales{};  // (G, n)
};

struct matmul_w4_options {
  any_view bias{};             // (n), the element type of x
  workspace_view workspace{};  // matmul_w4_workspace_bytes bytes, at a multiple of 16
  // Split-K: the number of splits of K; 0: the number that fills the device best. The bits of y depend only on
  // it and on the kernel's rows. From sm_90 on 2, 4 or 8 splits may be the blocks of a cluster, which needs no
  // workspace.
  std::uint32_t splits = 0;
  // The kernel to run, as named by matmul_w4_choice, or by tune_matmul_w4 with its splits. Empty: what tuning
  // found, if the workspace is large enough, or the best kernel by a model. "dequantise": W becomes a matrix
  // in the workspace, each weight rounded once to the type of x, and matmul multiplies it. "dequantise:4": in
  // four slices of the columns of y.
  std::string_view variant{};
  // A hint: no work in the stream before the call writes the weights. Their copies then begin before that
  // work has ended: for up to sixteen rows of x from sm_90 on, and for more rows on sm_90a.
  constant_inputs constant = constant_inputs::none;  // weights
  // No weight is rounded to the type of x before it is multiplied; rounding may be faster from 17 rows of x on.
  // A number of splits excludes rounding too. A variant that rounds is run all the same.
  bool exact_weights = false;
};

namespace detail {

// Whether a source is packed into w8_weights instead of w4_weights.
template <class Source>
inline constexpr bool is_of_w8 = false;

// Packed weights, not yet checked.
enum class w4_word_layout : std::uint8_t { along_k, along_n, awq_fast, marlin, tinygemm };
struct w4_source_arguments {
  std::string_view words_name, zeros_name, scales_name, act_order_name, offsets_name;
  any_view words, zeros, scales, offsets;
  tensor_view<const i32, 1> act_order{};
  w4_word_layout layout = w4_word_layout::along_k;  // along_n: (k, n / 8) in AutoAWQ's order
  std::int64_t bits = 4;
  bool words_n_first = false;      // (n, k / 8)
  bool zeros_n_first = false;      // (n / 8, G)
  bool zeros_along_group = false;  // (n, G / 8)
  bool scales_n_first = false;     // (n, G)
  bool padded = false;             // the file may have more groups than the weights
  std::uint32_t flip = 0, zeros_add = 0;
  std::uint8_t zero = 8;           // zero point of all weights
  bool eight_bits = false;         // for matmul_w8
  std::int64_t inner_k_tiles = 0;  // tinygemm only
};
w4_source_arguments arguments_of(const gptq_w4& source);
w4_source_arguments arguments_of(const awq_w4& source);
w4_source_arguments arguments_of(const compressed_tensors_w4& source);
w4_source_arguments arguments_of(const kaio_int4& source);

// The layout of codes in memory:
//
//   bytes            8 / bits codes each, (n, k / (8 / bits))
//   words            four bytes along k, (n, k / 4)
//   words_k_first    four bytes along k, (k / 4, n)
//   q8_0             blocks of 34 bytes: a scale of f16 and 32 codes
enum class w4_code_layout : std::uint8_t { bytes, words, words_k_first, q8_0 };

// Weights in bytes, not yet checked.
struct w4_bytes_arguments {
  std::string_view codes_name, scales_name, factors_name, zeros_name, act_order_name;
  any_view codes{}, scales{}, factors{}, zeros{};
  std::uint32_t codes_types = 0;  // bit mask of possible w4_codes
  w4_code_layout layout = w4_code_layout::bytes;
  w4_scale_type scales_type = w4_scale_type::f32;  // scales of the packed weights
  bool high_first = false, divides = false;
  bool scales_group_first = false;                         // (G, n)
  bool scales_of_many = false;                             // may be (1, 1), (n, 1), or per block of 128 x 128
  bool zeros_in_words = false, zeros_group_first = false;  // (n / 4, G) or (G, n / 4); else bytes (n, G)
  std::uint32_t flip = 0, zeros_add = 0;
  f32 scale_factor = 1;
  tensor_view<const i32, 1> act_order{};
  any_view nested_table{}, nested_scales{};
  f32 nested_offset = 0;
  std::int64_t nested_block = 256;
};
w4_bytes_arguments arguments_of(const bitsandbytes_w4& source);
w4_bytes_arguments arguments_of(const mxfp4_w4& source);
w4_bytes_arguments arguments_of(const nvfp4_w4& source);

// A matmul_w4, not yet checked.
struct matmul_w4_arguments {
  std::string_view operation;
  any_view x, out;
  const w4_weights* weights;
  const matmul_w4_options* options;
  const w4_variant* own = nullptr;  // kernels of a user's dequantisation, fewer rows first
  std::size_t own_count = 0;
};

}  // namespace detail

}  // namespace kaio::ops
