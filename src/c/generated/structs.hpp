#pragma once
// Reading and filling the structs of the C interface. Made by src/c/generate.py.
// clang-format off

#include <kaio/c/kaio.h>

namespace kaio::ops {
struct append_kv_options;
struct append_rotary;
struct attention_append;
struct attention_backward_options;
struct attention_decode_options;
struct attention_options;
struct attention_sequences;
struct awq_gemv_fast_w4;
struct awq_gemv_w4;
struct awq_w4;
struct bitsandbytes_w4;
struct block_mask;
struct block_mask_options;
struct block_mask_output;
struct bnb_4bit;
struct bnb_4bit_output;
struct bnb_int8;
struct bnb_nested;
struct compressed_tensors_w4;
struct compressed_tensors_w8;
struct cross_entropy_backward_options;
struct cross_entropy_options;
struct e4m3_w8;
struct embedding_backward_options;
struct embedding_options;
struct gate_up_project_options;
struct gated_options;
struct gather_kv_options;
struct gptq_w4;
struct gptq_w8;
struct histogram_options;
struct int8_w8;
struct kaio_int4;
struct kernel_choice;
struct layer_norm_backward_options;
struct layer_norm_options;
struct llm_int8_w8;
struct marlin_w4;
struct marlin_w8;
struct matmul_backward_options;
struct matmul_fp8_options;
struct matmul_int8_options;
struct matmul_options;
struct matmul_w4_options;
struct mxfp4_output;
struct mxfp4_tensors;
struct mxfp4_w4;
struct nvfp4_output;
struct nvfp4_tensors;
struct nvfp4_w4;
struct q8_0_w8;
struct qk_norm_rotary_options;
struct qkv_project_options;
struct qkv_rotary;
struct reduce_options;
struct rms_norm_backward_options;
struct rms_norm_options;
struct rotary_options;
struct rotary_scaling;
struct rotary_sections;
struct rotary_table_options;
struct sample_options;
struct scaled_bytes;
struct scan_options;
struct softmax_backward_options;
struct softmax_options;
struct tinygemm_w4;
struct torchao_int4_w4;
struct tune_options;
struct tune_report;
struct w4_output;
struct w4_weights;
struct w8_weights;
struct x_norm;
}
namespace kaio::ops::detail {
struct any_cache;
}
namespace kaio::runtime {
struct device_properties;
struct memory_pool_options;
struct memory_pool_statistics;
}

namespace kaio::c {

class call;
void read(call& in, const char* name, const kaio_block_mask* given, ops::block_mask& to);
void read(call& in, const char* name, const kaio_attention_options* given, ops::attention_options& to);
void read(call& in, const char* name, const kaio_attention_sequences* given, ops::attention_sequences& to);
void read(call& in, const char* name, const kaio_attention_backward_options* given, ops::attention_backward_options& to);
void read(call& in, const char* name, const kaio_attention_append* given, ops::attention_append& to);
void read(call& in, const char* name, const kaio_attention_decode_options* given, ops::attention_decode_options& to);
void read(call& in, const char* name, const kaio_block_mask_output* given, ops::block_mask_output& to);
void read(call& in, const char* name, const kaio_block_mask_options* given, ops::block_mask_options& to);
void read(call& in, const char* name, const kaio_kv_cache* given, ops::detail::any_cache& to);
void read(call& in, const char* name, const kaio_append_rotary* given, ops::append_rotary& to);
void read(call& in, const char* name, const kaio_append_kv_options* given, ops::append_kv_options& to);
void read(call& in, const char* name, const kaio_gather_kv_options* given, ops::gather_kv_options& to);
void read(call& in, const char* name, const kaio_rotary_options* given, ops::rotary_options& to);
void read(call& in, const char* name, const kaio_rotary_scaling* given, ops::rotary_scaling& to);
void read(call& in, const char* name, const kaio_rotary_sections* given, ops::rotary_sections& to);
void read(call& in, const char* name, const kaio_rotary_table_options* given, ops::rotary_table_options& to);
void read(call& in, const char* name, const kaio_cross_entropy_options* given, ops::cross_entropy_options& to);
void read(call& in, const char* name, const kaio_cross_entropy_backward_options* given, ops::cross_entropy_backward_options& to);
void read(call& in, const char* name, const kaio_gated_options* given, ops::gated_options& to);
void read(call& in, const char* name, const kaio_embedding_options* given, ops::embedding_options& to);
void read(call& in, const char* name, const kaio_embedding_backward_options* given, ops::embedding_backward_options& to);
void read(call& in, const char* name, const kaio_matmul_options* given, ops::matmul_options& to);
void read(call& in, const char* name, const kaio_matmul_backward_options* given, ops::matmul_backward_options& to);
void read(call& in, const char* name, const kaio_matmul_int8_options* given, ops::matmul_int8_options& to);
void read(call& in, const char* name, const kaio_matmul_fp8_options* given, ops::matmul_fp8_options& to);
void read(call& in, const char* name, const kaio_rms_norm_options* given, ops::rms_norm_options& to);
void read(call& in, const char* name, const kaio_layer_norm_options* given, ops::layer_norm_options& to);
void read(call& in, const char* name, const kaio_rms_norm_backward_options* given, ops::rms_norm_backward_options& to);
void read(call& in, const char* name, const kaio_layer_norm_backward_options* given, ops::layer_norm_backward_options& to);
void give(const call& out, const char* name, const ops::w4_weights& from, kaio_w4_weights* given);
void read(call& in, const char* name, const kaio_w4_weights* given, ops::w4_weights& to);
void give(const call& out, const char* name, const ops::w8_weights& from, kaio_w8_weights* given);
void read(call& in, const char* name, const kaio_w8_weights* given, ops::w8_weights& to);
void read(call& in, const char* name, const kaio_matmul_w4_options* given, ops::matmul_w4_options& to);
void read(call& in, const char* name, const kaio_pool_options* given, runtime::memory_pool_options& to);
void give(const call& out, const char* name, const runtime::memory_pool_statistics& from, kaio_pool_statistics* given);
void read(call& in, const char* name, const kaio_x_norm* given, ops::x_norm& to);
void read(call& in, const char* name, const kaio_qkv_rotary* given, ops::qkv_rotary& to);
void read(call& in, const char* name, const kaio_qkv_project_options* given, ops::qkv_project_options& to);
void read(call& in, const char* name, const kaio_gate_up_project_options* given, ops::gate_up_project_options& to);
void read(call& in, const char* name, const kaio_qk_norm_rotary_options* given, ops::qk_norm_rotary_options& to);
void read(call& in, const char* name, const kaio_reduce_options* given, ops::reduce_options& to);
void read(call& in, const char* name, const kaio_scan_options* given, ops::scan_options& to);
void read(call& in, const char* name, const kaio_histogram_options* given, ops::histogram_options& to);
void read(call& in, const char* name, const kaio_gptq_w4* given, ops::gptq_w4& to);
void read(call& in, const char* name, const kaio_awq_w4* given, ops::awq_w4& to);
void read(call& in, const char* name, const kaio_compressed_tensors_w4* given, ops::compressed_tensors_w4& to);
void read(call& in, const char* name, const kaio_bitsandbytes_w4* given, ops::bitsandbytes_w4& to);
void read(call& in, const char* name, const kaio_mxfp4_w4* given, ops::mxfp4_w4& to);
void read(call& in, const char* name, const kaio_nvfp4_w4* given, ops::nvfp4_w4& to);
void read(call& in, const char* name, const kaio_int4_w4* given, ops::kaio_int4& to);
void read(call& in, const char* name, const kaio_awq_gemv_w4* given, ops::awq_gemv_w4& to);
void read(call& in, const char* name, const kaio_awq_gemv_fast_w4* given, ops::awq_gemv_fast_w4& to);
void read(call& in, const char* name, const kaio_marlin_w4* given, ops::marlin_w4& to);
void read(call& in, const char* name, const kaio_tinygemm_w4* given, ops::tinygemm_w4& to);
void read(call& in, const char* name, const kaio_torchao_int4_w4* given, ops::torchao_int4_w4& to);
void read(call& in, const char* name, const kaio_int8_w8* given, ops::int8_w8& to);
void read(call& in, const char* name, const kaio_llm_int8_w8* given, ops::llm_int8_w8& to);
void read(call& in, const char* name, const kaio_gptq_w8* given, ops::gptq_w8& to);
void read(call& in, const char* name, const kaio_compressed_tensors_w8* given, ops::compressed_tensors_w8& to);
void read(call& in, const char* name, const kaio_q8_0_w8* given, ops::q8_0_w8& to);
void read(call& in, const char* name, const kaio_e4m3_w8* given, ops::e4m3_w8& to);
void read(call& in, const char* name, const kaio_marlin_w8* given, ops::marlin_w8& to);
void read(call& in, const char* name, const kaio_sample_options* given, ops::sample_options& to);
void give(const call& out, const char* name, const ops::kernel_choice& from, kaio_kernel_choice* given);
void read(call& in, const char* name, const kaio_tune_options* given, ops::tune_options& to);
void give(const call& out, const char* name, const ops::tune_report& from, kaio_tune_report* given);
void give(const call& out, const char* name, const runtime::device_properties& from, kaio_device_properties* given);
void read(call& in, const char* name, const kaio_softmax_options* given, ops::softmax_options& to);
void read(call& in, const char* name, const kaio_softmax_backward_options* given, ops::softmax_backward_options& to);
void read(call& in, const char* name, const kaio_bnb_nested* given, ops::bnb_nested& to);
void read(call& in, const char* name, const kaio_bnb_4bit* given, ops::bnb_4bit& to);
void read(call& in, const char* name, const kaio_bnb_int8* given, ops::bnb_int8& to);
void read(call& in, const char* name, const kaio_scaled_bytes* given, ops::scaled_bytes& to);
void read(call& in, const char* name, const kaio_mxfp4_tensors* given, ops::mxfp4_tensors& to);
void read(call& in, const char* name, const kaio_nvfp4_tensors* given, ops::nvfp4_tensors& to);
void read(call& in, const char* name, const kaio_bnb_4bit_output* given, ops::bnb_4bit_output& to);
void read(call& in, const char* name, const kaio_mxfp4_output* given, ops::mxfp4_output& to);
void read(call& in, const char* name, const kaio_nvfp4_output* given, ops::nvfp4_output& to);
void read(call& in, const char* name, const kaio_w4_output* given, ops::w4_output& to);

}  // namespace kaio::c
