#pragma once
// Weights whose codes and scales are separate tensors, as files have them. W is n x k, row-major; n and k are
// the extents of the destination.

#include <kaio/dsl/number/float8.hpp>
#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// Scales of 8-bit codes: f32, f16 or bf16, or u8 of E8M0.
struct scales_of_bytes {
  any_view view;
  scales_of_bytes() = default;
  template <detail::without_view M>
  scales_of_bytes(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  scales_of_bytes(const tensor_view<T, 2>& v) : view(v) {
    static_assert(is_wide(element_kind_of<T>()) || std::is_same_v<std::remove_const_t<T>, u8>,
                  "kaio: scales are f32, f16 or bf16, or u8 of E8M0");
  }
};
// 8-bit codes: i8, e4m3 or e5m2.
struct byte_codes {
  any_view view;
  byte_codes() = default;
  template <detail::without_view M>
  byte_codes(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  byte_codes(const tensor_view<T, 2>& v) : view(v) {
    static_assert(is_quantised(element_kind_of<T>()), "kaio: codes of eight bits are i8, e4m3 or e5m2");
  }
};

enum class bnb_code : std::uint8_t { nf4, fp4 };

// absmax as 8-bit codes ("double quant"):
//
//   absmax of block i = nested_quant_map[absmax[i]] * nested_absmax[i / blocksize] + offset
struct bnb_nested {
  tensor_view<const u8, 1> absmax{};             // one code per block
  tensor_view<const f32, 1> nested_absmax{};     // absmax / blocksize, rounded up
  tensor_view<const f32, 1> nested_quant_map{};  // 256 values
  f32 offset = 0;                                // nested_offset of the quant_state
  std::int64_t blocksize = 256;                  // a power of two, at least 8
};
// bitsandbytes' nf4 and fp4: blocks run over W row by row, and may span rows.
struct bnb_4bit {
  bnb_code code = bnb_code::nf4;
  tensor_view<const u8, 1> weight{};   // n k / 2 bytes, rounded up: the even element in the high nibble
  tensor_view<const f32, 1> absmax{};  // n k / blocksize, rounded up; not read if nested.absmax is given
  std::int64_t blocksize = 64;         // a power of two, at least 8
  bnb_nested nested{};
};
// bitsandbytes' LLM.int8: W = weight * SCB / 127.
struct bnb_int8 {
  tensor_view<const i8, 2> weight{};  // (n, k)
  tensor_view<const f32, 1> SCB{};    // (n)
};
// 8-bit codes with one scale for all, per row, or per block of rows and columns: W = weight * scale. Serves
// compressed-tensors' float-quantized and int-quantized, DeepSeek's weight_scale_inv, and MXFP8: E8M0 scales
// per 1 x 32.
struct scaled_bytes {
  byte_codes weight{};      // (n, k)
  scales_of_bytes scale{};  // (1 or n or n / block_rows) x (1 or k / block_columns), rounded up
  std::int64_t block_rows = 128, block_columns = 128;
};
// MXFP4 of gpt-oss (blocks as (experts n, k / 2), scales as (experts n, k / 32)) and of compressed-tensors.
struct mxfp4_tensors {
  tensor_view<const u8, 2> packed{};  // (n, k / 2): the even element in the low nibble
  tensor_view<const u8, 2> scales{};  // (n, k / 32), E8M0
};
// NVFP4: W = e2m1 * (scale / global) in compressed-tensors, e2m1 * (scale * global) in ModelOpt and torchao.
struct nvfp4_tensors {
  tensor_view<const u8, 2> packed{};    // (n, k / 2): the even element in the low nibble
  tensor_view<const e4m3, 2> scales{};  // (n, k / 16)
  tensor_view<const f32, 1> global{};   // 1: weight_global_scale, weight_scale_2, per_tensor_scale; or none
  bool divide = false;                  // true: global is compressed-tensors' weight_global_scale
};

namespace detail {

// Any of these formats in one form, not yet checked.
struct code_source {
  std::string_view codes_name, scales_name;
  any_view codes, scales;
  std::uint32_t codes_kind, scales_kind;  // code_kind, scale_kind
  const float* table = nullptr;           // values of the 16 nibbles
  std::int64_t blocksize = 0;             // not 0: elements per scale, counted row by row
  std::int64_t block_rows = 1, block_columns = 1;
  bool exact_blocks = false;  // true: one scale for several blocks is an error
  const bnb_nested* nested = nullptr;
  std::uint32_t after = 0;  // after_scale
  float constant = 1;
  any_view global{};
};
code_source code_source_of(const bnb_4bit& source);
code_source code_source_of(const bnb_int8& source);
code_source code_source_of(const scaled_bytes& source);
code_source code_source_of(const mxfp4_tensors& source);
code_source code_source_of(const nvfp4_tensors& source);

}  // namespace detail

}  // namespace kaio::ops
