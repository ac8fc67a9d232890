// Made by src/c/generate.py from src/c/operations/softmax.json.
// clang-format off

#include <kaio/c/softmax.h>
#include <kaio/ops/softmax.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::softmax_options{}.scale == 1.0f);
static_assert(ops::softmax_backward_options{}.scale == 1.0f);

void read(call& in, const char* name, const kaio_softmax_options* given, ops::softmax_options& to) {
  kaio_softmax_options from = kaio_softmax_options_default();
  in.take(name, given, &from, sizeof from);
  to.scale = from.scale;
  in.optional_tensor("lse", from.lse, {element::f32, 1, 3}, to.lse);
}

void read(call& in, const char* name, const kaio_softmax_backward_options* given, ops::softmax_backward_options& to) {
  kaio_softmax_backward_options from = kaio_softmax_backward_options_default();
  in.take(name, given, &from, sizeof from);
  to.scale = from.scale;
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_softmax(void* stream_handle, const DLTensor* x_given, const DLTensor* y_given,
                         const kaio_softmax_options* options_given) {
  return guarded([&] {
    call in("softmax");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 4}, y);
    in.same_elements("y", y_given, "x", x_given);
    in.same_rank("y", y_given, "x", x_given, 0);
    ops::softmax_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_softmax(stream, x, y, options);
    in.finish();
  });
}

kaio_status kaio_softmax_warmup(const DLTensor* x_given, const DLTensor* y_given,
                                const kaio_softmax_options* options_given) {
  return guarded([&] {
    call in("softmax_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 4}, y);
    in.same_elements("y", y_given, "x", x_given);
    in.same_rank("y", y_given, "x", x_given, 0);
    ops::softmax_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_softmax(stream, x, y, options);
  });
}

kaio_status kaio_log_softmax(void* stream_handle, const DLTensor* x_given, const DLTensor* y_given,
                             const kaio_softmax_options* options_given) {
  return guarded([&] {
    call in("log_softmax");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 4}, y);
    in.same_elements("y", y_given, "x", x_given);
    in.same_rank("y", y_given, "x", x_given, 0);
    ops::softmax_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_log_softmax(stream, x, y, options);
    in.finish();
  });
}

kaio_status kaio_log_softmax_warmup(const DLTensor* x_given, const DLTensor* y_given,
                                    const kaio_softmax_options* options_given) {
  return guarded([&] {
    call in("log_softmax_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 4}, x);
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 4}, y);
    in.same_elements("y", y_given, "x", x_given);
    in.same_rank("y", y_given, "x", x_given, 0);
    ops::softmax_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_log_softmax(stream, x, y, options);
  });
}

kaio_status kaio_softmax_backward(void* stream_handle, const DLTensor* y_given, const DLTensor* dy_given,
                                  const DLTensor* dx_given,
                                  const kaio_softmax_backward_options* options_given) {
  return guarded([&] {
    call in("softmax_backward");
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 4}, y);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dy);
    in.same_elements("dy", dy_given, "y", y_given);
    in.same_rank("dy", dy_given, "y", y_given, 0);
    ops::any_view dx;
    in.tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dx);
    in.same_elements("dx", dx_given, "y", y_given);
    in.same_rank("dx", dx_given, "y", y_given, 0);
    ops::softmax_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_softmax_backward(stream, y, dy, dx, options);
    in.finish();
  });
}

kaio_status kaio_softmax_backward_warmup(const DLTensor* y_given, const DLTensor* dy_given,
                                         const DLTensor* dx_given,
                                         const kaio_softmax_backward_options* options_given) {
  return guarded([&] {
    call in("softmax_backward_warmup");
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 4}, y);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dy);
    in.same_elements("dy", dy_given, "y", y_given);
    in.same_rank("dy", dy_given, "y", y_given, 0);
    ops::any_view dx;
    in.tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dx);
    in.same_elements("dx", dx_given, "y", y_given);
    in.same_rank("dx", dx_given, "y", y_given, 0);
    ops::softmax_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_softmax_backward(stream, y, dy, dx, options);
  });
}

kaio_status kaio_log_softmax_backward(void* stream_handle, const DLTensor* y_given, const DLTensor* dy_given,
                                      const DLTensor* dx_given,
                                      const kaio_softmax_backward_options* options_given) {
  return guarded([&] {
    call in("log_softmax_backward");
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 4}, y);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dy);
    in.same_elements("dy", dy_given, "y", y_given);
    in.same_rank("dy", dy_given, "y", y_given, 0);
    ops::any_view dx;
    in.tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dx);
    in.same_elements("dx", dx_given, "y", y_given);
    in.same_rank("dx", dx_given, "y", y_given, 0);
    ops::softmax_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_log_softmax_backward(stream, y, dy, dx, options);
    in.finish();
  });
}

kaio_status kaio_log_softmax_backward_warmup(const DLTensor* y_given, const DLTensor* dy_given,
                                             const DLTensor* dx_given,
                                             const kaio_softmax_backward_options* options_given) {
  return guarded([&] {
    call in("log_softmax_backward_warmup");
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 4}, y);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dy);
    in.same_elements("dy", dy_given, "y", y_given);
    in.same_rank("dy", dy_given, "y", y_given, 0);
    ops::any_view dx;
    in.tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 2, 4}, dx);
    in.same_elements("dx", dx_given, "y", y_given);
    in.same_rank("dx", dx_given, "y", y_given, 0);
    ops::softmax_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_log_softmax_backward(stream, y, dy, dx, options);
  });
}
}
