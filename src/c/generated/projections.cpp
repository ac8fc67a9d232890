// Made by src/c/generate.py from src/c/operations/projections.json.
// clang-format off

#include <kaio/c/projections.h>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/tune.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/call/projections.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::x_norm{}.epsilon == 1e-6f);
static_assert(ops::x_norm{}.weight_offset == 0.0f);
static_assert(ops::qkv_rotary{}.interleaved == false);
static_assert(ops::qkv_project_options{}.epsilon == 1e-6f);
static_assert(ops::qkv_project_options{}.norm_offset == 0.0f);
static_assert(ops::qkv_project_options{}.q_scale == 1.0f);
static_assert(ops::qkv_project_options{}.constant == static_cast<ops::constant_inputs>(0));
static_assert(ops::qkv_project_options{}.splits == 0);
static_assert(ops::qkv_project_options{}.exact_weights == false);
static_assert(ops::gate_up_project_options{}.activation == static_cast<ops::matmul_activation>(4));
static_assert(ops::gate_up_project_options{}.constant == static_cast<ops::constant_inputs>(0));
static_assert(ops::gate_up_project_options{}.exact_weights == false);

void read(call& in, const char* name, const kaio_x_norm* given, ops::x_norm& to) {
  kaio_x_norm from = kaio_x_norm_default();
  in.take(name, given, &from, sizeof from);
  to.epsilon = from.epsilon;
  to.weight_offset = from.weight_offset;
  in.zero("x_norm.reserved_12", from.reserved_12);
  in.tensor("x_norm.weight", from.weight, {element::f32 | element::f16 | element::bf16, 1, 1}, to.weight);
  in.optional_tensor("x_norm.residual", from.residual, {element::f32 | element::f16 | element::bf16, 2, 3}, to.residual);
  in.same_elements("x_norm.residual", from.residual, "x_norm.weight", from.weight);
  in.optional_tensor("x_norm.residual_out", from.residual_out, {element::f32 | element::f16 | element::bf16, 2, 3}, to.residual_out);
  in.same_elements("x_norm.residual_out", from.residual_out, "x_norm.weight", from.weight);
}

void read(call& in, const char* name, const kaio_qkv_rotary* given, ops::qkv_rotary& to) {
  kaio_qkv_rotary from = kaio_qkv_rotary_default();
  in.take(name, given, &from, sizeof from);
  to.interleaved = in.flag("rotary.interleaved", from.interleaved);
  in.tensor("rotary.cos", from.cos, {element::f32 | element::f16 | element::bf16, 2, 2}, to.cos.view);
  in.tensor("rotary.sin", from.sin, {element::f32 | element::f16 | element::bf16, 2, 2}, to.sin.view);
  in.same_elements("rotary.sin", from.sin, "rotary.cos", from.cos);
  in.optional_tensor("rotary.positions", from.positions, {element::i32 | element::i64, 1, 2}, to.positions.view);
  in.optional_tensor("rotary.offsets", from.offsets, {element::i32, 1, 1}, to.offsets);
}

void read(call& in, const char* name, const kaio_qkv_project_options* given, ops::qkv_project_options& to) {
  kaio_qkv_project_options from = kaio_qkv_project_options_default();
  in.take(name, given, &from, sizeof from);
  to.epsilon = from.epsilon;
  to.norm_offset = from.norm_offset;
  to.q_scale = from.q_scale;
  in.set_of("constant", from.constant, 7, to.constant);
  to.splits = from.splits;
  to.exact_weights = in.flag("exact_weights", from.exact_weights);
  in.zero("reserved_28", from.reserved_28);
  in.optional_tensor("q_bias", from.q_bias, {element::f16 | element::bf16, 1, 1}, to.q_bias.view);
  in.optional_tensor("k_bias", from.k_bias, {element::f16 | element::bf16, 1, 1}, to.k_bias.view);
  in.optional_tensor("v_bias", from.v_bias, {element::f16 | element::bf16, 1, 1}, to.v_bias.view);
  in.optional_tensor("q_norm", from.q_norm, {element::f16 | element::bf16, 1, 1}, to.q_norm.view);
  in.optional_tensor("k_norm", from.k_norm, {element::f16 | element::bf16, 1, 1}, to.k_norm.view);
  if (from.x_norm != nullptr) read(in, "x_norm", from.x_norm, to.x_norm);
  if (from.rotary != nullptr) read(in, "rotary", from.rotary, to.rotary);
  in.optional_tensor("cu_seqlens", from.cu_seqlens, {element::i32, 1, 1}, to.cu_seqlens);
  in.optional_tensor("slots", from.slots, {element::i32 | element::i64, 1, 2}, to.slots.view);
  in.optional_tensor("k_scale", from.k_scale, {element::f32, 1, 3}, to.k_scale.view);
  in.optional_tensor("v_scale", from.v_scale, {element::f32, 1, 3}, to.v_scale.view);
  in.optional_tensor("k_scale_out", from.k_scale_out, {element::f32, 3, 3}, to.k_scale_out);
  in.optional_tensor("v_scale_out", from.v_scale_out, {element::f32, 3, 3}, to.v_scale_out);
  in.optional_tensor("x_scale", from.x_scale, {element::f32, 1, 1}, to.x_scale);
  in.optional_tensor("x_groups", from.x_groups, {element::f32, 2, 2}, to.x_groups);
  in.workspace("workspace", from.workspace, to.workspace);
  if (from.variant != nullptr) to.variant = from.variant;
}

void read(call& in, const char* name, const kaio_gate_up_project_options* given, ops::gate_up_project_options& to) {
  kaio_gate_up_project_options from = kaio_gate_up_project_options_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("activation", from.activation, 5, to.activation);
  in.set_of("constant", from.constant, 7, to.constant);
  to.exact_weights = in.flag("exact_weights", from.exact_weights);
  in.optional_tensor("gate_bias", from.gate_bias, {element::f32 | element::f16 | element::bf16, 1, 1}, to.gate_bias.view);
  in.optional_tensor("up_bias", from.up_bias, {element::f32 | element::f16 | element::bf16, 1, 1}, to.up_bias.view);
  if (from.x_norm != nullptr) read(in, "x_norm", from.x_norm, to.x_norm);
  in.optional_tensor("x_scale", from.x_scale, {element::f32, 1, 1}, to.x_scale);
  in.optional_tensor("x_groups", from.x_groups, {element::f32, 2, 2}, to.x_groups);
  in.workspace("workspace", from.workspace, to.workspace);
  if (from.variant != nullptr) to.variant = from.variant;
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_qkv_project(void* stream_handle, const DLTensor* x_given,
                             const kaio_qkv_weights* weights_given, const kaio_qkv_outputs* outputs_given,
                             const kaio_qkv_project_options* options_given) {
  return guarded([&] {
    call in("qkv_project");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16 | element::i8 | element::e4m3 | element::e5m2, 2, 3}, x);
    in.need("weights", weights_given);
    c::qkv_weights weights;
    read(in, "weights", weights_given, weights);
    in.need("outputs", outputs_given);
    c::qkv_outputs outputs;
    read(in, "outputs", outputs_given, outputs);
    ops::qkv_project_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_qkv_project(stream, {"qkv_project", x, &weights, &outputs, &options});
    in.finish();
  });
}

kaio_status kaio_qkv_project_warmup(const DLTensor* x_given, const kaio_qkv_weights* weights_given,
                                    const kaio_qkv_outputs* outputs_given,
                                    const kaio_qkv_project_options* options_given) {
  return guarded([&] {
    call in("qkv_project_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16 | element::i8 | element::e4m3 | element::e5m2, 2, 3}, x);
    in.need("weights", weights_given);
    c::qkv_weights weights;
    read(in, "weights", weights_given, weights);
    in.need("outputs", outputs_given);
    c::qkv_outputs outputs;
    read(in, "outputs", outputs_given, outputs);
    ops::qkv_project_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_qkv_project(stream, {"qkv_project", x, &weights, &outputs, &options});
  });
}

kaio_status kaio_qkv_project_workspace_bytes(const DLTensor* x_given, const kaio_qkv_weights* weights_given,
                                             const kaio_qkv_outputs* outputs_given,
                                             const kaio_qkv_project_options* options_given, uint64_t* bytes) {
  return guarded([&] {
    call in("qkv_project_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16 | element::i8 | element::e4m3 | element::e5m2, 2, 3}, x);
    in.need("weights", weights_given);
    c::qkv_weights weights;
    read(in, "weights", weights_given, weights);
    in.need("outputs", outputs_given);
    c::qkv_outputs outputs;
    read(in, "outputs", outputs_given, outputs);
    ops::qkv_project_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::qkv_project_workspace_bytes(stream, x, weights, outputs, options);
  });
}

kaio_status kaio_qkv_project_choice(const DLTensor* x_given, const kaio_qkv_weights* weights_given,
                                    const kaio_qkv_outputs* outputs_given,
                                    const kaio_qkv_project_options* options_given, kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("qkv_project_choice");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16 | element::i8 | element::e4m3 | element::e5m2, 2, 3}, x);
    in.need("weights", weights_given);
    c::qkv_weights weights;
    read(in, "weights", weights_given, weights);
    in.need("outputs", outputs_given);
    c::qkv_outputs outputs;
    read(in, "outputs", outputs_given, outputs);
    ops::qkv_project_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::qkv_project_choice(stream, x, weights, outputs, options), choice);
  });
}

kaio_status kaio_tune_qkv_project(const DLTensor* x_given, const kaio_qkv_weights* weights_given,
                                  const kaio_qkv_outputs* outputs_given,
                                  const kaio_qkv_project_options* options_given,
                                  const kaio_tune_options* how_given, kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_qkv_project");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16 | element::i8 | element::e4m3 | element::e5m2, 2, 3}, x);
    in.need("weights", weights_given);
    c::qkv_weights weights;
    read(in, "weights", weights_given, weights);
    in.need("outputs", outputs_given);
    c::qkv_outputs outputs;
    read(in, "outputs", outputs_given, outputs);
    ops::qkv_project_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::tune_qkv_project(gpu, x, weights, outputs, options, how), report);
  });
}

kaio_status kaio_gate_up_project(void* stream_handle, const DLTensor* x_given,
                                 const kaio_gate_up_weights* weights_given, const DLTensor* out_given,
                                 const kaio_gate_up_project_options* options_given) {
  return guarded([&] {
    call in("gate_up_project");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16 | element::i8 | element::e4m3 | element::e5m2, 2, 3}, x);
    in.need("weights", weights_given);
    c::gate_up_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 3}, out);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::gate_up_project_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_gate_up(stream, {"gate_up_project", x, out, &weights, &options});
    in.finish();
  });
}

kaio_status kaio_gate_up_project_warmup(const DLTensor* x_given, const kaio_gate_up_weights* weights_given,
                                        const DLTensor* out_given,
                                        const kaio_gate_up_project_options* options_given) {
  return guarded([&] {
    call in("gate_up_project_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16 | element::i8 | element::e4m3 | element::e5m2, 2, 3}, x);
    in.need("weights", weights_given);
    c::gate_up_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 3}, out);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::gate_up_project_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_gate_up(stream, {"gate_up_project", x, out, &weights, &options});
  });
}

kaio_status kaio_gate_up_project_workspace_bytes(const DLTensor* x_given,
                                                 const kaio_gate_up_weights* weights_given,
                                                 const DLTensor* out_given,
                                                 const kaio_gate_up_project_options* options_given,
                                                 uint64_t* bytes) {
  return guarded([&] {
    call in("gate_up_project_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16 | element::i8 | element::e4m3 | element::e5m2, 2, 3}, x);
    in.need("weights", weights_given);
    c::gate_up_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 3}, out);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::gate_up_project_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::gate_up_project_workspace_bytes(stream, x, weights, out, options);
  });
}

kaio_status kaio_gate_up_project_choice(const DLTensor* x_given, const kaio_gate_up_weights* weights_given,
                                        const DLTensor* out_given,
                                        const kaio_gate_up_project_options* options_given,
                                        kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("gate_up_project_choice");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16 | element::i8 | element::e4m3 | element::e5m2, 2, 3}, x);
    in.need("weights", weights_given);
    c::gate_up_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 3}, out);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::gate_up_project_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::gate_up_project_choice(stream, x, weights, out, options), choice);
  });
}

kaio_status kaio_tune_gate_up_project(const DLTensor* x_given, const kaio_gate_up_weights* weights_given,
                                      const DLTensor* out_given,
                                      const kaio_gate_up_project_options* options_given,
                                      const kaio_tune_options* how_given, kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_gate_up_project");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16 | element::i8 | element::e4m3 | element::e5m2, 2, 3}, x);
    in.need("weights", weights_given);
    c::gate_up_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 3}, out);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::gate_up_project_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::tune_gate_up_project(gpu, x, weights, out, options, how), report);
  });
}
}
