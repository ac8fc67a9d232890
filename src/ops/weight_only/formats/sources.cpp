// Turns each format's tensors into a code_source.

#include <kaio/ops/weight_only/common/codes.hpp>
#include <kaio/ops/weight_only/formats/arguments.hpp>
#include <kaio/ops/weight_only/formats/code_problem.hpp>

namespace kaio::ops::detail {

namespace {

// bitsandbytes' own fp4, not e2m1. Code 8 is +0 in its table (quant_map in files) and in its CPU functions.
// Its CUDA kernels multiply 0 by the sign and give -0.
constexpr float bnb_fp4_numbers[16] = {0.0f,        1.0f / 192, 2.0f / 3,    1.0f,        1.0f / 3,  0.5f,
                                       1.0f / 6,    0.25f,      0.0f,        -1.0f / 192, -2.0f / 3, -1.0f,
                                       -(1.0f / 3), -0.5f,      -(1.0f / 6), -0.25f};
constexpr float one_127th = 7.874015718698502e-3f;  // as bitsandbytes writes it

std::uint32_t scale_kind_of(element_kind kind) {
  return kind == element_kind::f32    ? scale_kind::f32
         : kind == element_kind::f16  ? scale_kind::f16
         : kind == element_kind::bf16 ? scale_kind::bf16
                                      : scale_kind::e8m0;
}

}  // namespace

code_source code_source_of(const bnb_4bit& source) {
  const bool is_nested = !source.nested.absmax.is_null();
  return {.codes_name = "weight",
          .scales_name = is_nested ? "nested.absmax" : "absmax",
          .codes = source.weight,
          .scales = is_nested ? any_view(source.nested.absmax) : any_view(source.absmax),
          .codes_kind = code_kind::nibbles_high_first,
          .scales_kind = is_nested ? u32{scale_kind::nested} : u32{scale_kind::f32},
          .table = source.code == bnb_code::nf4 ? nf4_numbers : bnb_fp4_numbers,
          .blocksize = source.blocksize,
          .nested = is_nested ? &source.nested : nullptr};
}

code_source code_source_of(const bnb_int8& source) {
  any_view scales = source.SCB;
  scales.rank = 2;
  scales.extents[1] = 1;
  scales.strides[1] = 1;
  return {.codes_name = "weight",
          .scales_name = "SCB",
          .codes = source.weight,
          .scales = scales,
          .codes_kind = code_kind::i8,
          .scales_kind = scale_kind::f32,
          .after = after_scale::times_constant,
          .constant = one_127th};
}

code_source code_source_of(const scaled_bytes& source) {
  const element_kind kind = source.weight.view.type;
  return {.codes_name = "weight",
          .scales_name = "scale",
          .codes = source.weight.view,
          .scales = source.scale.view,
          .codes_kind = kind == element_kind::i8     ? u32{code_kind::i8}
                        : kind == element_kind::e4m3 ? u32{code_kind::e4m3}
                                                     : u32{code_kind::e5m2},
          .scales_kind = scale_kind_of(source.scale.view.type),
          .block_rows = source.block_rows,
          .block_columns = source.block_columns};
}

code_source code_source_of(const mxfp4_tensors& source) {
  return {.codes_name = "packed",
          .scales_name = "scales",
          .codes = source.packed,
          .scales = source.scales,
          .codes_kind = code_kind::nibbles,
          .scales_kind = scale_kind::e8m0,
          .table = e2m1_numbers,
          .block_columns = 32,
          .exact_blocks = true};
}

code_source code_source_of(const nvfp4_tensors& source) {
  const bool has_global = !source.global.is_null();
  return {.codes_name = "packed",
          .scales_name = "scales",
          .codes = source.packed,
          .scales = source.scales,
          .codes_kind = code_kind::nibbles,
          .scales_kind = scale_kind::e4m3,
          .table = e2m1_numbers,
          .block_columns = 16,
          .exact_blocks = true,
          .after = !has_global     ? u32{after_scale::nothing}
                   : source.divide ? u32{after_scale::over_memory}
                                   : u32{after_scale::times_memory},
          .global = has_global ? any_view(source.global) : any_view{}};
}

}  // namespace kaio::ops::detail
