/* Prints sizes, offsets, constants and defaults of the C interface. Made by bindings/rust/generate.py. */
#include <kaio/c/kaio.h>
#include <stdio.h>

#define SIZE(of) printf(#of " %zu\n", sizeof(of))
#define MEMBER(of, member) printf(#of "." #member " %zu %zu\n", offsetof(of, member), sizeof(((of*)0)->member))
#define CONSTANT(of) printf(#of " %lld\n", (long long)(of))

static void print_bytes(const char* name, const void* data, size_t count) {
  const unsigned char* bytes = data;
  printf("%s default ", name);
  for (size_t i = 0; i < count; ++i) printf("%02x", bytes[i]);
  printf("\n");
}
#define DEFAULT(of, count) \
  do { \
    const of it = of##_default(); \
    print_bytes(#of, &it, count); \
  } while (0)

static void structs(void) {
  SIZE(DLDevice);
  MEMBER(DLDevice, device_type);
  MEMBER(DLDevice, device_id);
  SIZE(DLDataType);
  MEMBER(DLDataType, code);
  MEMBER(DLDataType, bits);
  MEMBER(DLDataType, lanes);
  SIZE(DLTensor);
  MEMBER(DLTensor, data);
  MEMBER(DLTensor, device);
  MEMBER(DLTensor, ndim);
  MEMBER(DLTensor, dtype);
  MEMBER(DLTensor, shape);
  MEMBER(DLTensor, strides);
  MEMBER(DLTensor, byte_offset);
  SIZE(kaio_kernel_info);
  MEMBER(kaio_kernel_info, size);
  MEMBER(kaio_kernel_info, parameters);
  MEMBER(kaio_kernel_info, name);
  MEMBER(kaio_kernel_info, object);
  MEMBER(kaio_kernel_info, signature);
  MEMBER(kaio_kernel_info, block);
  MEMBER(kaio_kernel_info, cluster);
  MEMBER(kaio_kernel_info, shared_bytes);
  MEMBER(kaio_kernel_info, architecture);
  MEMBER(kaio_kernel_info, is_arch_specific);
  MEMBER(kaio_kernel_info, is_cooperative);
  SIZE(kaio_kernel_parameter);
  MEMBER(kaio_kernel_parameter, size);
  MEMBER(kaio_kernel_parameter, access);
  MEMBER(kaio_kernel_parameter, type);
  MEMBER(kaio_kernel_parameter, bytes);
  MEMBER(kaio_kernel_parameter, alignment);
  MEMBER(kaio_kernel_parameter, reserved_20);
  MEMBER(kaio_kernel_parameter, text);
  SIZE(kaio_kernel_grid);
  MEMBER(kaio_kernel_grid, size);
  MEMBER(kaio_kernel_grid, unit);
  MEMBER(kaio_kernel_grid, x);
  MEMBER(kaio_kernel_grid, y);
  MEMBER(kaio_kernel_grid, z);
  MEMBER(kaio_kernel_grid, per_thread);
  MEMBER(kaio_kernel_grid, shared_bytes);
  MEMBER(kaio_kernel_grid, cluster);
  MEMBER(kaio_kernel_grid, programmatic);
  MEMBER(kaio_kernel_grid, device);
  SIZE(kaio_kernel_argument);
  MEMBER(kaio_kernel_argument, kind);
  MEMBER(kaio_kernel_argument, type);
  MEMBER(kaio_kernel_argument, data);
  MEMBER(kaio_kernel_argument, value);
  MEMBER(kaio_kernel_argument, number);
  SIZE(kaio_block_mask);
  MEMBER(kaio_block_mask, size);
  MEMBER(kaio_block_mask, reserved_4);
  MEMBER(kaio_block_mask, block_queries);
  MEMBER(kaio_block_mask, block_keys);
  MEMBER(kaio_block_mask, kv_num_blocks);
  MEMBER(kaio_block_mask, kv_indices);
  MEMBER(kaio_block_mask, full_kv_num_blocks);
  MEMBER(kaio_block_mask, full_kv_indices);
  SIZE(kaio_attention_options);
  MEMBER(kaio_attention_options, size);
  MEMBER(kaio_attention_options, scale);
  MEMBER(kaio_attention_options, softcap);
  MEMBER(kaio_attention_options, causal);
  MEMBER(kaio_attention_options, precision);
  MEMBER(kaio_attention_options, batch_invariant);
  MEMBER(kaio_attention_options, window_left);
  MEMBER(kaio_attention_options, window_right);
  MEMBER(kaio_attention_options, alibi);
  MEMBER(kaio_attention_options, bias);
  MEMBER(kaio_attention_options, keep);
  MEMBER(kaio_attention_options, sinks);
  MEMBER(kaio_attention_options, lse);
  MEMBER(kaio_attention_options, blocks);
  MEMBER(kaio_attention_options, variant);
  SIZE(kaio_attention_sequences);
  MEMBER(kaio_attention_sequences, size);
  MEMBER(kaio_attention_sequences, reserved_4);
  MEMBER(kaio_attention_sequences, cu_q);
  MEMBER(kaio_attention_sequences, cu_k);
  MEMBER(kaio_attention_sequences, max_q);
  MEMBER(kaio_attention_sequences, max_k);
  MEMBER(kaio_attention_sequences, used_q);
  MEMBER(kaio_attention_sequences, used_k);
  SIZE(kaio_attention_backward_options);
  MEMBER(kaio_attention_backward_options, size);
  MEMBER(kaio_attention_backward_options, reserved_4);
  MEMBER(kaio_attention_backward_options, forward);
  MEMBER(kaio_attention_backward_options, dlse);
  MEMBER(kaio_attention_backward_options, dbias);
  MEMBER(kaio_attention_backward_options, dsinks);
  MEMBER(kaio_attention_backward_options, workspace);
  SIZE(kaio_attention_append);
  MEMBER(kaio_attention_append, size);
  MEMBER(kaio_attention_append, reserved_4);
  MEMBER(kaio_attention_append, k);
  MEMBER(kaio_attention_append, v);
  MEMBER(kaio_attention_append, cu_k);
  MEMBER(kaio_attention_append, rotary);
  MEMBER(kaio_attention_append, k_scale_out);
  MEMBER(kaio_attention_append, v_scale_out);
  SIZE(kaio_attention_decode_options);
  MEMBER(kaio_attention_decode_options, size);
  MEMBER(kaio_attention_decode_options, scale);
  MEMBER(kaio_attention_decode_options, softcap);
  MEMBER(kaio_attention_decode_options, causal);
  MEMBER(kaio_attention_decode_options, splits);
  MEMBER(kaio_attention_decode_options, combining);
  MEMBER(kaio_attention_decode_options, batch_invariant);
  MEMBER(kaio_attention_decode_options, constant);
  MEMBER(kaio_attention_decode_options, window_left);
  MEMBER(kaio_attention_decode_options, window_right);
  MEMBER(kaio_attention_decode_options, max_length);
  MEMBER(kaio_attention_decode_options, qv);
  MEMBER(kaio_attention_decode_options, alibi);
  MEMBER(kaio_attention_decode_options, k_scale);
  MEMBER(kaio_attention_decode_options, v_scale);
  MEMBER(kaio_attention_decode_options, sinks);
  MEMBER(kaio_attention_decode_options, lse);
  MEMBER(kaio_attention_decode_options, append);
  MEMBER(kaio_attention_decode_options, workspace);
  MEMBER(kaio_attention_decode_options, variant);
  SIZE(kaio_block_mask_output);
  MEMBER(kaio_block_mask_output, size);
  MEMBER(kaio_block_mask_output, reserved_4);
  MEMBER(kaio_block_mask_output, block_queries);
  MEMBER(kaio_block_mask_output, block_keys);
  MEMBER(kaio_block_mask_output, kv_num_blocks);
  MEMBER(kaio_block_mask_output, kv_indices);
  MEMBER(kaio_block_mask_output, full_kv_num_blocks);
  MEMBER(kaio_block_mask_output, full_kv_indices);
  MEMBER(kaio_block_mask_output, q_num_blocks);
  MEMBER(kaio_block_mask_output, q_indices);
  MEMBER(kaio_block_mask_output, full_q_num_blocks);
  MEMBER(kaio_block_mask_output, full_q_indices);
  SIZE(kaio_block_mask_options);
  MEMBER(kaio_block_mask_options, size);
  MEMBER(kaio_block_mask_options, causal);
  MEMBER(kaio_block_mask_options, queries);
  MEMBER(kaio_block_mask_options, keys);
  MEMBER(kaio_block_mask_options, window_left);
  MEMBER(kaio_block_mask_options, window_right);
  SIZE(kaio_kv_cache);
  MEMBER(kaio_kv_cache, size);
  MEMBER(kaio_kv_cache, reserved_4);
  MEMBER(kaio_kv_cache, k);
  MEMBER(kaio_kv_cache, v);
  MEMBER(kaio_kv_cache, table);
  MEMBER(kaio_kv_cache, indptr);
  MEMBER(kaio_kv_cache, indices);
  MEMBER(kaio_kv_cache, lengths);
  MEMBER(kaio_kv_cache, last_page_len);
  MEMBER(kaio_kv_cache, batch_index);
  MEMBER(kaio_kv_cache, left_padding);
  SIZE(kaio_append_rotary);
  MEMBER(kaio_append_rotary, size);
  MEMBER(kaio_append_rotary, interleaved);
  MEMBER(kaio_append_rotary, q_at_first);
  MEMBER(kaio_append_rotary, reserved_12);
  MEMBER(kaio_append_rotary, cos);
  MEMBER(kaio_append_rotary, sin);
  MEMBER(kaio_append_rotary, positions);
  MEMBER(kaio_append_rotary, q);
  MEMBER(kaio_append_rotary, q_out);
  SIZE(kaio_append_kv_options);
  MEMBER(kaio_append_kv_options, size);
  MEMBER(kaio_append_kv_options, constant);
  MEMBER(kaio_append_kv_options, cu_seqlens);
  MEMBER(kaio_append_kv_options, slots);
  MEMBER(kaio_append_kv_options, rotary);
  MEMBER(kaio_append_kv_options, k_scale);
  MEMBER(kaio_append_kv_options, v_scale);
  MEMBER(kaio_append_kv_options, k_scale_out);
  MEMBER(kaio_append_kv_options, v_scale_out);
  SIZE(kaio_gather_kv_options);
  MEMBER(kaio_gather_kv_options, size);
  MEMBER(kaio_gather_kv_options, reserved_4);
  MEMBER(kaio_gather_kv_options, cu_seqlens);
  MEMBER(kaio_gather_kv_options, k_scale);
  MEMBER(kaio_gather_kv_options, v_scale);
  SIZE(kaio_rotary_options);
  MEMBER(kaio_rotary_options, size);
  MEMBER(kaio_rotary_options, interleaved);
  MEMBER(kaio_rotary_options, inverse);
  MEMBER(kaio_rotary_options, reserved_12);
  MEMBER(kaio_rotary_options, positions);
  MEMBER(kaio_rotary_options, offsets);
  MEMBER(kaio_rotary_options, cu_seqlens);
  SIZE(kaio_rotary_scaling);
  MEMBER(kaio_rotary_scaling, size);
  MEMBER(kaio_rotary_scaling, kind);
  MEMBER(kaio_rotary_scaling, truncate);
  MEMBER(kaio_rotary_scaling, reserved_12);
  MEMBER(kaio_rotary_scaling, factor);
  MEMBER(kaio_rotary_scaling, low_frequency);
  MEMBER(kaio_rotary_scaling, high_frequency);
  MEMBER(kaio_rotary_scaling, original_length);
  MEMBER(kaio_rotary_scaling, beta_fast);
  MEMBER(kaio_rotary_scaling, beta_slow);
  MEMBER(kaio_rotary_scaling, attention_factor);
  MEMBER(kaio_rotary_scaling, mscale);
  MEMBER(kaio_rotary_scaling, mscale_all_dim);
  MEMBER(kaio_rotary_scaling, length);
  MEMBER(kaio_rotary_scaling, rotated);
  MEMBER(kaio_rotary_scaling, pair_factors);
  MEMBER(kaio_rotary_scaling, pair_factor_count);
  SIZE(kaio_rotary_sections);
  MEMBER(kaio_rotary_sections, size);
  MEMBER(kaio_rotary_sections, interleaved);
  MEMBER(kaio_rotary_sections, pairs);
  MEMBER(kaio_rotary_sections, pair_count);
  SIZE(kaio_rotary_table_options);
  MEMBER(kaio_rotary_table_options, size);
  MEMBER(kaio_rotary_table_options, reserved_4);
  MEMBER(kaio_rotary_table_options, base);
  MEMBER(kaio_rotary_table_options, first_position);
  MEMBER(kaio_rotary_table_options, positions);
  MEMBER(kaio_rotary_table_options, scaling);
  MEMBER(kaio_rotary_table_options, sections);
  SIZE(kaio_cross_entropy_options);
  MEMBER(kaio_cross_entropy_options, size);
  MEMBER(kaio_cross_entropy_options, reduction);
  MEMBER(kaio_cross_entropy_options, ignore_index);
  MEMBER(kaio_cross_entropy_options, label_smoothing);
  MEMBER(kaio_cross_entropy_options, z_loss);
  MEMBER(kaio_cross_entropy_options, softcap);
  MEMBER(kaio_cross_entropy_options, reserved_28);
  MEMBER(kaio_cross_entropy_options, weights);
  MEMBER(kaio_cross_entropy_options, lse);
  MEMBER(kaio_cross_entropy_options, total_weight);
  MEMBER(kaio_cross_entropy_options, workspace);
  SIZE(kaio_cross_entropy_backward_options);
  MEMBER(kaio_cross_entropy_backward_options, size);
  MEMBER(kaio_cross_entropy_backward_options, reduction);
  MEMBER(kaio_cross_entropy_backward_options, ignore_index);
  MEMBER(kaio_cross_entropy_backward_options, label_smoothing);
  MEMBER(kaio_cross_entropy_backward_options, z_loss);
  MEMBER(kaio_cross_entropy_backward_options, softcap);
  MEMBER(kaio_cross_entropy_backward_options, reserved_28);
  MEMBER(kaio_cross_entropy_backward_options, weights);
  MEMBER(kaio_cross_entropy_backward_options, total_weight);
  SIZE(kaio_linear_cross_entropy_options);
  MEMBER(kaio_linear_cross_entropy_options, size);
  MEMBER(kaio_linear_cross_entropy_options, reduction);
  MEMBER(kaio_linear_cross_entropy_options, precision);
  MEMBER(kaio_linear_cross_entropy_options, reserved_12);
  MEMBER(kaio_linear_cross_entropy_options, ignore_index);
  MEMBER(kaio_linear_cross_entropy_options, logit_scale);
  MEMBER(kaio_linear_cross_entropy_options, label_smoothing);
  MEMBER(kaio_linear_cross_entropy_options, z_loss);
  MEMBER(kaio_linear_cross_entropy_options, softcap);
  MEMBER(kaio_linear_cross_entropy_options, bias);
  MEMBER(kaio_linear_cross_entropy_options, weights);
  MEMBER(kaio_linear_cross_entropy_options, lse);
  MEMBER(kaio_linear_cross_entropy_options, total_weight);
  MEMBER(kaio_linear_cross_entropy_options, workspace);
  SIZE(kaio_linear_cross_entropy_backward_options);
  MEMBER(kaio_linear_cross_entropy_backward_options, size);
  MEMBER(kaio_linear_cross_entropy_backward_options, reduction);
  MEMBER(kaio_linear_cross_entropy_backward_options, precision);
  MEMBER(kaio_linear_cross_entropy_backward_options, reserved_12);
  MEMBER(kaio_linear_cross_entropy_backward_options, ignore_index);
  MEMBER(kaio_linear_cross_entropy_backward_options, logit_scale);
  MEMBER(kaio_linear_cross_entropy_backward_options, label_smoothing);
  MEMBER(kaio_linear_cross_entropy_backward_options, z_loss);
  MEMBER(kaio_linear_cross_entropy_backward_options, softcap);
  MEMBER(kaio_linear_cross_entropy_backward_options, bias);
  MEMBER(kaio_linear_cross_entropy_backward_options, weights);
  MEMBER(kaio_linear_cross_entropy_backward_options, total_weight);
  MEMBER(kaio_linear_cross_entropy_backward_options, dbias);
  MEMBER(kaio_linear_cross_entropy_backward_options, workspace);
  SIZE(kaio_communicator_options);
  MEMBER(kaio_communicator_options, size);
  MEMBER(kaio_communicator_options, reserved_4);
  MEMBER(kaio_communicator_options, time_limit);
  MEMBER(kaio_communicator_options, staging_bytes);
  MEMBER(kaio_communicator_options, compare);
  MEMBER(kaio_communicator_options, reserved_28);
  SIZE(kaio_communicator_means);
  MEMBER(kaio_communicator_means, size);
  MEMBER(kaio_communicator_means, reserved_4);
  MEMBER(kaio_communicator_means, data);
  MEMBER(kaio_communicator_means, gather);
  MEMBER(kaio_communicator_means, allocate);
  MEMBER(kaio_communicator_means, release);
  SIZE(kaio_context_attention_options);
  MEMBER(kaio_context_attention_options, size);
  MEMBER(kaio_context_attention_options, scale);
  MEMBER(kaio_context_attention_options, softcap);
  MEMBER(kaio_context_attention_options, causal);
  MEMBER(kaio_context_attention_options, layout);
  MEMBER(kaio_context_attention_options, reserved_20);
  MEMBER(kaio_context_attention_options, window_left);
  MEMBER(kaio_context_attention_options, window_right);
  MEMBER(kaio_context_attention_options, sinks);
  MEMBER(kaio_context_attention_options, lse);
  MEMBER(kaio_context_attention_options, head_ranks);
  MEMBER(kaio_context_attention_options, reserved_60);
  MEMBER(kaio_context_attention_options, workspace);
  MEMBER(kaio_context_attention_options, lengths);
  MEMBER(kaio_context_attention_options, length_count);
  MEMBER(kaio_context_attention_options, dsinks);
  SIZE(kaio_gated_options);
  MEMBER(kaio_gated_options, size);
  MEMBER(kaio_gated_options, limit);
  MEMBER(kaio_gated_options, up_offset);
  MEMBER(kaio_gated_options, reserved_12);
  SIZE(kaio_embedding_options);
  MEMBER(kaio_embedding_options, size);
  MEMBER(kaio_embedding_options, reserved_4);
  MEMBER(kaio_embedding_options, errors);
  SIZE(kaio_embedding_backward_options);
  MEMBER(kaio_embedding_backward_options, size);
  MEMBER(kaio_embedding_backward_options, reserved_4);
  MEMBER(kaio_embedding_backward_options, padding_index);
  MEMBER(kaio_embedding_backward_options, accumulate);
  MEMBER(kaio_embedding_backward_options, reserved_20);
  MEMBER(kaio_embedding_backward_options, workspace);
  SIZE(kaio_matmul_options);
  MEMBER(kaio_matmul_options, size);
  MEMBER(kaio_matmul_options, alpha);
  MEMBER(kaio_matmul_options, beta);
  MEMBER(kaio_matmul_options, activation);
  MEMBER(kaio_matmul_options, precision);
  MEMBER(kaio_matmul_options, constant);
  MEMBER(kaio_matmul_options, bias_of_rows);
  MEMBER(kaio_matmul_options, reserved_28);
  MEMBER(kaio_matmul_options, bias);
  MEMBER(kaio_matmul_options, residual);
  MEMBER(kaio_matmul_options, workspace);
  MEMBER(kaio_matmul_options, variant);
  SIZE(kaio_matmul_backward_options);
  MEMBER(kaio_matmul_backward_options, size);
  MEMBER(kaio_matmul_backward_options, alpha);
  MEMBER(kaio_matmul_backward_options, accumulate);
  MEMBER(kaio_matmul_backward_options, precision);
  MEMBER(kaio_matmul_backward_options, workspace);
  SIZE(kaio_matmul_grouped_options);
  MEMBER(kaio_matmul_grouped_options, size);
  MEMBER(kaio_matmul_grouped_options, reserved_4);
  MEMBER(kaio_matmul_grouped_options, rows);
  MEMBER(kaio_matmul_grouped_options, bias);
  SIZE(kaio_matmul_grouped_backward_options);
  MEMBER(kaio_matmul_grouped_backward_options, size);
  MEMBER(kaio_matmul_grouped_backward_options, accumulate);
  SIZE(kaio_gate_up_grouped_options);
  MEMBER(kaio_gate_up_grouped_options, size);
  MEMBER(kaio_gate_up_grouped_options, activation);
  MEMBER(kaio_gate_up_grouped_options, rows);
  MEMBER(kaio_gate_up_grouped_options, gate_bias);
  MEMBER(kaio_gate_up_grouped_options, up_bias);
  MEMBER(kaio_gate_up_grouped_options, alpha);
  MEMBER(kaio_gate_up_grouped_options, limit);
  MEMBER(kaio_gate_up_grouped_options, up_offset);
  MEMBER(kaio_gate_up_grouped_options, reserved_44);
  SIZE(kaio_matmul_int8_options);
  MEMBER(kaio_matmul_int8_options, size);
  MEMBER(kaio_matmul_int8_options, alpha);
  MEMBER(kaio_matmul_int8_options, out_scale);
  MEMBER(kaio_matmul_int8_options, activation);
  MEMBER(kaio_matmul_int8_options, constant);
  MEMBER(kaio_matmul_int8_options, bias_of_rows);
  MEMBER(kaio_matmul_int8_options, scale_a);
  MEMBER(kaio_matmul_int8_options, scale_b);
  MEMBER(kaio_matmul_int8_options, zero_a);
  MEMBER(kaio_matmul_int8_options, column_sums);
  MEMBER(kaio_matmul_int8_options, bias);
  MEMBER(kaio_matmul_int8_options, residual);
  MEMBER(kaio_matmul_int8_options, variant);
  SIZE(kaio_matmul_fp8_options);
  MEMBER(kaio_matmul_fp8_options, size);
  MEMBER(kaio_matmul_fp8_options, alpha);
  MEMBER(kaio_matmul_fp8_options, out_scale);
  MEMBER(kaio_matmul_fp8_options, activation);
  MEMBER(kaio_matmul_fp8_options, constant);
  MEMBER(kaio_matmul_fp8_options, bias_of_rows);
  MEMBER(kaio_matmul_fp8_options, scale_a);
  MEMBER(kaio_matmul_fp8_options, scale_b);
  MEMBER(kaio_matmul_fp8_options, groups_a);
  MEMBER(kaio_matmul_fp8_options, blocks_b);
  MEMBER(kaio_matmul_fp8_options, bias);
  MEMBER(kaio_matmul_fp8_options, residual);
  MEMBER(kaio_matmul_fp8_options, variant);
  SIZE(kaio_matmul_int8_grouped_options);
  MEMBER(kaio_matmul_int8_grouped_options, size);
  MEMBER(kaio_matmul_int8_grouped_options, reserved_4);
  MEMBER(kaio_matmul_int8_grouped_options, scale_a);
  MEMBER(kaio_matmul_int8_grouped_options, scale_b);
  MEMBER(kaio_matmul_int8_grouped_options, bias);
  MEMBER(kaio_matmul_int8_grouped_options, rows);
  MEMBER(kaio_matmul_int8_grouped_options, gate);
  MEMBER(kaio_matmul_int8_grouped_options, reserved_44);
  MEMBER(kaio_matmul_int8_grouped_options, zero_a);
  MEMBER(kaio_matmul_int8_grouped_options, column_sums);
  MEMBER(kaio_matmul_int8_grouped_options, alpha);
  MEMBER(kaio_matmul_int8_grouped_options, limit);
  MEMBER(kaio_matmul_int8_grouped_options, up_offset);
  MEMBER(kaio_matmul_int8_grouped_options, reserved_76);
  SIZE(kaio_matmul_fp8_grouped_options);
  MEMBER(kaio_matmul_fp8_grouped_options, size);
  MEMBER(kaio_matmul_fp8_grouped_options, reserved_4);
  MEMBER(kaio_matmul_fp8_grouped_options, scale_a);
  MEMBER(kaio_matmul_fp8_grouped_options, scale_b);
  MEMBER(kaio_matmul_fp8_grouped_options, groups_a);
  MEMBER(kaio_matmul_fp8_grouped_options, blocks_b);
  MEMBER(kaio_matmul_fp8_grouped_options, bias);
  MEMBER(kaio_matmul_fp8_grouped_options, rows);
  MEMBER(kaio_matmul_fp8_grouped_options, gate);
  MEMBER(kaio_matmul_fp8_grouped_options, alpha);
  MEMBER(kaio_matmul_fp8_grouped_options, limit);
  MEMBER(kaio_matmul_fp8_grouped_options, up_offset);
  SIZE(kaio_rms_norm_options);
  MEMBER(kaio_rms_norm_options, size);
  MEMBER(kaio_rms_norm_options, epsilon);
  MEMBER(kaio_rms_norm_options, weight_offset);
  MEMBER(kaio_rms_norm_options, reserved_12);
  MEMBER(kaio_rms_norm_options, residual);
  MEMBER(kaio_rms_norm_options, residual_out);
  MEMBER(kaio_rms_norm_options, casting);
  MEMBER(kaio_rms_norm_options, reserved_36);
  MEMBER(kaio_rms_norm_options, gate);
  MEMBER(kaio_rms_norm_options, scale);
  MEMBER(kaio_rms_norm_options, shift);
  MEMBER(kaio_rms_norm_options, y_out);
  SIZE(kaio_layer_norm_options);
  MEMBER(kaio_layer_norm_options, size);
  MEMBER(kaio_layer_norm_options, epsilon);
  MEMBER(kaio_layer_norm_options, weight_offset);
  MEMBER(kaio_layer_norm_options, reserved_12);
  MEMBER(kaio_layer_norm_options, residual);
  MEMBER(kaio_layer_norm_options, residual_out);
  MEMBER(kaio_layer_norm_options, casting);
  MEMBER(kaio_layer_norm_options, reserved_36);
  MEMBER(kaio_layer_norm_options, gate);
  MEMBER(kaio_layer_norm_options, scale);
  MEMBER(kaio_layer_norm_options, shift);
  MEMBER(kaio_layer_norm_options, y_out);
  SIZE(kaio_rms_norm_backward_options);
  MEMBER(kaio_rms_norm_backward_options, size);
  MEMBER(kaio_rms_norm_backward_options, epsilon);
  MEMBER(kaio_rms_norm_backward_options, weight_offset);
  MEMBER(kaio_rms_norm_backward_options, reserved_12);
  MEMBER(kaio_rms_norm_backward_options, dh);
  MEMBER(kaio_rms_norm_backward_options, workspace);
  SIZE(kaio_layer_norm_backward_options);
  MEMBER(kaio_layer_norm_backward_options, size);
  MEMBER(kaio_layer_norm_backward_options, epsilon);
  MEMBER(kaio_layer_norm_backward_options, weight_offset);
  MEMBER(kaio_layer_norm_backward_options, reserved_12);
  MEMBER(kaio_layer_norm_backward_options, dh);
  MEMBER(kaio_layer_norm_backward_options, workspace);
  SIZE(kaio_w4_weights);
  MEMBER(kaio_w4_weights, size);
  MEMBER(kaio_w4_weights, codes);
  MEMBER(kaio_w4_weights, n);
  MEMBER(kaio_w4_weights, k);
  MEMBER(kaio_w4_weights, group);
  MEMBER(kaio_w4_weights, scales);
  MEMBER(kaio_w4_weights, zero_points);
  MEMBER(kaio_w4_weights, act_order);
  MEMBER(kaio_w4_weights, factors);
  MEMBER(kaio_w4_weights, offsets);
  MEMBER(kaio_w4_weights, zero);
  MEMBER(kaio_w4_weights, memory);
  SIZE(kaio_w8_weights);
  MEMBER(kaio_w8_weights, size);
  MEMBER(kaio_w8_weights, codes);
  MEMBER(kaio_w8_weights, n);
  MEMBER(kaio_w8_weights, k);
  MEMBER(kaio_w8_weights, group);
  MEMBER(kaio_w8_weights, zero_points);
  MEMBER(kaio_w8_weights, act_order);
  MEMBER(kaio_w8_weights, offsets);
  MEMBER(kaio_w8_weights, reserved_44);
  MEMBER(kaio_w8_weights, memory);
  SIZE(kaio_matmul_w4_options);
  MEMBER(kaio_matmul_w4_options, size);
  MEMBER(kaio_matmul_w4_options, splits);
  MEMBER(kaio_matmul_w4_options, constant);
  MEMBER(kaio_matmul_w4_options, exact_weights);
  MEMBER(kaio_matmul_w4_options, bias);
  MEMBER(kaio_matmul_w4_options, workspace);
  MEMBER(kaio_matmul_w4_options, variant);
  SIZE(kaio_matmul_w4_grouped_options);
  MEMBER(kaio_matmul_w4_grouped_options, size);
  MEMBER(kaio_matmul_w4_grouped_options, reserved_4);
  MEMBER(kaio_matmul_w4_grouped_options, bias);
  MEMBER(kaio_matmul_w4_grouped_options, variant);
  MEMBER(kaio_matmul_w4_grouped_options, rows);
  MEMBER(kaio_matmul_w4_grouped_options, gate);
  MEMBER(kaio_matmul_w4_grouped_options, alpha);
  MEMBER(kaio_matmul_w4_grouped_options, limit);
  MEMBER(kaio_matmul_w4_grouped_options, up_offset);
  SIZE(kaio_peer_workspace_options);
  MEMBER(kaio_peer_workspace_options, size);
  MEMBER(kaio_peer_workspace_options, reserved_4);
  MEMBER(kaio_peer_workspace_options, sum_bytes);
  MEMBER(kaio_peer_workspace_options, one_shot_bytes);
  MEMBER(kaio_peer_workspace_options, product_bytes);
  MEMBER(kaio_peer_workspace_options, blocks);
  MEMBER(kaio_peer_workspace_options, compares_repeated_calls);
  SIZE(kaio_matmul_reduce_options);
  MEMBER(kaio_matmul_reduce_options, size);
  MEMBER(kaio_matmul_reduce_options, alpha);
  MEMBER(kaio_matmul_reduce_options, f32_parts);
  MEMBER(kaio_matmul_reduce_options, precision);
  MEMBER(kaio_matmul_reduce_options, workspace);
  MEMBER(kaio_matmul_reduce_options, constant);
  MEMBER(kaio_matmul_reduce_options, reserved_28);
  MEMBER(kaio_matmul_reduce_options, variant);
  SIZE(kaio_pool_options);
  MEMBER(kaio_pool_options, size);
  MEMBER(kaio_pool_options, kind);
  MEMBER(kaio_pool_options, limit);
  MEMBER(kaio_pool_options, keep);
  SIZE(kaio_pool_statistics);
  MEMBER(kaio_pool_statistics, size);
  MEMBER(kaio_pool_statistics, reserved_4);
  MEMBER(kaio_pool_statistics, in_use);
  MEMBER(kaio_pool_statistics, most_in_use);
  MEMBER(kaio_pool_statistics, reserved);
  MEMBER(kaio_pool_statistics, most_reserved);
  MEMBER(kaio_pool_statistics, allocations);
  SIZE(kaio_projection_weight);
  MEMBER(kaio_projection_weight, size);
  MEMBER(kaio_projection_weight, reserved_4);
  MEMBER(kaio_projection_weight, matrix);
  MEMBER(kaio_projection_weight, scale);
  MEMBER(kaio_projection_weight, blocks);
  MEMBER(kaio_projection_weight, w4);
  MEMBER(kaio_projection_weight, w8);
  SIZE(kaio_qkv_weights);
  MEMBER(kaio_qkv_weights, size);
  MEMBER(kaio_qkv_weights, reserved_4);
  MEMBER(kaio_qkv_weights, all);
  MEMBER(kaio_qkv_weights, q);
  MEMBER(kaio_qkv_weights, k);
  MEMBER(kaio_qkv_weights, v);
  SIZE(kaio_gate_up_weights);
  MEMBER(kaio_gate_up_weights, size);
  MEMBER(kaio_gate_up_weights, reserved_4);
  MEMBER(kaio_gate_up_weights, both);
  MEMBER(kaio_gate_up_weights, gate);
  MEMBER(kaio_gate_up_weights, up);
  SIZE(kaio_qkv_outputs);
  MEMBER(kaio_qkv_outputs, size);
  MEMBER(kaio_qkv_outputs, reserved_4);
  MEMBER(kaio_qkv_outputs, q);
  MEMBER(kaio_qkv_outputs, k);
  MEMBER(kaio_qkv_outputs, v);
  MEMBER(kaio_qkv_outputs, cache);
  SIZE(kaio_x_norm);
  MEMBER(kaio_x_norm, size);
  MEMBER(kaio_x_norm, epsilon);
  MEMBER(kaio_x_norm, weight_offset);
  MEMBER(kaio_x_norm, reserved_12);
  MEMBER(kaio_x_norm, weight);
  MEMBER(kaio_x_norm, residual);
  MEMBER(kaio_x_norm, residual_out);
  SIZE(kaio_qkv_rotary);
  MEMBER(kaio_qkv_rotary, size);
  MEMBER(kaio_qkv_rotary, interleaved);
  MEMBER(kaio_qkv_rotary, cos);
  MEMBER(kaio_qkv_rotary, sin);
  MEMBER(kaio_qkv_rotary, positions);
  MEMBER(kaio_qkv_rotary, offsets);
  SIZE(kaio_qkv_project_options);
  MEMBER(kaio_qkv_project_options, size);
  MEMBER(kaio_qkv_project_options, epsilon);
  MEMBER(kaio_qkv_project_options, norm_offset);
  MEMBER(kaio_qkv_project_options, q_scale);
  MEMBER(kaio_qkv_project_options, constant);
  MEMBER(kaio_qkv_project_options, splits);
  MEMBER(kaio_qkv_project_options, exact_weights);
  MEMBER(kaio_qkv_project_options, reserved_28);
  MEMBER(kaio_qkv_project_options, q_bias);
  MEMBER(kaio_qkv_project_options, k_bias);
  MEMBER(kaio_qkv_project_options, v_bias);
  MEMBER(kaio_qkv_project_options, q_norm);
  MEMBER(kaio_qkv_project_options, k_norm);
  MEMBER(kaio_qkv_project_options, x_norm);
  MEMBER(kaio_qkv_project_options, rotary);
  MEMBER(kaio_qkv_project_options, cu_seqlens);
  MEMBER(kaio_qkv_project_options, slots);
  MEMBER(kaio_qkv_project_options, k_scale);
  MEMBER(kaio_qkv_project_options, v_scale);
  MEMBER(kaio_qkv_project_options, k_scale_out);
  MEMBER(kaio_qkv_project_options, v_scale_out);
  MEMBER(kaio_qkv_project_options, x_scale);
  MEMBER(kaio_qkv_project_options, x_groups);
  MEMBER(kaio_qkv_project_options, workspace);
  MEMBER(kaio_qkv_project_options, variant);
  SIZE(kaio_gate_up_project_options);
  MEMBER(kaio_gate_up_project_options, size);
  MEMBER(kaio_gate_up_project_options, activation);
  MEMBER(kaio_gate_up_project_options, constant);
  MEMBER(kaio_gate_up_project_options, exact_weights);
  MEMBER(kaio_gate_up_project_options, gate_bias);
  MEMBER(kaio_gate_up_project_options, up_bias);
  MEMBER(kaio_gate_up_project_options, x_norm);
  MEMBER(kaio_gate_up_project_options, x_scale);
  MEMBER(kaio_gate_up_project_options, x_groups);
  MEMBER(kaio_gate_up_project_options, workspace);
  MEMBER(kaio_gate_up_project_options, variant);
  SIZE(kaio_qk_norm_rotary_options);
  MEMBER(kaio_qk_norm_rotary_options, size);
  MEMBER(kaio_qk_norm_rotary_options, reserved_4);
  MEMBER(kaio_qk_norm_rotary_options, q_norm);
  MEMBER(kaio_qk_norm_rotary_options, k_norm);
  MEMBER(kaio_qk_norm_rotary_options, epsilon);
  MEMBER(kaio_qk_norm_rotary_options, weight_offset);
  MEMBER(kaio_qk_norm_rotary_options, cos);
  MEMBER(kaio_qk_norm_rotary_options, sin);
  MEMBER(kaio_qk_norm_rotary_options, rotary);
  SIZE(kaio_reduce_options);
  MEMBER(kaio_reduce_options, size);
  MEMBER(kaio_reduce_options, reserved_4);
  MEMBER(kaio_reduce_options, axis);
  MEMBER(kaio_reduce_options, all);
  MEMBER(kaio_reduce_options, reserved_20);
  MEMBER(kaio_reduce_options, workspace);
  SIZE(kaio_scan_options);
  MEMBER(kaio_scan_options, size);
  MEMBER(kaio_scan_options, exclusive);
  MEMBER(kaio_scan_options, workspace);
  SIZE(kaio_histogram_options);
  MEMBER(kaio_histogram_options, size);
  MEMBER(kaio_histogram_options, reserved_4);
  MEMBER(kaio_histogram_options, first);
  MEMBER(kaio_histogram_options, low);
  MEMBER(kaio_histogram_options, high);
  MEMBER(kaio_histogram_options, accumulate);
  MEMBER(kaio_histogram_options, reserved_28);
  MEMBER(kaio_histogram_options, outside);
  SIZE(kaio_gptq_w4);
  MEMBER(kaio_gptq_w4, size);
  MEMBER(kaio_gptq_w4, reserved_4);
  MEMBER(kaio_gptq_w4, qweight);
  MEMBER(kaio_gptq_w4, scales);
  MEMBER(kaio_gptq_w4, qzeros);
  MEMBER(kaio_gptq_w4, g_idx);
  MEMBER(kaio_gptq_w4, v2);
  MEMBER(kaio_gptq_w4, reserved_44);
  MEMBER(kaio_gptq_w4, bits);
  SIZE(kaio_awq_w4);
  MEMBER(kaio_awq_w4, size);
  MEMBER(kaio_awq_w4, reserved_4);
  MEMBER(kaio_awq_w4, qweight);
  MEMBER(kaio_awq_w4, qzeros);
  MEMBER(kaio_awq_w4, scales);
  SIZE(kaio_compressed_tensors_w4);
  MEMBER(kaio_compressed_tensors_w4, size);
  MEMBER(kaio_compressed_tensors_w4, reserved_4);
  MEMBER(kaio_compressed_tensors_w4, weight_packed);
  MEMBER(kaio_compressed_tensors_w4, weight_scale);
  MEMBER(kaio_compressed_tensors_w4, weight_zero_point);
  MEMBER(kaio_compressed_tensors_w4, weight_g_idx);
  MEMBER(kaio_compressed_tensors_w4, bits);
  SIZE(kaio_bitsandbytes_w4);
  MEMBER(kaio_bitsandbytes_w4, size);
  MEMBER(kaio_bitsandbytes_w4, reserved_4);
  MEMBER(kaio_bitsandbytes_w4, weight);
  MEMBER(kaio_bitsandbytes_w4, absmax);
  MEMBER(kaio_bitsandbytes_w4, absmax_codes);
  MEMBER(kaio_bitsandbytes_w4, nested_quant_map);
  MEMBER(kaio_bitsandbytes_w4, nested_absmax);
  MEMBER(kaio_bitsandbytes_w4, nested_offset);
  MEMBER(kaio_bitsandbytes_w4, reserved_52);
  MEMBER(kaio_bitsandbytes_w4, nested_blocksize);
  SIZE(kaio_mxfp4_w4);
  MEMBER(kaio_mxfp4_w4, size);
  MEMBER(kaio_mxfp4_w4, reserved_4);
  MEMBER(kaio_mxfp4_w4, blocks);
  MEMBER(kaio_mxfp4_w4, scales);
  SIZE(kaio_nvfp4_w4);
  MEMBER(kaio_nvfp4_w4, size);
  MEMBER(kaio_nvfp4_w4, reserved_4);
  MEMBER(kaio_nvfp4_w4, weight);
  MEMBER(kaio_nvfp4_w4, scales);
  MEMBER(kaio_nvfp4_w4, tensor_scale);
  MEMBER(kaio_nvfp4_w4, divides);
  MEMBER(kaio_nvfp4_w4, reserved_36);
  SIZE(kaio_int4_w4);
  MEMBER(kaio_int4_w4, size);
  MEMBER(kaio_int4_w4, reserved_4);
  MEMBER(kaio_int4_w4, packed);
  MEMBER(kaio_int4_w4, scales);
  SIZE(kaio_awq_gemv_w4);
  MEMBER(kaio_awq_gemv_w4, size);
  MEMBER(kaio_awq_gemv_w4, reserved_4);
  MEMBER(kaio_awq_gemv_w4, qweight);
  MEMBER(kaio_awq_gemv_w4, qzeros);
  MEMBER(kaio_awq_gemv_w4, scales);
  SIZE(kaio_awq_gemv_fast_w4);
  MEMBER(kaio_awq_gemv_fast_w4, size);
  MEMBER(kaio_awq_gemv_fast_w4, reserved_4);
  MEMBER(kaio_awq_gemv_fast_w4, qweight);
  MEMBER(kaio_awq_gemv_fast_w4, scales);
  MEMBER(kaio_awq_gemv_fast_w4, qzeros);
  SIZE(kaio_marlin_w4);
  MEMBER(kaio_marlin_w4, size);
  MEMBER(kaio_marlin_w4, reserved_4);
  MEMBER(kaio_marlin_w4, b);
  MEMBER(kaio_marlin_w4, scales);
  MEMBER(kaio_marlin_w4, zeros);
  SIZE(kaio_tinygemm_w4);
  MEMBER(kaio_tinygemm_w4, size);
  MEMBER(kaio_tinygemm_w4, reserved_4);
  MEMBER(kaio_tinygemm_w4, packed);
  MEMBER(kaio_tinygemm_w4, scales_and_zeros);
  SIZE(kaio_torchao_int4_w4);
  MEMBER(kaio_torchao_int4_w4, size);
  MEMBER(kaio_torchao_int4_w4, reserved_4);
  MEMBER(kaio_torchao_int4_w4, qdata);
  MEMBER(kaio_torchao_int4_w4, scale);
  MEMBER(kaio_torchao_int4_w4, zero_point);
  SIZE(kaio_int8_w8);
  MEMBER(kaio_int8_w8, size);
  MEMBER(kaio_int8_w8, reserved_4);
  MEMBER(kaio_int8_w8, weight);
  MEMBER(kaio_int8_w8, scales);
  MEMBER(kaio_int8_w8, zero_points);
  SIZE(kaio_llm_int8_w8);
  MEMBER(kaio_llm_int8_w8, size);
  MEMBER(kaio_llm_int8_w8, reserved_4);
  MEMBER(kaio_llm_int8_w8, weight);
  MEMBER(kaio_llm_int8_w8, scb);
  SIZE(kaio_gptq_w8);
  MEMBER(kaio_gptq_w8, size);
  MEMBER(kaio_gptq_w8, reserved_4);
  MEMBER(kaio_gptq_w8, qweight);
  MEMBER(kaio_gptq_w8, scales);
  MEMBER(kaio_gptq_w8, qzeros);
  MEMBER(kaio_gptq_w8, g_idx);
  MEMBER(kaio_gptq_w8, v2);
  MEMBER(kaio_gptq_w8, reserved_44);
  SIZE(kaio_compressed_tensors_w8);
  MEMBER(kaio_compressed_tensors_w8, size);
  MEMBER(kaio_compressed_tensors_w8, reserved_4);
  MEMBER(kaio_compressed_tensors_w8, weight_packed);
  MEMBER(kaio_compressed_tensors_w8, weight_scale);
  MEMBER(kaio_compressed_tensors_w8, weight_zero_point);
  MEMBER(kaio_compressed_tensors_w8, weight_g_idx);
  SIZE(kaio_q8_0_w8);
  MEMBER(kaio_q8_0_w8, size);
  MEMBER(kaio_q8_0_w8, reserved_4);
  MEMBER(kaio_q8_0_w8, blocks);
  SIZE(kaio_e4m3_w8);
  MEMBER(kaio_e4m3_w8, size);
  MEMBER(kaio_e4m3_w8, reserved_4);
  MEMBER(kaio_e4m3_w8, weight);
  MEMBER(kaio_e4m3_w8, scales);
  SIZE(kaio_marlin_w8);
  MEMBER(kaio_marlin_w8, size);
  MEMBER(kaio_marlin_w8, reserved_4);
  MEMBER(kaio_marlin_w8, b);
  MEMBER(kaio_marlin_w8, scales);
  SIZE(kaio_sample_options);
  MEMBER(kaio_sample_options, size);
  MEMBER(kaio_sample_options, reserved_4);
  MEMBER(kaio_sample_options, seed);
  MEMBER(kaio_sample_options, offset);
  MEMBER(kaio_sample_options, offset_out);
  MEMBER(kaio_sample_options, temperature);
  MEMBER(kaio_sample_options, top_k);
  MEMBER(kaio_sample_options, top_p);
  MEMBER(kaio_sample_options, min_p);
  MEMBER(kaio_sample_options, temperatures);
  MEMBER(kaio_sample_options, top_ks);
  MEMBER(kaio_sample_options, top_ps);
  MEMBER(kaio_sample_options, min_ps);
  MEMBER(kaio_sample_options, logprobs);
  MEMBER(kaio_sample_options, lse);
  MEMBER(kaio_sample_options, invalid_rows);
  SIZE(kaio_topk_router_options);
  MEMBER(kaio_topk_router_options, size);
  MEMBER(kaio_topk_router_options, score);
  MEMBER(kaio_topk_router_options, bias);
  MEMBER(kaio_topk_router_options, groups);
  MEMBER(kaio_topk_router_options, kept_groups);
  MEMBER(kaio_topk_router_options, group_by_best_two);
  MEMBER(kaio_topk_router_options, renormalise);
  MEMBER(kaio_topk_router_options, factor);
  MEMBER(kaio_topk_router_options, reserved_36);
  SIZE(kaio_sort_by_expert_options);
  MEMBER(kaio_sort_by_expert_options, size);
  MEMBER(kaio_sort_by_expert_options, reserved_4);
  MEMBER(kaio_sort_by_expert_options, counts);
  MEMBER(kaio_sort_by_expert_options, tokens);
  MEMBER(kaio_sort_by_expert_options, positions);
  MEMBER(kaio_sort_by_expert_options, workspace);
  SIZE(kaio_combine_experts_options);
  MEMBER(kaio_combine_experts_options, size);
  MEMBER(kaio_combine_experts_options, accumulate);
  SIZE(kaio_kernel_choice);
  MEMBER(kaio_kernel_choice, size);
  MEMBER(kaio_kernel_choice, splits);
  MEMBER(kaio_kernel_choice, in_cluster);
  MEMBER(kaio_kernel_choice, reserved_12);
  MEMBER(kaio_kernel_choice, name);
  SIZE(kaio_tune_options);
  MEMBER(kaio_tune_options, size);
  MEMBER(kaio_tune_options, repetitions);
  MEMBER(kaio_tune_options, remember);
  MEMBER(kaio_tune_options, use_files);
  SIZE(kaio_tune_report);
  MEMBER(kaio_tune_report, size);
  MEMBER(kaio_tune_report, saved);
  MEMBER(kaio_tune_report, seconds);
  MEMBER(kaio_tune_report, seconds_before);
  MEMBER(kaio_tune_report, variant);
  MEMBER(kaio_tune_report, variant_before);
  SIZE(kaio_device_properties);
  MEMBER(kaio_device_properties, size);
  MEMBER(kaio_device_properties, ordinal);
  MEMBER(kaio_device_properties, emulator);
  MEMBER(kaio_device_properties, sm);
  MEMBER(kaio_device_properties, arch_specific);
  MEMBER(kaio_device_properties, multiprocessors);
  MEMBER(kaio_device_properties, max_threads_per_block);
  MEMBER(kaio_device_properties, max_blocks_per_cluster);
  MEMBER(kaio_device_properties, shared_per_block_optin);
  MEMBER(kaio_device_properties, shared_per_multiprocessor);
  MEMBER(kaio_device_properties, l2_bytes);
  MEMBER(kaio_device_properties, driver_version);
  MEMBER(kaio_device_properties, total_memory);
  MEMBER(kaio_device_properties, name);
  SIZE(kaio_softmax_options);
  MEMBER(kaio_softmax_options, size);
  MEMBER(kaio_softmax_options, scale);
  MEMBER(kaio_softmax_options, lse);
  SIZE(kaio_softmax_backward_options);
  MEMBER(kaio_softmax_backward_options, size);
  MEMBER(kaio_softmax_backward_options, scale);
  SIZE(kaio_bnb_nested);
  MEMBER(kaio_bnb_nested, size);
  MEMBER(kaio_bnb_nested, reserved_4);
  MEMBER(kaio_bnb_nested, absmax);
  MEMBER(kaio_bnb_nested, nested_absmax);
  MEMBER(kaio_bnb_nested, nested_quant_map);
  MEMBER(kaio_bnb_nested, offset);
  MEMBER(kaio_bnb_nested, reserved_36);
  MEMBER(kaio_bnb_nested, blocksize);
  SIZE(kaio_bnb_4bit);
  MEMBER(kaio_bnb_4bit, size);
  MEMBER(kaio_bnb_4bit, code);
  MEMBER(kaio_bnb_4bit, weight);
  MEMBER(kaio_bnb_4bit, absmax);
  MEMBER(kaio_bnb_4bit, blocksize);
  MEMBER(kaio_bnb_4bit, nested);
  SIZE(kaio_bnb_int8);
  MEMBER(kaio_bnb_int8, size);
  MEMBER(kaio_bnb_int8, reserved_4);
  MEMBER(kaio_bnb_int8, weight);
  MEMBER(kaio_bnb_int8, SCB);
  SIZE(kaio_scaled_bytes);
  MEMBER(kaio_scaled_bytes, size);
  MEMBER(kaio_scaled_bytes, reserved_4);
  MEMBER(kaio_scaled_bytes, weight);
  MEMBER(kaio_scaled_bytes, scale);
  MEMBER(kaio_scaled_bytes, block_rows);
  MEMBER(kaio_scaled_bytes, block_columns);
  SIZE(kaio_mxfp4_tensors);
  MEMBER(kaio_mxfp4_tensors, size);
  MEMBER(kaio_mxfp4_tensors, reserved_4);
  MEMBER(kaio_mxfp4_tensors, packed);
  MEMBER(kaio_mxfp4_tensors, scales);
  SIZE(kaio_nvfp4_tensors);
  MEMBER(kaio_nvfp4_tensors, size);
  MEMBER(kaio_nvfp4_tensors, reserved_4);
  MEMBER(kaio_nvfp4_tensors, packed);
  MEMBER(kaio_nvfp4_tensors, scales);
  MEMBER(kaio_nvfp4_tensors, global);
  MEMBER(kaio_nvfp4_tensors, divide);
  MEMBER(kaio_nvfp4_tensors, reserved_36);
  SIZE(kaio_bnb_4bit_output);
  MEMBER(kaio_bnb_4bit_output, size);
  MEMBER(kaio_bnb_4bit_output, code);
  MEMBER(kaio_bnb_4bit_output, weight);
  MEMBER(kaio_bnb_4bit_output, absmax);
  MEMBER(kaio_bnb_4bit_output, blocksize);
  SIZE(kaio_mxfp4_output);
  MEMBER(kaio_mxfp4_output, size);
  MEMBER(kaio_mxfp4_output, reserved_4);
  MEMBER(kaio_mxfp4_output, packed);
  MEMBER(kaio_mxfp4_output, scales);
  SIZE(kaio_nvfp4_output);
  MEMBER(kaio_nvfp4_output, size);
  MEMBER(kaio_nvfp4_output, reserved_4);
  MEMBER(kaio_nvfp4_output, packed);
  MEMBER(kaio_nvfp4_output, scales);
  MEMBER(kaio_nvfp4_output, global);
  SIZE(kaio_w4_output);
  MEMBER(kaio_w4_output, size);
  MEMBER(kaio_w4_output, reserved_4);
  MEMBER(kaio_w4_output, weight_packed);
  MEMBER(kaio_w4_output, weight_scale);
  MEMBER(kaio_w4_output, weight_zero_point);
  MEMBER(kaio_w4_output, group);
  SIZE(kaio_weights_info);
  MEMBER(kaio_weights_info, size);
  MEMBER(kaio_weights_info, kind);
  MEMBER(kaio_weights_info, version);
  MEMBER(kaio_weights_info, alignment);
  MEMBER(kaio_weights_info, tensors);
  MEMBER(kaio_weights_info, metadata);
  MEMBER(kaio_weights_info, files);
  SIZE(kaio_weights_tensor);
  MEMBER(kaio_weights_tensor, size);
  MEMBER(kaio_weights_tensor, format);
  MEMBER(kaio_weights_tensor, name);
  MEMBER(kaio_weights_tensor, name_bytes);
  MEMBER(kaio_weights_tensor, rank);
  MEMBER(kaio_weights_tensor, has_values);
  MEMBER(kaio_weights_tensor, shape);
  MEMBER(kaio_weights_tensor, elements);
  MEMBER(kaio_weights_tensor, data);
  MEMBER(kaio_weights_tensor, bytes);
  MEMBER(kaio_weights_tensor, tensor);
  MEMBER(kaio_weights_tensor, format_name);
  MEMBER(kaio_weights_tensor, operation);
  MEMBER(kaio_weights_tensor, block_elements);
  MEMBER(kaio_weights_tensor, block_bytes);
  MEMBER(kaio_weights_tensor, file);
  MEMBER(kaio_weights_tensor, offset);
  MEMBER(kaio_weights_tensor, type);
  MEMBER(kaio_weights_tensor, reserved_116);
  SIZE(kaio_weights_value);
  MEMBER(kaio_weights_value, size);
  MEMBER(kaio_weights_value, type);
  MEMBER(kaio_weights_value, element);
  MEMBER(kaio_weights_value, boolean);
  MEMBER(kaio_weights_value, key);
  MEMBER(kaio_weights_value, key_bytes);
  MEMBER(kaio_weights_value, count);
  MEMBER(kaio_weights_value, text);
  MEMBER(kaio_weights_value, text_bytes);
  MEMBER(kaio_weights_value, data);
  MEMBER(kaio_weights_value, bytes);
  MEMBER(kaio_weights_value, has_number);
  MEMBER(kaio_weights_value, has_integer);
  MEMBER(kaio_weights_value, has_natural);
  MEMBER(kaio_weights_value, reserved_84);
  MEMBER(kaio_weights_value, number);
  MEMBER(kaio_weights_value, integer);
  MEMBER(kaio_weights_value, natural);
  SIZE(kaio_weights_layers_info);
  MEMBER(kaio_weights_layers_info, size);
  MEMBER(kaio_weights_layers_info, has_config);
  MEMBER(kaio_weights_layers_info, layers);
  MEMBER(kaio_weights_layers_info, method);
  MEMBER(kaio_weights_layers_info, format);
  MEMBER(kaio_weights_layers_info, bits);
  MEMBER(kaio_weights_layers_info, has_group);
  MEMBER(kaio_weights_layers_info, group);
  MEMBER(kaio_weights_layers_info, act_order);
  MEMBER(kaio_weights_layers_info, symmetric);
  MEMBER(kaio_weights_layers_info, block_rows);
  MEMBER(kaio_weights_layers_info, block_columns);
  MEMBER(kaio_weights_layers_info, inverse_scales);
  MEMBER(kaio_weights_layers_info, per_layer);
  SIZE(kaio_weights_layer);
  MEMBER(kaio_weights_layer, size);
  MEMBER(kaio_weights_layer, scheme);
  MEMBER(kaio_weights_layer, scheme_name);
  MEMBER(kaio_weights_layer, name);
  MEMBER(kaio_weights_layer, n);
  MEMBER(kaio_weights_layer, k);
  MEMBER(kaio_weights_layer, group);
  MEMBER(kaio_weights_layer, block_rows);
  MEMBER(kaio_weights_layer, block_columns);
  MEMBER(kaio_weights_layer, nested_group);
  MEMBER(kaio_weights_layer, nested_offset);
  MEMBER(kaio_weights_layer, bits);
  MEMBER(kaio_weights_layer, act_order);
  MEMBER(kaio_weights_layer, swizzled);
  MEMBER(kaio_weights_layer, problem);
  MEMBER(kaio_weights_layer, operation);
  MEMBER(kaio_weights_layer, obstacle);
  MEMBER(kaio_weights_layer, parts);
  SIZE(kaio_weights_layer_part);
  MEMBER(kaio_weights_layer_part, size);
  MEMBER(kaio_weights_layer_part, part);
  MEMBER(kaio_weights_layer_part, part_name);
  MEMBER(kaio_weights_layer_part, tensor);
}

static void constants(void) {
  CONSTANT(kDLCPU);
  CONSTANT(kDLCUDA);
  CONSTANT(kDLCUDAHost);
  CONSTANT(kDLExtDev);
  CONSTANT(kDLCUDAManaged);
  CONSTANT(kDLInt);
  CONSTANT(kDLUInt);
  CONSTANT(kDLFloat);
  CONSTANT(kDLBfloat);
  CONSTANT(kDLBool);
  CONSTANT(kDLFloat8_e4m3fn);
  CONSTANT(kDLFloat8_e5m2);
  CONSTANT(kDLFloat8_e8m0fnu);
  CONSTANT(KAIO_OK);
  CONSTANT(KAIO_INVALID_ARGUMENT);
  CONSTANT(KAIO_UNSUPPORTED_DEVICE);
  CONSTANT(KAIO_DRIVER);
  CONSTANT(KAIO_OUT_OF_MEMORY);
  CONSTANT(KAIO_INTERNAL);
  CONSTANT(KAIO_DRIVER_MISSING);
  CONSTANT(KAIO_NO_DEVICE);
  CONSTANT(KAIO_JIT_FAILED);
  CONSTANT(KAIO_LAUNCH_FAILED);
  CONSTANT(KAIO_ILLEGAL_ACCESS);
  CONSTANT(KAIO_DEVICE_LOST);
  CONSTANT(KAIO_STREAM_CAPTURING);
  CONSTANT(KAIO_DEVICE_ASSERT);
  CONSTANT(KAIO_LAUNCH_TIMEOUT);
  CONSTANT(KAIO_CANCELLED);
  CONSTANT(KAIO_UNREADABLE_FILE);
  CONSTANT(KAIO_DAMAGED_FILE);
  CONSTANT(KAIO_UNSUPPORTED_FORMAT);
  CONSTANT(KAIO_COMMUNICATION_FAILED);
  CONSTANT(KAIO_ACCESS_VALUE);
  CONSTANT(KAIO_ACCESS_IN);
  CONSTANT(KAIO_ACCESS_OUT);
  CONSTANT(KAIO_ACCESS_INOUT);
  CONSTANT(KAIO_GRID_UNIT_BLOCKS);
  CONSTANT(KAIO_GRID_UNIT_ELEMENTS);
  CONSTANT(KAIO_ARGUMENT_KIND_TENSOR);
  CONSTANT(KAIO_ARGUMENT_KIND_STRIDED);
  CONSTANT(KAIO_ARGUMENT_KIND_SCALAR);
  CONSTANT(KAIO_ARGUMENT_KIND_INTEGER);
  CONSTANT(KAIO_ARGUMENT_KIND_UNSIGNED);
  CONSTANT(KAIO_ARGUMENT_KIND_NUMBER);
  CONSTANT(KAIO_ARGUMENT_KIND_STRUCT);
  CONSTANT(KAIO_ABI_MAJOR);
  CONSTANT(KAIO_ABI_MINOR);
  CONSTANT(KAIO_CAUSAL_ALIGNMENT_NONE);
  CONSTANT(KAIO_CAUSAL_ALIGNMENT_TOP_LEFT);
  CONSTANT(KAIO_CAUSAL_ALIGNMENT_BOTTOM_RIGHT);
  CONSTANT(KAIO_ATTENTION_PRECISION_IEEE);
  CONSTANT(KAIO_ATTENTION_PRECISION_TF32);
  CONSTANT(KAIO_ATTENTION_COMBINING_AUTOMATIC);
  CONSTANT(KAIO_ATTENTION_COMBINING_SECOND_KERNEL);
  CONSTANT(KAIO_ATTENTION_COMBINING_CLUSTER);
  CONSTANT(KAIO_ROTARY_SCALING_KIND_NONE);
  CONSTANT(KAIO_ROTARY_SCALING_KIND_LINEAR);
  CONSTANT(KAIO_ROTARY_SCALING_KIND_DYNAMIC);
  CONSTANT(KAIO_ROTARY_SCALING_KIND_YARN);
  CONSTANT(KAIO_ROTARY_SCALING_KIND_LONGROPE);
  CONSTANT(KAIO_ROTARY_SCALING_KIND_LLAMA3);
  CONSTANT(KAIO_ROTARY_SCALING_KIND_PROPORTIONAL);
  CONSTANT(KAIO_LOSS_REDUCTION_NONE);
  CONSTANT(KAIO_LOSS_REDUCTION_SUM);
  CONSTANT(KAIO_LOSS_REDUCTION_MEAN);
  CONSTANT(KAIO_CONTEXT_LAYOUT_CONTIGUOUS);
  CONSTANT(KAIO_CONTEXT_LAYOUT_ZIGZAG);
  CONSTANT(KAIO_ACTIVATION_SILU);
  CONSTANT(KAIO_ACTIVATION_GELU);
  CONSTANT(KAIO_ACTIVATION_GELU_TANH);
  CONSTANT(KAIO_ACTIVATION_GELU_SIGMOID);
  CONSTANT(KAIO_ACTIVATION_RELU);
  CONSTANT(KAIO_ACTIVATION_RELU2);
  CONSTANT(KAIO_MATMUL_ACTIVATION_NONE);
  CONSTANT(KAIO_MATMUL_ACTIVATION_RELU);
  CONSTANT(KAIO_MATMUL_ACTIVATION_GELU);
  CONSTANT(KAIO_MATMUL_ACTIVATION_GELU_TANH);
  CONSTANT(KAIO_MATMUL_ACTIVATION_SILU);
  CONSTANT(KAIO_MATMUL_PRECISION_IEEE);
  CONSTANT(KAIO_MATMUL_PRECISION_TF32);
  CONSTANT(KAIO_MATMUL_PRECISION_TF32X3);
  CONSTANT(KAIO_NORM_CASTING_GEMMA);
  CONSTANT(KAIO_NORM_CASTING_LLAMA);
  CONSTANT(KAIO_W4_CODES_INT4);
  CONSTANT(KAIO_W4_CODES_NF4);
  CONSTANT(KAIO_W4_CODES_FP4);
  CONSTANT(KAIO_W4_CODES_E2M1);
  CONSTANT(KAIO_W4_SCALE_TYPE_F16);
  CONSTANT(KAIO_W4_SCALE_TYPE_BF16);
  CONSTANT(KAIO_W4_SCALE_TYPE_F32);
  CONSTANT(KAIO_W4_SCALE_TYPE_E8M0);
  CONSTANT(KAIO_W4_SCALE_TYPE_E4M3);
  CONSTANT(KAIO_W8_CODES_INT8);
  CONSTANT(KAIO_W8_CODES_E4M3);
  CONSTANT(KAIO_GATHER_SCHEDULE_LAUNCHES);
  CONSTANT(KAIO_GATHER_SCHEDULE_ONE_LAUNCH);
  CONSTANT(KAIO_POOL_KIND_STREAM_ORDERED);
  CONSTANT(KAIO_POOL_KIND_CACHING);
  CONSTANT(KAIO_REDUCTION_SUM);
  CONSTANT(KAIO_REDUCTION_MEAN);
  CONSTANT(KAIO_REDUCTION_MAX);
  CONSTANT(KAIO_REDUCTION_MIN);
  CONSTANT(KAIO_ROUTER_SCORE_SOFTMAX);
  CONSTANT(KAIO_ROUTER_SCORE_SIGMOID);
  CONSTANT(KAIO_CONSTANT_INPUTS_NONE);
  CONSTANT(KAIO_CONSTANT_INPUTS_A);
  CONSTANT(KAIO_CONSTANT_INPUTS_B);
  CONSTANT(KAIO_CONSTANT_INPUTS_WEIGHTS);
  CONSTANT(KAIO_CONSTANT_INPUTS_BOTH);
  CONSTANT(KAIO_CONSTANT_INPUTS_INDICES);
  CONSTANT(KAIO_BLOCK_FORMAT_Q4_0);
  CONSTANT(KAIO_BLOCK_FORMAT_Q4_1);
  CONSTANT(KAIO_BLOCK_FORMAT_Q5_0);
  CONSTANT(KAIO_BLOCK_FORMAT_Q5_1);
  CONSTANT(KAIO_BLOCK_FORMAT_Q8_0);
  CONSTANT(KAIO_BLOCK_FORMAT_Q2_K);
  CONSTANT(KAIO_BLOCK_FORMAT_Q3_K);
  CONSTANT(KAIO_BLOCK_FORMAT_Q4_K);
  CONSTANT(KAIO_BLOCK_FORMAT_Q5_K);
  CONSTANT(KAIO_BLOCK_FORMAT_Q6_K);
  CONSTANT(KAIO_BLOCK_FORMAT_IQ4_NL);
  CONSTANT(KAIO_BLOCK_FORMAT_IQ4_XS);
  CONSTANT(KAIO_BLOCK_FORMAT_MXFP4);
  CONSTANT(KAIO_BLOCK_FORMAT_NVFP4);
  CONSTANT(KAIO_BLOCK_OPERATION_NONE);
  CONSTANT(KAIO_BLOCK_OPERATION_MATMUL_W4);
  CONSTANT(KAIO_BLOCK_OPERATION_MATMUL_W8);
  CONSTANT(KAIO_BNB_CODE_NF4);
  CONSTANT(KAIO_BNB_CODE_FP4);
  CONSTANT(KAIO_WEIGHTS_KIND_GGUF);
  CONSTANT(KAIO_WEIGHTS_KIND_SAFETENSORS);
  CONSTANT(KAIO_WEIGHT_FORMAT_F64);
  CONSTANT(KAIO_WEIGHT_FORMAT_F32);
  CONSTANT(KAIO_WEIGHT_FORMAT_F16);
  CONSTANT(KAIO_WEIGHT_FORMAT_BF16);
  CONSTANT(KAIO_WEIGHT_FORMAT_E4M3);
  CONSTANT(KAIO_WEIGHT_FORMAT_E5M2);
  CONSTANT(KAIO_WEIGHT_FORMAT_E4M3FNUZ);
  CONSTANT(KAIO_WEIGHT_FORMAT_E5M2FNUZ);
  CONSTANT(KAIO_WEIGHT_FORMAT_E8M0);
  CONSTANT(KAIO_WEIGHT_FORMAT_C64);
  CONSTANT(KAIO_WEIGHT_FORMAT_BOOLEAN);
  CONSTANT(KAIO_WEIGHT_FORMAT_I64);
  CONSTANT(KAIO_WEIGHT_FORMAT_I32);
  CONSTANT(KAIO_WEIGHT_FORMAT_I16);
  CONSTANT(KAIO_WEIGHT_FORMAT_I8);
  CONSTANT(KAIO_WEIGHT_FORMAT_U64);
  CONSTANT(KAIO_WEIGHT_FORMAT_U32);
  CONSTANT(KAIO_WEIGHT_FORMAT_U16);
  CONSTANT(KAIO_WEIGHT_FORMAT_U8);
  CONSTANT(KAIO_WEIGHT_FORMAT_F4_E2M1);
  CONSTANT(KAIO_WEIGHT_FORMAT_F6_E2M3);
  CONSTANT(KAIO_WEIGHT_FORMAT_F6_E3M2);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q4_0);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q4_1);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q5_0);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q5_1);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q8_0);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q2_K);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q3_K);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q4_K);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q5_K);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q6_K);
  CONSTANT(KAIO_WEIGHT_FORMAT_IQ4_NL);
  CONSTANT(KAIO_WEIGHT_FORMAT_IQ4_XS);
  CONSTANT(KAIO_WEIGHT_FORMAT_MXFP4);
  CONSTANT(KAIO_WEIGHT_FORMAT_NVFP4);
  CONSTANT(KAIO_WEIGHT_FORMAT_IQ1_S);
  CONSTANT(KAIO_WEIGHT_FORMAT_IQ1_M);
  CONSTANT(KAIO_WEIGHT_FORMAT_IQ2_XXS);
  CONSTANT(KAIO_WEIGHT_FORMAT_IQ2_XS);
  CONSTANT(KAIO_WEIGHT_FORMAT_IQ2_S);
  CONSTANT(KAIO_WEIGHT_FORMAT_IQ3_XXS);
  CONSTANT(KAIO_WEIGHT_FORMAT_IQ3_S);
  CONSTANT(KAIO_WEIGHT_FORMAT_TQ1_0);
  CONSTANT(KAIO_WEIGHT_FORMAT_TQ2_0);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q1_0);
  CONSTANT(KAIO_WEIGHT_FORMAT_Q2_0);
  CONSTANT(KAIO_WEIGHT_FORMAT_UNKNOWN);
  CONSTANT(KAIO_WEIGHTS_TYPE_U8);
  CONSTANT(KAIO_WEIGHTS_TYPE_I8);
  CONSTANT(KAIO_WEIGHTS_TYPE_U16);
  CONSTANT(KAIO_WEIGHTS_TYPE_I16);
  CONSTANT(KAIO_WEIGHTS_TYPE_U32);
  CONSTANT(KAIO_WEIGHTS_TYPE_I32);
  CONSTANT(KAIO_WEIGHTS_TYPE_F32);
  CONSTANT(KAIO_WEIGHTS_TYPE_BOOLEAN);
  CONSTANT(KAIO_WEIGHTS_TYPE_STRING);
  CONSTANT(KAIO_WEIGHTS_TYPE_ARRAY);
  CONSTANT(KAIO_WEIGHTS_TYPE_U64);
  CONSTANT(KAIO_WEIGHTS_TYPE_I64);
  CONSTANT(KAIO_WEIGHTS_TYPE_F64);
  CONSTANT(KAIO_WEIGHT_SCHEME_GPTQ);
  CONSTANT(KAIO_WEIGHT_SCHEME_AWQ_GEMM);
  CONSTANT(KAIO_WEIGHT_SCHEME_AWQ_GEMV);
  CONSTANT(KAIO_WEIGHT_SCHEME_AWQ_GEMV_FAST);
  CONSTANT(KAIO_WEIGHT_SCHEME_PACKED_INT);
  CONSTANT(KAIO_WEIGHT_SCHEME_INT8);
  CONSTANT(KAIO_WEIGHT_SCHEME_LLM_INT8);
  CONSTANT(KAIO_WEIGHT_SCHEME_FP8);
  CONSTANT(KAIO_WEIGHT_SCHEME_FP8_BLOCK);
  CONSTANT(KAIO_WEIGHT_SCHEME_NF4);
  CONSTANT(KAIO_WEIGHT_SCHEME_FP4);
  CONSTANT(KAIO_WEIGHT_SCHEME_NVFP4_PACKED);
  CONSTANT(KAIO_WEIGHT_SCHEME_NVFP4_MODELOPT);
  CONSTANT(KAIO_WEIGHT_SCHEME_MXFP4_PACKED);
  CONSTANT(KAIO_WEIGHT_SCHEME_MXFP4_BLOCKS);
  CONSTANT(KAIO_WEIGHT_SCHEME_TORCHAO_INT8);
  CONSTANT(KAIO_WEIGHT_SCHEME_TORCHAO_FP8);
  CONSTANT(KAIO_WEIGHT_SCHEME_TORCHAO_TINYGEMM);
  CONSTANT(KAIO_WEIGHT_SCHEME_TORCHAO_INT4_PLAIN);
  CONSTANT(KAIO_WEIGHT_SCHEME_TORCHAO_NVFP4);
  CONSTANT(KAIO_WEIGHT_SCHEME_TORCHAO_MX);
  CONSTANT(KAIO_WEIGHT_SCHEME_MXFP8);
  CONSTANT(KAIO_WEIGHT_PART_CODES);
  CONSTANT(KAIO_WEIGHT_PART_SCALES);
  CONSTANT(KAIO_WEIGHT_PART_ZERO_POINTS);
  CONSTANT(KAIO_WEIGHT_PART_GROUP_INDEX);
  CONSTANT(KAIO_WEIGHT_PART_SHAPE);
  CONSTANT(KAIO_WEIGHT_PART_GLOBAL_SCALE);
  CONSTANT(KAIO_WEIGHT_PART_INPUT_SCALE);
  CONSTANT(KAIO_WEIGHT_PART_CODE_TABLE);
  CONSTANT(KAIO_WEIGHT_PART_NESTED_SCALES);
  CONSTANT(KAIO_WEIGHT_PART_NESTED_TABLE);
  CONSTANT(KAIO_WEIGHT_PART_STATE);
  CONSTANT(KAIO_WEIGHT_PART_INPUT_FACTORS);
  CONSTANT(KAIO_WEIGHT_PART_UNKNOWN);
}

static void defaults(void) {
  DEFAULT(kaio_kernel_info, sizeof(kaio_kernel_info));
  DEFAULT(kaio_kernel_parameter, sizeof(kaio_kernel_parameter));
  DEFAULT(kaio_kernel_grid, sizeof(kaio_kernel_grid));
  DEFAULT(kaio_block_mask, sizeof(kaio_block_mask));
  DEFAULT(kaio_attention_options, sizeof(kaio_attention_options));
  DEFAULT(kaio_attention_sequences, sizeof(kaio_attention_sequences));
  DEFAULT(kaio_attention_backward_options, sizeof(kaio_attention_backward_options));
  DEFAULT(kaio_attention_append, sizeof(kaio_attention_append));
  DEFAULT(kaio_attention_decode_options, sizeof(kaio_attention_decode_options));
  DEFAULT(kaio_block_mask_output, sizeof(kaio_block_mask_output));
  DEFAULT(kaio_block_mask_options, sizeof(kaio_block_mask_options));
  DEFAULT(kaio_kv_cache, sizeof(kaio_kv_cache));
  DEFAULT(kaio_append_rotary, sizeof(kaio_append_rotary));
  DEFAULT(kaio_append_kv_options, sizeof(kaio_append_kv_options));
  DEFAULT(kaio_gather_kv_options, sizeof(kaio_gather_kv_options));
  DEFAULT(kaio_rotary_options, sizeof(kaio_rotary_options));
  DEFAULT(kaio_rotary_scaling, sizeof(kaio_rotary_scaling));
  DEFAULT(kaio_rotary_sections, sizeof(kaio_rotary_sections));
  DEFAULT(kaio_rotary_table_options, sizeof(kaio_rotary_table_options));
  DEFAULT(kaio_cross_entropy_options, sizeof(kaio_cross_entropy_options));
  DEFAULT(kaio_cross_entropy_backward_options, sizeof(kaio_cross_entropy_backward_options));
  DEFAULT(kaio_linear_cross_entropy_options, sizeof(kaio_linear_cross_entropy_options));
  DEFAULT(kaio_linear_cross_entropy_backward_options, sizeof(kaio_linear_cross_entropy_backward_options));
  DEFAULT(kaio_communicator_options, sizeof(kaio_communicator_options));
  DEFAULT(kaio_communicator_means, sizeof(kaio_communicator_means));
  DEFAULT(kaio_context_attention_options, sizeof(kaio_context_attention_options));
  DEFAULT(kaio_gated_options, sizeof(kaio_gated_options));
  DEFAULT(kaio_embedding_options, sizeof(kaio_embedding_options));
  DEFAULT(kaio_embedding_backward_options, sizeof(kaio_embedding_backward_options));
  DEFAULT(kaio_matmul_options, sizeof(kaio_matmul_options));
  DEFAULT(kaio_matmul_backward_options, sizeof(kaio_matmul_backward_options));
  DEFAULT(kaio_matmul_grouped_options, sizeof(kaio_matmul_grouped_options));
  DEFAULT(kaio_matmul_grouped_backward_options, sizeof(kaio_matmul_grouped_backward_options));
  DEFAULT(kaio_gate_up_grouped_options, sizeof(kaio_gate_up_grouped_options));
  DEFAULT(kaio_matmul_int8_options, sizeof(kaio_matmul_int8_options));
  DEFAULT(kaio_matmul_fp8_options, sizeof(kaio_matmul_fp8_options));
  DEFAULT(kaio_matmul_int8_grouped_options, sizeof(kaio_matmul_int8_grouped_options));
  DEFAULT(kaio_matmul_fp8_grouped_options, sizeof(kaio_matmul_fp8_grouped_options));
  DEFAULT(kaio_rms_norm_options, sizeof(kaio_rms_norm_options));
  DEFAULT(kaio_layer_norm_options, sizeof(kaio_layer_norm_options));
  DEFAULT(kaio_rms_norm_backward_options, sizeof(kaio_rms_norm_backward_options));
  DEFAULT(kaio_layer_norm_backward_options, sizeof(kaio_layer_norm_backward_options));
  DEFAULT(kaio_w4_weights, sizeof(kaio_w4_weights));
  DEFAULT(kaio_w8_weights, sizeof(kaio_w8_weights));
  DEFAULT(kaio_matmul_w4_options, sizeof(kaio_matmul_w4_options));
  DEFAULT(kaio_matmul_w4_grouped_options, sizeof(kaio_matmul_w4_grouped_options));
  DEFAULT(kaio_peer_workspace_options, sizeof(kaio_peer_workspace_options));
  DEFAULT(kaio_matmul_reduce_options, sizeof(kaio_matmul_reduce_options));
  DEFAULT(kaio_pool_options, sizeof(kaio_pool_options));
  DEFAULT(kaio_pool_statistics, sizeof(kaio_pool_statistics));
  DEFAULT(kaio_projection_weight, sizeof(kaio_projection_weight));
  DEFAULT(kaio_qkv_weights, sizeof(kaio_qkv_weights));
  DEFAULT(kaio_gate_up_weights, sizeof(kaio_gate_up_weights));
  DEFAULT(kaio_qkv_outputs, sizeof(kaio_qkv_outputs));
  DEFAULT(kaio_x_norm, sizeof(kaio_x_norm));
  DEFAULT(kaio_qkv_rotary, sizeof(kaio_qkv_rotary));
  DEFAULT(kaio_qkv_project_options, sizeof(kaio_qkv_project_options));
  DEFAULT(kaio_gate_up_project_options, sizeof(kaio_gate_up_project_options));
  DEFAULT(kaio_qk_norm_rotary_options, sizeof(kaio_qk_norm_rotary_options));
  DEFAULT(kaio_reduce_options, sizeof(kaio_reduce_options));
  DEFAULT(kaio_scan_options, sizeof(kaio_scan_options));
  DEFAULT(kaio_histogram_options, sizeof(kaio_histogram_options));
  DEFAULT(kaio_gptq_w4, sizeof(kaio_gptq_w4));
  DEFAULT(kaio_awq_w4, sizeof(kaio_awq_w4));
  DEFAULT(kaio_compressed_tensors_w4, sizeof(kaio_compressed_tensors_w4));
  DEFAULT(kaio_bitsandbytes_w4, sizeof(kaio_bitsandbytes_w4));
  DEFAULT(kaio_mxfp4_w4, sizeof(kaio_mxfp4_w4));
  DEFAULT(kaio_nvfp4_w4, sizeof(kaio_nvfp4_w4));
  DEFAULT(kaio_int4_w4, sizeof(kaio_int4_w4));
  DEFAULT(kaio_awq_gemv_w4, sizeof(kaio_awq_gemv_w4));
  DEFAULT(kaio_awq_gemv_fast_w4, sizeof(kaio_awq_gemv_fast_w4));
  DEFAULT(kaio_marlin_w4, sizeof(kaio_marlin_w4));
  DEFAULT(kaio_tinygemm_w4, sizeof(kaio_tinygemm_w4));
  DEFAULT(kaio_torchao_int4_w4, sizeof(kaio_torchao_int4_w4));
  DEFAULT(kaio_int8_w8, sizeof(kaio_int8_w8));
  DEFAULT(kaio_llm_int8_w8, sizeof(kaio_llm_int8_w8));
  DEFAULT(kaio_gptq_w8, sizeof(kaio_gptq_w8));
  DEFAULT(kaio_compressed_tensors_w8, sizeof(kaio_compressed_tensors_w8));
  DEFAULT(kaio_q8_0_w8, sizeof(kaio_q8_0_w8));
  DEFAULT(kaio_e4m3_w8, sizeof(kaio_e4m3_w8));
  DEFAULT(kaio_marlin_w8, sizeof(kaio_marlin_w8));
  DEFAULT(kaio_sample_options, sizeof(kaio_sample_options));
  DEFAULT(kaio_topk_router_options, sizeof(kaio_topk_router_options));
  DEFAULT(kaio_sort_by_expert_options, sizeof(kaio_sort_by_expert_options));
  DEFAULT(kaio_combine_experts_options, sizeof(kaio_combine_experts_options));
  DEFAULT(kaio_kernel_choice, offsetof(kaio_kernel_choice, name));
  DEFAULT(kaio_tune_options, sizeof(kaio_tune_options));
  DEFAULT(kaio_tune_report, offsetof(kaio_tune_report, variant));
  DEFAULT(kaio_device_properties, offsetof(kaio_device_properties, name));
  DEFAULT(kaio_softmax_options, sizeof(kaio_softmax_options));
  DEFAULT(kaio_softmax_backward_options, sizeof(kaio_softmax_backward_options));
  DEFAULT(kaio_bnb_nested, sizeof(kaio_bnb_nested));
  DEFAULT(kaio_bnb_4bit, sizeof(kaio_bnb_4bit));
  DEFAULT(kaio_bnb_int8, sizeof(kaio_bnb_int8));
  DEFAULT(kaio_scaled_bytes, sizeof(kaio_scaled_bytes));
  DEFAULT(kaio_mxfp4_tensors, sizeof(kaio_mxfp4_tensors));
  DEFAULT(kaio_nvfp4_tensors, sizeof(kaio_nvfp4_tensors));
  DEFAULT(kaio_bnb_4bit_output, sizeof(kaio_bnb_4bit_output));
  DEFAULT(kaio_mxfp4_output, sizeof(kaio_mxfp4_output));
  DEFAULT(kaio_nvfp4_output, sizeof(kaio_nvfp4_output));
  DEFAULT(kaio_w4_output, sizeof(kaio_w4_output));
  DEFAULT(kaio_weights_info, sizeof(kaio_weights_info));
  DEFAULT(kaio_weights_tensor, sizeof(kaio_weights_tensor));
  DEFAULT(kaio_weights_value, sizeof(kaio_weights_value));
  DEFAULT(kaio_weights_layers_info, sizeof(kaio_weights_layers_info));
  DEFAULT(kaio_weights_layer, sizeof(kaio_weights_layer));
  DEFAULT(kaio_weights_layer_part, sizeof(kaio_weights_layer_part));
}

/* The functions have the types that Rust gives them: initialisers of other types are errors. */
struct functions {
  char const* (*kaio_last_error)(void);
  char const* (*kaio_status_name)(kaio_status);
  uint32_t (*kaio_abi_version)(void);
  char const* (*kaio_version)(void);
  kaio_status (*kaio_device_open)(char const*, DLDevice*);
  kaio_status (*kaio_device_close)(DLDevice);
  kaio_status (*kaio_device_count)(int32_t*);
  kaio_status (*kaio_device_properties_of)(DLDevice, kaio_device_properties*);
  kaio_status (*kaio_device_synchronize)(DLDevice);
  kaio_status (*kaio_memory_info)(DLDevice, uint64_t*, uint64_t*);
  kaio_status (*kaio_allocate)(DLDevice, uint64_t, void**);
  kaio_status (*kaio_allocate_uninitialised)(DLDevice, uint64_t, void**);
  kaio_status (*kaio_free)(DLDevice, void*);
  kaio_status (*kaio_allocate_host)(DLDevice, uint64_t, void**);
  kaio_status (*kaio_free_host)(void*);
  kaio_status (*kaio_copy_to_device)(DLDevice, void*, void*, void const*, uint64_t);
  kaio_status (*kaio_copy_to_host)(DLDevice, void*, void*, void const*, uint64_t);
  kaio_status (*kaio_copy_on_device)(DLDevice, void*, void*, void const*, uint64_t);
  kaio_status (*kaio_fill)(DLDevice, void*, void*, uint8_t, uint64_t);
  kaio_status (*kaio_stream_create)(DLDevice, kaio_stream**);
  void* (*kaio_stream_handle)(kaio_stream const*);
  kaio_status (*kaio_stream_destroy)(kaio_stream*);
  kaio_status (*kaio_stream_synchronize)(DLDevice, void*);
  kaio_status (*kaio_stream_is_done)(DLDevice, void*, int32_t*);
  kaio_status (*kaio_event_create)(DLDevice, kaio_event**);
  kaio_status (*kaio_event_destroy)(kaio_event*);
  kaio_status (*kaio_event_record)(kaio_event*, void*);
  kaio_status (*kaio_event_wait)(kaio_event const*, void*);
  kaio_status (*kaio_event_synchronize)(kaio_event const*);
  kaio_status (*kaio_event_is_done)(kaio_event const*, int32_t*);
  kaio_status (*kaio_event_elapsed)(kaio_event const*, kaio_event const*, double*);
  kaio_status (*kaio_capture_begin)(DLDevice, void*, kaio_capture**);
  kaio_status (*kaio_capture_end)(kaio_capture*, kaio_graph**);
  kaio_status (*kaio_graph_launch)(kaio_graph const*, void*);
  kaio_status (*kaio_graph_destroy)(kaio_graph*);
  kaio_status (*kaio_stream_create_with_priority)(DLDevice, int32_t, kaio_stream**);
  kaio_status (*kaio_stream_priorities)(DLDevice, int32_t*, int32_t*);
  kaio_status (*kaio_stream_is_capturing)(DLDevice, void*, int32_t*);
  kaio_status (*kaio_graph_update)(kaio_graph*, kaio_capture*);
  kaio_status (*kaio_graph_upload)(kaio_graph const*, void*);
  kaio_status (*kaio_pool_create)(DLDevice, kaio_pool_options const*, kaio_pool**);
  kaio_status (*kaio_pool_allocate)(kaio_pool*, uint64_t, void*, void**);
  kaio_status (*kaio_pool_allocate_uninitialised)(kaio_pool*, uint64_t, void*, void**);
  kaio_status (*kaio_pool_free)(kaio_pool*, void*, void*);
  kaio_status (*kaio_pool_statistics_of)(kaio_pool const*, kaio_pool_statistics*);
  kaio_status (*kaio_pool_trim)(kaio_pool*, uint64_t);
  kaio_status (*kaio_pool_destroy)(kaio_pool*);
  kaio_status (*kaio_device_can_access)(DLDevice, DLDevice, int32_t*);
  kaio_status (*kaio_device_enable_access)(DLDevice, DLDevice);
  kaio_status (*kaio_device_of_pointer)(void const*, DLDevice*);
  kaio_status (*kaio_copy_between)(DLDevice, void*, DLDevice, void*, DLDevice, void const*, uint64_t);
  kaio_status (*kaio_copy_rows)(DLDevice, void*, void*, uint64_t, void const*, uint64_t, uint64_t, uint64_t);
  kaio_status (*kaio_fill_elements)(DLDevice, void*, void*, uint32_t, uint32_t, uint64_t);
  kaio_status (*kaio_kernel_library_open)(char const*, kaio_kernel_library**);
  kaio_status (*kaio_kernel_library_of_table)(void const*, kaio_kernel_library**);
  kaio_status (*kaio_kernel_library_close)(kaio_kernel_library*);
  char const* (*kaio_kernel_library_version)(kaio_kernel_library const*);
  kaio_status (*kaio_kernel_library_count)(kaio_kernel_library const*, uint64_t*);
  kaio_status (*kaio_kernel_library_at)(kaio_kernel_library const*, uint64_t, kaio_kernel const**);
  kaio_status (*kaio_kernel_library_find)(kaio_kernel_library const*, char const*, kaio_kernel const**);
  kaio_status (*kaio_kernel_info_of)(kaio_kernel const*, kaio_kernel_info*);
  kaio_status (*kaio_kernel_parameter_of)(kaio_kernel const*, uint64_t, kaio_kernel_parameter*);
  kaio_status (*kaio_kernel_ptx)(kaio_kernel const*, char const**);
  kaio_status (*kaio_kernel_launch)(void*, kaio_kernel const*, kaio_kernel_grid const*, kaio_kernel_argument const*, uint64_t);
  kaio_status (*kaio_kernel_warmup)(kaio_kernel const*, DLDevice);
  kaio_status (*kaio_sanitizer_begin)(char const*, uint64_t);
  kaio_status (*kaio_sanitizer_end)(uint64_t*, uint64_t*, char const**);
  kaio_status (*kaio_attention)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_options const*);
  kaio_status (*kaio_attention_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_options const*);
  kaio_status (*kaio_attention_choice)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_attention)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_attention_varlen)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_options const*);
  kaio_status (*kaio_attention_varlen_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_options const*);
  kaio_status (*kaio_attention_varlen_choice)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_attention_varlen)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_merge_states)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_merge_states_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_attention_backward)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_backward_options const*);
  kaio_status (*kaio_attention_backward_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_backward_options const*);
  kaio_status (*kaio_attention_backward_workspace_bytes)(DLTensor const*, DLTensor const*, DLTensor const*, uint64_t*);
  kaio_status (*kaio_attention_backward_choice)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_backward_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_attention_backward_varlen)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_backward_options const*);
  kaio_status (*kaio_attention_backward_varlen_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_backward_options const*);
  kaio_status (*kaio_attention_backward_varlen_workspace_bytes)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_sequences const*, uint64_t*);
  kaio_status (*kaio_attention_backward_varlen_choice)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_backward_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_attention_decode)(void*, DLTensor const*, kaio_kv_cache const*, DLTensor const*, kaio_attention_decode_options const*);
  kaio_status (*kaio_attention_decode_warmup)(DLTensor const*, kaio_kv_cache const*, DLTensor const*, kaio_attention_decode_options const*);
  kaio_status (*kaio_attention_decode_workspace_bytes)(DLTensor const*, kaio_kv_cache const*, kaio_attention_decode_options const*, uint64_t*);
  kaio_status (*kaio_attention_decode_choice)(DLTensor const*, kaio_kv_cache const*, DLTensor const*, kaio_attention_decode_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_attention_decode)(DLTensor const*, kaio_kv_cache const*, DLTensor const*, kaio_attention_decode_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_attention_decode_varlen)(void*, DLTensor const*, kaio_kv_cache const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_decode_options const*);
  kaio_status (*kaio_attention_decode_varlen_warmup)(DLTensor const*, kaio_kv_cache const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_decode_options const*);
  kaio_status (*kaio_attention_decode_varlen_workspace_bytes)(DLTensor const*, kaio_kv_cache const*, kaio_attention_sequences const*, kaio_attention_decode_options const*, uint64_t*);
  kaio_status (*kaio_attention_decode_varlen_choice)(DLTensor const*, kaio_kv_cache const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_decode_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_attention_decode_varlen)(DLTensor const*, kaio_kv_cache const*, DLTensor const*, kaio_attention_sequences const*, kaio_attention_decode_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_make_block_mask)(void*, DLDevice, kaio_block_mask_output const*, kaio_block_mask_options const*);
  kaio_status (*kaio_make_block_mask_warmup)(DLDevice, kaio_block_mask_output const*, kaio_block_mask_options const*);
  kaio_status (*kaio_append_kv)(void*, DLTensor const*, DLTensor const*, kaio_kv_cache const*, kaio_append_kv_options const*);
  kaio_status (*kaio_append_kv_warmup)(DLTensor const*, DLTensor const*, kaio_kv_cache const*, kaio_append_kv_options const*);
  kaio_status (*kaio_append_kv_varlen)(void*, DLTensor const*, DLTensor const*, kaio_kv_cache const*, kaio_append_kv_options const*);
  kaio_status (*kaio_append_kv_varlen_warmup)(DLTensor const*, DLTensor const*, kaio_kv_cache const*, kaio_append_kv_options const*);
  kaio_status (*kaio_gather_kv)(void*, kaio_kv_cache const*, DLTensor const*, DLTensor const*, kaio_gather_kv_options const*);
  kaio_status (*kaio_gather_kv_warmup)(kaio_kv_cache const*, DLTensor const*, DLTensor const*, kaio_gather_kv_options const*);
  kaio_status (*kaio_gather_kv_varlen)(void*, kaio_kv_cache const*, DLTensor const*, DLTensor const*, kaio_gather_kv_options const*);
  kaio_status (*kaio_gather_kv_varlen_warmup)(kaio_kv_cache const*, DLTensor const*, DLTensor const*, kaio_gather_kv_options const*);
  kaio_status (*kaio_copy_pages)(void*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_copy_pages_warmup)(DLTensor const*, DLTensor const*);
  kaio_status (*kaio_rotary)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_rotary_options const*);
  kaio_status (*kaio_rotary_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_rotary_options const*);
  kaio_status (*kaio_rotary_varlen)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_rotary_options const*);
  kaio_status (*kaio_rotary_varlen_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_rotary_options const*);
  kaio_status (*kaio_rotary_table)(void*, DLTensor const*, DLTensor const*, kaio_rotary_table_options const*);
  kaio_status (*kaio_rotary_table_warmup)(DLTensor const*, DLTensor const*, kaio_rotary_table_options const*);
  kaio_status (*kaio_cross_entropy)(void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_cross_entropy_options const*);
  kaio_status (*kaio_cross_entropy_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_cross_entropy_options const*);
  kaio_status (*kaio_cross_entropy_workspace_bytes)(DLTensor const*, uint64_t*);
  kaio_status (*kaio_cross_entropy_backward)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_cross_entropy_backward_options const*);
  kaio_status (*kaio_cross_entropy_backward_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_cross_entropy_backward_options const*);
  kaio_status (*kaio_linear_cross_entropy)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_linear_cross_entropy_options const*);
  kaio_status (*kaio_linear_cross_entropy_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_linear_cross_entropy_options const*);
  kaio_status (*kaio_linear_cross_entropy_workspace_bytes)(DLTensor const*, DLTensor const*, uint64_t*);
  kaio_status (*kaio_linear_cross_entropy_backward)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_linear_cross_entropy_backward_options const*);
  kaio_status (*kaio_linear_cross_entropy_backward_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_linear_cross_entropy_backward_options const*);
  kaio_status (*kaio_linear_cross_entropy_backward_workspace_bytes)(DLTensor const*, DLTensor const*, uint64_t*);
  kaio_status (*kaio_communicators_create)(DLDevice const*, uint64_t, int32_t, kaio_communicator_options const*, kaio_communicator**);
  kaio_status (*kaio_nccl_create_id)(uint8_t*);
  kaio_status (*kaio_communicator_create_nccl)(DLDevice, uint8_t const*, int32_t, int32_t, kaio_communicator_options const*, kaio_communicator**);
  kaio_status (*kaio_communicator_create_program)(DLDevice, kaio_communicator_means const*, int32_t, int32_t, kaio_communicator_options const*, kaio_communicator**);
  kaio_status (*kaio_communicator_destroy)(kaio_communicator*);
  kaio_status (*kaio_communicator_abort)(kaio_communicator const*, char const*);
  kaio_status (*kaio_all_gather)(kaio_communicator const*, void*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_reduce_scatter)(kaio_communicator const*, void*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_communicator_all_reduce)(kaio_communicator const*, void*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_all_to_all)(kaio_communicator const*, void*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_broadcast)(kaio_communicator const*, void*, DLTensor const*, int32_t);
  kaio_status (*kaio_context_attention_workspace_bytes)(kaio_communicator const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_context_attention_options const*, uint64_t*);
  kaio_status (*kaio_context_attention)(kaio_communicator const*, void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_context_attention_options const*);
  kaio_status (*kaio_context_attention_backward_workspace_bytes)(kaio_communicator const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_context_attention_options const*, uint64_t*);
  kaio_status (*kaio_context_attention_backward)(kaio_communicator const*, void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_context_attention_options const*);
  kaio_status (*kaio_activate)(void*, int32_t, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_activate_warmup)(int32_t, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_activate_backward)(void*, int32_t, DLTensor const*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_activate_backward_warmup)(int32_t, DLTensor const*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_gated)(void*, int32_t, DLTensor const*, DLTensor const*, DLTensor const*, kaio_gated_options const*);
  kaio_status (*kaio_gated_warmup)(int32_t, DLTensor const*, DLTensor const*, DLTensor const*, kaio_gated_options const*);
  kaio_status (*kaio_gated_backward)(void*, int32_t, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_gated_options const*);
  kaio_status (*kaio_gated_backward_warmup)(int32_t, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_gated_options const*);
  kaio_status (*kaio_copy_tensor)(void*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_copy_tensor_warmup)(DLTensor const*, DLTensor const*);
  kaio_status (*kaio_int8_dequant)(void*, DLTensor const*, float, DLTensor const*);
  kaio_status (*kaio_int8_dequant_warmup)(DLTensor const*, float, DLTensor const*);
  kaio_status (*kaio_int8_dequant_groups)(void*, DLTensor const*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_int8_dequant_groups_warmup)(DLTensor const*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_embedding)(void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_embedding_options const*);
  kaio_status (*kaio_embedding_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_embedding_options const*);
  kaio_status (*kaio_embedding_backward)(void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_embedding_backward_options const*);
  kaio_status (*kaio_embedding_backward_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_embedding_backward_options const*);
  kaio_status (*kaio_embedding_backward_workspace_bytes)(DLTensor const*, DLTensor const*, uint64_t*);
  kaio_status (*kaio_matmul)(void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_options const*);
  kaio_status (*kaio_matmul_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_options const*);
  kaio_status (*kaio_matmul_workspace_bytes)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_options const*, uint64_t*);
  kaio_status (*kaio_matmul_choice)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_matmul)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_matmul_batch)(void*, size_t, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_options const*);
  kaio_status (*kaio_matmul_batch_warmup)(size_t, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_options const*);
  kaio_status (*kaio_matmul_backward)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_backward_options const*);
  kaio_status (*kaio_matmul_backward_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_backward_options const*);
  kaio_status (*kaio_matmul_backward_workspace_bytes)(DLTensor const*, DLTensor const*, uint64_t*);
  kaio_status (*kaio_matmul_grouped)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_grouped_options const*);
  kaio_status (*kaio_matmul_grouped_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_grouped_options const*);
  kaio_status (*kaio_matmul_grouped_backward)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_grouped_backward_options const*);
  kaio_status (*kaio_matmul_grouped_backward_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_grouped_backward_options const*);
  kaio_status (*kaio_gate_up_grouped)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_gate_up_grouped_options const*);
  kaio_status (*kaio_gate_up_grouped_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_gate_up_grouped_options const*);
  kaio_status (*kaio_matmul_int8)(void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_int8_options const*);
  kaio_status (*kaio_matmul_int8_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_int8_options const*);
  kaio_status (*kaio_matmul_int8_choice)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_int8_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_matmul_int8)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_int8_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_matmul_int8_grouped)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_int8_grouped_options const*);
  kaio_status (*kaio_matmul_int8_grouped_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_int8_grouped_options const*);
  kaio_status (*kaio_matmul_fp8_grouped)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_fp8_grouped_options const*);
  kaio_status (*kaio_matmul_fp8_grouped_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_fp8_grouped_options const*);
  kaio_status (*kaio_int8_column_sums)(void*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_int8_column_sums_warmup)(DLTensor const*, DLTensor const*);
  kaio_status (*kaio_quantise_int8)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, float);
  kaio_status (*kaio_quantise_int8_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, float);
  kaio_status (*kaio_matmul_fp8)(void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_fp8_options const*);
  kaio_status (*kaio_matmul_fp8_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_fp8_options const*);
  kaio_status (*kaio_matmul_fp8_choice)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_fp8_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_matmul_fp8)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_fp8_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_quantise_fp8)(void*, DLTensor const*, DLTensor const*, DLTensor const*, float);
  kaio_status (*kaio_quantise_fp8_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, float);
  kaio_status (*kaio_quantise_fp8_blocks)(void*, DLTensor const*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_quantise_fp8_blocks_warmup)(DLTensor const*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_rms_norm)(void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_rms_norm_options const*);
  kaio_status (*kaio_rms_norm_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_rms_norm_options const*);
  kaio_status (*kaio_rms_norm_codes)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, float, kaio_rms_norm_options const*);
  kaio_status (*kaio_rms_norm_codes_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, float, kaio_rms_norm_options const*);
  kaio_status (*kaio_layer_norm)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_layer_norm_options const*);
  kaio_status (*kaio_layer_norm_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_layer_norm_options const*);
  kaio_status (*kaio_layer_norm_codes)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, float, kaio_layer_norm_options const*);
  kaio_status (*kaio_layer_norm_codes_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, float, kaio_layer_norm_options const*);
  kaio_status (*kaio_rms_norm_backward)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_rms_norm_backward_options const*);
  kaio_status (*kaio_rms_norm_backward_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_rms_norm_backward_options const*);
  kaio_status (*kaio_rms_norm_backward_workspace_bytes)(DLTensor const*, uint64_t*);
  kaio_status (*kaio_layer_norm_backward)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_layer_norm_backward_options const*);
  kaio_status (*kaio_layer_norm_backward_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_layer_norm_backward_options const*);
  kaio_status (*kaio_layer_norm_backward_workspace_bytes)(DLTensor const*, uint64_t*);
  kaio_status (*kaio_w4_packed_bytes)(kaio_w4_weights const*, uint64_t*);
  kaio_status (*kaio_w8_packed_bytes)(kaio_w8_weights const*, uint64_t*);
  kaio_status (*kaio_matmul_w4)(void*, DLTensor const*, kaio_w4_weights const*, DLTensor const*, kaio_matmul_w4_options const*);
  kaio_status (*kaio_matmul_w4_warmup)(DLTensor const*, kaio_w4_weights const*, DLTensor const*, kaio_matmul_w4_options const*);
  kaio_status (*kaio_matmul_w4_workspace_bytes)(DLTensor const*, kaio_w4_weights const*, DLTensor const*, kaio_matmul_w4_options const*, uint64_t*);
  kaio_status (*kaio_matmul_w4_choice)(DLTensor const*, kaio_w4_weights const*, DLTensor const*, kaio_matmul_w4_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_matmul_w4)(DLTensor const*, kaio_w4_weights const*, DLTensor const*, kaio_matmul_w4_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_matmul_w8)(void*, DLTensor const*, kaio_w8_weights const*, DLTensor const*, kaio_matmul_w4_options const*);
  kaio_status (*kaio_matmul_w8_warmup)(DLTensor const*, kaio_w8_weights const*, DLTensor const*, kaio_matmul_w4_options const*);
  kaio_status (*kaio_matmul_w8_workspace_bytes)(DLTensor const*, kaio_w8_weights const*, DLTensor const*, kaio_matmul_w4_options const*, uint64_t*);
  kaio_status (*kaio_matmul_w8_choice)(DLTensor const*, kaio_w8_weights const*, DLTensor const*, kaio_matmul_w4_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_matmul_w8)(DLTensor const*, kaio_w8_weights const*, DLTensor const*, kaio_matmul_w4_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_matmul_w4_grouped)(void*, DLTensor const*, kaio_w4_weights const*, DLTensor const*, DLTensor const*, kaio_matmul_w4_grouped_options const*);
  kaio_status (*kaio_matmul_w4_grouped_warmup)(DLTensor const*, kaio_w4_weights const*, DLTensor const*, DLTensor const*, kaio_matmul_w4_grouped_options const*);
  kaio_status (*kaio_matmul_w4_grouped_choice)(DLTensor const*, kaio_w4_weights const*, DLTensor const*, DLTensor const*, kaio_matmul_w4_grouped_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_matmul_w8_grouped)(void*, DLTensor const*, kaio_w8_weights const*, DLTensor const*, DLTensor const*, kaio_matmul_w4_grouped_options const*);
  kaio_status (*kaio_matmul_w8_grouped_warmup)(DLTensor const*, kaio_w8_weights const*, DLTensor const*, DLTensor const*, kaio_matmul_w4_grouped_options const*);
  kaio_status (*kaio_matmul_w8_grouped_choice)(DLTensor const*, kaio_w8_weights const*, DLTensor const*, DLTensor const*, kaio_matmul_w4_grouped_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_dequantise_w4)(void*, kaio_w4_weights const*, DLTensor const*);
  kaio_status (*kaio_dequantise_w4_warmup)(kaio_w4_weights const*, DLTensor const*);
  kaio_status (*kaio_dequantise_w8)(void*, kaio_w8_weights const*, DLTensor const*);
  kaio_status (*kaio_dequantise_w8_warmup)(kaio_w8_weights const*, DLTensor const*);
  kaio_status (*kaio_peer_workspace_create)(kaio_communicator const*, kaio_peer_workspace_options const*, kaio_peer_workspace**);
  kaio_status (*kaio_peer_workspace_destroy)(kaio_peer_workspace*);
  kaio_status (*kaio_peer_buffer_create)(kaio_communicator const*, uint64_t, kaio_peer_buffer**);
  kaio_status (*kaio_peer_buffer_pointer)(kaio_peer_buffer const*, int32_t, void**);
  kaio_status (*kaio_peer_buffer_destroy)(kaio_peer_buffer*);
  kaio_status (*kaio_all_reduce)(kaio_peer_workspace const*, void*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_all_reduce_rms_norm)(kaio_peer_workspace const*, void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_rms_norm_options const*);
  kaio_status (*kaio_all_reduce_rms_norm_codes)(kaio_peer_workspace const*, void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_rms_norm_options const*);
  kaio_status (*kaio_all_gather_matmul)(kaio_peer_workspace const*, void*, DLTensor const*, DLTensor const*, DLTensor const*, int32_t, kaio_matmul_options const*);
  kaio_status (*kaio_matmul_reduce_scatter)(kaio_peer_workspace const*, void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_reduce_options const*);
  kaio_status (*kaio_matmul_all_reduce)(kaio_peer_workspace const*, void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_matmul_reduce_options const*);
  kaio_status (*kaio_send_to_experts)(kaio_peer_workspace const*, void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_peer_buffer const*, DLTensor const*);
  kaio_status (*kaio_return_from_experts)(kaio_peer_workspace const*, void*, DLTensor const*, DLTensor const*, kaio_peer_buffer const*);
  kaio_status (*kaio_qkv_project)(void*, DLTensor const*, kaio_qkv_weights const*, kaio_qkv_outputs const*, kaio_qkv_project_options const*);
  kaio_status (*kaio_qkv_project_warmup)(DLTensor const*, kaio_qkv_weights const*, kaio_qkv_outputs const*, kaio_qkv_project_options const*);
  kaio_status (*kaio_qkv_project_workspace_bytes)(DLTensor const*, kaio_qkv_weights const*, kaio_qkv_outputs const*, kaio_qkv_project_options const*, uint64_t*);
  kaio_status (*kaio_qkv_project_choice)(DLTensor const*, kaio_qkv_weights const*, kaio_qkv_outputs const*, kaio_qkv_project_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_qkv_project)(DLTensor const*, kaio_qkv_weights const*, kaio_qkv_outputs const*, kaio_qkv_project_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_gate_up_project)(void*, DLTensor const*, kaio_gate_up_weights const*, DLTensor const*, kaio_gate_up_project_options const*);
  kaio_status (*kaio_gate_up_project_warmup)(DLTensor const*, kaio_gate_up_weights const*, DLTensor const*, kaio_gate_up_project_options const*);
  kaio_status (*kaio_gate_up_project_workspace_bytes)(DLTensor const*, kaio_gate_up_weights const*, DLTensor const*, kaio_gate_up_project_options const*, uint64_t*);
  kaio_status (*kaio_gate_up_project_choice)(DLTensor const*, kaio_gate_up_weights const*, DLTensor const*, kaio_gate_up_project_options const*, kaio_kernel_choice*);
  kaio_status (*kaio_tune_gate_up_project)(DLTensor const*, kaio_gate_up_weights const*, DLTensor const*, kaio_gate_up_project_options const*, kaio_tune_options const*, kaio_tune_report*);
  kaio_status (*kaio_qk_norm_rotary)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_qk_norm_rotary_options const*);
  kaio_status (*kaio_qk_norm_rotary_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_qk_norm_rotary_options const*);
  kaio_status (*kaio_reduce)(void*, int32_t, DLTensor const*, DLTensor const*, kaio_reduce_options const*);
  kaio_status (*kaio_reduce_warmup)(int32_t, DLTensor const*, DLTensor const*, kaio_reduce_options const*);
  kaio_status (*kaio_reduce_workspace_bytes)(int32_t, DLTensor const*, DLTensor const*, kaio_reduce_options const*, uint64_t*);
  kaio_status (*kaio_scan)(void*, DLTensor const*, DLTensor const*, kaio_scan_options const*);
  kaio_status (*kaio_scan_warmup)(DLTensor const*, DLTensor const*, kaio_scan_options const*);
  kaio_status (*kaio_scan_workspace_bytes)(DLTensor const*, DLTensor const*, kaio_scan_options const*, uint64_t*);
  kaio_status (*kaio_histogram)(void*, DLTensor const*, DLTensor const*, kaio_histogram_options const*);
  kaio_status (*kaio_histogram_warmup)(DLTensor const*, DLTensor const*, kaio_histogram_options const*);
  kaio_status (*kaio_repack_gptq_w4)(void*, kaio_gptq_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_gptq_w4_warmup)(kaio_gptq_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_awq_w4)(void*, kaio_awq_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_awq_w4_warmup)(kaio_awq_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_compressed_tensors_w4)(void*, kaio_compressed_tensors_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_compressed_tensors_w4_warmup)(kaio_compressed_tensors_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_bitsandbytes_w4)(void*, kaio_bitsandbytes_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_bitsandbytes_w4_warmup)(kaio_bitsandbytes_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_mxfp4_w4)(void*, kaio_mxfp4_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_mxfp4_w4_warmup)(kaio_mxfp4_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_nvfp4_w4)(void*, kaio_nvfp4_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_nvfp4_w4_warmup)(kaio_nvfp4_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_int4_w4)(void*, kaio_int4_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_int4_w4_warmup)(kaio_int4_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_awq_gemv_w4)(void*, kaio_awq_gemv_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_awq_gemv_w4_warmup)(kaio_awq_gemv_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_awq_gemv_fast_w4)(void*, kaio_awq_gemv_fast_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_awq_gemv_fast_w4_warmup)(kaio_awq_gemv_fast_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_marlin_w4)(void*, kaio_marlin_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_marlin_w4_warmup)(kaio_marlin_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_tinygemm_w4)(void*, kaio_tinygemm_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_tinygemm_w4_warmup)(kaio_tinygemm_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_torchao_int4_w4)(void*, kaio_torchao_int4_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_torchao_int4_w4_warmup)(kaio_torchao_int4_w4 const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_int8_w8)(void*, kaio_int8_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_int8_w8_warmup)(kaio_int8_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_llm_int8_w8)(void*, kaio_llm_int8_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_llm_int8_w8_warmup)(kaio_llm_int8_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_gptq_w8)(void*, kaio_gptq_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_gptq_w8_warmup)(kaio_gptq_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_compressed_tensors_w8)(void*, kaio_compressed_tensors_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_compressed_tensors_w8_warmup)(kaio_compressed_tensors_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_q8_0_w8)(void*, kaio_q8_0_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_q8_0_w8_warmup)(kaio_q8_0_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_e4m3_w8)(void*, kaio_e4m3_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_e4m3_w8_warmup)(kaio_e4m3_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_marlin_w8)(void*, kaio_marlin_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_marlin_w8_warmup)(kaio_marlin_w8 const*, kaio_w8_weights const*);
  kaio_status (*kaio_sample)(void*, DLTensor const*, DLTensor const*, kaio_sample_options const*);
  kaio_status (*kaio_sample_warmup)(DLTensor const*, DLTensor const*, kaio_sample_options const*);
  kaio_status (*kaio_top_k)(void*, DLTensor const*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_top_k_warmup)(DLTensor const*, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_topk_router)(void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_topk_router_options const*);
  kaio_status (*kaio_topk_router_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_topk_router_options const*);
  kaio_status (*kaio_sort_by_expert)(void*, DLTensor const*, DLTensor const*, kaio_sort_by_expert_options const*);
  kaio_status (*kaio_sort_by_expert_warmup)(DLTensor const*, DLTensor const*, kaio_sort_by_expert_options const*);
  kaio_status (*kaio_sort_by_expert_workspace_bytes)(DLTensor const*, DLTensor const*, uint64_t*);
  kaio_status (*kaio_combine_experts)(void*, DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_combine_experts_options const*);
  kaio_status (*kaio_combine_experts_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_combine_experts_options const*);
  kaio_status (*kaio_softmax)(void*, DLTensor const*, DLTensor const*, kaio_softmax_options const*);
  kaio_status (*kaio_softmax_warmup)(DLTensor const*, DLTensor const*, kaio_softmax_options const*);
  kaio_status (*kaio_log_softmax)(void*, DLTensor const*, DLTensor const*, kaio_softmax_options const*);
  kaio_status (*kaio_log_softmax_warmup)(DLTensor const*, DLTensor const*, kaio_softmax_options const*);
  kaio_status (*kaio_softmax_backward)(void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_softmax_backward_options const*);
  kaio_status (*kaio_softmax_backward_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_softmax_backward_options const*);
  kaio_status (*kaio_log_softmax_backward)(void*, DLTensor const*, DLTensor const*, DLTensor const*, kaio_softmax_backward_options const*);
  kaio_status (*kaio_log_softmax_backward_warmup)(DLTensor const*, DLTensor const*, DLTensor const*, kaio_softmax_backward_options const*);
  kaio_status (*kaio_block_format_named)(char const*, int32_t*);
  kaio_status (*kaio_block_bytes)(int32_t, int64_t, uint64_t*);
  kaio_status (*kaio_block_operation_of)(int32_t, int32_t*);
  kaio_status (*kaio_w4_weights_of_blocks)(int32_t, int64_t, int64_t, kaio_w4_weights*);
  kaio_status (*kaio_w8_weights_of_blocks)(int32_t, int64_t, int64_t, kaio_w8_weights*);
  kaio_status (*kaio_repack_blocks_w4)(void*, int32_t, DLTensor const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_blocks_w4_warmup)(int32_t, DLTensor const*, kaio_w4_weights const*);
  kaio_status (*kaio_repack_blocks_w8)(void*, int32_t, DLTensor const*, kaio_w8_weights const*);
  kaio_status (*kaio_repack_blocks_w8_warmup)(int32_t, DLTensor const*, kaio_w8_weights const*);
  kaio_status (*kaio_dequantise_blocks)(void*, int32_t, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_dequantise_blocks_warmup)(int32_t, DLTensor const*, DLTensor const*);
  kaio_status (*kaio_dequantise_bnb_4bit)(void*, kaio_bnb_4bit const*, DLTensor const*);
  kaio_status (*kaio_dequantise_bnb_4bit_warmup)(kaio_bnb_4bit const*, DLTensor const*);
  kaio_status (*kaio_dequantise_bnb_int8)(void*, kaio_bnb_int8 const*, DLTensor const*);
  kaio_status (*kaio_dequantise_bnb_int8_warmup)(kaio_bnb_int8 const*, DLTensor const*);
  kaio_status (*kaio_dequantise_scaled_bytes)(void*, kaio_scaled_bytes const*, DLTensor const*);
  kaio_status (*kaio_dequantise_scaled_bytes_warmup)(kaio_scaled_bytes const*, DLTensor const*);
  kaio_status (*kaio_dequantise_mxfp4)(void*, kaio_mxfp4_tensors const*, DLTensor const*);
  kaio_status (*kaio_dequantise_mxfp4_warmup)(kaio_mxfp4_tensors const*, DLTensor const*);
  kaio_status (*kaio_dequantise_nvfp4)(void*, kaio_nvfp4_tensors const*, DLTensor const*);
  kaio_status (*kaio_dequantise_nvfp4_warmup)(kaio_nvfp4_tensors const*, DLTensor const*);
  kaio_status (*kaio_quantise_blocks)(void*, DLTensor const*, int32_t, DLTensor const*);
  kaio_status (*kaio_quantise_blocks_warmup)(DLTensor const*, int32_t, DLTensor const*);
  kaio_status (*kaio_quantise_bnb_4bit)(void*, DLTensor const*, kaio_bnb_4bit_output const*);
  kaio_status (*kaio_quantise_bnb_4bit_warmup)(DLTensor const*, kaio_bnb_4bit_output const*);
  kaio_status (*kaio_quantise_mxfp4)(void*, DLTensor const*, kaio_mxfp4_output const*);
  kaio_status (*kaio_quantise_mxfp4_warmup)(DLTensor const*, kaio_mxfp4_output const*);
  kaio_status (*kaio_quantise_nvfp4)(void*, DLTensor const*, kaio_nvfp4_output const*);
  kaio_status (*kaio_quantise_nvfp4_warmup)(DLTensor const*, kaio_nvfp4_output const*);
  kaio_status (*kaio_quantise_w4)(void*, DLTensor const*, kaio_w4_output const*);
  kaio_status (*kaio_quantise_w4_warmup)(DLTensor const*, kaio_w4_output const*);
  kaio_status (*kaio_weights_open)(char const*, kaio_weights**);
  kaio_status (*kaio_weights_view)(void const*, uint64_t, char const*, kaio_weights**);
  kaio_status (*kaio_weights_close)(kaio_weights*);
  kaio_status (*kaio_weights_describe)(kaio_weights const*, kaio_weights_info*);
  kaio_status (*kaio_weights_tensor_at)(kaio_weights const*, uint64_t, kaio_weights_tensor*);
  kaio_status (*kaio_weights_find)(kaio_weights const*, char const*, uint64_t*);
  kaio_status (*kaio_weights_read_values)(kaio_weights const*, uint64_t, uint64_t, uint64_t, float*);
  kaio_status (*kaio_weights_value_at)(kaio_weights const*, uint64_t, kaio_weights_value*);
  kaio_status (*kaio_weights_find_value)(kaio_weights const*, char const*, uint64_t*);
  kaio_status (*kaio_weights_layers_open)(kaio_weights const*, char const*, kaio_weights_layers**);
  kaio_status (*kaio_weights_layers_close)(kaio_weights_layers*);
  kaio_status (*kaio_weights_layers_describe)(kaio_weights_layers const*, kaio_weights_layers_info*);
  kaio_status (*kaio_weights_layer_at)(kaio_weights_layers const*, uint64_t, kaio_weights_layer*);
  kaio_status (*kaio_weights_part_at)(kaio_weights_layers const*, uint64_t, uint64_t, kaio_weights_layer_part*);
  kaio_status (*kaio_weights_part_bytes)(kaio_weights_layers const*, uint64_t, int32_t, void*, uint64_t, uint64_t*);
};
extern const struct functions all_functions;
const struct functions all_functions = {
    kaio_last_error,
    kaio_status_name,
    kaio_abi_version,
    kaio_version,
    kaio_device_open,
    kaio_device_close,
    kaio_device_count,
    kaio_device_properties_of,
    kaio_device_synchronize,
    kaio_memory_info,
    kaio_allocate,
    kaio_allocate_uninitialised,
    kaio_free,
    kaio_allocate_host,
    kaio_free_host,
    kaio_copy_to_device,
    kaio_copy_to_host,
    kaio_copy_on_device,
    kaio_fill,
    kaio_stream_create,
    kaio_stream_handle,
    kaio_stream_destroy,
    kaio_stream_synchronize,
    kaio_stream_is_done,
    kaio_event_create,
    kaio_event_destroy,
    kaio_event_record,
    kaio_event_wait,
    kaio_event_synchronize,
    kaio_event_is_done,
    kaio_event_elapsed,
    kaio_capture_begin,
    kaio_capture_end,
    kaio_graph_launch,
    kaio_graph_destroy,
    kaio_stream_create_with_priority,
    kaio_stream_priorities,
    kaio_stream_is_capturing,
    kaio_graph_update,
    kaio_graph_upload,
    kaio_pool_create,
    kaio_pool_allocate,
    kaio_pool_allocate_uninitialised,
    kaio_pool_free,
    kaio_pool_statistics_of,
    kaio_pool_trim,
    kaio_pool_destroy,
    kaio_device_can_access,
    kaio_device_enable_access,
    kaio_device_of_pointer,
    kaio_copy_between,
    kaio_copy_rows,
    kaio_fill_elements,
    kaio_kernel_library_open,
    kaio_kernel_library_of_table,
    kaio_kernel_library_close,
    kaio_kernel_library_version,
    kaio_kernel_library_count,
    kaio_kernel_library_at,
    kaio_kernel_library_find,
    kaio_kernel_info_of,
    kaio_kernel_parameter_of,
    kaio_kernel_ptx,
    kaio_kernel_launch,
    kaio_kernel_warmup,
    kaio_sanitizer_begin,
    kaio_sanitizer_end,
    kaio_attention,
    kaio_attention_warmup,
    kaio_attention_choice,
    kaio_tune_attention,
    kaio_attention_varlen,
    kaio_attention_varlen_warmup,
    kaio_attention_varlen_choice,
    kaio_tune_attention_varlen,
    kaio_merge_states,
    kaio_merge_states_warmup,
    kaio_attention_backward,
    kaio_attention_backward_warmup,
    kaio_attention_backward_workspace_bytes,
    kaio_attention_backward_choice,
    kaio_attention_backward_varlen,
    kaio_attention_backward_varlen_warmup,
    kaio_attention_backward_varlen_workspace_bytes,
    kaio_attention_backward_varlen_choice,
    kaio_attention_decode,
    kaio_attention_decode_warmup,
    kaio_attention_decode_workspace_bytes,
    kaio_attention_decode_choice,
    kaio_tune_attention_decode,
    kaio_attention_decode_varlen,
    kaio_attention_decode_varlen_warmup,
    kaio_attention_decode_varlen_workspace_bytes,
    kaio_attention_decode_varlen_choice,
    kaio_tune_attention_decode_varlen,
    kaio_make_block_mask,
    kaio_make_block_mask_warmup,
    kaio_append_kv,
    kaio_append_kv_warmup,
    kaio_append_kv_varlen,
    kaio_append_kv_varlen_warmup,
    kaio_gather_kv,
    kaio_gather_kv_warmup,
    kaio_gather_kv_varlen,
    kaio_gather_kv_varlen_warmup,
    kaio_copy_pages,
    kaio_copy_pages_warmup,
    kaio_rotary,
    kaio_rotary_warmup,
    kaio_rotary_varlen,
    kaio_rotary_varlen_warmup,
    kaio_rotary_table,
    kaio_rotary_table_warmup,
    kaio_cross_entropy,
    kaio_cross_entropy_warmup,
    kaio_cross_entropy_workspace_bytes,
    kaio_cross_entropy_backward,
    kaio_cross_entropy_backward_warmup,
    kaio_linear_cross_entropy,
    kaio_linear_cross_entropy_warmup,
    kaio_linear_cross_entropy_workspace_bytes,
    kaio_linear_cross_entropy_backward,
    kaio_linear_cross_entropy_backward_warmup,
    kaio_linear_cross_entropy_backward_workspace_bytes,
    kaio_communicators_create,
    kaio_nccl_create_id,
    kaio_communicator_create_nccl,
    kaio_communicator_create_program,
    kaio_communicator_destroy,
    kaio_communicator_abort,
    kaio_all_gather,
    kaio_reduce_scatter,
    kaio_communicator_all_reduce,
    kaio_all_to_all,
    kaio_broadcast,
    kaio_context_attention_workspace_bytes,
    kaio_context_attention,
    kaio_context_attention_backward_workspace_bytes,
    kaio_context_attention_backward,
    kaio_activate,
    kaio_activate_warmup,
    kaio_activate_backward,
    kaio_activate_backward_warmup,
    kaio_gated,
    kaio_gated_warmup,
    kaio_gated_backward,
    kaio_gated_backward_warmup,
    kaio_copy_tensor,
    kaio_copy_tensor_warmup,
    kaio_int8_dequant,
    kaio_int8_dequant_warmup,
    kaio_int8_dequant_groups,
    kaio_int8_dequant_groups_warmup,
    kaio_embedding,
    kaio_embedding_warmup,
    kaio_embedding_backward,
    kaio_embedding_backward_warmup,
    kaio_embedding_backward_workspace_bytes,
    kaio_matmul,
    kaio_matmul_warmup,
    kaio_matmul_workspace_bytes,
    kaio_matmul_choice,
    kaio_tune_matmul,
    kaio_matmul_batch,
    kaio_matmul_batch_warmup,
    kaio_matmul_backward,
    kaio_matmul_backward_warmup,
    kaio_matmul_backward_workspace_bytes,
    kaio_matmul_grouped,
    kaio_matmul_grouped_warmup,
    kaio_matmul_grouped_backward,
    kaio_matmul_grouped_backward_warmup,
    kaio_gate_up_grouped,
    kaio_gate_up_grouped_warmup,
    kaio_matmul_int8,
    kaio_matmul_int8_warmup,
    kaio_matmul_int8_choice,
    kaio_tune_matmul_int8,
    kaio_matmul_int8_grouped,
    kaio_matmul_int8_grouped_warmup,
    kaio_matmul_fp8_grouped,
    kaio_matmul_fp8_grouped_warmup,
    kaio_int8_column_sums,
    kaio_int8_column_sums_warmup,
    kaio_quantise_int8,
    kaio_quantise_int8_warmup,
    kaio_matmul_fp8,
    kaio_matmul_fp8_warmup,
    kaio_matmul_fp8_choice,
    kaio_tune_matmul_fp8,
    kaio_quantise_fp8,
    kaio_quantise_fp8_warmup,
    kaio_quantise_fp8_blocks,
    kaio_quantise_fp8_blocks_warmup,
    kaio_rms_norm,
    kaio_rms_norm_warmup,
    kaio_rms_norm_codes,
    kaio_rms_norm_codes_warmup,
    kaio_layer_norm,
    kaio_layer_norm_warmup,
    kaio_layer_norm_codes,
    kaio_layer_norm_codes_warmup,
    kaio_rms_norm_backward,
    kaio_rms_norm_backward_warmup,
    kaio_rms_norm_backward_workspace_bytes,
    kaio_layer_norm_backward,
    kaio_layer_norm_backward_warmup,
    kaio_layer_norm_backward_workspace_bytes,
    kaio_w4_packed_bytes,
    kaio_w8_packed_bytes,
    kaio_matmul_w4,
    kaio_matmul_w4_warmup,
    kaio_matmul_w4_workspace_bytes,
    kaio_matmul_w4_choice,
    kaio_tune_matmul_w4,
    kaio_matmul_w8,
    kaio_matmul_w8_warmup,
    kaio_matmul_w8_workspace_bytes,
    kaio_matmul_w8_choice,
    kaio_tune_matmul_w8,
    kaio_matmul_w4_grouped,
    kaio_matmul_w4_grouped_warmup,
    kaio_matmul_w4_grouped_choice,
    kaio_matmul_w8_grouped,
    kaio_matmul_w8_grouped_warmup,
    kaio_matmul_w8_grouped_choice,
    kaio_dequantise_w4,
    kaio_dequantise_w4_warmup,
    kaio_dequantise_w8,
    kaio_dequantise_w8_warmup,
    kaio_peer_workspace_create,
    kaio_peer_workspace_destroy,
    kaio_peer_buffer_create,
    kaio_peer_buffer_pointer,
    kaio_peer_buffer_destroy,
    kaio_all_reduce,
    kaio_all_reduce_rms_norm,
    kaio_all_reduce_rms_norm_codes,
    kaio_all_gather_matmul,
    kaio_matmul_reduce_scatter,
    kaio_matmul_all_reduce,
    kaio_send_to_experts,
    kaio_return_from_experts,
    kaio_qkv_project,
    kaio_qkv_project_warmup,
    kaio_qkv_project_workspace_bytes,
    kaio_qkv_project_choice,
    kaio_tune_qkv_project,
    kaio_gate_up_project,
    kaio_gate_up_project_warmup,
    kaio_gate_up_project_workspace_bytes,
    kaio_gate_up_project_choice,
    kaio_tune_gate_up_project,
    kaio_qk_norm_rotary,
    kaio_qk_norm_rotary_warmup,
    kaio_reduce,
    kaio_reduce_warmup,
    kaio_reduce_workspace_bytes,
    kaio_scan,
    kaio_scan_warmup,
    kaio_scan_workspace_bytes,
    kaio_histogram,
    kaio_histogram_warmup,
    kaio_repack_gptq_w4,
    kaio_repack_gptq_w4_warmup,
    kaio_repack_awq_w4,
    kaio_repack_awq_w4_warmup,
    kaio_repack_compressed_tensors_w4,
    kaio_repack_compressed_tensors_w4_warmup,
    kaio_repack_bitsandbytes_w4,
    kaio_repack_bitsandbytes_w4_warmup,
    kaio_repack_mxfp4_w4,
    kaio_repack_mxfp4_w4_warmup,
    kaio_repack_nvfp4_w4,
    kaio_repack_nvfp4_w4_warmup,
    kaio_repack_int4_w4,
    kaio_repack_int4_w4_warmup,
    kaio_repack_awq_gemv_w4,
    kaio_repack_awq_gemv_w4_warmup,
    kaio_repack_awq_gemv_fast_w4,
    kaio_repack_awq_gemv_fast_w4_warmup,
    kaio_repack_marlin_w4,
    kaio_repack_marlin_w4_warmup,
    kaio_repack_tinygemm_w4,
    kaio_repack_tinygemm_w4_warmup,
    kaio_repack_torchao_int4_w4,
    kaio_repack_torchao_int4_w4_warmup,
    kaio_repack_int8_w8,
    kaio_repack_int8_w8_warmup,
    kaio_repack_llm_int8_w8,
    kaio_repack_llm_int8_w8_warmup,
    kaio_repack_gptq_w8,
    kaio_repack_gptq_w8_warmup,
    kaio_repack_compressed_tensors_w8,
    kaio_repack_compressed_tensors_w8_warmup,
    kaio_repack_q8_0_w8,
    kaio_repack_q8_0_w8_warmup,
    kaio_repack_e4m3_w8,
    kaio_repack_e4m3_w8_warmup,
    kaio_repack_marlin_w8,
    kaio_repack_marlin_w8_warmup,
    kaio_sample,
    kaio_sample_warmup,
    kaio_top_k,
    kaio_top_k_warmup,
    kaio_topk_router,
    kaio_topk_router_warmup,
    kaio_sort_by_expert,
    kaio_sort_by_expert_warmup,
    kaio_sort_by_expert_workspace_bytes,
    kaio_combine_experts,
    kaio_combine_experts_warmup,
    kaio_softmax,
    kaio_softmax_warmup,
    kaio_log_softmax,
    kaio_log_softmax_warmup,
    kaio_softmax_backward,
    kaio_softmax_backward_warmup,
    kaio_log_softmax_backward,
    kaio_log_softmax_backward_warmup,
    kaio_block_format_named,
    kaio_block_bytes,
    kaio_block_operation_of,
    kaio_w4_weights_of_blocks,
    kaio_w8_weights_of_blocks,
    kaio_repack_blocks_w4,
    kaio_repack_blocks_w4_warmup,
    kaio_repack_blocks_w8,
    kaio_repack_blocks_w8_warmup,
    kaio_dequantise_blocks,
    kaio_dequantise_blocks_warmup,
    kaio_dequantise_bnb_4bit,
    kaio_dequantise_bnb_4bit_warmup,
    kaio_dequantise_bnb_int8,
    kaio_dequantise_bnb_int8_warmup,
    kaio_dequantise_scaled_bytes,
    kaio_dequantise_scaled_bytes_warmup,
    kaio_dequantise_mxfp4,
    kaio_dequantise_mxfp4_warmup,
    kaio_dequantise_nvfp4,
    kaio_dequantise_nvfp4_warmup,
    kaio_quantise_blocks,
    kaio_quantise_blocks_warmup,
    kaio_quantise_bnb_4bit,
    kaio_quantise_bnb_4bit_warmup,
    kaio_quantise_mxfp4,
    kaio_quantise_mxfp4_warmup,
    kaio_quantise_nvfp4,
    kaio_quantise_nvfp4_warmup,
    kaio_quantise_w4,
    kaio_quantise_w4_warmup,
    kaio_weights_open,
    kaio_weights_view,
    kaio_weights_close,
    kaio_weights_describe,
    kaio_weights_tensor_at,
    kaio_weights_find,
    kaio_weights_read_values,
    kaio_weights_value_at,
    kaio_weights_find_value,
    kaio_weights_layers_open,
    kaio_weights_layers_close,
    kaio_weights_layers_describe,
    kaio_weights_layer_at,
    kaio_weights_part_at,
    kaio_weights_part_bytes,
};

int main(void) {
  structs();
  constants();
  defaults();
  return 0;
}
