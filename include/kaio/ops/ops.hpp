#pragma once
// The prebuilt operations. Including them is cheap: they instantiate no kernel. Operations
// with code of your own are compiled where they are used:
//
//   <kaio/ops/matmul_with.hpp>                matmul with an epilogue
//   <kaio/ops/matmul_w4_with.hpp>             matmul_w4 with codes
//   <kaio/ops/attention_with.hpp>             attention with a score or a mask
//   <kaio/ops/attention_backward_with.hpp>    its gradients
//   <kaio/ops/attention_decode_with.hpp>      the same over a cache
//   <kaio/ops/make_block_mask.hpp>            the block mask of a mask
//   <kaio/ops/qkv_project_with.hpp>           qkv_project with a step in every head
//
// elementwise, and reduce and scan with functions of your own, are templates whose kernels are made where they are
// called.
//
// <kaio/ops/parity/...> has KAIO's names for the operations.

#include <kaio/ops/activation.hpp>
#include <kaio/ops/all_gather_matmul.hpp>
#include <kaio/ops/all_reduce.hpp>
#include <kaio/ops/all_reduce_rms_norm.hpp>
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention_backward.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/combine_experts.hpp>
#include <kaio/ops/copy.hpp>
#include <kaio/ops/copy_pages.hpp>
#include <kaio/ops/cross_entropy.hpp>
#include <kaio/ops/elementwise.hpp>
#include <kaio/ops/embedding.hpp>
#include <kaio/ops/exchange_experts.hpp>
#include <kaio/ops/gate_up_grouped.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/histogram.hpp>
#include <kaio/ops/int8_dequant.hpp>
#include <kaio/ops/layer_norm.hpp>
#include <kaio/ops/linear_cross_entropy.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_8bit/quantise_fp8.hpp>
#include <kaio/ops/matmul_8bit/quantise_int8.hpp>
#include <kaio/ops/matmul_all_reduce.hpp>
#include <kaio/ops/matmul_backward.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_fp8_grouped.hpp>
#include <kaio/ops/matmul_grouped.hpp>
#include <kaio/ops/matmul_grouped_backward.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_int8_grouped.hpp>
#include <kaio/ops/matmul_reduce_scatter.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/matmul_w4_grouped.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/matmul_w8_grouped.hpp>
#include <kaio/ops/merge_states.hpp>
#include <kaio/ops/norm_backward.hpp>
#include <kaio/ops/qk_norm_rotary.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/reduce.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/rotary.hpp>
#include <kaio/ops/sample.hpp>
#include <kaio/ops/scan.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/softmax.hpp>
#include <kaio/ops/sort_by_expert.hpp>
#include <kaio/ops/top_k.hpp>
#include <kaio/ops/topk_router.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/ops/weight_only/quantise_weights.hpp>
#include <kaio/ops/weight_only/repack_blocks.hpp>
#include <kaio/ops/weight_only/repack_w4.hpp>
