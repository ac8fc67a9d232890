#include "weights/scheme/scheme_table.hpp"

#include <array>

#include "weights/scheme/derive.hpp"
#include "weights/scheme/use.hpp"

namespace kaio::weights {
namespace {

using enum weight_scheme;
using format = weight_format;
using part = weight_part;

constexpr part_rule gptq_parts[] = {{".qweight", part::codes, true, {format::i32}},
                                    {".scales", part::scales, true, {format::f16, format::bf16, format::f32}},
                                    {".qzeros", part::zero_points, false, {format::i32}},
                                    {".g_idx", part::group_index, false, {format::i32}}};
constexpr part_rule awq_parts[] = {{".qweight", part::codes, true, {format::i32}},
                                   {".scales", part::scales, true, {format::f16, format::bf16, format::f32}},
                                   {".qzeros", part::zero_points, true, {format::i32}}};
constexpr part_rule awq_fast_parts[] = {{".qweight", part::codes, true, {format::i16}},
                                        {".scales", part::scales, true, {format::f16, format::bf16}},
                                        {".qzeros", part::zero_points, true, {format::f16, format::bf16}}};
constexpr part_rule packed_int_parts[] = {
    {".weight_packed", part::codes, true, {format::i32}},
    {".weight_scale", part::scales, true, {format::f16, format::bf16, format::f32}},
    {".weight_shape", part::shape, true, {format::i64, format::i32}},
    {".weight_zero_point", part::zero_points, false, {format::i32}},
    {".weight_g_idx", part::group_index, false, {format::i32}}};
constexpr part_rule int8_parts[] = {
    {".weight", part::codes, true, {format::i8}},
    {".weight_scale", part::scales, true, {format::f16, format::bf16, format::f32}},
    {".weight_zero_point", part::zero_points},
    {".input_scale", part::input_scale},
    {".pre_quant_scale", part::input_factors}};
constexpr part_rule llm_int8_parts[] = {{".weight", part::codes, true, {format::i8}},
                                        {".SCB", part::scales, true, {format::f32}},
                                        {".weight_format", part::state}};
constexpr part_rule fp8_parts[] = {
    {".weight", part::codes, true, {format::e4m3}},
    {".weight_scale", part::scales, true, {format::f16, format::bf16, format::f32}},
    {".input_scale", part::input_scale},
    {".pre_quant_scale", part::input_factors}};
constexpr part_rule fp8_block_parts[] = {
    {".weight", part::codes, true, {format::e4m3}},
    {".weight_scale_inv", part::scales, true, {format::f16, format::bf16, format::f32}},
    {".activation_scale", part::input_scale}};
constexpr part_rule nf4_parts[] = {{".weight", part::codes, true},
                                   {".weight.absmax", part::scales, true, {format::f32, format::u8}},
                                   {".weight.quant_map", part::code_table, true, {format::f32}},
                                   {".weight.quant_state.bitsandbytes__nf4", part::state, true, {format::u8}},
                                   {".weight.nested_absmax", part::nested_scales, false, {format::f32}},
                                   {".weight.nested_quant_map", part::nested_table, false, {format::f32}}};
constexpr part_rule fp4_parts[] = {{".weight", part::codes, true},
                                   {".weight.absmax", part::scales, true, {format::f32, format::u8}},
                                   {".weight.quant_map", part::code_table, true, {format::f32}},
                                   {".weight.quant_state.bitsandbytes__fp4", part::state, true, {format::u8}},
                                   {".weight.nested_absmax", part::nested_scales, false, {format::f32}},
                                   {".weight.nested_quant_map", part::nested_table, false, {format::f32}}};
constexpr part_rule nvfp4_packed_parts[] = {{".weight_packed", part::codes, true, {format::u8}},
                                            {".weight_scale", part::scales, true, {format::e4m3}},
                                            {".weight_global_scale", part::global_scale, true, {format::f32}},
                                            {".input_global_scale", part::input_scale}};
constexpr part_rule nvfp4_modelopt_parts[] = {{".weight", part::codes, true, {format::u8}},
                                              {".weight_scale", part::scales, true, {format::e4m3}},
                                              {".weight_scale_2", part::global_scale, true, {format::f32}},
                                              {".input_scale", part::input_scale},
                                              {".pre_quant_scale", part::input_factors}};
constexpr part_rule mxfp4_packed_parts[] = {
    {".weight_packed", part::codes, true, {format::u8}},
    {".weight_scale", part::scales, true, {format::u8, format::e8m0}}};
constexpr part_rule mxfp4_blocks_parts[] = {{"_blocks", part::codes, true, {format::u8}},
                                            {"_scales", part::scales, true, {format::u8, format::e8m0}}};
constexpr part_rule torchao_int8_parts[] = {
    {"._weight_qdata", part::codes, true, {format::i8}},
    {"._weight_scale", part::scales, true, {format::f16, format::bf16, format::f32}},
    {"._weight_zero_point", part::zero_points},
    {"._weight_act_quant_scale", part::input_scale},
    {"._weight_act_pre_scale", part::input_factors}};
constexpr part_rule torchao_fp8_parts[] = {
    {"._weight_qdata", part::codes, true, {format::e4m3, format::e5m2}},
    {"._weight_scale", part::scales, true, {format::f16, format::bf16, format::f32}},
    {"._weight_act_quant_scale", part::input_scale}};
constexpr part_rule torchao_tinygemm_parts[] = {{"._weight_qdata", part::codes, true, {format::i32}},
                                                {"._weight_scale_and_zero", part::scales, true},
                                                {"._weight_act_pre_scale", part::input_factors}};
constexpr part_rule torchao_int4_plain_parts[] = {
    {"._weight_qdata", part::codes, true, {format::i8, format::u8, format::i32}},
    {"._weight_scale", part::scales, true, {format::f16, format::bf16, format::f32}},
    {"._weight_zero_point", part::zero_points, true},
    {"._weight_act_pre_scale", part::input_factors}};
constexpr part_rule torchao_nvfp4_parts[] = {
    {"._weight_qdata", part::codes, true, {format::u8}},
    {"._weight_scale", part::scales, true, {format::e4m3}},
    {"._weight_per_tensor_scale", part::global_scale, false, {format::f32}},
    {"._weight_act_per_tensor_scale", part::input_scale}};
constexpr part_rule torchao_mx_parts[] = {
    {"._weight_qdata", part::codes, true, {format::u8, format::e4m3, format::e5m2}},
    {"._weight_scale", part::scales, true, {format::e8m0, format::u8}}};
constexpr part_rule mxfp8_parts[] = {{".weight", part::codes, true, {format::e4m3, format::e5m2}},
                                     {".weight_scale", part::scales, true, {format::u8, format::e8m0}}};

// Others have the same tensors with codes in another order: "gptq_p" of GPTQModel, planes of bits; "marlin"; "bitblas".
constexpr std::string_view gptq_formats[] = {"gptq", "gptq_v2"};
constexpr std::string_view awq_formats[] = {"gemm", "gemv", "gemv_fast", "llm-awq"};
constexpr std::string_view packed_int_formats[] = {"pack-quantized", "mixed-precision"};

// Scheme and name; its tensors; what their shapes say; what multiplies with it; formats of the file, where not any.
constexpr scheme_rule rules[] = {
    {{gptq, "GPTQ"}, gptq_parts, derive_gptq, use_of_words, gptq_formats},
    {{awq_gemm, "AWQ gemm"}, awq_parts, derive_awq_gemm, use_of_words, awq_formats},
    {{awq_gemv, "AWQ gemv"}, awq_parts, derive_awq_gemv, use_of_words, awq_formats},
    {{awq_gemv_fast, "AWQ gemv_fast"},
     awq_fast_parts,
     derive_awq_gemv_fast,
     use_of_awq_gemv_fast,
     awq_formats},
    {{packed_int, "compressed-tensors pack-quantized"},
     packed_int_parts,
     derive_packed_int,
     use_of_words,
     packed_int_formats},
    {{int8, "compressed-tensors int-quantized"}, int8_parts, derive_rows, use_of_int8},
    {{llm_int8, "bitsandbytes LLM.int8"}, llm_int8_parts, derive_rows, use_of_llm_int8},
    {{fp8, "FP8 with scales"}, fp8_parts, derive_rows, use_of_fp8},
    {{fp8_block, "FP8 blocks"}, fp8_block_parts, derive_blocks, use_of_fp8},
    {{nf4, "bitsandbytes nf4"}, nf4_parts, derive_bitsandbytes, use_of_bitsandbytes},
    {{fp4, "bitsandbytes fp4"}, fp4_parts, derive_bitsandbytes, use_of_bitsandbytes},
    {{nvfp4_packed, "NVFP4 of compressed-tensors"}, nvfp4_packed_parts, derive_fp4_pairs, use_of_e2m1},
    {{nvfp4_modelopt, "NVFP4 of ModelOpt"}, nvfp4_modelopt_parts, derive_fp4_pairs, use_of_e2m1},
    {{mxfp4_packed, "MXFP4 of compressed-tensors"}, mxfp4_packed_parts, derive_fp4_pairs, use_of_e2m1},
    {{mxfp4_blocks, "MXFP4 of gpt-oss"}, mxfp4_blocks_parts, derive_mxfp4_blocks, use_of_e2m1},
    {{torchao_int8, "torchao int8"}, torchao_int8_parts, derive_torchao_bytes, use_of_int8},
    {{torchao_fp8, "torchao float8"}, torchao_fp8_parts, derive_torchao_bytes, use_of_fp8},
    {{torchao_tinygemm, "torchao int4 of tinygemm"},
     torchao_tinygemm_parts,
     derive_torchao_tinygemm,
     use_of_tinygemm},
    {{torchao_int4_plain, "torchao plain int4"},
     torchao_int4_plain_parts,
     derive_torchao_int4_plain,
     use_of_int4_plain},
    {{torchao_nvfp4, "NVFP4 of torchao"}, torchao_nvfp4_parts, derive_torchao_nvfp4, use_of_e2m1},
    {{torchao_mx, "MX of torchao"}, torchao_mx_parts, derive_torchao_mx, use_of_mx},
    {{mxfp8, "MXFP8 of compressed-tensors"}, mxfp8_parts, derive_mxfp8, use_of_mx},
};

constexpr auto all_facts = [] {
  std::array<scheme_facts, std::size(rules)> facts{};
  for (std::size_t i = 0; i < std::size(rules); ++i) facts[i] = rules[i].facts;
  return facts;
}();

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(rules); ++i)
    if (static_cast<std::size_t>(rules[i].facts.scheme) != i) return false;
  return true;
}
static_assert(in_order() && std::size(rules) == static_cast<std::size_t>(mxfp8) + 1);

}  // namespace

std::span<const scheme_rule> scheme_rules() noexcept { return rules; }
std::span<const scheme_facts> weight_schemes() noexcept { return all_facts; }
const scheme_facts& facts(weight_scheme scheme) noexcept {
  return all_facts[static_cast<std::size_t>(scheme)];
}

std::string_view to_string(weight_part part) noexcept {
  switch (part) {
    case weight_part::codes: return "codes";
    case weight_part::scales: return "scales";
    case weight_part::zero_points: return "zero points";
    case weight_part::group_index: return "group index";
    case weight_part::shape: return "shape";
    case weight_part::global_scale: return "global scale";
    case weight_part::input_scale: return "scale of the input";
    case weight_part::code_table: return "table of codes";
    case weight_part::nested_scales: return "scales of the scales";
    case weight_part::nested_table: return "table of the scales";
    case weight_part::state: return "state";
    case weight_part::input_factors: return "factors of the input";
  }
  return "unknown";
}

}  // namespace kaio::weights
