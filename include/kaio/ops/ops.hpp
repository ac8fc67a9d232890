#pragma once
// The prebuilt operations. None of these headers contains kernels, so that including them is cheap; a matmul
// with an epilogue of your own is compiled where it is used: <kaio/ops/matmul_with.hpp>; so is an attention
// with a score or a mask of your own: <kaio/ops/attention_with.hpp>, its gradients:
// <kaio/ops/attention_backward_with.hpp>, the same over a cache: <kaio/ops/attention_decode_with.hpp>, the
// block mask of one: <kaio/ops/make_block_mask.hpp>, and qkv_project with a step of your own in every head:
// <kaio/ops/qkv_project_with.hpp>. KAIO's names for them are in <kaio/ops/parity/...>.

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention_backward.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/copy_pages.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_backward.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/merge_states.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/ops/matmul_8bit/quantise_fp8.hpp>
#include <kaio/ops/matmul_8bit/quantise_int8.hpp>
#include <kaio/ops/weight_only/quantise_weights.hpp>
#include <kaio/ops/weight_only/repack_blocks.hpp>
#include <kaio/ops/weight_only/repack_w4.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/rotary.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/tune.hpp>
