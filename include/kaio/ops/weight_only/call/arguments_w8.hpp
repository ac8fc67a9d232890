#pragma once
// The arguments of callers for weights of eight bits.

#include <kaio/ops/weight_only/call/arguments.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

enum class w8_codes : std::uint8_t { int8, e4m3 };

// W[n][k] = scale[g][n] * (q[n][k] - zero[g][n]) or scale[g][n] * e4m3, with g = k / group. Scales are kept
// as f32.
struct w8_shape {
  std::int64_t n = 0, k = 0;
  // A multiple of 16 (int8) or of 64 (e4m3); or k, also given as -1: a scale per column. The last group may
  // have fewer codes; with offsets the group divides k.
  std::int64_t group = -1;
  w8_codes codes = w8_codes::int8;
  bool zero_points = false;  // int8 only; else q is signed
  bool act_order = false;    // act-order: the groups of k are given by an index
  // W = scale q + offset[g][n], with f32 offsets: for int8, in groups of multiples of 32, or k.
  bool offsets = false;
};

// Bytes of packed weights. Throws invalid_argument if the shape is not valid.
std::uint64_t packed_bytes(const w8_shape& shape);

// Device memory of packed_bytes(shape) bytes, at a multiple of 16.
struct w8_weights {
  w8_shape shape{};
  workspace_view memory{};
};

// Scales: f32, f16 or bf16. A vector counts as (its extent, 1): scales of rows, or of the tensor.
struct w8_scales {
  any_view view;
  w8_scales() = default;
  template <detail::without_view M>
  w8_scales(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  w8_scales(const tensor_view<T, 1>& v) : view(v) {
    static_assert(is_wide(element_kind_of<T>()),
                  "kaio: the scales of weights of eight bits are f32, f16 or bf16");
    view.rank = 2;
    view.extents[1] = view.strides[1] = 1;
  }
  template <class T>
  w8_scales(const tensor_view<T, 2>& v) : view(v) {
    static_assert(is_wide(element_kind_of<T>()),
                  "kaio: the scales of weights of eight bits are f32, f16 or bf16");
  }
};
struct w8_bytes {
  any_view view;
  w8_bytes() = default;
  template <detail::without_view M>
  w8_bytes(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  w8_bytes(const tensor_view<T, 2>& v) : view(v) {
    static_assert(sizeof(T) == 1, "kaio: weights of eight bits are i8, u8 or e4m3");
  }
};

// Tensors as files have them, with any strides; G = k / group; sizes in words are rounded up.
struct int8_w8 {       // compressed-tensors int-quantized, and any other plain integers
  w8_bytes weight{};   // (n, k), i8
  w8_scales scales{};  // (n, G); or as e4m3_w8 has them
  // (n, G), or (1, 1) for the tensor if the group is k; given if the shape has zero points.
  tensor_view<const i8, 2> zero_points{};
};
struct llm_int8_w8 {                // bitsandbytes, "row"
  w8_bytes weight{};                // (n, k), i8
  tensor_view<const f32, 1> scb{};  // (n): W = weight * scb / 127
};
struct gptq_w8 {
  w4_words qweight{};                 // (k / 4, n)
  w4_words qzeros{};                  // (G, n / 4)
  w8_scales scales{};                 // (G, n)
  tensor_view<const i32, 1> g_idx{};  // (k)
  bool v2 = false;                    // checkpoint_format "gptq_v2"; "gptq" stores zero points less 1
};
struct compressed_tensors_w8 {               // format pack-quantized with 8 bits
  w4_words weight_packed{};                  // (n, k / 4)
  w4_words weight_zero_point{};              // (n / 4, G)
  w8_scales weight_scale{};                  // (n, G)
  tensor_view<const i32, 1> weight_g_idx{};  // (k), with actorder "group"
};
struct q8_0_w8 {      // GGUF's Q8_0, in groups of 32
  w8_bytes blocks{};  // (n, k / 32 * 34), rows adjacent, at even addresses
};
struct e4m3_w8 {
  w8_bytes weight{};  // (n, k)
  // Multipliers, as DeepSeek's weight_scale_inv:
  //
  //   (n, G)                per group
  //   (n, 1) or (1, 1)      per column, or for the tensor: if the group is k
  //   (n / 128, k / 128)    rounded up, per block of 128 x 128: if the group is 128
  w8_scales scales{};
};

struct marlin_w8 {     // vLLM's Marlin with bias 128, k a multiple of 16, n of 64
  w4_words b{};        // (k / 16, 4 n)
  w4_scales scales{};  // (G, n), permuted
};

namespace detail {

template <>
inline constexpr bool is_of_w8<int8_w8> = true;
template <>
inline constexpr bool is_of_w8<llm_int8_w8> = true;
template <>
inline constexpr bool is_of_w8<gptq_w8> = true;
template <>
inline constexpr bool is_of_w8<compressed_tensors_w8> = true;
template <>
inline constexpr bool is_of_w8<q8_0_w8> = true;
template <>
inline constexpr bool is_of_w8<e4m3_w8> = true;
template <>
inline constexpr bool is_of_w8<marlin_w8> = true;

constexpr w4_shape as_w4_shape(const w8_shape& s) {
  return {.n = s.n,
          .k = s.k,
          .group = s.group,
          .scales = w4_scale_type::f32,
          .zero_points = s.zero_points,
          .act_order = s.act_order,
          .codes = s.codes == w8_codes::int8 ? w4_codes::int8 : w4_codes::e4m3,
          .offsets = s.offsets};
}
inline w4_weights as_w4_weights(const w8_weights& w) { return {as_w4_shape(w.shape), w.memory}; }

w4_bytes_arguments arguments_of(const int8_w8& source);
w4_bytes_arguments arguments_of(const llm_int8_w8& source);
w4_source_arguments arguments_of(const marlin_w8& source);
w4_bytes_arguments arguments_of(const gptq_w8& source);
w4_bytes_arguments arguments_of(const compressed_tensors_w8& source);
w4_bytes_arguments arguments_of(const q8_0_w8& source);
w4_bytes_arguments arguments_of(const e4m3_w8& source);

}  // namespace detail

}  // namespace kaio::ops
