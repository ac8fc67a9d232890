// Made by python/generate.py from src/c/operations/*.json.
// clang-format off

#include <cstddef>

#include "description.hpp"

namespace kaio::python {

namespace {

constexpr enumeration::value values_causal_alignment[] = {{"none", 0}, {"top_left", 1}, {"bottom_right", 2}};
constexpr enumeration enum_causal_alignment = {"causal_alignment", false, values_causal_alignment};
constexpr enumeration::value values_attention_precision[] = {{"ieee", 0}, {"tf32", 1}};
constexpr enumeration enum_attention_precision = {"attention_precision", false, values_attention_precision};
constexpr enumeration::value values_attention_combining[] = {{"automatic", 0}, {"second_kernel", 1}, {"cluster", 2}};
constexpr enumeration enum_attention_combining = {"attention_combining", false, values_attention_combining};
constexpr enumeration::value values_rotary_scaling_kind[] = {{"none", 0}, {"linear", 1}, {"dynamic", 2}, {"yarn", 3}, {"longrope", 4}, {"llama3", 5}, {"proportional", 6}};
constexpr enumeration enum_rotary_scaling_kind = {"rotary_scaling_kind", false, values_rotary_scaling_kind};
constexpr enumeration::value values_loss_reduction[] = {{"none", 0}, {"sum", 1}, {"mean", 2}};
constexpr enumeration enum_loss_reduction = {"loss_reduction", false, values_loss_reduction};
constexpr enumeration::value values_context_layout[] = {{"contiguous", 0}, {"zigzag", 1}};
constexpr enumeration enum_context_layout = {"context_layout", false, values_context_layout};
constexpr enumeration::value values_activation[] = {{"silu", 0}, {"gelu", 1}, {"gelu_tanh", 2}, {"gelu_sigmoid", 3}, {"relu", 4}, {"relu2", 5}};
constexpr enumeration enum_activation = {"activation", false, values_activation};
constexpr enumeration::value values_matmul_activation[] = {{"none", 0}, {"relu", 1}, {"gelu", 2}, {"gelu_tanh", 3}, {"silu", 4}};
constexpr enumeration enum_matmul_activation = {"matmul_activation", false, values_matmul_activation};
constexpr enumeration::value values_matmul_precision[] = {{"ieee", 0}, {"tf32", 1}, {"tf32x3", 2}};
constexpr enumeration enum_matmul_precision = {"matmul_precision", false, values_matmul_precision};
constexpr enumeration::value values_norm_casting[] = {{"gemma", 0}, {"llama", 1}};
constexpr enumeration enum_norm_casting = {"norm_casting", false, values_norm_casting};
constexpr enumeration::value values_w4_codes[] = {{"int4", 0}, {"nf4", 1}, {"fp4", 2}, {"e2m1", 3}};
constexpr enumeration enum_w4_codes = {"w4_codes", false, values_w4_codes};
constexpr enumeration::value values_w4_scale_type[] = {{"f16", 0}, {"bf16", 1}, {"f32", 2}, {"e8m0", 3}, {"e4m3", 4}};
constexpr enumeration enum_w4_scale_type = {"w4_scale_type", false, values_w4_scale_type};
constexpr enumeration::value values_w8_codes[] = {{"int8", 0}, {"e4m3", 1}};
constexpr enumeration enum_w8_codes = {"w8_codes", false, values_w8_codes};
constexpr enumeration::value values_gather_schedule[] = {{"launches", 0}, {"one_launch", 1}};
constexpr enumeration enum_gather_schedule = {"gather_schedule", false, values_gather_schedule};
constexpr enumeration::value values_pool_kind[] = {{"stream_ordered", 0}, {"caching", 1}};
constexpr enumeration enum_pool_kind = {"pool_kind", false, values_pool_kind};
constexpr enumeration::value values_reduction[] = {{"sum", 0}, {"mean", 1}, {"max", 2}, {"min", 3}};
constexpr enumeration enum_reduction = {"reduction", false, values_reduction};
constexpr enumeration::value values_router_score[] = {{"softmax", 0}, {"sigmoid", 1}};
constexpr enumeration enum_router_score = {"router_score", false, values_router_score};
constexpr enumeration::value values_constant_inputs[] = {{"none", 0}, {"a", 1}, {"b", 2}, {"weights", 2}, {"both", 3}, {"indices", 4}};
constexpr enumeration enum_constant_inputs = {"constant_inputs", true, values_constant_inputs};
constexpr enumeration::value values_block_format[] = {{"q4_0", 0}, {"q4_1", 1}, {"q5_0", 2}, {"q5_1", 3}, {"q8_0", 4}, {"q2_k", 5}, {"q3_k", 6}, {"q4_k", 7}, {"q5_k", 8}, {"q6_k", 9}, {"iq4_nl", 10}, {"iq4_xs", 11}, {"mxfp4", 12}, {"nvfp4", 13}};
constexpr enumeration enum_block_format = {"block_format", false, values_block_format};
constexpr enumeration::value values_block_operation[] = {{"none", 0}, {"matmul_w4", 1}, {"matmul_w8", 2}};
constexpr enumeration enum_block_operation = {"block_operation", false, values_block_operation};
constexpr enumeration::value values_bnb_code[] = {{"nf4", 0}, {"fp4", 1}};
constexpr enumeration enum_bnb_code = {"bnb_code", false, values_bnb_code};
constexpr enumeration::value values_weights_kind[] = {{"gguf", 0}, {"safetensors", 1}};
constexpr enumeration enum_weights_kind = {"weights_kind", false, values_weights_kind};
constexpr enumeration::value values_weight_format[] = {{"f64", 0}, {"f32", 1}, {"f16", 2}, {"bf16", 3}, {"e4m3", 4}, {"e5m2", 5}, {"e4m3fnuz", 6}, {"e5m2fnuz", 7}, {"e8m0", 8}, {"c64", 9}, {"boolean", 10}, {"i64", 11}, {"i32", 12}, {"i16", 13}, {"i8", 14}, {"u64", 15}, {"u32", 16}, {"u16", 17}, {"u8", 18}, {"f4_e2m1", 19}, {"f6_e2m3", 20}, {"f6_e3m2", 21}, {"q4_0", 22}, {"q4_1", 23}, {"q5_0", 24}, {"q5_1", 25}, {"q8_0", 26}, {"q2_k", 27}, {"q3_k", 28}, {"q4_k", 29}, {"q5_k", 30}, {"q6_k", 31}, {"iq4_nl", 32}, {"iq4_xs", 33}, {"mxfp4", 34}, {"nvfp4", 35}, {"iq1_s", 36}, {"iq1_m", 37}, {"iq2_xxs", 38}, {"iq2_xs", 39}, {"iq2_s", 40}, {"iq3_xxs", 41}, {"iq3_s", 42}, {"tq1_0", 43}, {"tq2_0", 44}, {"q1_0", 45}, {"q2_0", 46}, {"unknown", 47}};
constexpr enumeration enum_weight_format = {"weight_format", false, values_weight_format};
constexpr enumeration::value values_weights_type[] = {{"u8", 0}, {"i8", 1}, {"u16", 2}, {"i16", 3}, {"u32", 4}, {"i32", 5}, {"f32", 6}, {"boolean", 7}, {"string", 8}, {"array", 9}, {"u64", 10}, {"i64", 11}, {"f64", 12}};
constexpr enumeration enum_weights_type = {"weights_type", false, values_weights_type};
constexpr enumeration::value values_weight_scheme[] = {{"gptq", 0}, {"awq_gemm", 1}, {"awq_gemv", 2}, {"awq_gemv_fast", 3}, {"packed_int", 4}, {"int8", 5}, {"llm_int8", 6}, {"fp8", 7}, {"fp8_block", 8}, {"nf4", 9}, {"fp4", 10}, {"nvfp4_packed", 11}, {"nvfp4_modelopt", 12}, {"mxfp4_packed", 13}, {"mxfp4_blocks", 14}, {"torchao_int8", 15}, {"torchao_fp8", 16}, {"torchao_tinygemm", 17}, {"torchao_int4_plain", 18}, {"torchao_nvfp4", 19}, {"torchao_mx", 20}, {"mxfp8", 21}};
constexpr enumeration enum_weight_scheme = {"weight_scheme", false, values_weight_scheme};
constexpr enumeration::value values_weight_part[] = {{"codes", 0}, {"scales", 1}, {"zero_points", 2}, {"group_index", 3}, {"shape", 4}, {"global_scale", 5}, {"input_scale", 6}, {"code_table", 7}, {"nested_scales", 8}, {"nested_table", 9}, {"state", 10}, {"input_factors", 11}, {"unknown", 12}};
constexpr enumeration enum_weight_part = {"weight_part", false, values_weight_part};

constexpr field fields_block_mask[] = {
    {.name = "block_queries", .c_name = "block_queries", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask, block_queries)},
    {.name = "block_keys", .c_name = "block_keys", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask, block_keys)},
    {.name = "kv_num_blocks", .c_name = "kv_num_blocks", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask, kv_num_blocks)},
    {.name = "kv_indices", .c_name = "kv_indices", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask, kv_indices)},
    {.name = "full_kv_num_blocks", .c_name = "full_kv_num_blocks", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask, full_kv_num_blocks)},
    {.name = "full_kv_indices", .c_name = "full_kv_indices", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask, full_kv_indices)},
};
constexpr record record_block_mask = {"BlockMask", sizeof(kaio_block_mask),
    [](void* to) { *static_cast<kaio_block_mask*>(to) = kaio_block_mask_default(); }, fields_block_mask};

constexpr field fields_attention_options[] = {
    {.name = "scale", .c_name = "scale", .kind = field_kind::f32, .is_optional = true, .is_output = false, .offset = offsetof(kaio_attention_options, scale)},
    {.name = "softcap", .c_name = "softcap", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, softcap)},
    {.name = "causal", .c_name = "causal", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, causal), .values = &enum_causal_alignment},
    {.name = "precision", .c_name = "precision", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, precision), .values = &enum_attention_precision},
    {.name = "batch_invariant", .c_name = "batch_invariant", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, batch_invariant)},
    {.name = "window_left", .c_name = "window_left", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, window_left)},
    {.name = "window_right", .c_name = "window_right", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, window_right)},
    {.name = "alibi", .c_name = "alibi", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, alibi)},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, bias)},
    {.name = "keep", .c_name = "keep", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, keep)},
    {.name = "sinks", .c_name = "sinks", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, sinks)},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_attention_options, lse)},
    {.name = "blocks", .c_name = "blocks", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, blocks), .of = &record_block_mask},
    {.name = "variant", .c_name = "variant", .kind = field_kind::string, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_options, variant)},
};
constexpr record record_attention_options = {"AttentionOptions", sizeof(kaio_attention_options),
    [](void* to) { *static_cast<kaio_attention_options*>(to) = kaio_attention_options_default(); }, fields_attention_options};

constexpr field fields_attention_sequences[] = {
    {.name = "cu_q", .c_name = "cu_q", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_sequences, cu_q)},
    {.name = "cu_k", .c_name = "cu_k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_sequences, cu_k)},
    {.name = "max_q", .c_name = "max_q", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_sequences, max_q)},
    {.name = "max_k", .c_name = "max_k", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_sequences, max_k)},
    {.name = "used_q", .c_name = "used_q", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_sequences, used_q)},
    {.name = "used_k", .c_name = "used_k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_sequences, used_k)},
};
constexpr record record_attention_sequences = {"AttentionSequences", sizeof(kaio_attention_sequences),
    [](void* to) { *static_cast<kaio_attention_sequences*>(to) = kaio_attention_sequences_default(); }, fields_attention_sequences};

constexpr field fields_attention_backward_options[] = {
    {.name = "forward", .c_name = "forward", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_backward_options, forward), .of = &record_attention_options},
    {.name = "dlse", .c_name = "dlse", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_backward_options, dlse)},
    {.name = "dbias", .c_name = "dbias", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_attention_backward_options, dbias)},
    {.name = "dsinks", .c_name = "dsinks", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_attention_backward_options, dsinks)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_backward_options, workspace)},
};
constexpr record record_attention_backward_options = {"AttentionBackwardOptions", sizeof(kaio_attention_backward_options),
    [](void* to) { *static_cast<kaio_attention_backward_options*>(to) = kaio_attention_backward_options_default(); }, fields_attention_backward_options};

constexpr field fields_append_rotary[] = {
    {.name = "interleaved", .c_name = "interleaved", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_rotary, interleaved)},
    {.name = "q_at_first", .c_name = "q_at_first", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_rotary, q_at_first)},
    {.name = "cos", .c_name = "cos", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_rotary, cos)},
    {.name = "sin", .c_name = "sin", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_rotary, sin)},
    {.name = "positions", .c_name = "positions", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_rotary, positions)},
    {.name = "q", .c_name = "q", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_rotary, q)},
    {.name = "q_out", .c_name = "q_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_append_rotary, q_out)},
};
constexpr record record_append_rotary = {"AppendRotary", sizeof(kaio_append_rotary),
    [](void* to) { *static_cast<kaio_append_rotary*>(to) = kaio_append_rotary_default(); }, fields_append_rotary};

constexpr field fields_attention_append[] = {
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_append, k)},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_append, v)},
    {.name = "cu_k", .c_name = "cu_k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_append, cu_k)},
    {.name = "rotary", .c_name = "rotary", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_append, rotary), .of = &record_append_rotary},
    {.name = "k_scale_out", .c_name = "k_scale_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_attention_append, k_scale_out)},
    {.name = "v_scale_out", .c_name = "v_scale_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_attention_append, v_scale_out)},
};
constexpr record record_attention_append = {"AttentionAppend", sizeof(kaio_attention_append),
    [](void* to) { *static_cast<kaio_attention_append*>(to) = kaio_attention_append_default(); }, fields_attention_append};

constexpr field fields_attention_decode_options[] = {
    {.name = "scale", .c_name = "scale", .kind = field_kind::f32, .is_optional = true, .is_output = false, .offset = offsetof(kaio_attention_decode_options, scale)},
    {.name = "softcap", .c_name = "softcap", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, softcap)},
    {.name = "causal", .c_name = "causal", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, causal), .values = &enum_causal_alignment},
    {.name = "splits", .c_name = "splits", .kind = field_kind::u32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, splits)},
    {.name = "combining", .c_name = "combining", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, combining), .values = &enum_attention_combining},
    {.name = "batch_invariant", .c_name = "batch_invariant", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, batch_invariant)},
    {.name = "constant", .c_name = "constant", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, constant), .values = &enum_constant_inputs},
    {.name = "window_left", .c_name = "window_left", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, window_left)},
    {.name = "window_right", .c_name = "window_right", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, window_right)},
    {.name = "max_length", .c_name = "max_length", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, max_length)},
    {.name = "qv", .c_name = "qv", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, qv)},
    {.name = "alibi", .c_name = "alibi", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, alibi)},
    {.name = "k_scale", .c_name = "k_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, k_scale)},
    {.name = "v_scale", .c_name = "v_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, v_scale)},
    {.name = "sinks", .c_name = "sinks", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, sinks)},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_attention_decode_options, lse)},
    {.name = "append", .c_name = "append", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, append), .of = &record_attention_append},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, workspace)},
    {.name = "variant", .c_name = "variant", .kind = field_kind::string, .is_optional = false, .is_output = false, .offset = offsetof(kaio_attention_decode_options, variant)},
};
constexpr record record_attention_decode_options = {"AttentionDecodeOptions", sizeof(kaio_attention_decode_options),
    [](void* to) { *static_cast<kaio_attention_decode_options*>(to) = kaio_attention_decode_options_default(); }, fields_attention_decode_options};

constexpr field fields_block_mask_output[] = {
    {.name = "block_queries", .c_name = "block_queries", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask_output, block_queries)},
    {.name = "block_keys", .c_name = "block_keys", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask_output, block_keys)},
    {.name = "kv_num_blocks", .c_name = "kv_num_blocks", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_block_mask_output, kv_num_blocks)},
    {.name = "kv_indices", .c_name = "kv_indices", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_block_mask_output, kv_indices)},
    {.name = "full_kv_num_blocks", .c_name = "full_kv_num_blocks", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_block_mask_output, full_kv_num_blocks)},
    {.name = "full_kv_indices", .c_name = "full_kv_indices", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_block_mask_output, full_kv_indices)},
    {.name = "q_num_blocks", .c_name = "q_num_blocks", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_block_mask_output, q_num_blocks)},
    {.name = "q_indices", .c_name = "q_indices", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_block_mask_output, q_indices)},
    {.name = "full_q_num_blocks", .c_name = "full_q_num_blocks", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_block_mask_output, full_q_num_blocks)},
    {.name = "full_q_indices", .c_name = "full_q_indices", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_block_mask_output, full_q_indices)},
};
constexpr record record_block_mask_output = {"BlockMaskOutput", sizeof(kaio_block_mask_output),
    [](void* to) { *static_cast<kaio_block_mask_output*>(to) = kaio_block_mask_output_default(); }, fields_block_mask_output};

constexpr field fields_block_mask_options[] = {
    {.name = "causal", .c_name = "causal", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask_options, causal), .values = &enum_causal_alignment},
    {.name = "queries", .c_name = "queries", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask_options, queries)},
    {.name = "keys", .c_name = "keys", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask_options, keys)},
    {.name = "window_left", .c_name = "window_left", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask_options, window_left)},
    {.name = "window_right", .c_name = "window_right", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_block_mask_options, window_right)},
};
constexpr record record_block_mask_options = {"BlockMaskOptions", sizeof(kaio_block_mask_options),
    [](void* to) { *static_cast<kaio_block_mask_options*>(to) = kaio_block_mask_options_default(); }, fields_block_mask_options};

constexpr field fields_kv_cache[] = {
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_kv_cache, k)},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_kv_cache, v)},
    {.name = "table", .c_name = "table", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_kv_cache, table)},
    {.name = "indptr", .c_name = "indptr", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_kv_cache, indptr)},
    {.name = "indices", .c_name = "indices", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_kv_cache, indices)},
    {.name = "lengths", .c_name = "lengths", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_kv_cache, lengths)},
    {.name = "last_page_len", .c_name = "last_page_len", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_kv_cache, last_page_len)},
    {.name = "batch_index", .c_name = "batch_index", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_kv_cache, batch_index)},
    {.name = "left_padding", .c_name = "left_padding", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_kv_cache, left_padding)},
};
constexpr record record_kv_cache = {"KvCache", sizeof(kaio_kv_cache),
    [](void* to) { *static_cast<kaio_kv_cache*>(to) = kaio_kv_cache_default(); }, fields_kv_cache};

constexpr field fields_append_kv_options[] = {
    {.name = "constant", .c_name = "constant", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_kv_options, constant), .values = &enum_constant_inputs},
    {.name = "cu_seqlens", .c_name = "cu_seqlens", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_kv_options, cu_seqlens)},
    {.name = "slots", .c_name = "slots", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_kv_options, slots)},
    {.name = "rotary", .c_name = "rotary", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_kv_options, rotary), .of = &record_append_rotary},
    {.name = "k_scale", .c_name = "k_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_kv_options, k_scale)},
    {.name = "v_scale", .c_name = "v_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_append_kv_options, v_scale)},
    {.name = "k_scale_out", .c_name = "k_scale_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_append_kv_options, k_scale_out)},
    {.name = "v_scale_out", .c_name = "v_scale_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_append_kv_options, v_scale_out)},
};
constexpr record record_append_kv_options = {"AppendKvOptions", sizeof(kaio_append_kv_options),
    [](void* to) { *static_cast<kaio_append_kv_options*>(to) = kaio_append_kv_options_default(); }, fields_append_kv_options};

constexpr field fields_gather_kv_options[] = {
    {.name = "cu_seqlens", .c_name = "cu_seqlens", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gather_kv_options, cu_seqlens)},
    {.name = "k_scale", .c_name = "k_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gather_kv_options, k_scale)},
    {.name = "v_scale", .c_name = "v_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gather_kv_options, v_scale)},
};
constexpr record record_gather_kv_options = {"GatherKvOptions", sizeof(kaio_gather_kv_options),
    [](void* to) { *static_cast<kaio_gather_kv_options*>(to) = kaio_gather_kv_options_default(); }, fields_gather_kv_options};

constexpr field fields_rotary_options[] = {
    {.name = "interleaved", .c_name = "interleaved", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_options, interleaved)},
    {.name = "inverse", .c_name = "inverse", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_options, inverse)},
    {.name = "positions", .c_name = "positions", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_options, positions)},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_options, offsets)},
    {.name = "cu_seqlens", .c_name = "cu_seqlens", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_options, cu_seqlens)},
};
constexpr record record_rotary_options = {"RotaryOptions", sizeof(kaio_rotary_options),
    [](void* to) { *static_cast<kaio_rotary_options*>(to) = kaio_rotary_options_default(); }, fields_rotary_options};

constexpr field fields_rotary_scaling[] = {
    {.name = "kind", .c_name = "kind", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, kind), .values = &enum_rotary_scaling_kind},
    {.name = "truncate", .c_name = "truncate", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, truncate)},
    {.name = "factor", .c_name = "factor", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, factor)},
    {.name = "low_frequency", .c_name = "low_frequency", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, low_frequency)},
    {.name = "high_frequency", .c_name = "high_frequency", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, high_frequency)},
    {.name = "original_length", .c_name = "original_length", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, original_length)},
    {.name = "beta_fast", .c_name = "beta_fast", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, beta_fast)},
    {.name = "beta_slow", .c_name = "beta_slow", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, beta_slow)},
    {.name = "attention_factor", .c_name = "attention_factor", .kind = field_kind::f64, .is_optional = true, .is_output = false, .offset = offsetof(kaio_rotary_scaling, attention_factor)},
    {.name = "mscale", .c_name = "mscale", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, mscale)},
    {.name = "mscale_all_dim", .c_name = "mscale_all_dim", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, mscale_all_dim)},
    {.name = "length", .c_name = "length", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, length)},
    {.name = "rotated", .c_name = "rotated", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, rotated)},
    {.name = "pair_factors", .c_name = "pair_factors", .kind = field_kind::list_f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_scaling, pair_factors), .count_offset = offsetof(kaio_rotary_scaling, pair_factor_count)},
};
constexpr record record_rotary_scaling = {"RotaryScaling", sizeof(kaio_rotary_scaling),
    [](void* to) { *static_cast<kaio_rotary_scaling*>(to) = kaio_rotary_scaling_default(); }, fields_rotary_scaling};

constexpr field fields_rotary_sections[] = {
    {.name = "interleaved", .c_name = "interleaved", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_sections, interleaved)},
    {.name = "pairs", .c_name = "pairs", .kind = field_kind::list_u32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_sections, pairs), .count_offset = offsetof(kaio_rotary_sections, pair_count)},
};
constexpr record record_rotary_sections = {"RotarySections", sizeof(kaio_rotary_sections),
    [](void* to) { *static_cast<kaio_rotary_sections*>(to) = kaio_rotary_sections_default(); }, fields_rotary_sections};

constexpr field fields_rotary_table_options[] = {
    {.name = "base", .c_name = "base", .kind = field_kind::f64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_table_options, base)},
    {.name = "first_position", .c_name = "first_position", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_table_options, first_position)},
    {.name = "positions", .c_name = "positions", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_table_options, positions)},
    {.name = "scaling", .c_name = "scaling", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_table_options, scaling), .of = &record_rotary_scaling},
    {.name = "sections", .c_name = "sections", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rotary_table_options, sections), .of = &record_rotary_sections},
};
constexpr record record_rotary_table_options = {"RotaryTableOptions", sizeof(kaio_rotary_table_options),
    [](void* to) { *static_cast<kaio_rotary_table_options*>(to) = kaio_rotary_table_options_default(); }, fields_rotary_table_options};

constexpr field fields_cross_entropy_options[] = {
    {.name = "reduction", .c_name = "reduction", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_options, reduction), .values = &enum_loss_reduction},
    {.name = "ignore_index", .c_name = "ignore_index", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_options, ignore_index)},
    {.name = "label_smoothing", .c_name = "label_smoothing", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_options, label_smoothing)},
    {.name = "z_loss", .c_name = "z_loss", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_options, z_loss)},
    {.name = "softcap", .c_name = "softcap", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_options, softcap)},
    {.name = "weights", .c_name = "weights", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_options, weights)},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_cross_entropy_options, lse)},
    {.name = "total_weight", .c_name = "total_weight", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_cross_entropy_options, total_weight)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_options, workspace)},
};
constexpr record record_cross_entropy_options = {"CrossEntropyOptions", sizeof(kaio_cross_entropy_options),
    [](void* to) { *static_cast<kaio_cross_entropy_options*>(to) = kaio_cross_entropy_options_default(); }, fields_cross_entropy_options};

constexpr field fields_cross_entropy_backward_options[] = {
    {.name = "reduction", .c_name = "reduction", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_backward_options, reduction), .values = &enum_loss_reduction},
    {.name = "ignore_index", .c_name = "ignore_index", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_backward_options, ignore_index)},
    {.name = "label_smoothing", .c_name = "label_smoothing", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_backward_options, label_smoothing)},
    {.name = "z_loss", .c_name = "z_loss", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_backward_options, z_loss)},
    {.name = "softcap", .c_name = "softcap", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_backward_options, softcap)},
    {.name = "weights", .c_name = "weights", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_backward_options, weights)},
    {.name = "total_weight", .c_name = "total_weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_cross_entropy_backward_options, total_weight)},
};
constexpr record record_cross_entropy_backward_options = {"CrossEntropyBackwardOptions", sizeof(kaio_cross_entropy_backward_options),
    [](void* to) { *static_cast<kaio_cross_entropy_backward_options*>(to) = kaio_cross_entropy_backward_options_default(); }, fields_cross_entropy_backward_options};

constexpr field fields_linear_cross_entropy_options[] = {
    {.name = "reduction", .c_name = "reduction", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_options, reduction), .values = &enum_loss_reduction},
    {.name = "precision", .c_name = "precision", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_options, precision), .values = &enum_matmul_precision},
    {.name = "ignore_index", .c_name = "ignore_index", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_options, ignore_index)},
    {.name = "logit_scale", .c_name = "logit_scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_options, logit_scale)},
    {.name = "label_smoothing", .c_name = "label_smoothing", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_options, label_smoothing)},
    {.name = "z_loss", .c_name = "z_loss", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_options, z_loss)},
    {.name = "softcap", .c_name = "softcap", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_options, softcap)},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_options, bias)},
    {.name = "weights", .c_name = "weights", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_options, weights)},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_linear_cross_entropy_options, lse)},
    {.name = "total_weight", .c_name = "total_weight", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_linear_cross_entropy_options, total_weight)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_options, workspace)},
};
constexpr record record_linear_cross_entropy_options = {"LinearCrossEntropyOptions", sizeof(kaio_linear_cross_entropy_options),
    [](void* to) { *static_cast<kaio_linear_cross_entropy_options*>(to) = kaio_linear_cross_entropy_options_default(); }, fields_linear_cross_entropy_options};

constexpr field fields_linear_cross_entropy_backward_options[] = {
    {.name = "reduction", .c_name = "reduction", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, reduction), .values = &enum_loss_reduction},
    {.name = "precision", .c_name = "precision", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, precision), .values = &enum_matmul_precision},
    {.name = "ignore_index", .c_name = "ignore_index", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, ignore_index)},
    {.name = "logit_scale", .c_name = "logit_scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, logit_scale)},
    {.name = "label_smoothing", .c_name = "label_smoothing", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, label_smoothing)},
    {.name = "z_loss", .c_name = "z_loss", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, z_loss)},
    {.name = "softcap", .c_name = "softcap", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, softcap)},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, bias)},
    {.name = "weights", .c_name = "weights", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, weights)},
    {.name = "total_weight", .c_name = "total_weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, total_weight)},
    {.name = "dbias", .c_name = "dbias", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_linear_cross_entropy_backward_options, dbias)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_linear_cross_entropy_backward_options, workspace)},
};
constexpr record record_linear_cross_entropy_backward_options = {"LinearCrossEntropyBackwardOptions", sizeof(kaio_linear_cross_entropy_backward_options),
    [](void* to) { *static_cast<kaio_linear_cross_entropy_backward_options*>(to) = kaio_linear_cross_entropy_backward_options_default(); }, fields_linear_cross_entropy_backward_options};

constexpr field fields_gated_options[] = {
    {.name = "limit", .c_name = "limit", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gated_options, limit)},
    {.name = "up_offset", .c_name = "up_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gated_options, up_offset)},
};
constexpr record record_gated_options = {"GatedOptions", sizeof(kaio_gated_options),
    [](void* to) { *static_cast<kaio_gated_options*>(to) = kaio_gated_options_default(); }, fields_gated_options};

constexpr field fields_embedding_options[] = {
    {.name = "errors", .c_name = "errors", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_embedding_options, errors)},
};
constexpr record record_embedding_options = {"EmbeddingOptions", sizeof(kaio_embedding_options),
    [](void* to) { *static_cast<kaio_embedding_options*>(to) = kaio_embedding_options_default(); }, fields_embedding_options};

constexpr field fields_embedding_backward_options[] = {
    {.name = "padding_index", .c_name = "padding_index", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_embedding_backward_options, padding_index)},
    {.name = "accumulate", .c_name = "accumulate", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_embedding_backward_options, accumulate)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_embedding_backward_options, workspace)},
};
constexpr record record_embedding_backward_options = {"EmbeddingBackwardOptions", sizeof(kaio_embedding_backward_options),
    [](void* to) { *static_cast<kaio_embedding_backward_options*>(to) = kaio_embedding_backward_options_default(); }, fields_embedding_backward_options};

constexpr field fields_matmul_options[] = {
    {.name = "alpha", .c_name = "alpha", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_options, alpha)},
    {.name = "beta", .c_name = "beta", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_options, beta)},
    {.name = "activation", .c_name = "activation", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_options, activation), .values = &enum_matmul_activation},
    {.name = "precision", .c_name = "precision", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_options, precision), .values = &enum_matmul_precision},
    {.name = "constant", .c_name = "constant", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_options, constant), .values = &enum_constant_inputs},
    {.name = "bias_of_rows", .c_name = "bias_of_rows", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_options, bias_of_rows)},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_options, bias)},
    {.name = "residual", .c_name = "residual", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_options, residual)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_options, workspace)},
    {.name = "variant", .c_name = "variant", .kind = field_kind::string, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_options, variant)},
};
constexpr record record_matmul_options = {"MatmulOptions", sizeof(kaio_matmul_options),
    [](void* to) { *static_cast<kaio_matmul_options*>(to) = kaio_matmul_options_default(); }, fields_matmul_options};

constexpr field fields_matmul_backward_options[] = {
    {.name = "alpha", .c_name = "alpha", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_backward_options, alpha)},
    {.name = "accumulate", .c_name = "accumulate", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_backward_options, accumulate)},
    {.name = "precision", .c_name = "precision", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_backward_options, precision), .values = &enum_matmul_precision},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_backward_options, workspace)},
};
constexpr record record_matmul_backward_options = {"MatmulBackwardOptions", sizeof(kaio_matmul_backward_options),
    [](void* to) { *static_cast<kaio_matmul_backward_options*>(to) = kaio_matmul_backward_options_default(); }, fields_matmul_backward_options};

constexpr field fields_matmul_grouped_options[] = {
    {.name = "rows", .c_name = "rows", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_grouped_options, rows)},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_grouped_options, bias)},
};
constexpr record record_matmul_grouped_options = {"MatmulGroupedOptions", sizeof(kaio_matmul_grouped_options),
    [](void* to) { *static_cast<kaio_matmul_grouped_options*>(to) = kaio_matmul_grouped_options_default(); }, fields_matmul_grouped_options};

constexpr field fields_matmul_grouped_backward_options[] = {
    {.name = "accumulate", .c_name = "accumulate", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_grouped_backward_options, accumulate)},
};
constexpr record record_matmul_grouped_backward_options = {"MatmulGroupedBackwardOptions", sizeof(kaio_matmul_grouped_backward_options),
    [](void* to) { *static_cast<kaio_matmul_grouped_backward_options*>(to) = kaio_matmul_grouped_backward_options_default(); }, fields_matmul_grouped_backward_options};

constexpr field fields_gate_up_grouped_options[] = {
    {.name = "activation", .c_name = "activation", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_grouped_options, activation), .values = &enum_matmul_activation},
    {.name = "rows", .c_name = "rows", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_grouped_options, rows)},
    {.name = "gate_bias", .c_name = "gate_bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_grouped_options, gate_bias)},
    {.name = "up_bias", .c_name = "up_bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_grouped_options, up_bias)},
    {.name = "alpha", .c_name = "alpha", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_grouped_options, alpha)},
    {.name = "limit", .c_name = "limit", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_grouped_options, limit)},
    {.name = "up_offset", .c_name = "up_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_grouped_options, up_offset)},
};
constexpr record record_gate_up_grouped_options = {"GateUpGroupedOptions", sizeof(kaio_gate_up_grouped_options),
    [](void* to) { *static_cast<kaio_gate_up_grouped_options*>(to) = kaio_gate_up_grouped_options_default(); }, fields_gate_up_grouped_options};

constexpr field fields_matmul_int8_options[] = {
    {.name = "alpha", .c_name = "alpha", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, alpha)},
    {.name = "out_scale", .c_name = "out_scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, out_scale)},
    {.name = "activation", .c_name = "activation", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, activation), .values = &enum_matmul_activation},
    {.name = "constant", .c_name = "constant", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, constant), .values = &enum_constant_inputs},
    {.name = "bias_of_rows", .c_name = "bias_of_rows", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, bias_of_rows)},
    {.name = "scale_a", .c_name = "scale_a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, scale_a)},
    {.name = "scale_b", .c_name = "scale_b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, scale_b)},
    {.name = "zero_a", .c_name = "zero_a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, zero_a)},
    {.name = "column_sums", .c_name = "column_sums", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, column_sums)},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, bias)},
    {.name = "residual", .c_name = "residual", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, residual)},
    {.name = "variant", .c_name = "variant", .kind = field_kind::string, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_options, variant)},
};
constexpr record record_matmul_int8_options = {"MatmulInt8Options", sizeof(kaio_matmul_int8_options),
    [](void* to) { *static_cast<kaio_matmul_int8_options*>(to) = kaio_matmul_int8_options_default(); }, fields_matmul_int8_options};

constexpr field fields_matmul_fp8_options[] = {
    {.name = "alpha", .c_name = "alpha", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, alpha)},
    {.name = "out_scale", .c_name = "out_scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, out_scale)},
    {.name = "activation", .c_name = "activation", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, activation), .values = &enum_matmul_activation},
    {.name = "constant", .c_name = "constant", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, constant), .values = &enum_constant_inputs},
    {.name = "bias_of_rows", .c_name = "bias_of_rows", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, bias_of_rows)},
    {.name = "scale_a", .c_name = "scale_a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, scale_a)},
    {.name = "scale_b", .c_name = "scale_b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, scale_b)},
    {.name = "groups_a", .c_name = "groups_a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, groups_a)},
    {.name = "blocks_b", .c_name = "blocks_b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, blocks_b)},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, bias)},
    {.name = "residual", .c_name = "residual", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, residual)},
    {.name = "variant", .c_name = "variant", .kind = field_kind::string, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_options, variant)},
};
constexpr record record_matmul_fp8_options = {"MatmulFp8Options", sizeof(kaio_matmul_fp8_options),
    [](void* to) { *static_cast<kaio_matmul_fp8_options*>(to) = kaio_matmul_fp8_options_default(); }, fields_matmul_fp8_options};

constexpr field fields_matmul_int8_grouped_options[] = {
    {.name = "scale_a", .c_name = "scale_a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_grouped_options, scale_a)},
    {.name = "scale_b", .c_name = "scale_b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_grouped_options, scale_b)},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_grouped_options, bias)},
    {.name = "rows", .c_name = "rows", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_grouped_options, rows)},
    {.name = "gate", .c_name = "gate", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_grouped_options, gate), .values = &enum_matmul_activation},
    {.name = "zero_a", .c_name = "zero_a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_grouped_options, zero_a)},
    {.name = "column_sums", .c_name = "column_sums", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_grouped_options, column_sums)},
    {.name = "alpha", .c_name = "alpha", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_grouped_options, alpha)},
    {.name = "limit", .c_name = "limit", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_grouped_options, limit)},
    {.name = "up_offset", .c_name = "up_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_int8_grouped_options, up_offset)},
};
constexpr record record_matmul_int8_grouped_options = {"MatmulInt8GroupedOptions", sizeof(kaio_matmul_int8_grouped_options),
    [](void* to) { *static_cast<kaio_matmul_int8_grouped_options*>(to) = kaio_matmul_int8_grouped_options_default(); }, fields_matmul_int8_grouped_options};

constexpr field fields_matmul_fp8_grouped_options[] = {
    {.name = "scale_a", .c_name = "scale_a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_grouped_options, scale_a)},
    {.name = "scale_b", .c_name = "scale_b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_grouped_options, scale_b)},
    {.name = "groups_a", .c_name = "groups_a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_grouped_options, groups_a)},
    {.name = "blocks_b", .c_name = "blocks_b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_grouped_options, blocks_b)},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_grouped_options, bias)},
    {.name = "rows", .c_name = "rows", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_grouped_options, rows)},
    {.name = "gate", .c_name = "gate", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_grouped_options, gate), .values = &enum_matmul_activation},
    {.name = "alpha", .c_name = "alpha", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_grouped_options, alpha)},
    {.name = "limit", .c_name = "limit", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_grouped_options, limit)},
    {.name = "up_offset", .c_name = "up_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_fp8_grouped_options, up_offset)},
};
constexpr record record_matmul_fp8_grouped_options = {"MatmulFp8GroupedOptions", sizeof(kaio_matmul_fp8_grouped_options),
    [](void* to) { *static_cast<kaio_matmul_fp8_grouped_options*>(to) = kaio_matmul_fp8_grouped_options_default(); }, fields_matmul_fp8_grouped_options};

constexpr field fields_rms_norm_options[] = {
    {.name = "epsilon", .c_name = "epsilon", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_options, epsilon)},
    {.name = "weight_offset", .c_name = "weight_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_options, weight_offset)},
    {.name = "residual", .c_name = "residual", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_options, residual)},
    {.name = "residual_out", .c_name = "residual_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_rms_norm_options, residual_out)},
    {.name = "casting", .c_name = "casting", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_options, casting), .values = &enum_norm_casting},
    {.name = "gate", .c_name = "gate", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_options, gate)},
    {.name = "scale", .c_name = "scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_options, scale)},
    {.name = "shift", .c_name = "shift", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_options, shift)},
    {.name = "y_out", .c_name = "y_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_rms_norm_options, y_out)},
};
constexpr record record_rms_norm_options = {"RmsNormOptions", sizeof(kaio_rms_norm_options),
    [](void* to) { *static_cast<kaio_rms_norm_options*>(to) = kaio_rms_norm_options_default(); }, fields_rms_norm_options};

constexpr field fields_layer_norm_options[] = {
    {.name = "epsilon", .c_name = "epsilon", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_options, epsilon)},
    {.name = "weight_offset", .c_name = "weight_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_options, weight_offset)},
    {.name = "residual", .c_name = "residual", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_options, residual)},
    {.name = "residual_out", .c_name = "residual_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_layer_norm_options, residual_out)},
    {.name = "casting", .c_name = "casting", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_options, casting), .values = &enum_norm_casting},
    {.name = "gate", .c_name = "gate", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_options, gate)},
    {.name = "scale", .c_name = "scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_options, scale)},
    {.name = "shift", .c_name = "shift", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_options, shift)},
    {.name = "y_out", .c_name = "y_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_layer_norm_options, y_out)},
};
constexpr record record_layer_norm_options = {"LayerNormOptions", sizeof(kaio_layer_norm_options),
    [](void* to) { *static_cast<kaio_layer_norm_options*>(to) = kaio_layer_norm_options_default(); }, fields_layer_norm_options};

constexpr field fields_rms_norm_backward_options[] = {
    {.name = "epsilon", .c_name = "epsilon", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_backward_options, epsilon)},
    {.name = "weight_offset", .c_name = "weight_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_backward_options, weight_offset)},
    {.name = "dh", .c_name = "dh", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_backward_options, dh)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_rms_norm_backward_options, workspace)},
};
constexpr record record_rms_norm_backward_options = {"RmsNormBackwardOptions", sizeof(kaio_rms_norm_backward_options),
    [](void* to) { *static_cast<kaio_rms_norm_backward_options*>(to) = kaio_rms_norm_backward_options_default(); }, fields_rms_norm_backward_options};

constexpr field fields_layer_norm_backward_options[] = {
    {.name = "epsilon", .c_name = "epsilon", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_backward_options, epsilon)},
    {.name = "weight_offset", .c_name = "weight_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_backward_options, weight_offset)},
    {.name = "dh", .c_name = "dh", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_backward_options, dh)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_layer_norm_backward_options, workspace)},
};
constexpr record record_layer_norm_backward_options = {"LayerNormBackwardOptions", sizeof(kaio_layer_norm_backward_options),
    [](void* to) { *static_cast<kaio_layer_norm_backward_options*>(to) = kaio_layer_norm_backward_options_default(); }, fields_layer_norm_backward_options};

constexpr field fields_w4_weights[] = {
    {.name = "codes", .c_name = "codes", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, codes), .values = &enum_w4_codes},
    {.name = "n", .c_name = "n", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, n)},
    {.name = "k", .c_name = "k", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, k)},
    {.name = "group", .c_name = "group", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, group)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, scales), .values = &enum_w4_scale_type},
    {.name = "zero_points", .c_name = "zero_points", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, zero_points)},
    {.name = "act_order", .c_name = "act_order", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, act_order)},
    {.name = "factors", .c_name = "factors", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, factors)},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, offsets)},
    {.name = "zero", .c_name = "zero", .kind = field_kind::byte, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, zero)},
    {.name = "memory", .c_name = "memory", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_weights, memory)},
};
constexpr record record_w4_weights = {"W4Weights", sizeof(kaio_w4_weights),
    [](void* to) { *static_cast<kaio_w4_weights*>(to) = kaio_w4_weights_default(); }, fields_w4_weights};

constexpr field fields_w8_weights[] = {
    {.name = "codes", .c_name = "codes", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w8_weights, codes), .values = &enum_w8_codes},
    {.name = "n", .c_name = "n", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w8_weights, n)},
    {.name = "k", .c_name = "k", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w8_weights, k)},
    {.name = "group", .c_name = "group", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w8_weights, group)},
    {.name = "zero_points", .c_name = "zero_points", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w8_weights, zero_points)},
    {.name = "act_order", .c_name = "act_order", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w8_weights, act_order)},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w8_weights, offsets)},
    {.name = "memory", .c_name = "memory", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w8_weights, memory)},
};
constexpr record record_w8_weights = {"W8Weights", sizeof(kaio_w8_weights),
    [](void* to) { *static_cast<kaio_w8_weights*>(to) = kaio_w8_weights_default(); }, fields_w8_weights};

constexpr field fields_matmul_w4_options[] = {
    {.name = "splits", .c_name = "splits", .kind = field_kind::u32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_options, splits)},
    {.name = "constant", .c_name = "constant", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_options, constant), .values = &enum_constant_inputs},
    {.name = "exact_weights", .c_name = "exact_weights", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_options, exact_weights)},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_options, bias)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_options, workspace)},
    {.name = "variant", .c_name = "variant", .kind = field_kind::string, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_options, variant)},
};
constexpr record record_matmul_w4_options = {"MatmulW4Options", sizeof(kaio_matmul_w4_options),
    [](void* to) { *static_cast<kaio_matmul_w4_options*>(to) = kaio_matmul_w4_options_default(); }, fields_matmul_w4_options};

constexpr field fields_matmul_w4_grouped_options[] = {
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_grouped_options, bias)},
    {.name = "variant", .c_name = "variant", .kind = field_kind::string, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_grouped_options, variant)},
    {.name = "rows", .c_name = "rows", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_grouped_options, rows)},
    {.name = "gate", .c_name = "gate", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_grouped_options, gate), .values = &enum_matmul_activation},
    {.name = "alpha", .c_name = "alpha", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_grouped_options, alpha)},
    {.name = "limit", .c_name = "limit", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_grouped_options, limit)},
    {.name = "up_offset", .c_name = "up_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_w4_grouped_options, up_offset)},
};
constexpr record record_matmul_w4_grouped_options = {"MatmulW4GroupedOptions", sizeof(kaio_matmul_w4_grouped_options),
    [](void* to) { *static_cast<kaio_matmul_w4_grouped_options*>(to) = kaio_matmul_w4_grouped_options_default(); }, fields_matmul_w4_grouped_options};

constexpr field fields_matmul_reduce_options[] = {
    {.name = "alpha", .c_name = "alpha", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_reduce_options, alpha)},
    {.name = "f32_parts", .c_name = "f32_parts", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_reduce_options, f32_parts)},
    {.name = "precision", .c_name = "precision", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_reduce_options, precision), .values = &enum_matmul_precision},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_reduce_options, workspace)},
    {.name = "constant", .c_name = "constant", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_reduce_options, constant), .values = &enum_constant_inputs},
    {.name = "variant", .c_name = "variant", .kind = field_kind::string, .is_optional = false, .is_output = false, .offset = offsetof(kaio_matmul_reduce_options, variant)},
};
constexpr record record_matmul_reduce_options = {"MatmulReduceOptions", sizeof(kaio_matmul_reduce_options),
    [](void* to) { *static_cast<kaio_matmul_reduce_options*>(to) = kaio_matmul_reduce_options_default(); }, fields_matmul_reduce_options};

constexpr field fields_pool_options[] = {
    {.name = "kind", .c_name = "kind", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_pool_options, kind), .values = &enum_pool_kind},
    {.name = "limit", .c_name = "limit", .kind = field_kind::u64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_pool_options, limit)},
    {.name = "keep", .c_name = "keep", .kind = field_kind::u64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_pool_options, keep)},
};
constexpr record record_pool_options = {"PoolOptions", sizeof(kaio_pool_options),
    [](void* to) { *static_cast<kaio_pool_options*>(to) = kaio_pool_options_default(); }, fields_pool_options};

constexpr field fields_projection_weight[] = {
    {.name = "matrix", .c_name = "matrix", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_projection_weight, matrix)},
    {.name = "scale", .c_name = "scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_projection_weight, scale)},
    {.name = "blocks", .c_name = "blocks", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_projection_weight, blocks)},
    {.name = "w4", .c_name = "w4", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_projection_weight, w4), .of = &record_w4_weights},
    {.name = "w8", .c_name = "w8", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_projection_weight, w8), .of = &record_w8_weights},
};
constexpr record record_projection_weight = {"ProjectionWeight", sizeof(kaio_projection_weight),
    [](void* to) { *static_cast<kaio_projection_weight*>(to) = kaio_projection_weight_default(); }, fields_projection_weight};

constexpr field fields_qkv_weights[] = {
    {.name = "all", .c_name = "all", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_weights, all), .of = &record_projection_weight},
    {.name = "q", .c_name = "q", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_weights, q), .of = &record_projection_weight},
    {.name = "k", .c_name = "k", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_weights, k), .of = &record_projection_weight},
    {.name = "v", .c_name = "v", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_weights, v), .of = &record_projection_weight},
};
constexpr record record_qkv_weights = {"QkvWeights", sizeof(kaio_qkv_weights),
    [](void* to) { *static_cast<kaio_qkv_weights*>(to) = kaio_qkv_weights_default(); }, fields_qkv_weights};

constexpr field fields_gate_up_weights[] = {
    {.name = "both", .c_name = "both", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_weights, both), .of = &record_projection_weight},
    {.name = "gate", .c_name = "gate", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_weights, gate), .of = &record_projection_weight},
    {.name = "up", .c_name = "up", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_weights, up), .of = &record_projection_weight},
};
constexpr record record_gate_up_weights = {"GateUpWeights", sizeof(kaio_gate_up_weights),
    [](void* to) { *static_cast<kaio_gate_up_weights*>(to) = kaio_gate_up_weights_default(); }, fields_gate_up_weights};

constexpr field fields_qkv_outputs[] = {
    {.name = "q", .c_name = "q", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_qkv_outputs, q)},
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_qkv_outputs, k)},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_qkv_outputs, v)},
    {.name = "cache", .c_name = "cache", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_outputs, cache), .of = &record_kv_cache},
};
constexpr record record_qkv_outputs = {"QkvOutputs", sizeof(kaio_qkv_outputs),
    [](void* to) { *static_cast<kaio_qkv_outputs*>(to) = kaio_qkv_outputs_default(); }, fields_qkv_outputs};

constexpr field fields_x_norm[] = {
    {.name = "epsilon", .c_name = "epsilon", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_x_norm, epsilon)},
    {.name = "weight_offset", .c_name = "weight_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_x_norm, weight_offset)},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_x_norm, weight)},
    {.name = "residual", .c_name = "residual", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_x_norm, residual)},
    {.name = "residual_out", .c_name = "residual_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_x_norm, residual_out)},
};
constexpr record record_x_norm = {"XNorm", sizeof(kaio_x_norm),
    [](void* to) { *static_cast<kaio_x_norm*>(to) = kaio_x_norm_default(); }, fields_x_norm};

constexpr field fields_qkv_rotary[] = {
    {.name = "interleaved", .c_name = "interleaved", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_rotary, interleaved)},
    {.name = "cos", .c_name = "cos", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_rotary, cos)},
    {.name = "sin", .c_name = "sin", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_rotary, sin)},
    {.name = "positions", .c_name = "positions", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_rotary, positions)},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_rotary, offsets)},
};
constexpr record record_qkv_rotary = {"QkvRotary", sizeof(kaio_qkv_rotary),
    [](void* to) { *static_cast<kaio_qkv_rotary*>(to) = kaio_qkv_rotary_default(); }, fields_qkv_rotary};

constexpr field fields_qkv_project_options[] = {
    {.name = "epsilon", .c_name = "epsilon", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, epsilon)},
    {.name = "norm_offset", .c_name = "norm_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, norm_offset)},
    {.name = "q_scale", .c_name = "q_scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, q_scale)},
    {.name = "constant", .c_name = "constant", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, constant), .values = &enum_constant_inputs},
    {.name = "splits", .c_name = "splits", .kind = field_kind::u32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, splits)},
    {.name = "exact_weights", .c_name = "exact_weights", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, exact_weights)},
    {.name = "q_bias", .c_name = "q_bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, q_bias)},
    {.name = "k_bias", .c_name = "k_bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, k_bias)},
    {.name = "v_bias", .c_name = "v_bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, v_bias)},
    {.name = "q_norm", .c_name = "q_norm", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, q_norm)},
    {.name = "k_norm", .c_name = "k_norm", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, k_norm)},
    {.name = "x_norm", .c_name = "x_norm", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, x_norm), .of = &record_x_norm},
    {.name = "rotary", .c_name = "rotary", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, rotary), .of = &record_qkv_rotary},
    {.name = "cu_seqlens", .c_name = "cu_seqlens", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, cu_seqlens)},
    {.name = "slots", .c_name = "slots", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, slots)},
    {.name = "k_scale", .c_name = "k_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, k_scale)},
    {.name = "v_scale", .c_name = "v_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, v_scale)},
    {.name = "k_scale_out", .c_name = "k_scale_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_qkv_project_options, k_scale_out)},
    {.name = "v_scale_out", .c_name = "v_scale_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_qkv_project_options, v_scale_out)},
    {.name = "x_scale", .c_name = "x_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, x_scale)},
    {.name = "x_groups", .c_name = "x_groups", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, x_groups)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, workspace)},
    {.name = "variant", .c_name = "variant", .kind = field_kind::string, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qkv_project_options, variant)},
};
constexpr record record_qkv_project_options = {"QkvProjectOptions", sizeof(kaio_qkv_project_options),
    [](void* to) { *static_cast<kaio_qkv_project_options*>(to) = kaio_qkv_project_options_default(); }, fields_qkv_project_options};

constexpr field fields_gate_up_project_options[] = {
    {.name = "activation", .c_name = "activation", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_project_options, activation), .values = &enum_matmul_activation},
    {.name = "constant", .c_name = "constant", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_project_options, constant), .values = &enum_constant_inputs},
    {.name = "exact_weights", .c_name = "exact_weights", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_project_options, exact_weights)},
    {.name = "gate_bias", .c_name = "gate_bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_project_options, gate_bias)},
    {.name = "up_bias", .c_name = "up_bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_project_options, up_bias)},
    {.name = "x_norm", .c_name = "x_norm", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_project_options, x_norm), .of = &record_x_norm},
    {.name = "x_scale", .c_name = "x_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_project_options, x_scale)},
    {.name = "x_groups", .c_name = "x_groups", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_project_options, x_groups)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_project_options, workspace)},
    {.name = "variant", .c_name = "variant", .kind = field_kind::string, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gate_up_project_options, variant)},
};
constexpr record record_gate_up_project_options = {"GateUpProjectOptions", sizeof(kaio_gate_up_project_options),
    [](void* to) { *static_cast<kaio_gate_up_project_options*>(to) = kaio_gate_up_project_options_default(); }, fields_gate_up_project_options};

constexpr field fields_qk_norm_rotary_options[] = {
    {.name = "q_norm", .c_name = "q_norm", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qk_norm_rotary_options, q_norm)},
    {.name = "k_norm", .c_name = "k_norm", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qk_norm_rotary_options, k_norm)},
    {.name = "epsilon", .c_name = "epsilon", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qk_norm_rotary_options, epsilon)},
    {.name = "weight_offset", .c_name = "weight_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qk_norm_rotary_options, weight_offset)},
    {.name = "cos", .c_name = "cos", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qk_norm_rotary_options, cos)},
    {.name = "sin", .c_name = "sin", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qk_norm_rotary_options, sin)},
    {.name = "rotary", .c_name = "rotary", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_qk_norm_rotary_options, rotary), .of = &record_rotary_options},
};
constexpr record record_qk_norm_rotary_options = {"QkNormRotaryOptions", sizeof(kaio_qk_norm_rotary_options),
    [](void* to) { *static_cast<kaio_qk_norm_rotary_options*>(to) = kaio_qk_norm_rotary_options_default(); }, fields_qk_norm_rotary_options};

constexpr field fields_reduce_options[] = {
    {.name = "axis", .c_name = "axis", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_reduce_options, axis)},
    {.name = "all", .c_name = "all", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_reduce_options, all)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_reduce_options, workspace)},
};
constexpr record record_reduce_options = {"ReduceOptions", sizeof(kaio_reduce_options),
    [](void* to) { *static_cast<kaio_reduce_options*>(to) = kaio_reduce_options_default(); }, fields_reduce_options};

constexpr field fields_scan_options[] = {
    {.name = "exclusive", .c_name = "exclusive", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_scan_options, exclusive)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_scan_options, workspace)},
};
constexpr record record_scan_options = {"ScanOptions", sizeof(kaio_scan_options),
    [](void* to) { *static_cast<kaio_scan_options*>(to) = kaio_scan_options_default(); }, fields_scan_options};

constexpr field fields_histogram_options[] = {
    {.name = "first", .c_name = "first", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_histogram_options, first)},
    {.name = "low", .c_name = "low", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_histogram_options, low)},
    {.name = "high", .c_name = "high", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_histogram_options, high)},
    {.name = "accumulate", .c_name = "accumulate", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_histogram_options, accumulate)},
    {.name = "outside", .c_name = "outside", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_histogram_options, outside)},
};
constexpr record record_histogram_options = {"HistogramOptions", sizeof(kaio_histogram_options),
    [](void* to) { *static_cast<kaio_histogram_options*>(to) = kaio_histogram_options_default(); }, fields_histogram_options};

constexpr field fields_gptq_w4[] = {
    {.name = "qweight", .c_name = "qweight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w4, qweight)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w4, scales)},
    {.name = "qzeros", .c_name = "qzeros", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w4, qzeros)},
    {.name = "g_idx", .c_name = "g_idx", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w4, g_idx)},
    {.name = "v2", .c_name = "v2", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w4, v2)},
    {.name = "bits", .c_name = "bits", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w4, bits)},
};
constexpr record record_gptq_w4 = {"GptqW4", sizeof(kaio_gptq_w4),
    [](void* to) { *static_cast<kaio_gptq_w4*>(to) = kaio_gptq_w4_default(); }, fields_gptq_w4};

constexpr field fields_awq_w4[] = {
    {.name = "qweight", .c_name = "qweight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_awq_w4, qweight)},
    {.name = "qzeros", .c_name = "qzeros", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_awq_w4, qzeros)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_awq_w4, scales)},
};
constexpr record record_awq_w4 = {"AwqW4", sizeof(kaio_awq_w4),
    [](void* to) { *static_cast<kaio_awq_w4*>(to) = kaio_awq_w4_default(); }, fields_awq_w4};

constexpr field fields_compressed_tensors_w4[] = {
    {.name = "weight_packed", .c_name = "weight_packed", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_compressed_tensors_w4, weight_packed)},
    {.name = "weight_scale", .c_name = "weight_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_compressed_tensors_w4, weight_scale)},
    {.name = "weight_zero_point", .c_name = "weight_zero_point", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_compressed_tensors_w4, weight_zero_point)},
    {.name = "weight_g_idx", .c_name = "weight_g_idx", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_compressed_tensors_w4, weight_g_idx)},
    {.name = "bits", .c_name = "bits", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_compressed_tensors_w4, bits)},
};
constexpr record record_compressed_tensors_w4 = {"CompressedTensorsW4", sizeof(kaio_compressed_tensors_w4),
    [](void* to) { *static_cast<kaio_compressed_tensors_w4*>(to) = kaio_compressed_tensors_w4_default(); }, fields_compressed_tensors_w4};

constexpr field fields_bitsandbytes_w4[] = {
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bitsandbytes_w4, weight)},
    {.name = "absmax", .c_name = "absmax", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bitsandbytes_w4, absmax)},
    {.name = "absmax_codes", .c_name = "absmax_codes", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bitsandbytes_w4, absmax_codes)},
    {.name = "nested_quant_map", .c_name = "nested_quant_map", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bitsandbytes_w4, nested_quant_map)},
    {.name = "nested_absmax", .c_name = "nested_absmax", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bitsandbytes_w4, nested_absmax)},
    {.name = "nested_offset", .c_name = "nested_offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bitsandbytes_w4, nested_offset)},
    {.name = "nested_blocksize", .c_name = "nested_blocksize", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bitsandbytes_w4, nested_blocksize)},
};
constexpr record record_bitsandbytes_w4 = {"BitsandbytesW4", sizeof(kaio_bitsandbytes_w4),
    [](void* to) { *static_cast<kaio_bitsandbytes_w4*>(to) = kaio_bitsandbytes_w4_default(); }, fields_bitsandbytes_w4};

constexpr field fields_mxfp4_w4[] = {
    {.name = "blocks", .c_name = "blocks", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_mxfp4_w4, blocks)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_mxfp4_w4, scales)},
};
constexpr record record_mxfp4_w4 = {"Mxfp4W4", sizeof(kaio_mxfp4_w4),
    [](void* to) { *static_cast<kaio_mxfp4_w4*>(to) = kaio_mxfp4_w4_default(); }, fields_mxfp4_w4};

constexpr field fields_nvfp4_w4[] = {
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_nvfp4_w4, weight)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_nvfp4_w4, scales)},
    {.name = "tensor_scale", .c_name = "tensor_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_nvfp4_w4, tensor_scale)},
    {.name = "divides", .c_name = "divides", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_nvfp4_w4, divides)},
};
constexpr record record_nvfp4_w4 = {"Nvfp4W4", sizeof(kaio_nvfp4_w4),
    [](void* to) { *static_cast<kaio_nvfp4_w4*>(to) = kaio_nvfp4_w4_default(); }, fields_nvfp4_w4};

constexpr field fields_int4_w4[] = {
    {.name = "packed", .c_name = "packed", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_int4_w4, packed)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_int4_w4, scales)},
};
constexpr record record_int4_w4 = {"Int4W4", sizeof(kaio_int4_w4),
    [](void* to) { *static_cast<kaio_int4_w4*>(to) = kaio_int4_w4_default(); }, fields_int4_w4};

constexpr field fields_awq_gemv_w4[] = {
    {.name = "qweight", .c_name = "qweight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_awq_gemv_w4, qweight)},
    {.name = "qzeros", .c_name = "qzeros", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_awq_gemv_w4, qzeros)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_awq_gemv_w4, scales)},
};
constexpr record record_awq_gemv_w4 = {"AwqGemvW4", sizeof(kaio_awq_gemv_w4),
    [](void* to) { *static_cast<kaio_awq_gemv_w4*>(to) = kaio_awq_gemv_w4_default(); }, fields_awq_gemv_w4};

constexpr field fields_awq_gemv_fast_w4[] = {
    {.name = "qweight", .c_name = "qweight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_awq_gemv_fast_w4, qweight)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_awq_gemv_fast_w4, scales)},
    {.name = "qzeros", .c_name = "qzeros", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_awq_gemv_fast_w4, qzeros)},
};
constexpr record record_awq_gemv_fast_w4 = {"AwqGemvFastW4", sizeof(kaio_awq_gemv_fast_w4),
    [](void* to) { *static_cast<kaio_awq_gemv_fast_w4*>(to) = kaio_awq_gemv_fast_w4_default(); }, fields_awq_gemv_fast_w4};

constexpr field fields_marlin_w4[] = {
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_marlin_w4, b)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_marlin_w4, scales)},
    {.name = "zeros", .c_name = "zeros", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_marlin_w4, zeros)},
};
constexpr record record_marlin_w4 = {"MarlinW4", sizeof(kaio_marlin_w4),
    [](void* to) { *static_cast<kaio_marlin_w4*>(to) = kaio_marlin_w4_default(); }, fields_marlin_w4};

constexpr field fields_tinygemm_w4[] = {
    {.name = "packed", .c_name = "packed", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_tinygemm_w4, packed)},
    {.name = "scales_and_zeros", .c_name = "scales_and_zeros", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_tinygemm_w4, scales_and_zeros)},
};
constexpr record record_tinygemm_w4 = {"TinygemmW4", sizeof(kaio_tinygemm_w4),
    [](void* to) { *static_cast<kaio_tinygemm_w4*>(to) = kaio_tinygemm_w4_default(); }, fields_tinygemm_w4};

constexpr field fields_torchao_int4_w4[] = {
    {.name = "qdata", .c_name = "qdata", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_torchao_int4_w4, qdata)},
    {.name = "scale", .c_name = "scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_torchao_int4_w4, scale)},
    {.name = "zero_point", .c_name = "zero_point", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_torchao_int4_w4, zero_point)},
};
constexpr record record_torchao_int4_w4 = {"TorchaoInt4W4", sizeof(kaio_torchao_int4_w4),
    [](void* to) { *static_cast<kaio_torchao_int4_w4*>(to) = kaio_torchao_int4_w4_default(); }, fields_torchao_int4_w4};

constexpr field fields_int8_w8[] = {
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_int8_w8, weight)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_int8_w8, scales)},
    {.name = "zero_points", .c_name = "zero_points", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_int8_w8, zero_points)},
};
constexpr record record_int8_w8 = {"Int8W8", sizeof(kaio_int8_w8),
    [](void* to) { *static_cast<kaio_int8_w8*>(to) = kaio_int8_w8_default(); }, fields_int8_w8};

constexpr field fields_llm_int8_w8[] = {
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_llm_int8_w8, weight)},
    {.name = "scb", .c_name = "scb", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_llm_int8_w8, scb)},
};
constexpr record record_llm_int8_w8 = {"LlmInt8W8", sizeof(kaio_llm_int8_w8),
    [](void* to) { *static_cast<kaio_llm_int8_w8*>(to) = kaio_llm_int8_w8_default(); }, fields_llm_int8_w8};

constexpr field fields_gptq_w8[] = {
    {.name = "qweight", .c_name = "qweight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w8, qweight)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w8, scales)},
    {.name = "qzeros", .c_name = "qzeros", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w8, qzeros)},
    {.name = "g_idx", .c_name = "g_idx", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w8, g_idx)},
    {.name = "v2", .c_name = "v2", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_gptq_w8, v2)},
};
constexpr record record_gptq_w8 = {"GptqW8", sizeof(kaio_gptq_w8),
    [](void* to) { *static_cast<kaio_gptq_w8*>(to) = kaio_gptq_w8_default(); }, fields_gptq_w8};

constexpr field fields_compressed_tensors_w8[] = {
    {.name = "weight_packed", .c_name = "weight_packed", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_compressed_tensors_w8, weight_packed)},
    {.name = "weight_scale", .c_name = "weight_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_compressed_tensors_w8, weight_scale)},
    {.name = "weight_zero_point", .c_name = "weight_zero_point", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_compressed_tensors_w8, weight_zero_point)},
    {.name = "weight_g_idx", .c_name = "weight_g_idx", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_compressed_tensors_w8, weight_g_idx)},
};
constexpr record record_compressed_tensors_w8 = {"CompressedTensorsW8", sizeof(kaio_compressed_tensors_w8),
    [](void* to) { *static_cast<kaio_compressed_tensors_w8*>(to) = kaio_compressed_tensors_w8_default(); }, fields_compressed_tensors_w8};

constexpr field fields_q8_0_w8[] = {
    {.name = "blocks", .c_name = "blocks", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_q8_0_w8, blocks)},
};
constexpr record record_q8_0_w8 = {"Q80W8", sizeof(kaio_q8_0_w8),
    [](void* to) { *static_cast<kaio_q8_0_w8*>(to) = kaio_q8_0_w8_default(); }, fields_q8_0_w8};

constexpr field fields_e4m3_w8[] = {
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_e4m3_w8, weight)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_e4m3_w8, scales)},
};
constexpr record record_e4m3_w8 = {"E4m3W8", sizeof(kaio_e4m3_w8),
    [](void* to) { *static_cast<kaio_e4m3_w8*>(to) = kaio_e4m3_w8_default(); }, fields_e4m3_w8};

constexpr field fields_marlin_w8[] = {
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_marlin_w8, b)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_marlin_w8, scales)},
};
constexpr record record_marlin_w8 = {"MarlinW8", sizeof(kaio_marlin_w8),
    [](void* to) { *static_cast<kaio_marlin_w8*>(to) = kaio_marlin_w8_default(); }, fields_marlin_w8};

constexpr field fields_sample_options[] = {
    {.name = "seed", .c_name = "seed", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sample_options, seed)},
    {.name = "offset", .c_name = "offset", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sample_options, offset)},
    {.name = "offset_out", .c_name = "offset_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_sample_options, offset_out)},
    {.name = "temperature", .c_name = "temperature", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sample_options, temperature)},
    {.name = "top_k", .c_name = "top_k", .kind = field_kind::i32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sample_options, top_k)},
    {.name = "top_p", .c_name = "top_p", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sample_options, top_p)},
    {.name = "min_p", .c_name = "min_p", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sample_options, min_p)},
    {.name = "temperatures", .c_name = "temperatures", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sample_options, temperatures)},
    {.name = "top_ks", .c_name = "top_ks", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sample_options, top_ks)},
    {.name = "top_ps", .c_name = "top_ps", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sample_options, top_ps)},
    {.name = "min_ps", .c_name = "min_ps", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sample_options, min_ps)},
    {.name = "logprobs", .c_name = "logprobs", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_sample_options, logprobs)},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_sample_options, lse)},
    {.name = "invalid_rows", .c_name = "invalid_rows", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_sample_options, invalid_rows)},
};
constexpr record record_sample_options = {"SampleOptions", sizeof(kaio_sample_options),
    [](void* to) { *static_cast<kaio_sample_options*>(to) = kaio_sample_options_default(); }, fields_sample_options};

constexpr field fields_topk_router_options[] = {
    {.name = "score", .c_name = "score", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_topk_router_options, score), .values = &enum_router_score},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_topk_router_options, bias)},
    {.name = "groups", .c_name = "groups", .kind = field_kind::i32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_topk_router_options, groups)},
    {.name = "kept_groups", .c_name = "kept_groups", .kind = field_kind::i32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_topk_router_options, kept_groups)},
    {.name = "group_by_best_two", .c_name = "group_by_best_two", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_topk_router_options, group_by_best_two)},
    {.name = "renormalise", .c_name = "renormalise", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_topk_router_options, renormalise)},
    {.name = "factor", .c_name = "factor", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_topk_router_options, factor)},
};
constexpr record record_topk_router_options = {"TopkRouterOptions", sizeof(kaio_topk_router_options),
    [](void* to) { *static_cast<kaio_topk_router_options*>(to) = kaio_topk_router_options_default(); }, fields_topk_router_options};

constexpr field fields_sort_by_expert_options[] = {
    {.name = "counts", .c_name = "counts", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_sort_by_expert_options, counts)},
    {.name = "tokens", .c_name = "tokens", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_sort_by_expert_options, tokens)},
    {.name = "positions", .c_name = "positions", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_sort_by_expert_options, positions)},
    {.name = "workspace", .c_name = "workspace", .kind = field_kind::workspace, .is_optional = false, .is_output = false, .offset = offsetof(kaio_sort_by_expert_options, workspace)},
};
constexpr record record_sort_by_expert_options = {"SortByExpertOptions", sizeof(kaio_sort_by_expert_options),
    [](void* to) { *static_cast<kaio_sort_by_expert_options*>(to) = kaio_sort_by_expert_options_default(); }, fields_sort_by_expert_options};

constexpr field fields_combine_experts_options[] = {
    {.name = "accumulate", .c_name = "accumulate", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_combine_experts_options, accumulate)},
};
constexpr record record_combine_experts_options = {"CombineExpertsOptions", sizeof(kaio_combine_experts_options),
    [](void* to) { *static_cast<kaio_combine_experts_options*>(to) = kaio_combine_experts_options_default(); }, fields_combine_experts_options};

constexpr field fields_tune_options[] = {
    {.name = "repetitions", .c_name = "repetitions", .kind = field_kind::u32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_tune_options, repetitions)},
    {.name = "remember", .c_name = "remember", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_tune_options, remember)},
    {.name = "use_files", .c_name = "use_files", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_tune_options, use_files)},
};
constexpr record record_tune_options = {"TuneOptions", sizeof(kaio_tune_options),
    [](void* to) { *static_cast<kaio_tune_options*>(to) = kaio_tune_options_default(); }, fields_tune_options};

constexpr field fields_softmax_options[] = {
    {.name = "scale", .c_name = "scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_softmax_options, scale)},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_softmax_options, lse)},
};
constexpr record record_softmax_options = {"SoftmaxOptions", sizeof(kaio_softmax_options),
    [](void* to) { *static_cast<kaio_softmax_options*>(to) = kaio_softmax_options_default(); }, fields_softmax_options};

constexpr field fields_softmax_backward_options[] = {
    {.name = "scale", .c_name = "scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_softmax_backward_options, scale)},
};
constexpr record record_softmax_backward_options = {"SoftmaxBackwardOptions", sizeof(kaio_softmax_backward_options),
    [](void* to) { *static_cast<kaio_softmax_backward_options*>(to) = kaio_softmax_backward_options_default(); }, fields_softmax_backward_options};

constexpr field fields_bnb_nested[] = {
    {.name = "absmax", .c_name = "absmax", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_nested, absmax)},
    {.name = "nested_absmax", .c_name = "nested_absmax", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_nested, nested_absmax)},
    {.name = "nested_quant_map", .c_name = "nested_quant_map", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_nested, nested_quant_map)},
    {.name = "offset", .c_name = "offset", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_nested, offset)},
    {.name = "blocksize", .c_name = "blocksize", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_nested, blocksize)},
};
constexpr record record_bnb_nested = {"BnbNested", sizeof(kaio_bnb_nested),
    [](void* to) { *static_cast<kaio_bnb_nested*>(to) = kaio_bnb_nested_default(); }, fields_bnb_nested};

constexpr field fields_bnb_4bit[] = {
    {.name = "code", .c_name = "code", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_4bit, code), .values = &enum_bnb_code},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_4bit, weight)},
    {.name = "absmax", .c_name = "absmax", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_4bit, absmax)},
    {.name = "blocksize", .c_name = "blocksize", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_4bit, blocksize)},
    {.name = "nested", .c_name = "nested", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_4bit, nested), .of = &record_bnb_nested},
};
constexpr record record_bnb_4bit = {"Bnb4bit", sizeof(kaio_bnb_4bit),
    [](void* to) { *static_cast<kaio_bnb_4bit*>(to) = kaio_bnb_4bit_default(); }, fields_bnb_4bit};

constexpr field fields_bnb_int8[] = {
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_int8, weight)},
    {.name = "SCB", .c_name = "SCB", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_int8, SCB)},
};
constexpr record record_bnb_int8 = {"BnbInt8", sizeof(kaio_bnb_int8),
    [](void* to) { *static_cast<kaio_bnb_int8*>(to) = kaio_bnb_int8_default(); }, fields_bnb_int8};

constexpr field fields_scaled_bytes[] = {
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_scaled_bytes, weight)},
    {.name = "scale", .c_name = "scale", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_scaled_bytes, scale)},
    {.name = "block_rows", .c_name = "block_rows", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_scaled_bytes, block_rows)},
    {.name = "block_columns", .c_name = "block_columns", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_scaled_bytes, block_columns)},
};
constexpr record record_scaled_bytes = {"ScaledBytes", sizeof(kaio_scaled_bytes),
    [](void* to) { *static_cast<kaio_scaled_bytes*>(to) = kaio_scaled_bytes_default(); }, fields_scaled_bytes};

constexpr field fields_mxfp4_tensors[] = {
    {.name = "packed", .c_name = "packed", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_mxfp4_tensors, packed)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_mxfp4_tensors, scales)},
};
constexpr record record_mxfp4_tensors = {"Mxfp4Tensors", sizeof(kaio_mxfp4_tensors),
    [](void* to) { *static_cast<kaio_mxfp4_tensors*>(to) = kaio_mxfp4_tensors_default(); }, fields_mxfp4_tensors};

constexpr field fields_nvfp4_tensors[] = {
    {.name = "packed", .c_name = "packed", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_nvfp4_tensors, packed)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_nvfp4_tensors, scales)},
    {.name = "global_", .c_name = "global", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = offsetof(kaio_nvfp4_tensors, global)},
    {.name = "divide", .c_name = "divide", .kind = field_kind::flag, .is_optional = false, .is_output = false, .offset = offsetof(kaio_nvfp4_tensors, divide)},
};
constexpr record record_nvfp4_tensors = {"Nvfp4Tensors", sizeof(kaio_nvfp4_tensors),
    [](void* to) { *static_cast<kaio_nvfp4_tensors*>(to) = kaio_nvfp4_tensors_default(); }, fields_nvfp4_tensors};

constexpr field fields_bnb_4bit_output[] = {
    {.name = "code", .c_name = "code", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_4bit_output, code), .values = &enum_bnb_code},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_bnb_4bit_output, weight)},
    {.name = "absmax", .c_name = "absmax", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_bnb_4bit_output, absmax)},
    {.name = "blocksize", .c_name = "blocksize", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_bnb_4bit_output, blocksize)},
};
constexpr record record_bnb_4bit_output = {"Bnb4bitOutput", sizeof(kaio_bnb_4bit_output),
    [](void* to) { *static_cast<kaio_bnb_4bit_output*>(to) = kaio_bnb_4bit_output_default(); }, fields_bnb_4bit_output};

constexpr field fields_mxfp4_output[] = {
    {.name = "packed", .c_name = "packed", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_mxfp4_output, packed)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_mxfp4_output, scales)},
};
constexpr record record_mxfp4_output = {"Mxfp4Output", sizeof(kaio_mxfp4_output),
    [](void* to) { *static_cast<kaio_mxfp4_output*>(to) = kaio_mxfp4_output_default(); }, fields_mxfp4_output};

constexpr field fields_nvfp4_output[] = {
    {.name = "packed", .c_name = "packed", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_nvfp4_output, packed)},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_nvfp4_output, scales)},
    {.name = "global_", .c_name = "global", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_nvfp4_output, global)},
};
constexpr record record_nvfp4_output = {"Nvfp4Output", sizeof(kaio_nvfp4_output),
    [](void* to) { *static_cast<kaio_nvfp4_output*>(to) = kaio_nvfp4_output_default(); }, fields_nvfp4_output};

constexpr field fields_w4_output[] = {
    {.name = "weight_packed", .c_name = "weight_packed", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_w4_output, weight_packed)},
    {.name = "weight_scale", .c_name = "weight_scale", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_w4_output, weight_scale)},
    {.name = "weight_zero_point", .c_name = "weight_zero_point", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = offsetof(kaio_w4_output, weight_zero_point)},
    {.name = "group", .c_name = "group", .kind = field_kind::i64, .is_optional = false, .is_output = false, .offset = offsetof(kaio_w4_output, group)},
};
constexpr record record_w4_output = {"W4Output", sizeof(kaio_w4_output),
    [](void* to) { *static_cast<kaio_w4_output*>(to) = kaio_w4_output_default(); }, fields_w4_output};

constexpr field arguments_attention[] = {
    {.name = "q", .c_name = "q", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_attention_options},
};

constexpr field arguments_attention_varlen[] = {
    {.name = "q", .c_name = "q", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "sequences", .c_name = "sequences", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 4, .of = &record_attention_sequences},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 5, .of = &record_attention_options},
};

constexpr field arguments_merge_states[] = {
    {.name = "out_a", .c_name = "out_a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "lse_a", .c_name = "lse_a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out_b", .c_name = "out_b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "lse_b", .c_name = "lse_b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 4},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 5},
};

constexpr field arguments_attention_backward[] = {
    {.name = "dout", .c_name = "dout", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "q", .c_name = "q", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 4},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 5},
    {.name = "dq", .c_name = "dq", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 6},
    {.name = "dk", .c_name = "dk", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 7},
    {.name = "dv", .c_name = "dv", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 8},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 9, .of = &record_attention_backward_options},
};

constexpr field arguments_attention_backward_varlen[] = {
    {.name = "dout", .c_name = "dout", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "q", .c_name = "q", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 4},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 5},
    {.name = "dq", .c_name = "dq", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 6},
    {.name = "dk", .c_name = "dk", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 7},
    {.name = "dv", .c_name = "dv", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 8},
    {.name = "sequences", .c_name = "sequences", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 9, .of = &record_attention_sequences},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 10, .of = &record_attention_backward_options},
};

constexpr field arguments_attention_decode[] = {
    {.name = "q", .c_name = "q", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "cache", .c_name = "cache", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_kv_cache},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_attention_decode_options},
};

constexpr field arguments_attention_decode_varlen[] = {
    {.name = "q", .c_name = "q", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "cache", .c_name = "cache", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_kv_cache},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "sequences", .c_name = "sequences", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 3, .of = &record_attention_sequences},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_attention_decode_options},
};

constexpr field arguments_make_block_mask[] = {
    {.name = "device", .c_name = "device", .kind = field_kind::device, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "output", .c_name = "output", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_block_mask_output},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 2, .of = &record_block_mask_options},
};

constexpr field arguments_append_kv[] = {
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "cache", .c_name = "cache", .kind = field_kind::record, .is_optional = false, .is_output = true, .offset = 2, .of = &record_kv_cache},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_append_kv_options},
};

constexpr field arguments_append_kv_varlen[] = {
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "cache", .c_name = "cache", .kind = field_kind::record, .is_optional = false, .is_output = true, .offset = 2, .of = &record_kv_cache},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 3, .of = &record_append_kv_options},
};

constexpr field arguments_gather_kv[] = {
    {.name = "cache", .c_name = "cache", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_kv_cache},
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_gather_kv_options},
};

constexpr field arguments_gather_kv_varlen[] = {
    {.name = "cache", .c_name = "cache", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_kv_cache},
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "v", .c_name = "v", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 3, .of = &record_gather_kv_options},
};

constexpr field arguments_copy_pages[] = {
    {.name = "pages", .c_name = "pages", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 0},
    {.name = "pairs", .c_name = "pairs", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
};

constexpr field arguments_rotary[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "cos", .c_name = "cos", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "sin", .c_name = "sin", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_rotary_options},
};

constexpr field arguments_rotary_varlen[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "cos", .c_name = "cos", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "sin", .c_name = "sin", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 4, .of = &record_rotary_options},
};

constexpr field arguments_rotary_table[] = {
    {.name = "cos", .c_name = "cos", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 0},
    {.name = "sin", .c_name = "sin", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 2, .of = &record_rotary_table_options},
};

constexpr field arguments_cross_entropy[] = {
    {.name = "logits", .c_name = "logits", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "targets", .c_name = "targets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "loss", .c_name = "loss", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 3, .of = &record_cross_entropy_options},
};

constexpr field arguments_cross_entropy_backward[] = {
    {.name = "logits", .c_name = "logits", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "targets", .c_name = "targets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "dloss", .c_name = "dloss", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "dlogits", .c_name = "dlogits", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 4},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 5, .of = &record_cross_entropy_backward_options},
};

constexpr field arguments_linear_cross_entropy[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "targets", .c_name = "targets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "loss", .c_name = "loss", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 4, .of = &record_linear_cross_entropy_options},
};

constexpr field arguments_linear_cross_entropy_backward[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "targets", .c_name = "targets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "lse", .c_name = "lse", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "dloss", .c_name = "dloss", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 4},
    {.name = "dx", .c_name = "dx", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 5},
    {.name = "dweight", .c_name = "dweight", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 6},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 7, .of = &record_linear_cross_entropy_backward_options},
};

constexpr field arguments_activate[] = {
    {.name = "kind", .c_name = "kind", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = 0, .values = &enum_activation},
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "y", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
};

constexpr field arguments_activate_backward[] = {
    {.name = "kind", .c_name = "kind", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = 0, .values = &enum_activation},
    {.name = "dy", .c_name = "dy", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "dx", .c_name = "dx", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
};

constexpr field arguments_gated[] = {
    {.name = "kind", .c_name = "kind", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = 0, .values = &enum_activation},
    {.name = "gate", .c_name = "gate", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "up", .c_name = "up", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "y", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_gated_options},
};

constexpr field arguments_gated_backward[] = {
    {.name = "kind", .c_name = "kind", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = 0, .values = &enum_activation},
    {.name = "dy", .c_name = "dy", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "gate", .c_name = "gate", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "up", .c_name = "up", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "dgate", .c_name = "dgate", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 4},
    {.name = "dup", .c_name = "dup", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 5},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 6, .of = &record_gated_options},
};

constexpr field arguments_copy_tensor[] = {
    {.name = "to", .c_name = "to", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 0},
    {.name = "from_", .c_name = "from", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
};

constexpr field arguments_int8_dequant[] = {
    {.name = "codes", .c_name = "codes", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "scale", .c_name = "scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
};

constexpr field arguments_int8_dequant_groups[] = {
    {.name = "codes", .c_name = "codes", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
};

constexpr field arguments_embedding[] = {
    {.name = "indices", .c_name = "indices", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_embedding_options},
};

constexpr field arguments_embedding_backward[] = {
    {.name = "dout", .c_name = "dout", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "indices", .c_name = "indices", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "dweight", .c_name = "dweight", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_embedding_backward_options},
};

constexpr field arguments_matmul[] = {
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "c", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_matmul_options},
};

constexpr field arguments_matmul_batch[] = {
    {.name = "count", .c_name = "count", .kind = field_kind::count, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "a", .c_name = "a", .kind = field_kind::tensors, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "b", .c_name = "b", .kind = field_kind::tensors, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "c", .kind = field_kind::tensors, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_matmul_options},
};

constexpr field arguments_matmul_backward[] = {
    {.name = "dc", .c_name = "dc", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "da", .c_name = "da", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 3},
    {.name = "db", .c_name = "db", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 4},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 5, .of = &record_matmul_backward_options},
};

constexpr field arguments_matmul_grouped[] = {
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "c", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_matmul_grouped_options},
};

constexpr field arguments_matmul_grouped_backward[] = {
    {.name = "dc", .c_name = "dc", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "da", .c_name = "da", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 4},
    {.name = "db", .c_name = "db", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 5},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 6, .of = &record_matmul_grouped_backward_options},
};

constexpr field arguments_gate_up_grouped[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "gate", .c_name = "gate", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "up", .c_name = "up", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "out", .c_name = "y", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 4},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 5, .of = &record_gate_up_grouped_options},
};

constexpr field arguments_matmul_int8[] = {
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "c", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_matmul_int8_options},
};

constexpr field arguments_matmul_int8_grouped[] = {
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "c", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_matmul_int8_grouped_options},
};

constexpr field arguments_matmul_fp8_grouped[] = {
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "c", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_matmul_fp8_grouped_options},
};

constexpr field arguments_int8_column_sums[] = {
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "sums", .c_name = "sums", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
};

constexpr field arguments_quantise_int8[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "codes", .c_name = "codes", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 2},
    {.name = "zero_points", .c_name = "zero_points", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 3},
    {.name = "scale", .c_name = "scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = 4},
};

constexpr field arguments_matmul_fp8[] = {
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "c", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_matmul_fp8_options},
};

constexpr field arguments_quantise_fp8[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "codes", .c_name = "codes", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 2},
    {.name = "scale", .c_name = "scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = 3},
};

constexpr field arguments_quantise_fp8_blocks[] = {
    {.name = "w", .c_name = "w", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "codes", .c_name = "codes", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "blocks", .c_name = "blocks", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
};

constexpr field arguments_rms_norm[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_rms_norm_options},
};

constexpr field arguments_rms_norm_codes[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "codes", .c_name = "codes", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 3},
    {.name = "scale", .c_name = "scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = 4},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 5, .of = &record_rms_norm_options},
};

constexpr field arguments_layer_norm[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = true, .is_output = false, .offset = 1},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = true, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_layer_norm_options},
};

constexpr field arguments_layer_norm_codes[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = true, .is_output = false, .offset = 1},
    {.name = "bias", .c_name = "bias", .kind = field_kind::tensor, .is_optional = true, .is_output = false, .offset = 2},
    {.name = "codes", .c_name = "codes", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 4},
    {.name = "scale", .c_name = "scale", .kind = field_kind::f32, .is_optional = false, .is_output = false, .offset = 5},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 6, .of = &record_layer_norm_options},
};

constexpr field arguments_rms_norm_backward[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = true, .is_output = false, .offset = 1},
    {.name = "dy", .c_name = "dy", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "dx", .c_name = "dx", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "dweight", .c_name = "dweight", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 4},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 5, .of = &record_rms_norm_backward_options},
};

constexpr field arguments_layer_norm_backward[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = true, .is_output = false, .offset = 1},
    {.name = "dy", .c_name = "dy", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "dx", .c_name = "dx", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "dweight", .c_name = "dweight", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 4},
    {.name = "dbias", .c_name = "dbias", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 5},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 6, .of = &record_layer_norm_backward_options},
};

constexpr field arguments_matmul_w4[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_matmul_w4_options},
};

constexpr field arguments_matmul_w8[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w8_weights},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_matmul_w4_options},
};

constexpr field arguments_matmul_w4_grouped[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_matmul_w4_grouped_options},
};

constexpr field arguments_matmul_w8_grouped[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w8_weights},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_matmul_w4_grouped_options},
};

constexpr field arguments_dequantise_w4[] = {
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_w4_weights},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
};

constexpr field arguments_dequantise_w8[] = {
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_w8_weights},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
};

constexpr field arguments_all_reduce[] = {
    {.name = "peers", .c_name = "workspace", .kind = field_kind::peer_workspace, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "x", .c_name = "from", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "to", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
};

constexpr field arguments_all_reduce_rms_norm[] = {
    {.name = "peers", .c_name = "workspace", .kind = field_kind::peer_workspace, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_rms_norm_options},
};

constexpr field arguments_all_reduce_rms_norm_codes[] = {
    {.name = "peers", .c_name = "workspace", .kind = field_kind::peer_workspace, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "weight", .c_name = "weight", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "codes", .c_name = "codes", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "scales", .c_name = "scales", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 4},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 5, .of = &record_rms_norm_options},
};

constexpr field arguments_all_gather_matmul[] = {
    {.name = "peers", .c_name = "workspace", .kind = field_kind::peer_workspace, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "c", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "schedule", .c_name = "schedule", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = 4, .values = &enum_gather_schedule},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 5, .of = &record_matmul_options},
};

constexpr field arguments_matmul_reduce_scatter[] = {
    {.name = "peers", .c_name = "workspace", .kind = field_kind::peer_workspace, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "c", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_matmul_reduce_options},
};

constexpr field arguments_matmul_all_reduce[] = {
    {.name = "peers", .c_name = "workspace", .kind = field_kind::peer_workspace, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "a", .c_name = "a", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "b", .c_name = "b", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "c", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_matmul_reduce_options},
};

constexpr field arguments_send_to_experts[] = {
    {.name = "peers", .c_name = "workspace", .kind = field_kind::peer_workspace, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "rows", .c_name = "rows", .kind = field_kind::tensor, .is_optional = true, .is_output = false, .offset = 2},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 3},
    {.name = "to", .c_name = "to", .kind = field_kind::peer_buffer, .is_optional = false, .is_output = false, .offset = 4},
    {.name = "local_offsets", .c_name = "local_offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 5},
};

constexpr field arguments_return_from_experts[] = {
    {.name = "peers", .c_name = "workspace", .kind = field_kind::peer_workspace, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "z", .c_name = "z", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "to", .c_name = "to", .kind = field_kind::peer_buffer, .is_optional = false, .is_output = false, .offset = 3},
};

constexpr field arguments_qkv_project[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_qkv_weights},
    {.name = "outputs", .c_name = "outputs", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 2, .of = &record_qkv_outputs},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_qkv_project_options},
};

constexpr field arguments_gate_up_project[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_gate_up_weights},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_gate_up_project_options},
};

constexpr field arguments_qk_norm_rotary[] = {
    {.name = "q", .c_name = "q", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "k", .c_name = "k", .kind = field_kind::tensor, .is_optional = true, .is_output = false, .offset = 1},
    {.name = "q_out", .c_name = "q_out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "k_out", .c_name = "k_out", .kind = field_kind::tensor, .is_optional = true, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 4, .of = &record_qk_norm_rotary_options},
};

constexpr field arguments_reduce[] = {
    {.name = "how", .c_name = "how", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = 0, .values = &enum_reduction},
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_reduce_options},
};

constexpr field arguments_scan[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 2, .of = &record_scan_options},
};

constexpr field arguments_histogram[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "counts", .c_name = "counts", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 2, .of = &record_histogram_options},
};

constexpr field arguments_repack_gptq_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_gptq_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_awq_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_awq_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_compressed_tensors_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_compressed_tensors_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_bitsandbytes_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_bitsandbytes_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_mxfp4_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_mxfp4_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_nvfp4_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_nvfp4_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_int4_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_int4_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_awq_gemv_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_awq_gemv_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_awq_gemv_fast_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_awq_gemv_fast_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_marlin_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_marlin_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_tinygemm_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_tinygemm_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_torchao_int4_w4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_torchao_int4_w4},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_weights},
};

constexpr field arguments_repack_int8_w8[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_int8_w8},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w8_weights},
};

constexpr field arguments_repack_llm_int8_w8[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_llm_int8_w8},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w8_weights},
};

constexpr field arguments_repack_gptq_w8[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_gptq_w8},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w8_weights},
};

constexpr field arguments_repack_compressed_tensors_w8[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_compressed_tensors_w8},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w8_weights},
};

constexpr field arguments_repack_q8_0_w8[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_q8_0_w8},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w8_weights},
};

constexpr field arguments_repack_e4m3_w8[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_e4m3_w8},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w8_weights},
};

constexpr field arguments_repack_marlin_w8[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_marlin_w8},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w8_weights},
};

constexpr field arguments_sample[] = {
    {.name = "logits", .c_name = "logits", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "tokens", .c_name = "tokens", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 2, .of = &record_sample_options},
};

constexpr field arguments_top_k[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "values", .c_name = "values", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "indices", .c_name = "indices", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
};

constexpr field arguments_topk_router[] = {
    {.name = "logits", .c_name = "logits", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "indices", .c_name = "indices", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "weights", .c_name = "weights", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_topk_router_options},
};

constexpr field arguments_sort_by_expert[] = {
    {.name = "indices", .c_name = "indices", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "offsets", .c_name = "offsets", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 2, .of = &record_sort_by_expert_options},
};

constexpr field arguments_combine_experts[] = {
    {.name = "y", .c_name = "y", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "weights", .c_name = "weights", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "positions", .c_name = "positions", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 2},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 3},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 4, .of = &record_combine_experts_options},
};

constexpr field arguments_softmax[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "out", .c_name = "y", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 2, .of = &record_softmax_options},
};

constexpr field arguments_log_softmax[] = {
    {.name = "x", .c_name = "x", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "out", .c_name = "y", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 2, .of = &record_softmax_options},
};

constexpr field arguments_softmax_backward[] = {
    {.name = "y", .c_name = "y", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "dy", .c_name = "dy", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "dx", .c_name = "dx", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_softmax_backward_options},
};

constexpr field arguments_log_softmax_backward[] = {
    {.name = "y", .c_name = "y", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "dy", .c_name = "dy", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "dx", .c_name = "dx", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
    {.name = "options", .c_name = "options", .kind = field_kind::record, .is_optional = true, .is_output = false, .offset = 3, .of = &record_softmax_backward_options},
};

constexpr field arguments_repack_blocks_w4[] = {
    {.name = "format", .c_name = "format", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = 0, .values = &enum_block_format},
    {.name = "bytes", .c_name = "bytes", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 2, .of = &record_w4_weights},
};

constexpr field arguments_repack_blocks_w8[] = {
    {.name = "format", .c_name = "format", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = 0, .values = &enum_block_format},
    {.name = "bytes", .c_name = "bytes", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "weights", .c_name = "weights", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 2, .of = &record_w8_weights},
};

constexpr field arguments_dequantise_blocks[] = {
    {.name = "format", .c_name = "format", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = 0, .values = &enum_block_format},
    {.name = "bytes", .c_name = "bytes", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 1},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
};

constexpr field arguments_dequantise_bnb_4bit[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_bnb_4bit},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
};

constexpr field arguments_dequantise_bnb_int8[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_bnb_int8},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
};

constexpr field arguments_dequantise_scaled_bytes[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_scaled_bytes},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
};

constexpr field arguments_dequantise_mxfp4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_mxfp4_tensors},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
};

constexpr field arguments_dequantise_nvfp4[] = {
    {.name = "source", .c_name = "source", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 0, .of = &record_nvfp4_tensors},
    {.name = "out", .c_name = "out", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 1},
};

constexpr field arguments_quantise_blocks[] = {
    {.name = "w", .c_name = "w", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "format", .c_name = "format", .kind = field_kind::enumeration, .is_optional = false, .is_output = false, .offset = 1, .values = &enum_block_format},
    {.name = "bytes", .c_name = "bytes", .kind = field_kind::tensor, .is_optional = false, .is_output = true, .offset = 2},
};

constexpr field arguments_quantise_bnb_4bit[] = {
    {.name = "w", .c_name = "w", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "to", .c_name = "to", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_bnb_4bit_output},
};

constexpr field arguments_quantise_mxfp4[] = {
    {.name = "w", .c_name = "w", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "to", .c_name = "to", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_mxfp4_output},
};

constexpr field arguments_quantise_nvfp4[] = {
    {.name = "w", .c_name = "w", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "to", .c_name = "to", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_nvfp4_output},
};

constexpr field arguments_quantise_w4[] = {
    {.name = "w", .c_name = "w", .kind = field_kind::tensor, .is_optional = false, .is_output = false, .offset = 0},
    {.name = "to", .c_name = "to", .kind = field_kind::record, .is_optional = false, .is_output = false, .offset = 1, .of = &record_w4_output},
};

constexpr function all_functions[] = {
    {"attention", arguments_attention,
     [](void* stream, const argument_value* a) { return kaio_attention(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_attention_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_attention_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_attention_options*>(a[4].pointer)); },
     nullptr,
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_attention_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_attention_options*>(a[4].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_attention(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_attention_options*>(a[4].pointer), how, report); },
     -1, 0},
    {"attention_varlen", arguments_attention_varlen,
     [](void* stream, const argument_value* a) { return kaio_attention_varlen(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_attention_sequences*>(a[4].pointer), static_cast<const kaio_attention_options*>(a[5].pointer)); },
     [](const argument_value* a) { return kaio_attention_varlen_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_attention_sequences*>(a[4].pointer), static_cast<const kaio_attention_options*>(a[5].pointer)); },
     nullptr,
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_attention_varlen_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_attention_sequences*>(a[4].pointer), static_cast<const kaio_attention_options*>(a[5].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_attention_varlen(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_attention_sequences*>(a[4].pointer), static_cast<const kaio_attention_options*>(a[5].pointer), how, report); },
     -1, 0},
    {"merge_states", arguments_merge_states,
     [](void* stream, const argument_value* a) { return kaio_merge_states(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer)); },
     [](const argument_value* a) { return kaio_merge_states_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"attention_backward", arguments_attention_backward,
     [](void* stream, const argument_value* a) { return kaio_attention_backward(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const DLTensor*>(a[6].pointer), static_cast<const DLTensor*>(a[7].pointer), static_cast<const DLTensor*>(a[8].pointer), static_cast<const kaio_attention_backward_options*>(a[9].pointer)); },
     [](const argument_value* a) { return kaio_attention_backward_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const DLTensor*>(a[6].pointer), static_cast<const DLTensor*>(a[7].pointer), static_cast<const DLTensor*>(a[8].pointer), static_cast<const kaio_attention_backward_options*>(a[9].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_attention_backward_workspace_bytes(static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), bytes); },
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_attention_backward_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const DLTensor*>(a[6].pointer), static_cast<const DLTensor*>(a[7].pointer), static_cast<const DLTensor*>(a[8].pointer), static_cast<const kaio_attention_backward_options*>(a[9].pointer), choice); },
     nullptr,
     9, offsetof(kaio_attention_backward_options, workspace)},
    {"attention_backward_varlen", arguments_attention_backward_varlen,
     [](void* stream, const argument_value* a) { return kaio_attention_backward_varlen(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const DLTensor*>(a[6].pointer), static_cast<const DLTensor*>(a[7].pointer), static_cast<const DLTensor*>(a[8].pointer), static_cast<const kaio_attention_sequences*>(a[9].pointer), static_cast<const kaio_attention_backward_options*>(a[10].pointer)); },
     [](const argument_value* a) { return kaio_attention_backward_varlen_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const DLTensor*>(a[6].pointer), static_cast<const DLTensor*>(a[7].pointer), static_cast<const DLTensor*>(a[8].pointer), static_cast<const kaio_attention_sequences*>(a[9].pointer), static_cast<const kaio_attention_backward_options*>(a[10].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_attention_backward_varlen_workspace_bytes(static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_attention_sequences*>(a[9].pointer), bytes); },
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_attention_backward_varlen_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const DLTensor*>(a[6].pointer), static_cast<const DLTensor*>(a[7].pointer), static_cast<const DLTensor*>(a[8].pointer), static_cast<const kaio_attention_sequences*>(a[9].pointer), static_cast<const kaio_attention_backward_options*>(a[10].pointer), choice); },
     nullptr,
     10, offsetof(kaio_attention_backward_options, workspace)},
    {"attention_decode", arguments_attention_decode,
     [](void* stream, const argument_value* a) { return kaio_attention_decode(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_kv_cache*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_attention_decode_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_attention_decode_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_kv_cache*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_attention_decode_options*>(a[3].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_attention_decode_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_kv_cache*>(a[1].pointer), static_cast<const kaio_attention_decode_options*>(a[3].pointer), bytes); },
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_attention_decode_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_kv_cache*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_attention_decode_options*>(a[3].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_attention_decode(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_kv_cache*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_attention_decode_options*>(a[3].pointer), how, report); },
     3, offsetof(kaio_attention_decode_options, workspace)},
    {"attention_decode_varlen", arguments_attention_decode_varlen,
     [](void* stream, const argument_value* a) { return kaio_attention_decode_varlen(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_kv_cache*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_attention_sequences*>(a[3].pointer), static_cast<const kaio_attention_decode_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_attention_decode_varlen_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_kv_cache*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_attention_sequences*>(a[3].pointer), static_cast<const kaio_attention_decode_options*>(a[4].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_attention_decode_varlen_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_kv_cache*>(a[1].pointer), static_cast<const kaio_attention_sequences*>(a[3].pointer), static_cast<const kaio_attention_decode_options*>(a[4].pointer), bytes); },
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_attention_decode_varlen_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_kv_cache*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_attention_sequences*>(a[3].pointer), static_cast<const kaio_attention_decode_options*>(a[4].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_attention_decode_varlen(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_kv_cache*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_attention_sequences*>(a[3].pointer), static_cast<const kaio_attention_decode_options*>(a[4].pointer), how, report); },
     4, offsetof(kaio_attention_decode_options, workspace)},
    {"make_block_mask", arguments_make_block_mask,
     [](void* stream, const argument_value* a) { return kaio_make_block_mask(stream, a[0].device, static_cast<const kaio_block_mask_output*>(a[1].pointer), static_cast<const kaio_block_mask_options*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_make_block_mask_warmup(a[0].device, static_cast<const kaio_block_mask_output*>(a[1].pointer), static_cast<const kaio_block_mask_options*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"append_kv", arguments_append_kv,
     [](void* stream, const argument_value* a) { return kaio_append_kv(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_kv_cache*>(a[2].pointer), static_cast<const kaio_append_kv_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_append_kv_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_kv_cache*>(a[2].pointer), static_cast<const kaio_append_kv_options*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"append_kv_varlen", arguments_append_kv_varlen,
     [](void* stream, const argument_value* a) { return kaio_append_kv_varlen(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_kv_cache*>(a[2].pointer), static_cast<const kaio_append_kv_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_append_kv_varlen_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_kv_cache*>(a[2].pointer), static_cast<const kaio_append_kv_options*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"gather_kv", arguments_gather_kv,
     [](void* stream, const argument_value* a) { return kaio_gather_kv(stream, static_cast<const kaio_kv_cache*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_gather_kv_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_gather_kv_warmup(static_cast<const kaio_kv_cache*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_gather_kv_options*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"gather_kv_varlen", arguments_gather_kv_varlen,
     [](void* stream, const argument_value* a) { return kaio_gather_kv_varlen(stream, static_cast<const kaio_kv_cache*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_gather_kv_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_gather_kv_varlen_warmup(static_cast<const kaio_kv_cache*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_gather_kv_options*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"copy_pages", arguments_copy_pages,
     [](void* stream, const argument_value* a) { return kaio_copy_pages(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_copy_pages_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"rotary", arguments_rotary,
     [](void* stream, const argument_value* a) { return kaio_rotary(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_rotary_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_rotary_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_rotary_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"rotary_varlen", arguments_rotary_varlen,
     [](void* stream, const argument_value* a) { return kaio_rotary_varlen(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_rotary_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_rotary_varlen_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_rotary_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"rotary_table", arguments_rotary_table,
     [](void* stream, const argument_value* a) { return kaio_rotary_table(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_rotary_table_options*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_rotary_table_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_rotary_table_options*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"cross_entropy", arguments_cross_entropy,
     [](void* stream, const argument_value* a) { return kaio_cross_entropy(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_cross_entropy_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_cross_entropy_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_cross_entropy_options*>(a[3].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_cross_entropy_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), bytes); },
     nullptr,
     nullptr,
     3, offsetof(kaio_cross_entropy_options, workspace)},
    {"cross_entropy_backward", arguments_cross_entropy_backward,
     [](void* stream, const argument_value* a) { return kaio_cross_entropy_backward(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const kaio_cross_entropy_backward_options*>(a[5].pointer)); },
     [](const argument_value* a) { return kaio_cross_entropy_backward_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const kaio_cross_entropy_backward_options*>(a[5].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"linear_cross_entropy", arguments_linear_cross_entropy,
     [](void* stream, const argument_value* a) { return kaio_linear_cross_entropy(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_linear_cross_entropy_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_linear_cross_entropy_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_linear_cross_entropy_options*>(a[4].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_linear_cross_entropy_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), bytes); },
     nullptr,
     nullptr,
     4, offsetof(kaio_linear_cross_entropy_options, workspace)},
    {"linear_cross_entropy_backward", arguments_linear_cross_entropy_backward,
     [](void* stream, const argument_value* a) { return kaio_linear_cross_entropy_backward(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const DLTensor*>(a[6].pointer), static_cast<const kaio_linear_cross_entropy_backward_options*>(a[7].pointer)); },
     [](const argument_value* a) { return kaio_linear_cross_entropy_backward_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const DLTensor*>(a[6].pointer), static_cast<const kaio_linear_cross_entropy_backward_options*>(a[7].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_linear_cross_entropy_backward_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), bytes); },
     nullptr,
     nullptr,
     7, offsetof(kaio_linear_cross_entropy_backward_options, workspace)},
    {"activate", arguments_activate,
     [](void* stream, const argument_value* a) { return kaio_activate(stream, static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_activate_warmup(static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"activate_backward", arguments_activate_backward,
     [](void* stream, const argument_value* a) { return kaio_activate_backward(stream, static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_activate_backward_warmup(static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"gated", arguments_gated,
     [](void* stream, const argument_value* a) { return kaio_gated(stream, static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_gated_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_gated_warmup(static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_gated_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"gated_backward", arguments_gated_backward,
     [](void* stream, const argument_value* a) { return kaio_gated_backward(stream, static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const kaio_gated_options*>(a[6].pointer)); },
     [](const argument_value* a) { return kaio_gated_backward_warmup(static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const kaio_gated_options*>(a[6].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"copy_tensor", arguments_copy_tensor,
     [](void* stream, const argument_value* a) { return kaio_copy_tensor(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_copy_tensor_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"int8_dequant", arguments_int8_dequant,
     [](void* stream, const argument_value* a) { return kaio_int8_dequant(stream, static_cast<const DLTensor*>(a[0].pointer), a[1].f32, static_cast<const DLTensor*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_int8_dequant_warmup(static_cast<const DLTensor*>(a[0].pointer), a[1].f32, static_cast<const DLTensor*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"int8_dequant_groups", arguments_int8_dequant_groups,
     [](void* stream, const argument_value* a) { return kaio_int8_dequant_groups(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_int8_dequant_groups_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"embedding", arguments_embedding,
     [](void* stream, const argument_value* a) { return kaio_embedding(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_embedding_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_embedding_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_embedding_options*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"embedding_backward", arguments_embedding_backward,
     [](void* stream, const argument_value* a) { return kaio_embedding_backward(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_embedding_backward_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_embedding_backward_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_embedding_backward_options*>(a[3].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_embedding_backward_workspace_bytes(static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), bytes); },
     nullptr,
     nullptr,
     3, offsetof(kaio_embedding_backward_options, workspace)},
    {"matmul", arguments_matmul,
     [](void* stream, const argument_value* a) { return kaio_matmul(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_matmul_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_options*>(a[3].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_matmul_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_options*>(a[3].pointer), bytes); },
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_matmul_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_options*>(a[3].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_matmul(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_options*>(a[3].pointer), how, report); },
     3, offsetof(kaio_matmul_options, workspace)},
    {"matmul_batch", arguments_matmul_batch,
     [](void* stream, const argument_value* a) { return kaio_matmul_batch(stream, static_cast<std::size_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_matmul_batch_warmup(static_cast<std::size_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     4, offsetof(kaio_matmul_options, workspace)},
    {"matmul_backward", arguments_matmul_backward,
     [](void* stream, const argument_value* a) { return kaio_matmul_backward(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const kaio_matmul_backward_options*>(a[5].pointer)); },
     [](const argument_value* a) { return kaio_matmul_backward_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const kaio_matmul_backward_options*>(a[5].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_matmul_backward_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), bytes); },
     nullptr,
     nullptr,
     5, offsetof(kaio_matmul_backward_options, workspace)},
    {"matmul_grouped", arguments_matmul_grouped,
     [](void* stream, const argument_value* a) { return kaio_matmul_grouped(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_grouped_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_matmul_grouped_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_grouped_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"matmul_grouped_backward", arguments_matmul_grouped_backward,
     [](void* stream, const argument_value* a) { return kaio_matmul_grouped_backward(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const kaio_matmul_grouped_backward_options*>(a[6].pointer)); },
     [](const argument_value* a) { return kaio_matmul_grouped_backward_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const kaio_matmul_grouped_backward_options*>(a[6].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"gate_up_grouped", arguments_gate_up_grouped,
     [](void* stream, const argument_value* a) { return kaio_gate_up_grouped(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const kaio_gate_up_grouped_options*>(a[5].pointer)); },
     [](const argument_value* a) { return kaio_gate_up_grouped_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const kaio_gate_up_grouped_options*>(a[5].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"matmul_int8", arguments_matmul_int8,
     [](void* stream, const argument_value* a) { return kaio_matmul_int8(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_int8_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_matmul_int8_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_int8_options*>(a[3].pointer)); },
     nullptr,
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_matmul_int8_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_int8_options*>(a[3].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_matmul_int8(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_int8_options*>(a[3].pointer), how, report); },
     -1, 0},
    {"matmul_int8_grouped", arguments_matmul_int8_grouped,
     [](void* stream, const argument_value* a) { return kaio_matmul_int8_grouped(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_int8_grouped_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_matmul_int8_grouped_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_int8_grouped_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"matmul_fp8_grouped", arguments_matmul_fp8_grouped,
     [](void* stream, const argument_value* a) { return kaio_matmul_fp8_grouped(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_fp8_grouped_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_matmul_fp8_grouped_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_fp8_grouped_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"int8_column_sums", arguments_int8_column_sums,
     [](void* stream, const argument_value* a) { return kaio_int8_column_sums(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_int8_column_sums_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"quantise_int8", arguments_quantise_int8,
     [](void* stream, const argument_value* a) { return kaio_quantise_int8(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), a[4].f32); },
     [](const argument_value* a) { return kaio_quantise_int8_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), a[4].f32); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"matmul_fp8", arguments_matmul_fp8,
     [](void* stream, const argument_value* a) { return kaio_matmul_fp8(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_fp8_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_matmul_fp8_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_fp8_options*>(a[3].pointer)); },
     nullptr,
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_matmul_fp8_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_fp8_options*>(a[3].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_matmul_fp8(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_fp8_options*>(a[3].pointer), how, report); },
     -1, 0},
    {"quantise_fp8", arguments_quantise_fp8,
     [](void* stream, const argument_value* a) { return kaio_quantise_fp8(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), a[3].f32); },
     [](const argument_value* a) { return kaio_quantise_fp8_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), a[3].f32); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"quantise_fp8_blocks", arguments_quantise_fp8_blocks,
     [](void* stream, const argument_value* a) { return kaio_quantise_fp8_blocks(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_quantise_fp8_blocks_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"rms_norm", arguments_rms_norm,
     [](void* stream, const argument_value* a) { return kaio_rms_norm(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_rms_norm_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_rms_norm_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_rms_norm_options*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"rms_norm_codes", arguments_rms_norm_codes,
     [](void* stream, const argument_value* a) { return kaio_rms_norm_codes(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), a[4].f32, static_cast<const kaio_rms_norm_options*>(a[5].pointer)); },
     [](const argument_value* a) { return kaio_rms_norm_codes_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), a[4].f32, static_cast<const kaio_rms_norm_options*>(a[5].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"layer_norm", arguments_layer_norm,
     [](void* stream, const argument_value* a) { return kaio_layer_norm(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_layer_norm_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_layer_norm_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_layer_norm_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"layer_norm_codes", arguments_layer_norm_codes,
     [](void* stream, const argument_value* a) { return kaio_layer_norm_codes(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), a[5].f32, static_cast<const kaio_layer_norm_options*>(a[6].pointer)); },
     [](const argument_value* a) { return kaio_layer_norm_codes_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), a[5].f32, static_cast<const kaio_layer_norm_options*>(a[6].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"rms_norm_backward", arguments_rms_norm_backward,
     [](void* stream, const argument_value* a) { return kaio_rms_norm_backward(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const kaio_rms_norm_backward_options*>(a[5].pointer)); },
     [](const argument_value* a) { return kaio_rms_norm_backward_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const kaio_rms_norm_backward_options*>(a[5].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_rms_norm_backward_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), bytes); },
     nullptr,
     nullptr,
     5, offsetof(kaio_rms_norm_backward_options, workspace)},
    {"layer_norm_backward", arguments_layer_norm_backward,
     [](void* stream, const argument_value* a) { return kaio_layer_norm_backward(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const kaio_layer_norm_backward_options*>(a[6].pointer)); },
     [](const argument_value* a) { return kaio_layer_norm_backward_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer), static_cast<const kaio_layer_norm_backward_options*>(a[6].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_layer_norm_backward_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), bytes); },
     nullptr,
     nullptr,
     6, offsetof(kaio_layer_norm_backward_options, workspace)},
    {"matmul_w4", arguments_matmul_w4,
     [](void* stream, const argument_value* a) { return kaio_matmul_w4(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_w4_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_matmul_w4_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_w4_options*>(a[3].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_matmul_w4_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_w4_options*>(a[3].pointer), bytes); },
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_matmul_w4_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_w4_options*>(a[3].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_matmul_w4(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_w4_options*>(a[3].pointer), how, report); },
     3, offsetof(kaio_matmul_w4_options, workspace)},
    {"matmul_w8", arguments_matmul_w8,
     [](void* stream, const argument_value* a) { return kaio_matmul_w8(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_w4_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_matmul_w8_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_w4_options*>(a[3].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_matmul_w8_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_w4_options*>(a[3].pointer), bytes); },
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_matmul_w8_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_w4_options*>(a[3].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_matmul_w8(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_matmul_w4_options*>(a[3].pointer), how, report); },
     3, offsetof(kaio_matmul_w4_options, workspace)},
    {"matmul_w4_grouped", arguments_matmul_w4_grouped,
     [](void* stream, const argument_value* a) { return kaio_matmul_w4_grouped(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_w4_grouped_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_matmul_w4_grouped_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_w4_grouped_options*>(a[4].pointer)); },
     nullptr,
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_matmul_w4_grouped_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_w4_grouped_options*>(a[4].pointer), choice); },
     nullptr,
     -1, 0},
    {"matmul_w8_grouped", arguments_matmul_w8_grouped,
     [](void* stream, const argument_value* a) { return kaio_matmul_w8_grouped(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_w4_grouped_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_matmul_w8_grouped_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_w4_grouped_options*>(a[4].pointer)); },
     nullptr,
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_matmul_w8_grouped_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_w4_grouped_options*>(a[4].pointer), choice); },
     nullptr,
     -1, 0},
    {"dequantise_w4", arguments_dequantise_w4,
     [](void* stream, const argument_value* a) { return kaio_dequantise_w4(stream, static_cast<const kaio_w4_weights*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_dequantise_w4_warmup(static_cast<const kaio_w4_weights*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"dequantise_w8", arguments_dequantise_w8,
     [](void* stream, const argument_value* a) { return kaio_dequantise_w8(stream, static_cast<const kaio_w8_weights*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_dequantise_w8_warmup(static_cast<const kaio_w8_weights*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"all_reduce", arguments_all_reduce,
     [](void* stream, const argument_value* a) { return kaio_all_reduce(static_cast<const kaio_peer_workspace*>(a[0].pointer), stream, static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"all_reduce_rms_norm", arguments_all_reduce_rms_norm,
     [](void* stream, const argument_value* a) { return kaio_all_reduce_rms_norm(static_cast<const kaio_peer_workspace*>(a[0].pointer), stream, static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_rms_norm_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"all_reduce_rms_norm_codes", arguments_all_reduce_rms_norm_codes,
     [](void* stream, const argument_value* a) { return kaio_all_reduce_rms_norm_codes(static_cast<const kaio_peer_workspace*>(a[0].pointer), stream, static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const DLTensor*>(a[4].pointer), static_cast<const kaio_rms_norm_options*>(a[5].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"all_gather_matmul", arguments_all_gather_matmul,
     [](void* stream, const argument_value* a) { return kaio_all_gather_matmul(static_cast<const kaio_peer_workspace*>(a[0].pointer), stream, static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<int32_t>(a[4].integer), static_cast<const kaio_matmul_options*>(a[5].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     5, offsetof(kaio_matmul_options, workspace)},
    {"matmul_reduce_scatter", arguments_matmul_reduce_scatter,
     [](void* stream, const argument_value* a) { return kaio_matmul_reduce_scatter(static_cast<const kaio_peer_workspace*>(a[0].pointer), stream, static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_reduce_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     4, offsetof(kaio_matmul_reduce_options, workspace)},
    {"matmul_all_reduce", arguments_matmul_all_reduce,
     [](void* stream, const argument_value* a) { return kaio_matmul_all_reduce(static_cast<const kaio_peer_workspace*>(a[0].pointer), stream, static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_matmul_reduce_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     4, offsetof(kaio_matmul_reduce_options, workspace)},
    {"send_to_experts", arguments_send_to_experts,
     [](void* stream, const argument_value* a) { return kaio_send_to_experts(static_cast<const kaio_peer_workspace*>(a[0].pointer), stream, static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_peer_buffer*>(a[4].pointer), static_cast<const DLTensor*>(a[5].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"return_from_experts", arguments_return_from_experts,
     [](void* stream, const argument_value* a) { return kaio_return_from_experts(static_cast<const kaio_peer_workspace*>(a[0].pointer), stream, static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_peer_buffer*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"qkv_project", arguments_qkv_project,
     [](void* stream, const argument_value* a) { return kaio_qkv_project(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_qkv_weights*>(a[1].pointer), static_cast<const kaio_qkv_outputs*>(a[2].pointer), static_cast<const kaio_qkv_project_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_qkv_project_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_qkv_weights*>(a[1].pointer), static_cast<const kaio_qkv_outputs*>(a[2].pointer), static_cast<const kaio_qkv_project_options*>(a[3].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_qkv_project_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_qkv_weights*>(a[1].pointer), static_cast<const kaio_qkv_outputs*>(a[2].pointer), static_cast<const kaio_qkv_project_options*>(a[3].pointer), bytes); },
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_qkv_project_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_qkv_weights*>(a[1].pointer), static_cast<const kaio_qkv_outputs*>(a[2].pointer), static_cast<const kaio_qkv_project_options*>(a[3].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_qkv_project(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_qkv_weights*>(a[1].pointer), static_cast<const kaio_qkv_outputs*>(a[2].pointer), static_cast<const kaio_qkv_project_options*>(a[3].pointer), how, report); },
     3, offsetof(kaio_qkv_project_options, workspace)},
    {"gate_up_project", arguments_gate_up_project,
     [](void* stream, const argument_value* a) { return kaio_gate_up_project(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_gate_up_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_gate_up_project_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_gate_up_project_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_gate_up_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_gate_up_project_options*>(a[3].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_gate_up_project_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_gate_up_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_gate_up_project_options*>(a[3].pointer), bytes); },
     [](const argument_value* a, kaio_kernel_choice* choice) { return kaio_gate_up_project_choice(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_gate_up_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_gate_up_project_options*>(a[3].pointer), choice); },
     [](const argument_value* a, const kaio_tune_options* how, kaio_tune_report* report) { return kaio_tune_gate_up_project(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_gate_up_weights*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_gate_up_project_options*>(a[3].pointer), how, report); },
     3, offsetof(kaio_gate_up_project_options, workspace)},
    {"qk_norm_rotary", arguments_qk_norm_rotary,
     [](void* stream, const argument_value* a) { return kaio_qk_norm_rotary(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_qk_norm_rotary_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_qk_norm_rotary_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_qk_norm_rotary_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"reduce", arguments_reduce,
     [](void* stream, const argument_value* a) { return kaio_reduce(stream, static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_reduce_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_reduce_warmup(static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_reduce_options*>(a[3].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_reduce_workspace_bytes(static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_reduce_options*>(a[3].pointer), bytes); },
     nullptr,
     nullptr,
     3, offsetof(kaio_reduce_options, workspace)},
    {"scan", arguments_scan,
     [](void* stream, const argument_value* a) { return kaio_scan(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_scan_options*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_scan_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_scan_options*>(a[2].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_scan_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_scan_options*>(a[2].pointer), bytes); },
     nullptr,
     nullptr,
     2, offsetof(kaio_scan_options, workspace)},
    {"histogram", arguments_histogram,
     [](void* stream, const argument_value* a) { return kaio_histogram(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_histogram_options*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_histogram_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_histogram_options*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_gptq_w4", arguments_repack_gptq_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_gptq_w4(stream, static_cast<const kaio_gptq_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_gptq_w4_warmup(static_cast<const kaio_gptq_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_awq_w4", arguments_repack_awq_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_awq_w4(stream, static_cast<const kaio_awq_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_awq_w4_warmup(static_cast<const kaio_awq_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_compressed_tensors_w4", arguments_repack_compressed_tensors_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_compressed_tensors_w4(stream, static_cast<const kaio_compressed_tensors_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_compressed_tensors_w4_warmup(static_cast<const kaio_compressed_tensors_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_bitsandbytes_w4", arguments_repack_bitsandbytes_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_bitsandbytes_w4(stream, static_cast<const kaio_bitsandbytes_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_bitsandbytes_w4_warmup(static_cast<const kaio_bitsandbytes_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_mxfp4_w4", arguments_repack_mxfp4_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_mxfp4_w4(stream, static_cast<const kaio_mxfp4_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_mxfp4_w4_warmup(static_cast<const kaio_mxfp4_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_nvfp4_w4", arguments_repack_nvfp4_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_nvfp4_w4(stream, static_cast<const kaio_nvfp4_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_nvfp4_w4_warmup(static_cast<const kaio_nvfp4_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_int4_w4", arguments_repack_int4_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_int4_w4(stream, static_cast<const kaio_int4_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_int4_w4_warmup(static_cast<const kaio_int4_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_awq_gemv_w4", arguments_repack_awq_gemv_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_awq_gemv_w4(stream, static_cast<const kaio_awq_gemv_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_awq_gemv_w4_warmup(static_cast<const kaio_awq_gemv_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_awq_gemv_fast_w4", arguments_repack_awq_gemv_fast_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_awq_gemv_fast_w4(stream, static_cast<const kaio_awq_gemv_fast_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_awq_gemv_fast_w4_warmup(static_cast<const kaio_awq_gemv_fast_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_marlin_w4", arguments_repack_marlin_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_marlin_w4(stream, static_cast<const kaio_marlin_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_marlin_w4_warmup(static_cast<const kaio_marlin_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_tinygemm_w4", arguments_repack_tinygemm_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_tinygemm_w4(stream, static_cast<const kaio_tinygemm_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_tinygemm_w4_warmup(static_cast<const kaio_tinygemm_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_torchao_int4_w4", arguments_repack_torchao_int4_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_torchao_int4_w4(stream, static_cast<const kaio_torchao_int4_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_torchao_int4_w4_warmup(static_cast<const kaio_torchao_int4_w4*>(a[0].pointer), static_cast<const kaio_w4_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_int8_w8", arguments_repack_int8_w8,
     [](void* stream, const argument_value* a) { return kaio_repack_int8_w8(stream, static_cast<const kaio_int8_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_int8_w8_warmup(static_cast<const kaio_int8_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_llm_int8_w8", arguments_repack_llm_int8_w8,
     [](void* stream, const argument_value* a) { return kaio_repack_llm_int8_w8(stream, static_cast<const kaio_llm_int8_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_llm_int8_w8_warmup(static_cast<const kaio_llm_int8_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_gptq_w8", arguments_repack_gptq_w8,
     [](void* stream, const argument_value* a) { return kaio_repack_gptq_w8(stream, static_cast<const kaio_gptq_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_gptq_w8_warmup(static_cast<const kaio_gptq_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_compressed_tensors_w8", arguments_repack_compressed_tensors_w8,
     [](void* stream, const argument_value* a) { return kaio_repack_compressed_tensors_w8(stream, static_cast<const kaio_compressed_tensors_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_compressed_tensors_w8_warmup(static_cast<const kaio_compressed_tensors_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_q8_0_w8", arguments_repack_q8_0_w8,
     [](void* stream, const argument_value* a) { return kaio_repack_q8_0_w8(stream, static_cast<const kaio_q8_0_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_q8_0_w8_warmup(static_cast<const kaio_q8_0_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_e4m3_w8", arguments_repack_e4m3_w8,
     [](void* stream, const argument_value* a) { return kaio_repack_e4m3_w8(stream, static_cast<const kaio_e4m3_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_e4m3_w8_warmup(static_cast<const kaio_e4m3_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_marlin_w8", arguments_repack_marlin_w8,
     [](void* stream, const argument_value* a) { return kaio_repack_marlin_w8(stream, static_cast<const kaio_marlin_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_repack_marlin_w8_warmup(static_cast<const kaio_marlin_w8*>(a[0].pointer), static_cast<const kaio_w8_weights*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"sample", arguments_sample,
     [](void* stream, const argument_value* a) { return kaio_sample(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_sample_options*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_sample_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_sample_options*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"top_k", arguments_top_k,
     [](void* stream, const argument_value* a) { return kaio_top_k(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_top_k_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"topk_router", arguments_topk_router,
     [](void* stream, const argument_value* a) { return kaio_topk_router(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_topk_router_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_topk_router_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_topk_router_options*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"sort_by_expert", arguments_sort_by_expert,
     [](void* stream, const argument_value* a) { return kaio_sort_by_expert(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_sort_by_expert_options*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_sort_by_expert_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_sort_by_expert_options*>(a[2].pointer)); },
     [](const argument_value* a, std::uint64_t* bytes) { return kaio_sort_by_expert_workspace_bytes(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), bytes); },
     nullptr,
     nullptr,
     2, offsetof(kaio_sort_by_expert_options, workspace)},
    {"combine_experts", arguments_combine_experts,
     [](void* stream, const argument_value* a) { return kaio_combine_experts(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_combine_experts_options*>(a[4].pointer)); },
     [](const argument_value* a) { return kaio_combine_experts_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const DLTensor*>(a[3].pointer), static_cast<const kaio_combine_experts_options*>(a[4].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"softmax", arguments_softmax,
     [](void* stream, const argument_value* a) { return kaio_softmax(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_softmax_options*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_softmax_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_softmax_options*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"log_softmax", arguments_log_softmax,
     [](void* stream, const argument_value* a) { return kaio_log_softmax(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_softmax_options*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_log_softmax_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_softmax_options*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"softmax_backward", arguments_softmax_backward,
     [](void* stream, const argument_value* a) { return kaio_softmax_backward(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_softmax_backward_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_softmax_backward_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_softmax_backward_options*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"log_softmax_backward", arguments_log_softmax_backward,
     [](void* stream, const argument_value* a) { return kaio_log_softmax_backward(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_softmax_backward_options*>(a[3].pointer)); },
     [](const argument_value* a) { return kaio_log_softmax_backward_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer), static_cast<const kaio_softmax_backward_options*>(a[3].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_blocks_w4", arguments_repack_blocks_w4,
     [](void* stream, const argument_value* a) { return kaio_repack_blocks_w4(stream, static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_w4_weights*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_repack_blocks_w4_warmup(static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_w4_weights*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"repack_blocks_w8", arguments_repack_blocks_w8,
     [](void* stream, const argument_value* a) { return kaio_repack_blocks_w8(stream, static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_w8_weights*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_repack_blocks_w8_warmup(static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const kaio_w8_weights*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"dequantise_blocks", arguments_dequantise_blocks,
     [](void* stream, const argument_value* a) { return kaio_dequantise_blocks(stream, static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_dequantise_blocks_warmup(static_cast<int32_t>(a[0].integer), static_cast<const DLTensor*>(a[1].pointer), static_cast<const DLTensor*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"dequantise_bnb_4bit", arguments_dequantise_bnb_4bit,
     [](void* stream, const argument_value* a) { return kaio_dequantise_bnb_4bit(stream, static_cast<const kaio_bnb_4bit*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_dequantise_bnb_4bit_warmup(static_cast<const kaio_bnb_4bit*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"dequantise_bnb_int8", arguments_dequantise_bnb_int8,
     [](void* stream, const argument_value* a) { return kaio_dequantise_bnb_int8(stream, static_cast<const kaio_bnb_int8*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_dequantise_bnb_int8_warmup(static_cast<const kaio_bnb_int8*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"dequantise_scaled_bytes", arguments_dequantise_scaled_bytes,
     [](void* stream, const argument_value* a) { return kaio_dequantise_scaled_bytes(stream, static_cast<const kaio_scaled_bytes*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_dequantise_scaled_bytes_warmup(static_cast<const kaio_scaled_bytes*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"dequantise_mxfp4", arguments_dequantise_mxfp4,
     [](void* stream, const argument_value* a) { return kaio_dequantise_mxfp4(stream, static_cast<const kaio_mxfp4_tensors*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_dequantise_mxfp4_warmup(static_cast<const kaio_mxfp4_tensors*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"dequantise_nvfp4", arguments_dequantise_nvfp4,
     [](void* stream, const argument_value* a) { return kaio_dequantise_nvfp4(stream, static_cast<const kaio_nvfp4_tensors*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_dequantise_nvfp4_warmup(static_cast<const kaio_nvfp4_tensors*>(a[0].pointer), static_cast<const DLTensor*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"quantise_blocks", arguments_quantise_blocks,
     [](void* stream, const argument_value* a) { return kaio_quantise_blocks(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<int32_t>(a[1].integer), static_cast<const DLTensor*>(a[2].pointer)); },
     [](const argument_value* a) { return kaio_quantise_blocks_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<int32_t>(a[1].integer), static_cast<const DLTensor*>(a[2].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"quantise_bnb_4bit", arguments_quantise_bnb_4bit,
     [](void* stream, const argument_value* a) { return kaio_quantise_bnb_4bit(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_bnb_4bit_output*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_quantise_bnb_4bit_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_bnb_4bit_output*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"quantise_mxfp4", arguments_quantise_mxfp4,
     [](void* stream, const argument_value* a) { return kaio_quantise_mxfp4(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_mxfp4_output*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_quantise_mxfp4_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_mxfp4_output*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"quantise_nvfp4", arguments_quantise_nvfp4,
     [](void* stream, const argument_value* a) { return kaio_quantise_nvfp4(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_nvfp4_output*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_quantise_nvfp4_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_nvfp4_output*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
    {"quantise_w4", arguments_quantise_w4,
     [](void* stream, const argument_value* a) { return kaio_quantise_w4(stream, static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w4_output*>(a[1].pointer)); },
     [](const argument_value* a) { return kaio_quantise_w4_warmup(static_cast<const DLTensor*>(a[0].pointer), static_cast<const kaio_w4_output*>(a[1].pointer)); },
     nullptr,
     nullptr,
     nullptr,
     -1, 0},
};

}  // namespace

std::span<const function> functions() { return all_functions; }

}  // namespace kaio::python
