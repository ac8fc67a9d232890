// Made by src/c/generate.py from src/c/operations/norm_backward.json.
// clang-format off

#include <kaio/c/norm_backward.h>
#include <kaio/ops/norm_backward.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::rms_norm_backward_options{}.epsilon == 1e-6f);
static_assert(ops::rms_norm_backward_options{}.weight_offset == 0.0f);
static_assert(ops::layer_norm_backward_options{}.epsilon == 1e-5f);
static_assert(ops::layer_norm_backward_options{}.weight_offset == 0.0f);

void read(call& in, const char* name, const kaio_rms_norm_backward_options* given, ops::rms_norm_backward_options& to) {
  kaio_rms_norm_backward_options from = kaio_rms_norm_backward_options_default();
  in.take(name, given, &from, sizeof from);
  to.epsilon = from.epsilon;
  to.weight_offset = from.weight_offset;
  in.zero("reserved_12", from.reserved_12);
  in.optional_tensor("dh", from.dh, {element::f32 | element::f16 | element::bf16, 2, 4}, to.dh);
  in.workspace("workspace", from.workspace, to.workspace);
}

void read(call& in, const char* name, const kaio_layer_norm_backward_options* given, ops::layer_norm_backward_options& to) {
  kaio_layer_norm_backward_options from = kaio_layer_norm_backward_options_default();
  in.take(name, given, &from, sizeof from);
  to.epsilon = from.epsilon;
  to.weight_offset = from.weight_offset;
  in.zero("reserved_12", from.reserved_12);
  in.optional_tensor("dh", from.dh, {element::f32 | element::f16 | element::bf16, 2, 4}, to.dh);
  in.workspace("workspace", from.workspace, to.workspace);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_rms_norm_backward(void* stream_handle, const DLTensor* x_given, const DLTensor* weight_given,
                                   const DLTensor* dy_given, const DLTensor* dx_given,
                                   const DLTensor* dweight_given,
                                   const kaio_rms_norm_backward_options* options_given) {
  return guarded([&] {
    call in("rms_norm_backward");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.optional_tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dy);
    in.same_elements("dy", dy_given, "x", x_given);
    in.same_rank("dy", dy_given, "x", x_given, 0);
    ops::any_view dx;
    in.tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dx);
    in.same_elements("dx", dx_given, "x", x_given);
    in.same_rank("dx", dx_given, "x", x_given, 0);
    ops::any_view dweight;
    in.optional_tensor("dweight", dweight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, dweight);
    ops::rms_norm_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_rms_norm_backward(stream, x, weight, dy, dx, dweight, options);
    in.finish();
  });
}

kaio_status kaio_rms_norm_backward_warmup(const DLTensor* x_given, const DLTensor* weight_given,
                                          const DLTensor* dy_given, const DLTensor* dx_given,
                                          const DLTensor* dweight_given,
                                          const kaio_rms_norm_backward_options* options_given) {
  return guarded([&] {
    call in("rms_norm_backward_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.optional_tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dy);
    in.same_elements("dy", dy_given, "x", x_given);
    in.same_rank("dy", dy_given, "x", x_given, 0);
    ops::any_view dx;
    in.tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dx);
    in.same_elements("dx", dx_given, "x", x_given);
    in.same_rank("dx", dx_given, "x", x_given, 0);
    ops::any_view dweight;
    in.optional_tensor("dweight", dweight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, dweight);
    ops::rms_norm_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_rms_norm_backward(stream, x, weight, dy, dx, dweight, options);
  });
}

kaio_status kaio_rms_norm_backward_workspace_bytes(const DLTensor* x_given, uint64_t* bytes) {
  return guarded([&] {
    call in("rms_norm_backward_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::detail::norm_backward_workspace(stream, x);
  });
}

kaio_status kaio_layer_norm_backward(void* stream_handle, const DLTensor* x_given,
                                     const DLTensor* weight_given, const DLTensor* dy_given,
                                     const DLTensor* dx_given, const DLTensor* dweight_given,
                                     const DLTensor* dbias_given,
                                     const kaio_layer_norm_backward_options* options_given) {
  return guarded([&] {
    call in("layer_norm_backward");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.optional_tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dy);
    in.same_elements("dy", dy_given, "x", x_given);
    in.same_rank("dy", dy_given, "x", x_given, 0);
    ops::any_view dx;
    in.tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dx);
    in.same_elements("dx", dx_given, "x", x_given);
    in.same_rank("dx", dx_given, "x", x_given, 0);
    ops::any_view dweight;
    in.optional_tensor("dweight", dweight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, dweight);
    ops::any_view dbias;
    in.optional_tensor("dbias", dbias_given, {element::f32 | element::f16 | element::bf16, 1, 1}, dbias);
    ops::layer_norm_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_layer_norm_backward(stream, x, weight, dy, dx, dweight, dbias, options);
    in.finish();
  });
}

kaio_status kaio_layer_norm_backward_warmup(const DLTensor* x_given, const DLTensor* weight_given,
                                            const DLTensor* dy_given, const DLTensor* dx_given,
                                            const DLTensor* dweight_given, const DLTensor* dbias_given,
                                            const kaio_layer_norm_backward_options* options_given) {
  return guarded([&] {
    call in("layer_norm_backward_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view weight;
    in.optional_tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dy);
    in.same_elements("dy", dy_given, "x", x_given);
    in.same_rank("dy", dy_given, "x", x_given, 0);
    ops::any_view dx;
    in.tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dx);
    in.same_elements("dx", dx_given, "x", x_given);
    in.same_rank("dx", dx_given, "x", x_given, 0);
    ops::any_view dweight;
    in.optional_tensor("dweight", dweight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, dweight);
    ops::any_view dbias;
    in.optional_tensor("dbias", dbias_given, {element::f32 | element::f16 | element::bf16, 1, 1}, dbias);
    ops::layer_norm_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_layer_norm_backward(stream, x, weight, dy, dx, dweight, dbias, options);
  });
}

kaio_status kaio_layer_norm_backward_workspace_bytes(const DLTensor* x_given, uint64_t* bytes) {
  return guarded([&] {
    call in("layer_norm_backward_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::detail::norm_backward_workspace(stream, x);
  });
}
}
