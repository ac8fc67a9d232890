// Made by src/c/generate.py from src/c/operations/attention.json.
// clang-format off

#include <kaio/c/attention.h>
#include <kaio/ops/attention.hpp>
#include <kaio/ops/merge_states.hpp>
#include <kaio/ops/tune.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::causal_alignment::none) == KAIO_CAUSAL_ALIGNMENT_NONE);
static_assert(static_cast<int>(ops::causal_alignment::top_left) == KAIO_CAUSAL_ALIGNMENT_TOP_LEFT);
static_assert(static_cast<int>(ops::causal_alignment::bottom_right) == KAIO_CAUSAL_ALIGNMENT_BOTTOM_RIGHT);
static_assert(static_cast<int>(ops::attention_precision::ieee) == KAIO_ATTENTION_PRECISION_IEEE);
static_assert(static_cast<int>(ops::attention_precision::tf32) == KAIO_ATTENTION_PRECISION_TF32);
static_assert(ops::block_mask{}.size.queries == 128);
static_assert(ops::block_mask{}.size.keys == 128);
static_assert(!ops::attention_options{}.scale);
static_assert(ops::attention_options{}.softcap == 0.0f);
static_assert(ops::attention_options{}.causal.alignment == static_cast<ops::causal_alignment>(0));
static_assert(ops::attention_options{}.precision == static_cast<ops::attention_precision>(0));
static_assert(ops::attention_options{}.batch_invariant == false);
static_assert(ops::attention_options{}.window.left == -1);
static_assert(ops::attention_options{}.window.right == -1);
static_assert(ops::attention_sequences{}.max_q == 0);
static_assert(ops::attention_sequences{}.max_k == 0);

void read(call& in, const char* name, const kaio_block_mask* given, ops::block_mask& to) {
  kaio_block_mask from = kaio_block_mask_default();
  in.take(name, given, &from, sizeof from);
  in.zero("blocks.reserved_4", from.reserved_4);
  to.size.queries = from.block_queries;
  to.size.keys = from.block_keys;
  in.optional_tensor("blocks.kv_num_blocks", from.kv_num_blocks, {element::i32, 3, 3}, to.kv_num_blocks.view);
  in.optional_tensor("blocks.kv_indices", from.kv_indices, {element::i32, 4, 4}, to.kv_indices.view);
  in.optional_tensor("blocks.full_kv_num_blocks", from.full_kv_num_blocks, {element::i32, 3, 3}, to.full_kv_num_blocks.view);
  in.optional_tensor("blocks.full_kv_indices", from.full_kv_indices, {element::i32, 4, 4}, to.full_kv_indices.view);
}

void read(call& in, const char* name, const kaio_attention_options* given, ops::attention_options& to) {
  kaio_attention_options from = kaio_attention_options_default();
  in.take(name, given, &from, sizeof from);
  if (from.scale != 0) to.scale = from.scale;
  to.softcap = from.softcap;
  in.enumerated("causal", from.causal, 3, to.causal.alignment);
  in.enumerated("precision", from.precision, 2, to.precision);
  to.batch_invariant = in.flag("batch_invariant", from.batch_invariant);
  to.window.left = from.window_left;
  to.window.right = from.window_right;
  in.optional_tensor("alibi", from.alibi, {element::f32, 1, 2}, to.alibi.view);
  in.optional_tensor("bias", from.bias, {element::f32 | element::f16 | element::bf16, 1, 4}, to.bias.view);
  in.optional_tensor("keep", from.keep, {element::boolean | element::u8, 1, 4}, to.keep.view);
  in.optional_tensor("sinks", from.sinks, {element::f32 | element::f16 | element::bf16, 1, 1}, to.sinks.view);
  in.optional_tensor("lse", from.lse, {element::f32, 2, 3}, to.lse.view);
  if (from.blocks != nullptr) read(in, "blocks", from.blocks, to.blocks);
  if (from.variant != nullptr) to.variant = from.variant;
}

void read(call& in, const char* name, const kaio_attention_sequences* given, ops::attention_sequences& to) {
  kaio_attention_sequences from = kaio_attention_sequences_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("cu_q", from.cu_q, {element::i32, 1, 1}, to.cu_q.view);
  in.tensor("cu_q", from.cu_q, {element::i32, 1, 1}, to.cu_q.numbers);
  in.optional_tensor("cu_k", from.cu_k, {element::i32, 1, 1}, to.cu_k.view);
  in.optional_tensor("cu_k", from.cu_k, {element::i32, 1, 1}, to.cu_k.numbers);
  to.max_q = from.max_q;
  to.max_k = from.max_k;
  in.optional_tensor("used_q", from.used_q, {element::i32, 1, 1}, to.used_q.view);
  in.optional_tensor("used_q", from.used_q, {element::i32, 1, 1}, to.used_q.numbers);
  in.optional_tensor("used_k", from.used_k, {element::i32, 1, 1}, to.used_k.view);
  in.optional_tensor("used_k", from.used_k, {element::i32, 1, 1}, to.used_k.numbers);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_attention(void* stream_handle, const DLTensor* q_given, const DLTensor* k_given,
                           const DLTensor* v_given, const DLTensor* out_given,
                           const kaio_attention_options* options_given) {
  return guarded([&] {
    call in("attention");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_attention(stream, {"attention", q, k, v, out, &options});
    in.finish();
  });
}

kaio_status kaio_attention_warmup(const DLTensor* q_given, const DLTensor* k_given, const DLTensor* v_given,
                                  const DLTensor* out_given, const kaio_attention_options* options_given) {
  return guarded([&] {
    call in("attention_warmup");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_attention(stream, {"attention", q, k, v, out, &options});
  });
}

kaio_status kaio_attention_choice(const DLTensor* q_given, const DLTensor* k_given, const DLTensor* v_given,
                                  const DLTensor* out_given, const kaio_attention_options* options_given,
                                  kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("attention_choice");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::attention_choice(stream, q, k, v, out, options), choice);
  });
}

kaio_status kaio_tune_attention(const DLTensor* q_given, const DLTensor* k_given, const DLTensor* v_given,
                                const DLTensor* out_given, const kaio_attention_options* options_given,
                                const kaio_tune_options* how_given, kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_attention");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::detail::tune_attention_call(gpu, {"tune_attention", q, k, v, out, &options}, how), report);
  });
}

kaio_status kaio_attention_varlen(void* stream_handle, const DLTensor* q_given, const DLTensor* k_given,
                                  const DLTensor* v_given, const DLTensor* out_given,
                                  const kaio_attention_sequences* sequences_given,
                                  const kaio_attention_options* options_given) {
  return guarded([&] {
    call in("attention_varlen");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 3}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 3, 3}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    ops::attention_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_attention(stream, {"attention_varlen", q, k, v, out, &options, false, false, &sequences});
    in.finish();
  });
}

kaio_status kaio_attention_varlen_warmup(const DLTensor* q_given, const DLTensor* k_given,
                                         const DLTensor* v_given, const DLTensor* out_given,
                                         const kaio_attention_sequences* sequences_given,
                                         const kaio_attention_options* options_given) {
  return guarded([&] {
    call in("attention_varlen_warmup");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 3}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 3, 3}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    ops::attention_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_attention(stream, {"attention_varlen", q, k, v, out, &options, false, false, &sequences});
  });
}

kaio_status kaio_attention_varlen_choice(const DLTensor* q_given, const DLTensor* k_given,
                                         const DLTensor* v_given, const DLTensor* out_given,
                                         const kaio_attention_sequences* sequences_given,
                                         const kaio_attention_options* options_given,
                                         kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("attention_varlen_choice");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 3}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 3, 3}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    ops::attention_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::attention_varlen_choice(stream, q, k, v, out, sequences, options), choice);
  });
}

kaio_status kaio_tune_attention_varlen(const DLTensor* q_given, const DLTensor* k_given,
                                       const DLTensor* v_given, const DLTensor* out_given,
                                       const kaio_attention_sequences* sequences_given,
                                       const kaio_attention_options* options_given,
                                       const kaio_tune_options* how_given, kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_attention_varlen");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 3}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 3, 3}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    ops::attention_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::detail::tune_attention_call(gpu, {"tune_attention_varlen", q, k, v, out, &options, false, false, &sequences}, how), report);
  });
}

kaio_status kaio_merge_states(void* stream_handle, const DLTensor* out_a_given, const DLTensor* lse_a_given,
                              const DLTensor* out_b_given, const DLTensor* lse_b_given,
                              const DLTensor* out_given, const DLTensor* lse_given) {
  return guarded([&] {
    call in("merge_states");
    ops::attention_view out_a;
    in.tensor("out_a", out_a_given, {element::f32 | element::f16 | element::bf16, 3, 4}, out_a);
    ops::attention_view lse_a;
    in.tensor("lse_a", lse_a_given, {element::f32, 2, 3}, lse_a);
    in.same_rank("lse_a", lse_a_given, "out_a", out_a_given, -1);
    ops::attention_view out_b;
    in.tensor("out_b", out_b_given, {element::f32 | element::f16 | element::bf16, 3, 4}, out_b);
    in.same_rank("out_b", out_b_given, "out_a", out_a_given, 0);
    ops::attention_view lse_b;
    in.tensor("lse_b", lse_b_given, {element::f32, 2, 3}, lse_b);
    in.same_rank("lse_b", lse_b_given, "out_a", out_a_given, -1);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 4}, out);
    in.same_rank("out", out_given, "out_a", out_a_given, 0);
    ops::attention_view lse;
    in.optional_tensor("lse", lse_given, {element::f32, 2, 3}, lse);
    in.same_rank("lse", lse_given, "out_a", out_a_given, -1);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_merge_states(stream, {out_a, lse_a, out_b, lse_b, out, lse});
    in.finish();
  });
}

kaio_status kaio_merge_states_warmup(const DLTensor* out_a_given, const DLTensor* lse_a_given,
                                     const DLTensor* out_b_given, const DLTensor* lse_b_given,
                                     const DLTensor* out_given, const DLTensor* lse_given) {
  return guarded([&] {
    call in("merge_states_warmup");
    ops::attention_view out_a;
    in.tensor("out_a", out_a_given, {element::f32 | element::f16 | element::bf16, 3, 4}, out_a);
    ops::attention_view lse_a;
    in.tensor("lse_a", lse_a_given, {element::f32, 2, 3}, lse_a);
    in.same_rank("lse_a", lse_a_given, "out_a", out_a_given, -1);
    ops::attention_view out_b;
    in.tensor("out_b", out_b_given, {element::f32 | element::f16 | element::bf16, 3, 4}, out_b);
    in.same_rank("out_b", out_b_given, "out_a", out_a_given, 0);
    ops::attention_view lse_b;
    in.tensor("lse_b", lse_b_given, {element::f32, 2, 3}, lse_b);
    in.same_rank("lse_b", lse_b_given, "out_a", out_a_given, -1);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 4}, out);
    in.same_rank("out", out_given, "out_a", out_a_given, 0);
    ops::attention_view lse;
    in.optional_tensor("lse", lse_given, {element::f32, 2, 3}, lse);
    in.same_rank("lse", lse_given, "out_a", out_a_given, -1);
    const runtime::stream& stream = in.loading();
    ops::detail::run_merge_states(stream, {out_a, lse_a, out_b, lse_b, out, lse});
  });
}
}
