// Made by src/c/generate.py from src/c/operations/cross_entropy.json.
// clang-format off

#include <kaio/c/cross_entropy.h>
#include <kaio/ops/cross_entropy.hpp>
#include <kaio/ops/linear_cross_entropy.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::loss_reduction::none) == KAIO_LOSS_REDUCTION_NONE);
static_assert(static_cast<int>(ops::loss_reduction::sum) == KAIO_LOSS_REDUCTION_SUM);
static_assert(static_cast<int>(ops::loss_reduction::mean) == KAIO_LOSS_REDUCTION_MEAN);
static_assert(ops::cross_entropy_options{}.reduction == static_cast<ops::loss_reduction>(2));
static_assert(ops::cross_entropy_options{}.ignore_index == -100);
static_assert(ops::cross_entropy_options{}.label_smoothing == 0.0f);
static_assert(ops::cross_entropy_options{}.z_loss == 0.0f);
static_assert(ops::cross_entropy_options{}.softcap == 0.0f);
static_assert(ops::cross_entropy_backward_options{}.reduction == static_cast<ops::loss_reduction>(2));
static_assert(ops::cross_entropy_backward_options{}.ignore_index == -100);
static_assert(ops::cross_entropy_backward_options{}.label_smoothing == 0.0f);
static_assert(ops::cross_entropy_backward_options{}.z_loss == 0.0f);
static_assert(ops::cross_entropy_backward_options{}.softcap == 0.0f);
static_assert(ops::linear_cross_entropy_options{}.reduction == static_cast<ops::loss_reduction>(2));
static_assert(ops::linear_cross_entropy_options{}.precision == static_cast<ops::matmul_precision>(0));
static_assert(ops::linear_cross_entropy_options{}.ignore_index == -100);
static_assert(ops::linear_cross_entropy_options{}.logit_scale == 1.0f);
static_assert(ops::linear_cross_entropy_options{}.label_smoothing == 0.0f);
static_assert(ops::linear_cross_entropy_options{}.z_loss == 0.0f);
static_assert(ops::linear_cross_entropy_options{}.softcap == 0.0f);
static_assert(ops::linear_cross_entropy_backward_options{}.reduction == static_cast<ops::loss_reduction>(2));
static_assert(ops::linear_cross_entropy_backward_options{}.precision == static_cast<ops::matmul_precision>(0));
static_assert(ops::linear_cross_entropy_backward_options{}.ignore_index == -100);
static_assert(ops::linear_cross_entropy_backward_options{}.logit_scale == 1.0f);
static_assert(ops::linear_cross_entropy_backward_options{}.label_smoothing == 0.0f);
static_assert(ops::linear_cross_entropy_backward_options{}.z_loss == 0.0f);
static_assert(ops::linear_cross_entropy_backward_options{}.softcap == 0.0f);

void read(call& in, const char* name, const kaio_cross_entropy_options* given, ops::cross_entropy_options& to) {
  kaio_cross_entropy_options from = kaio_cross_entropy_options_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("reduction", from.reduction, 3, to.reduction);
  to.ignore_index = from.ignore_index;
  to.label_smoothing = from.label_smoothing;
  to.z_loss = from.z_loss;
  to.softcap = from.softcap;
  in.zero("reserved_28", from.reserved_28);
  in.optional_tensor("weights", from.weights, {element::f32, 1, 1}, to.weights);
  in.optional_tensor("lse", from.lse, {element::f32, 1, 1}, to.lse);
  in.optional_tensor("total_weight", from.total_weight, {element::f32, 1, 1}, to.total_weight);
  in.workspace("workspace", from.workspace, to.workspace);
}

void read(call& in, const char* name, const kaio_cross_entropy_backward_options* given, ops::cross_entropy_backward_options& to) {
  kaio_cross_entropy_backward_options from = kaio_cross_entropy_backward_options_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("reduction", from.reduction, 3, to.reduction);
  to.ignore_index = from.ignore_index;
  to.label_smoothing = from.label_smoothing;
  to.z_loss = from.z_loss;
  to.softcap = from.softcap;
  in.zero("reserved_28", from.reserved_28);
  in.optional_tensor("weights", from.weights, {element::f32, 1, 1}, to.weights);
  in.optional_tensor("total_weight", from.total_weight, {element::f32, 1, 1}, to.total_weight);
}

void read(call& in, const char* name, const kaio_linear_cross_entropy_options* given, ops::linear_cross_entropy_options& to) {
  kaio_linear_cross_entropy_options from = kaio_linear_cross_entropy_options_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("reduction", from.reduction, 3, to.reduction);
  in.enumerated("precision", from.precision, 3, to.precision);
  in.zero("reserved_12", from.reserved_12);
  to.ignore_index = from.ignore_index;
  to.logit_scale = from.logit_scale;
  to.label_smoothing = from.label_smoothing;
  to.z_loss = from.z_loss;
  to.softcap = from.softcap;
  in.optional_tensor("bias", from.bias, {element::f32 | element::f16 | element::bf16, 1, 1}, to.bias);
  in.optional_tensor("weights", from.weights, {element::f32, 1, 1}, to.weights);
  in.optional_tensor("lse", from.lse, {element::f32, 1, 1}, to.lse);
  in.optional_tensor("total_weight", from.total_weight, {element::f32, 1, 1}, to.total_weight);
  in.workspace("workspace", from.workspace, to.workspace);
}

void read(call& in, const char* name, const kaio_linear_cross_entropy_backward_options* given, ops::linear_cross_entropy_backward_options& to) {
  kaio_linear_cross_entropy_backward_options from = kaio_linear_cross_entropy_backward_options_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("reduction", from.reduction, 3, to.reduction);
  in.enumerated("precision", from.precision, 3, to.precision);
  in.zero("reserved_12", from.reserved_12);
  to.ignore_index = from.ignore_index;
  to.logit_scale = from.logit_scale;
  to.label_smoothing = from.label_smoothing;
  to.z_loss = from.z_loss;
  to.softcap = from.softcap;
  in.optional_tensor("bias", from.bias, {element::f32 | element::f16 | element::bf16, 1, 1}, to.bias);
  in.optional_tensor("weights", from.weights, {element::f32, 1, 1}, to.weights);
  in.optional_tensor("total_weight", from.total_weight, {element::f32, 1, 1}, to.total_weight);
  in.optional_tensor("dbias", from.dbias, {element::f32 | element::f16 | element::bf16, 1, 1}, to.dbias);
  in.workspace("workspace", from.workspace, to.workspace);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_cross_entropy(void* stream_handle, const DLTensor* logits_given,
                               const DLTensor* targets_given, const DLTensor* loss_given,
                               const kaio_cross_entropy_options* options_given) {
  return guarded([&] {
    call in("cross_entropy");
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    ops::any_view targets;
    in.tensor("targets", targets_given, {element::i64 | element::i32, 1, 1}, targets);
    ops::any_view loss;
    in.tensor("loss", loss_given, {element::f32, 1, 1}, loss);
    in.need("options", options_given);
    ops::cross_entropy_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_cross_entropy(stream, logits, targets, loss, options);
    in.finish();
  });
}

kaio_status kaio_cross_entropy_warmup(const DLTensor* logits_given, const DLTensor* targets_given,
                                      const DLTensor* loss_given,
                                      const kaio_cross_entropy_options* options_given) {
  return guarded([&] {
    call in("cross_entropy_warmup");
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    ops::any_view targets;
    in.tensor("targets", targets_given, {element::i64 | element::i32, 1, 1}, targets);
    ops::any_view loss;
    in.tensor("loss", loss_given, {element::f32, 1, 1}, loss);
    in.need("options", options_given);
    ops::cross_entropy_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_cross_entropy(stream, logits, targets, loss, options);
  });
}

kaio_status kaio_cross_entropy_workspace_bytes(const DLTensor* logits_given, uint64_t* bytes) {
  return guarded([&] {
    call in("cross_entropy_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    *bytes = ops::cross_entropy_workspace_bytes(logits);
  });
}

kaio_status kaio_cross_entropy_backward(void* stream_handle, const DLTensor* logits_given,
                                        const DLTensor* targets_given, const DLTensor* lse_given,
                                        const DLTensor* dloss_given, const DLTensor* dlogits_given,
                                        const kaio_cross_entropy_backward_options* options_given) {
  return guarded([&] {
    call in("cross_entropy_backward");
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    ops::any_view targets;
    in.tensor("targets", targets_given, {element::i64 | element::i32, 1, 1}, targets);
    ops::any_view lse;
    in.tensor("lse", lse_given, {element::f32, 1, 1}, lse);
    ops::any_view dloss;
    in.tensor("dloss", dloss_given, {element::f32, 1, 1}, dloss);
    ops::any_view dlogits;
    in.tensor("dlogits", dlogits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, dlogits);
    in.same_elements("dlogits", dlogits_given, "logits", logits_given);
    in.same_rank("dlogits", dlogits_given, "logits", logits_given, 0);
    in.need("options", options_given);
    ops::cross_entropy_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_cross_entropy_backward(stream, logits, targets, lse, dloss, dlogits, options);
    in.finish();
  });
}

kaio_status kaio_cross_entropy_backward_warmup(const DLTensor* logits_given, const DLTensor* targets_given,
                                               const DLTensor* lse_given, const DLTensor* dloss_given,
                                               const DLTensor* dlogits_given,
                                               const kaio_cross_entropy_backward_options* options_given) {
  return guarded([&] {
    call in("cross_entropy_backward_warmup");
    ops::any_view logits;
    in.tensor("logits", logits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, logits);
    ops::any_view targets;
    in.tensor("targets", targets_given, {element::i64 | element::i32, 1, 1}, targets);
    ops::any_view lse;
    in.tensor("lse", lse_given, {element::f32, 1, 1}, lse);
    ops::any_view dloss;
    in.tensor("dloss", dloss_given, {element::f32, 1, 1}, dloss);
    ops::any_view dlogits;
    in.tensor("dlogits", dlogits_given, {element::f32 | element::f16 | element::bf16, 2, 2}, dlogits);
    in.same_elements("dlogits", dlogits_given, "logits", logits_given);
    in.same_rank("dlogits", dlogits_given, "logits", logits_given, 0);
    in.need("options", options_given);
    ops::cross_entropy_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_cross_entropy_backward(stream, logits, targets, lse, dloss, dlogits, options);
  });
}

kaio_status kaio_linear_cross_entropy(void* stream_handle, const DLTensor* x_given,
                                      const DLTensor* weight_given, const DLTensor* targets_given,
                                      const DLTensor* loss_given,
                                      const kaio_linear_cross_entropy_options* options_given) {
  return guarded([&] {
    call in("linear_cross_entropy");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, weight);
    in.same_elements("weight", weight_given, "x", x_given);
    ops::any_view targets;
    in.tensor("targets", targets_given, {element::i64 | element::i32, 1, 1}, targets);
    ops::any_view loss;
    in.tensor("loss", loss_given, {element::f32, 1, 1}, loss);
    in.need("options", options_given);
    ops::linear_cross_entropy_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_linear_cross_entropy(stream, x, weight, targets, loss, options);
    in.finish();
  });
}

kaio_status kaio_linear_cross_entropy_warmup(const DLTensor* x_given, const DLTensor* weight_given,
                                             const DLTensor* targets_given, const DLTensor* loss_given,
                                             const kaio_linear_cross_entropy_options* options_given) {
  return guarded([&] {
    call in("linear_cross_entropy_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, weight);
    in.same_elements("weight", weight_given, "x", x_given);
    ops::any_view targets;
    in.tensor("targets", targets_given, {element::i64 | element::i32, 1, 1}, targets);
    ops::any_view loss;
    in.tensor("loss", loss_given, {element::f32, 1, 1}, loss);
    in.need("options", options_given);
    ops::linear_cross_entropy_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_linear_cross_entropy(stream, x, weight, targets, loss, options);
  });
}

kaio_status kaio_linear_cross_entropy_workspace_bytes(const DLTensor* x_given, const DLTensor* weight_given,
                                                      uint64_t* bytes) {
  return guarded([&] {
    call in("linear_cross_entropy_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, weight);
    in.same_elements("weight", weight_given, "x", x_given);
    *bytes = ops::linear_cross_entropy_workspace_bytes(x, weight);
  });
}

kaio_status kaio_linear_cross_entropy_backward(void* stream_handle, const DLTensor* x_given,
                                               const DLTensor* weight_given, const DLTensor* targets_given,
                                               const DLTensor* lse_given, const DLTensor* dloss_given,
                                               const DLTensor* dx_given, const DLTensor* dweight_given,
                                               const kaio_linear_cross_entropy_backward_options* options_given) {
  return guarded([&] {
    call in("linear_cross_entropy_backward");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, weight);
    in.same_elements("weight", weight_given, "x", x_given);
    ops::any_view targets;
    in.tensor("targets", targets_given, {element::i64 | element::i32, 1, 1}, targets);
    ops::any_view lse;
    in.tensor("lse", lse_given, {element::f32, 1, 1}, lse);
    ops::any_view dloss;
    in.tensor("dloss", dloss_given, {element::f32, 1, 1}, dloss);
    ops::any_view dx;
    in.optional_tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 2, 2}, dx);
    ops::any_view dweight;
    in.optional_tensor("dweight", dweight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, dweight);
    in.need("options", options_given);
    ops::linear_cross_entropy_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_linear_cross_entropy_backward(stream, x, weight, targets, lse, dloss, dx, dweight, options);
    in.finish();
  });
}

kaio_status kaio_linear_cross_entropy_backward_warmup(const DLTensor* x_given, const DLTensor* weight_given,
                                                      const DLTensor* targets_given,
                                                      const DLTensor* lse_given, const DLTensor* dloss_given,
                                                      const DLTensor* dx_given, const DLTensor* dweight_given,
                                                      const kaio_linear_cross_entropy_backward_options* options_given) {
  return guarded([&] {
    call in("linear_cross_entropy_backward_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, weight);
    in.same_elements("weight", weight_given, "x", x_given);
    ops::any_view targets;
    in.tensor("targets", targets_given, {element::i64 | element::i32, 1, 1}, targets);
    ops::any_view lse;
    in.tensor("lse", lse_given, {element::f32, 1, 1}, lse);
    ops::any_view dloss;
    in.tensor("dloss", dloss_given, {element::f32, 1, 1}, dloss);
    ops::any_view dx;
    in.optional_tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 2, 2}, dx);
    ops::any_view dweight;
    in.optional_tensor("dweight", dweight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, dweight);
    in.need("options", options_given);
    ops::linear_cross_entropy_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_linear_cross_entropy_backward(stream, x, weight, targets, lse, dloss, dx, dweight, options);
  });
}

kaio_status kaio_linear_cross_entropy_backward_workspace_bytes(const DLTensor* x_given,
                                                               const DLTensor* weight_given, uint64_t* bytes) {
  return guarded([&] {
    call in("linear_cross_entropy_backward_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 2, 2}, weight);
    in.same_elements("weight", weight_given, "x", x_given);
    *bytes = ops::linear_cross_entropy_backward_workspace_bytes(x, weight);
  });
}
}
