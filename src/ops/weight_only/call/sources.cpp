// Packed tensors of files and of other libraries' kernels, without their types; and the check of dequantise.

#include <kaio/ops/weight_only/call/arguments_packed.hpp>
#include <kaio/ops/weight_only/call/arguments_w8.hpp>
#include <kaio/runtime/error.hpp>

#include <string>

#include "ops/weight_only/common/resolve.hpp"

namespace kaio::ops::detail {

w4_source_arguments arguments_of(const gptq_w4& source) {
  w4_source_arguments result;
  result.words_name = "qweight";
  result.zeros_name = "qzeros";
  result.scales_name = "scales";
  result.act_order_name = "g_idx";
  result.words = source.qweight.view;
  result.zeros = source.qzeros.view;
  result.scales = source.scales.view;
  result.act_order = source.g_idx;
  result.bits = source.bits;
  result.zeros_add = source.v2 ? 0 : 1;
  return result;
}

w4_source_arguments arguments_of(const awq_w4& source) {
  w4_source_arguments result;
  result.words_name = "qweight";
  result.zeros_name = "qzeros";
  result.scales_name = "scales";
  result.words = source.qweight.view;
  result.zeros = source.qzeros.view;
  result.scales = source.scales.view;
  result.layout = w4_word_layout::along_n;
  return result;
}

w4_source_arguments arguments_of(const awq_gemv_w4& source) {
  w4_source_arguments result;
  result.words_name = "qweight";
  result.zeros_name = "qzeros";
  result.scales_name = "scales";
  result.words = source.qweight.view;
  result.zeros = source.qzeros.view;
  result.scales = source.scales.view;
  result.words_n_first = result.zeros_along_group = result.scales_n_first = result.padded = true;
  return result;
}

w4_source_arguments arguments_of(const awq_gemv_fast_w4& source) {
  w4_source_arguments result;
  result.words_name = "qweight";
  result.scales_name = "scales";
  result.offsets_name = "qzeros";
  result.words = source.qweight;
  result.scales = source.scales.view;
  result.offsets = source.qzeros.view;
  result.layout = w4_word_layout::awq_fast;
  result.padded = true;
  result.zero = 0;
  return result;
}

w4_source_arguments arguments_of(const compressed_tensors_w4& source) {
  w4_source_arguments result;
  result.words_name = "weight_packed";
  result.zeros_name = "weight_zero_point";
  result.scales_name = "weight_scale";
  result.act_order_name = "weight_g_idx";
  result.words = source.weight_packed.view;
  result.zeros = source.weight_zero_point.view;
  result.scales = source.weight_scale.view;
  result.act_order = source.weight_g_idx;
  result.bits = source.bits;
  result.words_n_first = result.zeros_n_first = result.scales_n_first = true;
  return result;
}

w4_source_arguments arguments_of(const kaio_int4& source) {
  w4_source_arguments result;
  result.words_name = "packed";
  result.scales_name = "scales";
  result.words = source.packed.view;
  result.scales = source.scales.view;
  result.words_n_first = true;
  result.flip = 8;
  return result;
}

w4_source_arguments arguments_of(const marlin_w4& source) {
  w4_source_arguments result;
  result.words_name = "b";
  result.zeros_name = "zeros";
  result.scales_name = "scales";
  result.words = source.b.view;
  result.zeros = source.zeros.view;
  result.scales = source.scales.view;
  result.layout = w4_word_layout::marlin;
  return result;
}

w4_source_arguments arguments_of(const marlin_w8& source) {
  w4_source_arguments result;
  result.words_name = "b";
  result.scales_name = "scales";
  result.words = source.b.view;
  result.scales = source.scales.view;
  result.layout = w4_word_layout::marlin;
  result.bits = 8;
  result.eight_bits = true;
  return result;
}

w4_source_arguments arguments_of(const tinygemm_w4& source) {
  w4_source_arguments result;
  result.words_name = "packed";
  result.scales_name = result.offsets_name = "scales_and_zeros";
  result.words = source.packed;
  result.scales = result.offsets = source.scales_and_zeros;
  result.layout = w4_word_layout::tinygemm;
  result.inner_k_tiles = 2 * source.packed.extent(3);
  return result;
}

w4_source_arguments arguments_of(const torchao_int4_w4& source) {
  w4_source_arguments result;
  result.words_name = "qdata";
  result.scales_name = "scale";
  result.offsets_name = "zero_point";
  result.words = source.qdata.view;
  result.scales = source.scale.view;
  result.offsets = source.zero_point.view;
  result.words_n_first = true;
  result.flip = 8;
  return result;
}

w4_matrix resolve_dequantise_w4(const void* device, const w4_weights& w, const any_view& out) {
  constexpr std::string_view operation = "dequantise";
  const validation check(operation, device);
  w4_matrix result{};
  if (w.shape.codes == w4_codes::own)
    refuse_w4(operation, "weights of own codes, whose numbers only their kernels have");
  result.w = check_w4_weights(operation, device, w, true);
  check.output("out", out);
  check.extent("out", out, 0, w.shape.n, "n of the weights");
  check.extent("out", out, 1, w.shape.k, "k of the weights");
  check.apart("out", out, "weights", memory_view(w));
  result.out = out.address;
  result.out_n = out.strides[0];
  result.out_k = out.strides[1];
  result.type = static_cast<u32>(out.type == element_kind::f32   ? element_type::f32
                                 : out.type == element_kind::f16 ? element_type::f16
                                                                 : element_type::bf16);
  return result;
}

}  // namespace kaio::ops::detail

namespace kaio::ops {

std::uint64_t packed_bytes(const w4_shape& shape) {
  w4_shape whole = shape;
  return detail::check_w4_shape("packed_bytes", whole).bytes;
}

}  // namespace kaio::ops
