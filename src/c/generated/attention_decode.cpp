// Made by src/c/generate.py from src/c/operations/attention_decode.json.
// clang-format off

#include <kaio/c/attention_decode.h>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/tune.hpp>

#include "c/call/cache_view.hpp"
#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::attention_combining::automatic) == KAIO_ATTENTION_COMBINING_AUTOMATIC);
static_assert(static_cast<int>(ops::attention_combining::second_kernel) == KAIO_ATTENTION_COMBINING_SECOND_KERNEL);
static_assert(static_cast<int>(ops::attention_combining::cluster) == KAIO_ATTENTION_COMBINING_CLUSTER);
static_assert(!ops::attention_decode_options{}.scale);
static_assert(ops::attention_decode_options{}.softcap == 0.0f);
static_assert(ops::attention_decode_options{}.causal.alignment == static_cast<ops::causal_alignment>(0));
static_assert(ops::attention_decode_options{}.splits == 0);
static_assert(ops::attention_decode_options{}.combining == static_cast<ops::attention_combining>(0));
static_assert(ops::attention_decode_options{}.batch_invariant == false);
static_assert(ops::attention_decode_options{}.constant == static_cast<ops::constant_inputs>(0));
static_assert(ops::attention_decode_options{}.window.left == -1);
static_assert(ops::attention_decode_options{}.window.right == -1);
static_assert(ops::attention_decode_options{}.max_length == 0);

void read(call& in, const char* name, const kaio_attention_append* given, ops::attention_append& to) {
  kaio_attention_append from = kaio_attention_append_default();
  in.take(name, given, &from, sizeof from);
  in.zero("append.reserved_4", from.reserved_4);
  in.tensor("append.k", from.k, {element::f32 | element::f16 | element::bf16, 3, 4}, to.k.view);
  in.tensor("append.v", from.v, {element::f32 | element::f16 | element::bf16, 3, 4}, to.v.view);
  in.same_elements("append.v", from.v, "append.k", from.k);
  in.optional_tensor("append.cu_k", from.cu_k, {element::i32, 1, 1}, to.cu_k);
  if (from.rotary != nullptr) read(in, "append.rotary", from.rotary, to.rotary);
  in.optional_tensor("append.k_scale_out", from.k_scale_out, {element::f32, 3, 3}, to.k_scale_out);
  in.optional_tensor("append.v_scale_out", from.v_scale_out, {element::f32, 3, 3}, to.v_scale_out);
}

void read(call& in, const char* name, const kaio_attention_decode_options* given, ops::attention_decode_options& to) {
  kaio_attention_decode_options from = kaio_attention_decode_options_default();
  in.take(name, given, &from, sizeof from);
  if (from.scale != 0) to.scale = from.scale;
  to.softcap = from.softcap;
  in.enumerated("causal", from.causal, 3, to.causal.alignment);
  to.splits = from.splits;
  in.enumerated("combining", from.combining, 3, to.combining);
  to.batch_invariant = in.flag("batch_invariant", from.batch_invariant);
  in.set_of("constant", from.constant, 7, to.constant);
  to.window.left = from.window_left;
  to.window.right = from.window_right;
  to.max_length = from.max_length;
  in.optional_tensor("qv", from.qv, {element::f32 | element::f16 | element::bf16, 3, 4}, to.qv.view);
  in.optional_tensor("alibi", from.alibi, {element::f32, 1, 2}, to.alibi.view);
  in.optional_tensor("k_scale", from.k_scale, {element::f32, 1, 3}, to.k_scale.view);
  in.optional_tensor("k_scale", from.k_scale, {element::f32, 1, 3}, to.k_scale.numbers);
  in.optional_tensor("v_scale", from.v_scale, {element::f32, 1, 3}, to.v_scale.view);
  in.optional_tensor("v_scale", from.v_scale, {element::f32, 1, 3}, to.v_scale.numbers);
  in.optional_tensor("sinks", from.sinks, {element::f32 | element::f16 | element::bf16, 1, 1}, to.sinks.view);
  in.optional_tensor("lse", from.lse, {element::f32, 2, 3}, to.lse.view);
  if (from.append != nullptr) read(in, "append", from.append, to.append);
  in.workspace("workspace", from.workspace, to.workspace);
  if (from.variant != nullptr) to.variant = from.variant;
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_attention_decode(void* stream_handle, const DLTensor* q_given,
                                  const kaio_kv_cache* cache_given, const DLTensor* out_given,
                                  const kaio_attention_decode_options* options_given) {
  return guarded([&] {
    call in("attention_decode");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_decode_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_attention_decode(stream, {"attention_decode", q, view_of(cache), out, &options});
    in.finish();
  });
}

kaio_status kaio_attention_decode_warmup(const DLTensor* q_given, const kaio_kv_cache* cache_given,
                                         const DLTensor* out_given,
                                         const kaio_attention_decode_options* options_given) {
  return guarded([&] {
    call in("attention_decode_warmup");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_decode_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_attention_decode(stream, {"attention_decode", q, view_of(cache), out, &options});
  });
}

kaio_status kaio_attention_decode_workspace_bytes(const DLTensor* q_given, const kaio_kv_cache* cache_given,
                                                  const kaio_attention_decode_options* options_given,
                                                  uint64_t* bytes) {
  return guarded([&] {
    call in("attention_decode_workspace_bytes");
    in.need("bytes", bytes);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::attention_decode_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::attention_decode_workspace_bytes(stream, q, view_of(cache), options);
  });
}

kaio_status kaio_attention_decode_choice(const DLTensor* q_given, const kaio_kv_cache* cache_given,
                                         const DLTensor* out_given,
                                         const kaio_attention_decode_options* options_given,
                                         kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("attention_decode_choice");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_decode_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::attention_decode_choice(stream, q, view_of(cache), out, options), choice);
  });
}

kaio_status kaio_tune_attention_decode(const DLTensor* q_given, const kaio_kv_cache* cache_given,
                                       const DLTensor* out_given,
                                       const kaio_attention_decode_options* options_given,
                                       const kaio_tune_options* how_given, kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_attention_decode");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    ops::attention_decode_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::tune_attention_decode(gpu, q, view_of(cache), out, options, how), report);
  });
}

kaio_status kaio_attention_decode_varlen(void* stream_handle, const DLTensor* q_given,
                                         const kaio_kv_cache* cache_given, const DLTensor* out_given,
                                         const kaio_attention_sequences* sequences_given,
                                         const kaio_attention_decode_options* options_given) {
  return guarded([&] {
    call in("attention_decode_varlen");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    ops::attention_decode_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_attention_decode(stream, {"attention_decode_varlen", q, view_of(cache), out, &options, false, false, false, &sequences});
    in.finish();
  });
}

kaio_status kaio_attention_decode_varlen_warmup(const DLTensor* q_given, const kaio_kv_cache* cache_given,
                                                const DLTensor* out_given,
                                                const kaio_attention_sequences* sequences_given,
                                                const kaio_attention_decode_options* options_given) {
  return guarded([&] {
    call in("attention_decode_varlen_warmup");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    ops::attention_decode_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_attention_decode(stream, {"attention_decode_varlen", q, view_of(cache), out, &options, false, false, false, &sequences});
  });
}

kaio_status kaio_attention_decode_varlen_workspace_bytes(const DLTensor* q_given,
                                                         const kaio_kv_cache* cache_given,
                                                         const kaio_attention_sequences* sequences_given,
                                                         const kaio_attention_decode_options* options_given,
                                                         uint64_t* bytes) {
  return guarded([&] {
    call in("attention_decode_varlen_workspace_bytes");
    in.need("bytes", bytes);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    ops::attention_decode_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::attention_decode_varlen_workspace_bytes(stream, q, view_of(cache), sequences, options);
  });
}

kaio_status kaio_attention_decode_varlen_choice(const DLTensor* q_given, const kaio_kv_cache* cache_given,
                                                const DLTensor* out_given,
                                                const kaio_attention_sequences* sequences_given,
                                                const kaio_attention_decode_options* options_given,
                                                kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("attention_decode_varlen_choice");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    ops::attention_decode_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::attention_decode_varlen_choice(stream, q, view_of(cache), out, sequences, options), choice);
  });
}

kaio_status kaio_tune_attention_decode_varlen(const DLTensor* q_given, const kaio_kv_cache* cache_given,
                                              const DLTensor* out_given,
                                              const kaio_attention_sequences* sequences_given,
                                              const kaio_attention_decode_options* options_given,
                                              const kaio_tune_options* how_given, kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_attention_decode_varlen");
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 3, 3}, q);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    in.need("sequences", sequences_given);
    ops::attention_sequences sequences;
    read(in, "sequences", sequences_given, sequences);
    ops::attention_decode_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::tune_attention_decode_varlen(gpu, q, view_of(cache), out, sequences, options, how), report);
  });
}
}
