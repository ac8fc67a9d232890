#pragma once
// Reading and filling the structs of the C interface. Made by src/c/generate.py.
// clang-format off

#include <kaio/c/kaio.h>

namespace kaio::ops {
struct attention_backward_options;
struct attention_options;
struct attention_sequences;
struct block_mask;
struct block_mask_options;
struct block_mask_output;
struct kernel_choice;
struct matmul_backward_options;
struct matmul_options;
struct rms_norm_options;
struct tune_options;
struct tune_report;
}
namespace kaio::runtime {
struct device_properties;
}

namespace kaio::c {

class call;
void read(call& in, const char* name, const kaio_block_mask* given, ops::block_mask& to);
void read(call& in, const char* name, const kaio_attention_options* given, ops::attention_options& to);
void read(call& in, const char* name, const kaio_attention_sequences* given, ops::attention_sequences& to);
void read(call& in, const char* name, const kaio_attention_backward_options* given, ops::attention_backward_options& to);
void read(call& in, const char* name, const kaio_block_mask_output* given, ops::block_mask_output& to);
void read(call& in, const char* name, const kaio_block_mask_options* given, ops::block_mask_options& to);
void read(call& in, const char* name, const kaio_matmul_options* given, ops::matmul_options& to);
void read(call& in, const char* name, const kaio_matmul_backward_options* given, ops::matmul_backward_options& to);
void read(call& in, const char* name, const kaio_rms_norm_options* given, ops::rms_norm_options& to);
void give(const call& out, const char* name, const ops::kernel_choice& from, kaio_kernel_choice* given);
void read(call& in, const char* name, const kaio_tune_options* given, ops::tune_options& to);
void give(const call& out, const char* name, const ops::tune_report& from, kaio_tune_report* given);
void give(const call& out, const char* name, const runtime::device_properties& from, kaio_device_properties* given);

}  // namespace kaio::c
