// Made by src/c/generate.py from src/c/operations/sampling.json.
// clang-format off

#include <kaio/c/sampling.h>
#include <kaio/ops/combine_experts.hpp>
#include <kaio/ops/sample.hpp>
#include <kaio/ops/sort_by_expert.hpp>
#include <kaio/ops/top_k.hpp>
#include <kaio/ops/topk_router.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::router_score::softmax) == KAIO_ROUTER_SCORE_SOFTMAX);
static_assert(static_cast<int>(ops::router_score::sigmoid) == KAIO_ROUTER_SCORE_SIGMOID);
static_assert(ops::sample_options{}.temperature == 1.0f);
static_assert(ops::sample_options{}.top_k == 0);
static_assert(ops::sample_options{}.top_p == 1.0f);
static_assert(ops::sample_options{}.min_p == 0.0f);
static_assert(ops::topk_router_options{}.score == static_cast<ops::router_score>(0));
static_assert(ops::topk_router_options{}.groups == 1);
static_assert(ops::topk_router_options{}.kept_groups == 1);
static_assert(ops::topk_router_options{}.group_by_best_two == true);
static_assert(ops::topk_router_options{}.renormalise == false);
static_assert(ops::topk_router_options{}.factor == 1.0f);
static_assert(ops::combine_experts_options{}.accumulate == false);

void read(call& in, const char* name, const kaio_sample_options* given, ops::sample_options& to) {
  kaio_sample_options from = kaio_sample_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.optional_tensor("seed", from.seed, {element::i64 | element::u64, 1, 1}, to.seed);
  in.optional_tensor("offset", from.offset, {element::i64 | element::u64, 1, 1}, to.offset);
  in.optional_tensor("offset_out", from.offset_out, {element::i64 | element::u64, 1, 1}, to.offset_out);
  to.temperature = from.temperature;
  to.top_k = from.top_k;
  to.top_p = from.top_p;
  to.min_p = from.min_p;
  in.optional_tensor("temperatures", from.temperatures, {element::f32, 1, 1}, to.temperatures);
  in.optional_tensor("top_ks", from.top_ks, {element::i32, 1, 1}, to.top_ks);
  in.optional_tensor("top_ps", from.top_ps, {element::f32, 1, 1}, to.top_ps);
  in.optional_tensor("min_ps", from.min_ps, {element::f32, 1, 1}, to.min_ps);
  in.optional_tensor("logprobs", from.logprobs, {element::f32, 1, 1}, to.logprobs);
  in.optional_tensor("lse", from.lse, {element::f32, 1, 1}, to.lse);
  in.optional_tensor("invalid_rows", from.invalid_rows, {element::i32, 1, 1}, to.invalid_rows);
}

void read(call& in, const char* name, const kaio_topk_router_options* given, ops::topk_router_options& to) {
  kaio_topk_router_options from = kaio_topk_router_options_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("score", from.score, 2, to.score);
  in.optional_tensor("bias", from.bias, {element::f32, 1, 1}, to.bias);
  to.groups = from.groups;
  to.kept_groups = from.kept_groups;
  to.group_by_best_two = in.flag("group_by_best_two", from.group_by_best_two);
  to.renormalise = in.flag("renormalise", from.renormalise);
  to.factor = from.factor;
  in.zero("reserved_36", from.reserved_36);
}

void read(call& in, const char* name, const kaio_sort_by_expert_options* given, ops::sort_by_expert_options& to) {
  kaio_sort_by_expert_options from = kaio_sort_by_expert_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.optional_tensor("counts", from.counts, {element::i32, 1, 1}, to.counts);
  in.optional_tensor("tokens", from.tokens, {element::i32, 1, 1}, to.tokens);
  in.optional_tensor("positions", from.positions, {element::i32, 2, 2}, to.positions);
  in.workspace("workspace", from.workspace, to.workspace);
}

void read(call& in, const char* name, const kaio_combine_experts_options* given, ops::combine_experts_options& to) {
  kaio_combine_experts_options from = kaio_combine_experts_options_default();
  in.take(name, given, &from, sizeof from);
  to.accumulate = in.flag("accumulate", from.accumulate);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_sample(void* stream_handle, const DLTensor* logits_given, const DLTensor* tokens_given,
                        const kaio_sample_options* options_given) {
  return guarded([&] {
    call in("sample");
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    ops::any_view tokens;
    in.tensor("tokens", tokens_given, {element::i32 | element::i64, 1, 1}, tokens);
    in.need("options", options_given);
    ops::sample_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_sample(stream, logits, tokens, options);
    in.finish();
  });
}

kaio_status kaio_sample_warmup(const DLTensor* logits_given, const DLTensor* tokens_given,
                               const kaio_sample_options* options_given) {
  return guarded([&] {
    call in("sample_warmup");
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    ops::any_view tokens;
    in.tensor("tokens", tokens_given, {element::i32 | element::i64, 1, 1}, tokens);
    in.need("options", options_given);
    ops::sample_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_sample(stream, logits, tokens, options);
  });
}

kaio_status kaio_top_k(void* stream_handle, const DLTensor* x_given, const DLTensor* values_given,
                       const DLTensor* indices_given) {
  return guarded([&] {
    call in("top_k");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view values;
    in.tensor("values", values_given, {element::f32 | element::f16 | element::bf16, 2, 2}, values);
    in.same_elements("values", values_given, "x", x_given);
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32 | element::i64, 2, 2}, indices);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_top_k(stream, x, values, indices);
    in.finish();
  });
}

kaio_status kaio_top_k_warmup(const DLTensor* x_given, const DLTensor* values_given,
                              const DLTensor* indices_given) {
  return guarded([&] {
    call in("top_k_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view values;
    in.tensor("values", values_given, {element::f32 | element::f16 | element::bf16, 2, 2}, values);
    in.same_elements("values", values_given, "x", x_given);
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32 | element::i64, 2, 2}, indices);
    const runtime::stream& stream = in.loading();
    ops::detail::run_top_k(stream, x, values, indices);
  });
}

kaio_status kaio_topk_router(void* stream_handle, const DLTensor* logits_given, const DLTensor* indices_given,
                             const DLTensor* weights_given, const kaio_topk_router_options* options_given) {
  return guarded([&] {
    call in("topk_router");
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32, 2, 2}, indices);
    ops::any_view weights;
    in.tensor("weights", weights_given, {element::f32, 2, 2}, weights);
    ops::topk_router_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_topk_router(stream, logits, indices, weights, options);
    in.finish();
  });
}

kaio_status kaio_topk_router_warmup(const DLTensor* logits_given, const DLTensor* indices_given,
                                    const DLTensor* weights_given,
                                    const kaio_topk_router_options* options_given) {
  return guarded([&] {
    call in("topk_router_warmup");
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32, 2, 2}, indices);
    ops::any_view weights;
    in.tensor("weights", weights_given, {element::f32, 2, 2}, weights);
    ops::topk_router_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_topk_router(stream, logits, indices, weights, options);
  });
}

kaio_status kaio_sort_by_expert(void* stream_handle, const DLTensor* indices_given,
                                const DLTensor* offsets_given,
                                const kaio_sort_by_expert_options* options_given) {
  return guarded([&] {
    call in("sort_by_expert");
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32, 2, 2}, indices);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::sort_by_expert_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_sort_by_expert(stream, indices, offsets, options);
    in.finish();
  });
}

kaio_status kaio_sort_by_expert_warmup(const DLTensor* indices_given, const DLTensor* offsets_given,
                                       const kaio_sort_by_expert_options* options_given) {
  return guarded([&] {
    call in("sort_by_expert_warmup");
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32, 2, 2}, indices);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::sort_by_expert_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_sort_by_expert(stream, indices, offsets, options);
  });
}

kaio_status kaio_sort_by_expert_workspace_bytes(const DLTensor* indices_given, const DLTensor* offsets_given,
                                                uint64_t* bytes) {
  return guarded([&] {
    call in("sort_by_expert_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view indices;
    in.tensor("indices", indices_given, {element::i32, 2, 2}, indices);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    *bytes = ops::detail::sort_by_expert_bytes(indices, offsets);
  });
}

kaio_status kaio_combine_experts(void* stream_handle, const DLTensor* y_given, const DLTensor* weights_given,
                                 const DLTensor* positions_given, const DLTensor* out_given,
                                 const kaio_combine_experts_options* options_given) {
  return guarded([&] {
    call in("combine_experts");
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 2}, y);
    ops::any_view weights;
    in.tensor("weights", weights_given, {element::f32, 2, 2}, weights);
    ops::any_view positions;
    in.tensor("positions", positions_given, {element::i32, 2, 2}, positions);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    ops::combine_experts_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_combine_experts(stream, y, weights, positions, out, options);
    in.finish();
  });
}

kaio_status kaio_combine_experts_warmup(const DLTensor* y_given, const DLTensor* weights_given,
                                        const DLTensor* positions_given, const DLTensor* out_given,
                                        const kaio_combine_experts_options* options_given) {
  return guarded([&] {
    call in("combine_experts_warmup");
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 2}, y);
    ops::any_view weights;
    in.tensor("weights", weights_given, {element::f32, 2, 2}, weights);
    ops::any_view positions;
    in.tensor("positions", positions_given, {element::i32, 2, 2}, positions);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    ops::combine_experts_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_combine_experts(stream, y, weights, positions, out, options);
  });
}
}
