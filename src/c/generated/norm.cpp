// Made by src/c/generate.py from src/c/operations/norm.json.
// clang-format off

#include <kaio/c/norm.h>
#include <kaio/ops/layer_norm.hpp>
#include <kaio/ops/rms_norm.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::norm_casting::gemma) == KAIO_NORM_CASTING_GEMMA);
static_assert(static_cast<int>(ops::norm_casting::llama) == KAIO_NORM_CASTING_LLAMA);
static_assert(ops::rms_norm_options{}.epsilon == 1e-6f);
static_assert(ops::rms_norm_options{}.weight_offset == 0.0f);
static_assert(ops::rms_norm_options{}.casting == static_cast<ops::norm_casting>(0));
static_assert(ops::layer_norm_options{}.epsilon == 1e-5f);
static_assert(ops::layer_norm_options{}.weight_offset == 0.0f);
static_assert(ops::layer_norm_options{}.casting == static_cast<ops::norm_casting>(0));

void read(call& in, const char* name, const kaio_rms_norm_options* given, ops::rms_norm_options& to) {
  kaio_rms_norm_options from = kaio_rms_norm_options_default();
  in.take(name, given, &from, sizeof from);
  to.epsilon = from.epsilon;
  to.weight_offset = from.weight_offset;
  in.zero("reserved_12", from.reserved_12);
  in.optional_tensor("residual", from.residual, {element::f32 | element::f16 | element::bf16, 2, 4}, to.residual);
  in.optional_tensor("residual_out", from.residual_out, {element::f32 | element::f16 | element::bf16, 2, 4}, to.residual_out);
  in.enumerated("casting", from.casting, 2, to.casting);
  in.zero("reserved_36", from.reserved_36);
  in.optional_tensor("gate", from.gate, {element::f32 | element::f16 | element::bf16, 2, 4}, to.gate);
  in.optional_tensor("scale", from.scale, {element::f32 | element::f16 | element::bf16, 2, 4}, to.scale);
  in.optional_tensor("shift", from.shift, {element::f32 | element::f16 | element::bf16, 2, 4}, to.shift);
  in.optional_tensor("y_out", from.y_out, {element::f32 | element::f16 | element::bf16, 2, 4}, to.y_out);
}

void read(call& in, const char* name, const kaio_layer_norm_options* given, ops::layer_norm_options& to) {
  kaio_layer_norm_options from = kaio_layer_norm_options_default();
  in.take(name, given, &from, sizeof from);
  to.epsilon = from.epsilon;
  to.weight_offset = from.weight_offset;
  in.zero("reserved_12", from.reserved_12);
  in.optional_tensor("residual", from.residual, {element::f32 | element::f16 | element::bf16, 2, 4}, to.residual);
  in.optional_tensor("residual_out", from.residual_out, {element::f32 | element::f16 | element::bf16, 2, 4}, to.residual_out);
  in.enumerated("casting", from.casting, 2, to.casting);
  in.zero("reserved_36", from.reserved_36);
  in.optional_tensor("gate", from.gate, {element::f32 | element::f16 | element::bf16, 2, 4}, to.gate);
  in.optional_tensor("scale", from.scale, {element::f32 | element::f16 | element::bf16, 2, 4}, to.scale);
  in.optional_tensor("shift", from.shift, {element::f32 | element::f16 | element::bf16, 2, 4}, to.shift);
  in.optional_tensor("y_out", from.y_out, {element::f32 | element::f16 | element::bf16, 2, 4}, to.y_out);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_rms_norm(void* stream_handle, const DLTensor* x_given, const DLTensor* weight_given,
                          const DLTensor* out_given, const kaio_rms_norm_options* options_given) {
  return guarded([&] {
    call in("rms_norm");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 4}, out);
    in.same_elements("out", out_given, "x", x_given);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::rms_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_rms_norm(stream, x, weight, out, options);
    in.finish();
  });
}

kaio_status kaio_rms_norm_warmup(const DLTensor* x_given, const DLTensor* weight_given,
                                 const DLTensor* out_given, const kaio_rms_norm_options* options_given) {
  return guarded([&] {
    call in("rms_norm_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 4}, out);
    in.same_elements("out", out_given, "x", x_given);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::rms_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_rms_norm(stream, x, weight, out, options);
  });
}

kaio_status kaio_rms_norm_codes(void* stream_handle, const DLTensor* x_given, const DLTensor* weight_given,
                                const DLTensor* codes_given, const DLTensor* scales_given, float scale,
                                const kaio_rms_norm_options* options_given) {
  return guarded([&] {
    call in("rms_norm_codes");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::i8 | element::e4m3, 2, 4}, codes);
    in.same_rank("codes", codes_given, "x", x_given, 0);
    ops::any_view scales;
    in.optional_tensor("scales", scales_given, {element::f32, 1, 4}, scales);
    ops::rms_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_rms_norm_codes(stream, x, weight, codes, scales, scale, options);
    in.finish();
  });
}

kaio_status kaio_rms_norm_codes_warmup(const DLTensor* x_given, const DLTensor* weight_given,
                                       const DLTensor* codes_given, const DLTensor* scales_given, float scale,
                                       const kaio_rms_norm_options* options_given) {
  return guarded([&] {
    call in("rms_norm_codes_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::i8 | element::e4m3, 2, 4}, codes);
    in.same_rank("codes", codes_given, "x", x_given, 0);
    ops::any_view scales;
    in.optional_tensor("scales", scales_given, {element::f32, 1, 4}, scales);
    ops::rms_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_rms_norm_codes(stream, x, weight, codes, scales, scale, options);
  });
}

kaio_status kaio_layer_norm(void* stream_handle, const DLTensor* x_given, const DLTensor* weight_given,
                            const DLTensor* bias_given, const DLTensor* out_given,
                            const kaio_layer_norm_options* options_given) {
  return guarded([&] {
    call in("layer_norm");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.optional_tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view bias;
    in.optional_tensor("bias", bias_given, {element::f32 | element::f16 | element::bf16, 1, 1}, bias);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 4}, out);
    in.same_elements("out", out_given, "x", x_given);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::layer_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_layer_norm(stream, x, weight, bias, out, options);
    in.finish();
  });
}

kaio_status kaio_layer_norm_warmup(const DLTensor* x_given, const DLTensor* weight_given,
                                   const DLTensor* bias_given, const DLTensor* out_given,
                                   const kaio_layer_norm_options* options_given) {
  return guarded([&] {
    call in("layer_norm_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.optional_tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view bias;
    in.optional_tensor("bias", bias_given, {element::f32 | element::f16 | element::bf16, 1, 1}, bias);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 4}, out);
    in.same_elements("out", out_given, "x", x_given);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::layer_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_layer_norm(stream, x, weight, bias, out, options);
  });
}

kaio_status kaio_layer_norm_codes(void* stream_handle, const DLTensor* x_given, const DLTensor* weight_given,
                                  const DLTensor* bias_given, const DLTensor* codes_given,
                                  const DLTensor* scales_given, float scale,
                                  const kaio_layer_norm_options* options_given) {
  return guarded([&] {
    call in("layer_norm_codes");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.optional_tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view bias;
    in.optional_tensor("bias", bias_given, {element::f32 | element::f16 | element::bf16, 1, 1}, bias);
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::i8 | element::e4m3, 2, 4}, codes);
    in.same_rank("codes", codes_given, "x", x_given, 0);
    ops::any_view scales;
    in.optional_tensor("scales", scales_given, {element::f32, 1, 4}, scales);
    ops::layer_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_layer_norm_codes(stream, x, weight, bias, codes, scales, scale, options);
    in.finish();
  });
}

kaio_status kaio_layer_norm_codes_warmup(const DLTensor* x_given, const DLTensor* weight_given,
                                         const DLTensor* bias_given, const DLTensor* codes_given,
                                         const DLTensor* scales_given, float scale,
                                         const kaio_layer_norm_options* options_given) {
  return guarded([&] {
    call in("layer_norm_codes_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.optional_tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view bias;
    in.optional_tensor("bias", bias_given, {element::f32 | element::f16 | element::bf16, 1, 1}, bias);
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::i8 | element::e4m3, 2, 4}, codes);
    in.same_rank("codes", codes_given, "x", x_given, 0);
    ops::any_view scales;
    in.optional_tensor("scales", scales_given, {element::f32, 1, 4}, scales);
    ops::layer_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_layer_norm_codes(stream, x, weight, bias, codes, scales, scale, options);
  });
}
}
