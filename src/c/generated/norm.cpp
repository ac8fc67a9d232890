// Made by src/c/generate.py from src/c/operations/norm.json.
// clang-format off

#include <kaio/c/norm.h>
#include <kaio/ops/rms_norm.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::rms_norm_options{}.epsilon == 1e-6f);
static_assert(ops::rms_norm_options{}.weight_offset == 0.0f);

void read(call& in, const char* name, const kaio_rms_norm_options* given, ops::rms_norm_options& to) {
  kaio_rms_norm_options from = kaio_rms_norm_options_default();
  in.take(name, given, &from, sizeof from);
  to.epsilon = from.epsilon;
  to.weight_offset = from.weight_offset;
  in.zero("reserved_12", from.reserved_12);
  in.optional_tensor("residual", from.residual, {element::f32 | element::f16 | element::bf16, 2, 4}, to.residual);
  in.optional_tensor("residual_out", from.residual_out, {element::f32 | element::f16 | element::bf16, 2, 4}, to.residual_out);
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
    in.same_elements("weight", weight_given, "x", x_given);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 4}, out);
    in.same_elements("out", out_given, "x", x_given);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::rms_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_rms_norm(stream, x, weight, out, options);
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
    in.same_elements("weight", weight_given, "x", x_given);
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
    in.same_elements("weight", weight_given, "x", x_given);
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::i8 | element::e4m3, 2, 4}, codes);
    in.same_rank("codes", codes_given, "x", x_given, 0);
    ops::any_view scales;
    in.optional_tensor("scales", scales_given, {element::f32, 1, 3}, scales);
    in.same_rank("scales", scales_given, "x", x_given, -1);
    ops::rms_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_rms_norm_codes(stream, x, weight, codes, scales, scale, options);
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
    in.same_elements("weight", weight_given, "x", x_given);
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::i8 | element::e4m3, 2, 4}, codes);
    in.same_rank("codes", codes_given, "x", x_given, 0);
    ops::any_view scales;
    in.optional_tensor("scales", scales_given, {element::f32, 1, 3}, scales);
    in.same_rank("scales", scales_given, "x", x_given, -1);
    ops::rms_norm_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_rms_norm_codes(stream, x, weight, codes, scales, scale, options);
  });
}
}
