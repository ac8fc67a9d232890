#include "weights/scheme/scheme_table.hpp"

#include <algorithm>
#include <array>

#include "weights/scheme/derive.hpp"
#include "weights/scheme/use.hpp"

namespace kaio::weights {
namespace {

using enum weight_scheme;
using format = weight_format;
using part = weight_part;

using formats = few<format>;

// Types that have the same bytes, or the same values.
constexpr formats word_types = {format::i32, format::u32}, half_word_types = {format::i16, format::u16},
                  index_types = {format::i32, format::i64, format::u32}, byte_type = {format::u8},
                  short_float_types = {format::f16, format::bf16},
                  float_types = {format::f16, format::bf16, format::f32}, f32_type = {format::f32},
                  fp8_types = {format::e4m3, format::e5m2}, pair_types = {format::u8, format::f4_e2m1},
                  power_types = {format::u8, format::e8m0},
                  fp8_scale_types = {format::f16, format::bf16, format::f32, format::e8m0, format::u8};

constexpr part_rule gptq_parts[] = {{{".qweight"}, part::codes, true, word_types},
                                    {{".scales"}, part::scales, true, float_types},
                                    {{".qzeros"}, part::zero_points, false, word_types},
                                    {{".g_idx"}, part::group_index, false, index_types}};
constexpr part_rule awq_parts[] = {{{".qweight"}, part::codes, true, word_types},
                                   {{".scales"}, part::scales, true, float_types},
                                   {{".qzeros"}, part::zero_points, true, word_types}};
constexpr part_rule awq_fast_parts[] = {{{".qweight"}, part::codes, true, half_word_types},
                                        {{".scales"}, part::scales, true, short_float_types},
                                        {{".qzeros"}, part::zero_points, true, short_float_types}};
// Older files have zero points of one byte.
constexpr part_rule packed_int_parts[] = {
    {{".weight_packed"}, part::codes, true, word_types},
    {{".weight_scale"}, part::scales, true, float_types},
    {{".weight_shape"}, part::shape, true, {format::i64, format::i32}},
    {{".weight_zero_point"}, part::zero_points, false, {format::i32, format::u32, format::i8}},
    {{".weight_g_idx"}, part::group_index, false, index_types}};
// scale_weight is ComfyUI's, qscale_weight Mistral's. Suffixes with _ belong to a parameter that is not called weight.
constexpr part_rule int8_parts[] = {
    {{".weight", ""}, part::codes, true, {format::i8}},
    {{".weight_scale", ".scale_weight", "_weight_scale", "_scale"}, part::scales, true, float_types},
    {{".weight_zero_point", "_zero_point"}, part::zero_points, false, {format::i8}},
    {{".input_scale", ".scale_input", "_input_scale"}, part::input_scale},
    {{".pre_quant_scale", "_pre_quant_scale"}, part::input_factors}};
constexpr part_rule llm_int8_parts[] = {{{".weight"}, part::codes, true, {format::i8}},
                                        {{".SCB"}, part::scales, true, f32_type},
                                        {{".weight_format"}, part::state}};
constexpr part_rule fp8_parts[] = {
    {{".weight", ""}, part::codes, true, fp8_types},
    {{".weight_scale", ".scale_weight", ".qscale_weight", "_weight_scale", "_scale"},
     part::scales,
     true,
     fp8_scale_types},
    {{".weight_zero_point"}, part::zero_points},
    {{".input_scale", ".scale_input", ".qscale_act", "_input_scale"}, part::input_scale},
    {{".pre_quant_scale", "_pre_quant_scale"}, part::input_factors},
    {{".comfy_quant"}, part::state, false, byte_type}};
constexpr part_rule fp8_block_parts[] = {
    {{".weight", ""}, part::codes, true, fp8_types},
    {{".weight_scale_inv", "_scale_inv"}, part::scales, true, fp8_scale_types},
    {{".activation_scale", ".input_scale", "_activation_scale"}, part::input_scale}};
// Codes are bytes of any type (bnb_4bit_quant_storage).
constexpr part_rule nf4_parts[] = {{{".weight"}, part::codes, true},
                                   {{".weight.absmax"}, part::scales, true, {format::f32, format::u8}},
                                   {{".weight.quant_map"}, part::code_table, true, f32_type},
                                   {{".weight.quant_state.bitsandbytes__nf4"}, part::state, true, byte_type},
                                   {{".weight.nested_absmax"}, part::nested_scales, false, f32_type},
                                   {{".weight.nested_quant_map"}, part::nested_table, false, f32_type}};
constexpr part_rule fp4_parts[] = {{{".weight"}, part::codes, true},
                                   {{".weight.absmax"}, part::scales, true, {format::f32, format::u8}},
                                   {{".weight.quant_map"}, part::code_table, true, f32_type},
                                   {{".weight.quant_state.bitsandbytes__fp4"}, part::state, true, byte_type},
                                   {{".weight.nested_absmax"}, part::nested_scales, false, f32_type},
                                   {{".weight.nested_quant_map"}, part::nested_table, false, f32_type}};
constexpr part_rule nvfp4_packed_parts[] = {{{".weight_packed"}, part::codes, true, pair_types},
                                            {{".weight_scale"}, part::scales, true, {format::e4m3}},
                                            {{".weight_global_scale"}, part::global_scale, true, f32_type},
                                            {{".input_global_scale"}, part::input_scale}};
constexpr part_rule nvfp4_modelopt_parts[] = {
    {{".weight", ""}, part::codes, true, pair_types},
    {{".weight_scale", "_weight_scale"}, part::scales, true, {format::e4m3}},
    {{".weight_scale_2", "_weight_scale_2"}, part::global_scale, true, f32_type},
    {{".input_scale", "_input_scale"}, part::input_scale},
    {{".pre_quant_scale", "_pre_quant_scale"}, part::input_factors}};
constexpr part_rule mxfp4_packed_parts[] = {{{".weight_packed"}, part::codes, true, pair_types},
                                            {{".weight_scale"}, part::scales, true, power_types}};
constexpr part_rule mxfp4_blocks_parts[] = {{{"_blocks"}, part::codes, true, byte_type},
                                            {{"_scales"}, part::scales, true, power_types}};
constexpr part_rule torchao_int8_parts[] = {{{"._weight_qdata"}, part::codes, true, {format::i8}},
                                            {{"._weight_scale"}, part::scales, true, float_types},
                                            {{"._weight_zero_point"}, part::zero_points, false, {format::i8}},
                                            {{"._weight_act_quant_scale"}, part::input_scale},
                                            {{"._weight_act_pre_scale"}, part::input_factors}};
constexpr part_rule torchao_fp8_parts[] = {{{"._weight_qdata"}, part::codes, true, fp8_types},
                                           {{"._weight_scale"}, part::scales, true, float_types},
                                           {{"._weight_act_quant_scale"}, part::input_scale}};
constexpr part_rule torchao_tinygemm_parts[] = {
    {{"._weight_qdata"}, part::codes, true, {format::i32}},
    {{"._weight_scale_and_zero"}, part::scales, true, {format::bf16}},
    {{"._weight_act_pre_scale"}, part::input_factors}};
constexpr part_rule torchao_int4_plain_parts[] = {
    {{"._weight_qdata"}, part::codes, true, {format::i8, format::u8, format::i32}},
    {{"._weight_scale"}, part::scales, true, float_types},
    {{"._weight_zero_point"}, part::zero_points, true, float_types},
    {{"._weight_act_pre_scale"}, part::input_factors}};
constexpr part_rule torchao_nvfp4_parts[] = {
    {{"._weight_qdata"}, part::codes, true, byte_type},
    {{"._weight_scale"}, part::scales, true, {format::e4m3}},
    {{"._weight_per_tensor_scale"}, part::global_scale, false, f32_type},
    {{"._weight_act_per_tensor_scale"}, part::input_scale}};
constexpr part_rule torchao_mx_parts[] = {
    {{"._weight_qdata"}, part::codes, true, {format::u8, format::e4m3, format::e5m2}},
    {{"._weight_scale"}, part::scales, true, power_types}};
constexpr part_rule mxfp8_parts[] = {
    {{".weight", ""}, part::codes, true, fp8_types},
    {{".weight_scale", ".weight_scale_inv", "_weight_scale", "_scale", "_scale_inv"},
     part::scales,
     true,
     power_types}};

// Not read: GPTQModel's "gptq_p" (planes of bits), "marlin" and "bitblas"; their codes are in another order.
constexpr std::string_view gptq_formats[] = {"gptq", "gptq_v2"};
constexpr std::string_view awq_formats[] = {"gemm", "gemv", "gemv_fast", "llm-awq"};
constexpr std::string_view packed_int_formats[] = {"pack-quantized", "mixed-precision"};

// Scheme and name; tensors; function of their shapes; function of the operation; formats of the file, if not any.
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
    {{llm_int8, "bitsandbytes LLM.int8"}, llm_int8_parts, derive_llm_int8, use_of_llm_int8},
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

constexpr std::string_view harmless[] = {
    "bias",           "input_scale",      "input_zero_point", "input_global_scale",
    "input_scale_ub", "activation_scale", "output_scale",     "output_zero_point",
    "q_scale",        "k_scale",          "v_scale",          "kv_scale",
    "qscale_act",     "scale_input",      "logit_scale"};

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
bool is_harmless(std::string_view rest) noexcept {
  return rest.ends_with("_bias") || std::ranges::find(harmless, rest) != std::end(harmless);
}

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
    case weight_part::unknown: return "unknown part";
  }
  return "unknown";
}

}  // namespace kaio::weights
