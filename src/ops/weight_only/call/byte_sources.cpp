// The tensors of files whose weights are bytes, without their types.

#include <kaio/ops/weight_only/call/arguments_w8.hpp>

#include <cstdint>

namespace kaio::ops::detail {

namespace {

constexpr std::uint32_t one_of(w4_codes codes) { return 1u << static_cast<std::uint32_t>(codes); }

}  // namespace

w4_bytes_arguments arguments_of(const bitsandbytes_w4& source) {
  w4_bytes_arguments result;
  result.codes_name = "weight";
  result.scales_name = "absmax";
  result.codes = source.weight.view;
  result.scales = source.absmax;
  result.codes_types = one_of(w4_codes::nf4) | one_of(w4_codes::fp4);
  result.high_first = true;
  if (source.absmax_codes.view.exists()) {
    result.scales_name = "absmax_codes";
    result.scales = source.absmax_codes.view;
    result.nested_table = source.nested_quant_map;
    result.nested_scales = source.nested_absmax;
    result.nested_offset = source.nested_offset;
    result.nested_block = source.nested_blocksize;
  }
  return result;
}

w4_bytes_arguments arguments_of(const mxfp4_w4& source) {
  w4_bytes_arguments result;
  result.codes_name = "blocks";
  result.scales_name = "scales";
  result.codes = source.blocks.view;
  result.scales = source.scales.view;
  result.codes_types = one_of(w4_codes::e2m1);
  result.scales_type = w4_scale_type::e8m0;
  return result;
}

w4_bytes_arguments arguments_of(const nvfp4_w4& source) {
  w4_bytes_arguments result;
  result.codes_name = "weight";
  result.scales_name = "scales";
  result.factors_name = "tensor_scale";
  result.codes = source.weight.view;
  result.scales = source.scales.view;
  result.factors = source.tensor_scale;
  result.codes_types = one_of(w4_codes::e2m1);
  result.scales_type = w4_scale_type::e4m3;
  result.divides = source.divides;
  return result;
}

w4_bytes_arguments arguments_of(const int8_w8& source) {
  w4_bytes_arguments result;
  result.codes_name = "weight";
  result.scales_name = "scales";
  result.zeros_name = "zero_points";
  result.codes = source.weight.view;
  result.scales = source.scales.view;
  result.zeros = source.zero_points;
  result.codes_types = one_of(w4_codes::int8);
  result.scales_of_many = true;
  result.flip = 0x80;
  result.zeros_add = 0x80;
  return result;
}

w4_bytes_arguments arguments_of(const llm_int8_w8& source) {
  w4_bytes_arguments result;
  result.codes_name = "weight";
  result.scales_name = "scb";
  result.codes = source.weight.view;
  result.scales = source.scb;
  result.scales.rank = 2;
  result.scales.extents[1] = 1;
  result.scales.strides[1] = 1;
  result.codes_types = one_of(w4_codes::int8);
  result.flip = 0x80;
  result.scale_factor = 1.0f / 127;
  return result;
}

w4_bytes_arguments arguments_of(const gptq_w8& source) {
  w4_bytes_arguments result;
  result.codes_name = "qweight";
  result.scales_name = "scales";
  result.zeros_name = "qzeros";
  result.act_order_name = "g_idx";
  result.codes = source.qweight.view;
  result.scales = source.scales.view;
  result.zeros = source.qzeros.view;
  result.act_order = source.g_idx;
  result.codes_types = one_of(w4_codes::int8);
  result.layout = w4_code_layout::words_k_first;
  result.scales_group_first = result.zeros_in_words = result.zeros_group_first = true;
  result.zeros_add = source.v2 ? 0 : 1;
  return result;
}

w4_bytes_arguments arguments_of(const compressed_tensors_w8& source) {
  w4_bytes_arguments result;
  result.codes_name = "weight_packed";
  result.scales_name = "weight_scale";
  result.zeros_name = "weight_zero_point";
  result.act_order_name = "weight_g_idx";
  result.codes = source.weight_packed.view;
  result.scales = source.weight_scale.view;
  result.zeros = source.weight_zero_point.view;
  result.act_order = source.weight_g_idx;
  result.codes_types = one_of(w4_codes::int8);
  result.layout = w4_code_layout::words;
  result.zeros_in_words = true;
  return result;
}

w4_bytes_arguments arguments_of(const q8_0_w8& source) {
  w4_bytes_arguments result;
  result.codes_name = "blocks";
  result.codes = source.blocks.view;
  result.codes_types = one_of(w4_codes::int8);
  result.layout = w4_code_layout::q8_0;
  result.flip = 0x80;
  return result;
}

w4_bytes_arguments arguments_of(const e4m3_w8& source) {
  w4_bytes_arguments result;
  result.codes_name = "weight";
  result.scales_name = "scales";
  result.codes = source.weight.view;
  result.scales = source.scales.view;
  result.codes_types = one_of(w4_codes::e4m3);
  result.scales_of_many = true;
  return result;
}

}  // namespace kaio::ops::detail
