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
struct block_mask;
struct block_mask_options;
struct block_mask_output;
struct gather_kv_options;
struct kernel_choice;
struct matmul_backward_options;
struct matmul_fp8_options;
struct matmul_int8_options;
struct matmul_options;
struct rms_norm_options;
struct rotary_options;
struct rotary_scaling;
struct rotary_sections;
struct rotary_table_options;
struct tune_options;
struct tune_report;
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
void read(call& in, const char* name, const kaio_matmul_options* given, ops::matmul_options& to);
void read(call& in, const char* name, const kaio_matmul_backward_options* given, ops::matmul_backward_options& to);
void read(call& in, const char* name, const kaio_matmul_int8_options* given, ops::matmul_int8_options& to);
void read(call& in, const char* name, const kaio_matmul_fp8_options* given, ops::matmul_fp8_options& to);
void read(call& in, const char* name, const kaio_rms_norm_options* given, ops::rms_norm_options& to);
void read(call& in, const char* name, const kaio_pool_options* given, runtime::memory_pool_options& to);
void give(const call& out, const char* name, const runtime::memory_pool_statistics& from, kaio_pool_statistics* given);
void give(const call& out, const char* name, const ops::kernel_choice& from, kaio_kernel_choice* given);
void read(call& in, const char* name, const kaio_tune_options* given, ops::tune_options& to);
void give(const call& out, const char* name, const ops::tune_report& from, kaio_tune_report* given);
void give(const call& out, const char* name, const runtime::device_properties& from, kaio_device_properties* given);

}  // namespace kaio::c
