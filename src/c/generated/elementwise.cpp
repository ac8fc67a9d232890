// Made by src/c/generate.py from src/c/operations/elementwise.json.
// clang-format off

#include <kaio/c/elementwise.h>
#include <kaio/ops/activation.hpp>
#include <kaio/ops/copy.hpp>
#include <kaio/ops/int8_dequant.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::activation_kind::silu) == KAIO_ACTIVATION_SILU);
static_assert(static_cast<int>(ops::activation_kind::gelu) == KAIO_ACTIVATION_GELU);
static_assert(static_cast<int>(ops::activation_kind::gelu_tanh) == KAIO_ACTIVATION_GELU_TANH);
static_assert(static_cast<int>(ops::activation_kind::gelu_sigmoid) == KAIO_ACTIVATION_GELU_SIGMOID);
static_assert(static_cast<int>(ops::activation_kind::relu) == KAIO_ACTIVATION_RELU);
static_assert(static_cast<int>(ops::activation_kind::relu2) == KAIO_ACTIVATION_RELU2);
static_assert(ops::gated_options{}.limit == 0.0f);
static_assert(ops::gated_options{}.up_offset == 0.0f);

void read(call& in, const char* name, const kaio_gated_options* given, ops::gated_options& to) {
  kaio_gated_options from = kaio_gated_options_default();
  in.take(name, given, &from, sizeof from);
  to.limit = from.limit;
  to.up_offset = from.up_offset;
  in.zero("reserved_12", from.reserved_12);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_activate(void* stream_handle, int32_t kind_given, const DLTensor* x_given,
                          const DLTensor* y_given) {
  return guarded([&] {
    call in("activate");
    ops::activation_kind kind{};
    in.enumerated("kind", kind_given, 6, kind);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 1, 5}, x);
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 1, 5}, y);
    in.same_elements("y", y_given, "x", x_given);
    in.same_rank("y", y_given, "x", x_given, 0);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_activate(stream, kind, x, y);
    in.finish();
  });
}

kaio_status kaio_activate_warmup(int32_t kind_given, const DLTensor* x_given, const DLTensor* y_given) {
  return guarded([&] {
    call in("activate_warmup");
    ops::activation_kind kind{};
    in.enumerated("kind", kind_given, 6, kind);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 1, 5}, x);
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 1, 5}, y);
    in.same_elements("y", y_given, "x", x_given);
    in.same_rank("y", y_given, "x", x_given, 0);
    const runtime::stream& stream = in.loading();
    ops::detail::run_activate(stream, kind, x, y);
  });
}

kaio_status kaio_activate_backward(void* stream_handle, int32_t kind_given, const DLTensor* dy_given,
                                   const DLTensor* x_given, const DLTensor* dx_given) {
  return guarded([&] {
    call in("activate_backward");
    ops::activation_kind kind{};
    in.enumerated("kind", kind_given, 6, kind);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 1, 5}, dy);
    in.same_elements("dy", dy_given, "x", x_given);
    in.same_rank("dy", dy_given, "x", x_given, 0);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 1, 5}, x);
    ops::any_view dx;
    in.tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 1, 5}, dx);
    in.same_elements("dx", dx_given, "x", x_given);
    in.same_rank("dx", dx_given, "x", x_given, 0);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_activate_backward(stream, kind, dy, x, dx);
    in.finish();
  });
}

kaio_status kaio_activate_backward_warmup(int32_t kind_given, const DLTensor* dy_given,
                                          const DLTensor* x_given, const DLTensor* dx_given) {
  return guarded([&] {
    call in("activate_backward_warmup");
    ops::activation_kind kind{};
    in.enumerated("kind", kind_given, 6, kind);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 1, 5}, dy);
    in.same_elements("dy", dy_given, "x", x_given);
    in.same_rank("dy", dy_given, "x", x_given, 0);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 1, 5}, x);
    ops::any_view dx;
    in.tensor("dx", dx_given, {element::f32 | element::f16 | element::bf16, 1, 5}, dx);
    in.same_elements("dx", dx_given, "x", x_given);
    in.same_rank("dx", dx_given, "x", x_given, 0);
    const runtime::stream& stream = in.loading();
    ops::detail::run_activate_backward(stream, kind, dy, x, dx);
  });
}

kaio_status kaio_gated(void* stream_handle, int32_t kind_given, const DLTensor* gate_given,
                       const DLTensor* up_given, const DLTensor* y_given,
                       const kaio_gated_options* options_given) {
  return guarded([&] {
    call in("gated");
    ops::activation_kind kind{};
    in.enumerated("kind", kind_given, 6, kind);
    ops::any_view gate;
    in.tensor("gate", gate_given, {element::f32 | element::f16 | element::bf16, 1, 5}, gate);
    ops::any_view up;
    in.tensor("up", up_given, {element::f32 | element::f16 | element::bf16, 1, 5}, up);
    in.same_elements("up", up_given, "gate", gate_given);
    in.same_rank("up", up_given, "gate", gate_given, 0);
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 1, 5}, y);
    in.same_elements("y", y_given, "gate", gate_given);
    in.same_rank("y", y_given, "gate", gate_given, 0);
    ops::gated_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_gated(stream, kind, gate, up, y, options);
    in.finish();
  });
}

kaio_status kaio_gated_warmup(int32_t kind_given, const DLTensor* gate_given, const DLTensor* up_given,
                              const DLTensor* y_given, const kaio_gated_options* options_given) {
  return guarded([&] {
    call in("gated_warmup");
    ops::activation_kind kind{};
    in.enumerated("kind", kind_given, 6, kind);
    ops::any_view gate;
    in.tensor("gate", gate_given, {element::f32 | element::f16 | element::bf16, 1, 5}, gate);
    ops::any_view up;
    in.tensor("up", up_given, {element::f32 | element::f16 | element::bf16, 1, 5}, up);
    in.same_elements("up", up_given, "gate", gate_given);
    in.same_rank("up", up_given, "gate", gate_given, 0);
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 1, 5}, y);
    in.same_elements("y", y_given, "gate", gate_given);
    in.same_rank("y", y_given, "gate", gate_given, 0);
    ops::gated_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_gated(stream, kind, gate, up, y, options);
  });
}

kaio_status kaio_gated_backward(void* stream_handle, int32_t kind_given, const DLTensor* dy_given,
                                const DLTensor* gate_given, const DLTensor* up_given,
                                const DLTensor* dgate_given, const DLTensor* dup_given,
                                const kaio_gated_options* options_given) {
  return guarded([&] {
    call in("gated_backward");
    ops::activation_kind kind{};
    in.enumerated("kind", kind_given, 6, kind);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 1, 5}, dy);
    ops::any_view gate;
    in.tensor("gate", gate_given, {element::f32 | element::f16 | element::bf16, 1, 5}, gate);
    in.same_elements("gate", gate_given, "dy", dy_given);
    in.same_rank("gate", gate_given, "dy", dy_given, 0);
    ops::any_view up;
    in.tensor("up", up_given, {element::f32 | element::f16 | element::bf16, 1, 5}, up);
    in.same_elements("up", up_given, "dy", dy_given);
    in.same_rank("up", up_given, "dy", dy_given, 0);
    ops::any_view dgate;
    in.tensor("dgate", dgate_given, {element::f32 | element::f16 | element::bf16, 1, 5}, dgate);
    in.same_elements("dgate", dgate_given, "dy", dy_given);
    in.same_rank("dgate", dgate_given, "dy", dy_given, 0);
    ops::any_view dup;
    in.tensor("dup", dup_given, {element::f32 | element::f16 | element::bf16, 1, 5}, dup);
    in.same_elements("dup", dup_given, "dy", dy_given);
    in.same_rank("dup", dup_given, "dy", dy_given, 0);
    ops::gated_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_gated_backward(stream, kind, dy, gate, up, dgate, dup, options);
    in.finish();
  });
}

kaio_status kaio_gated_backward_warmup(int32_t kind_given, const DLTensor* dy_given,
                                       const DLTensor* gate_given, const DLTensor* up_given,
                                       const DLTensor* dgate_given, const DLTensor* dup_given,
                                       const kaio_gated_options* options_given) {
  return guarded([&] {
    call in("gated_backward_warmup");
    ops::activation_kind kind{};
    in.enumerated("kind", kind_given, 6, kind);
    ops::any_view dy;
    in.tensor("dy", dy_given, {element::f32 | element::f16 | element::bf16, 1, 5}, dy);
    ops::any_view gate;
    in.tensor("gate", gate_given, {element::f32 | element::f16 | element::bf16, 1, 5}, gate);
    in.same_elements("gate", gate_given, "dy", dy_given);
    in.same_rank("gate", gate_given, "dy", dy_given, 0);
    ops::any_view up;
    in.tensor("up", up_given, {element::f32 | element::f16 | element::bf16, 1, 5}, up);
    in.same_elements("up", up_given, "dy", dy_given);
    in.same_rank("up", up_given, "dy", dy_given, 0);
    ops::any_view dgate;
    in.tensor("dgate", dgate_given, {element::f32 | element::f16 | element::bf16, 1, 5}, dgate);
    in.same_elements("dgate", dgate_given, "dy", dy_given);
    in.same_rank("dgate", dgate_given, "dy", dy_given, 0);
    ops::any_view dup;
    in.tensor("dup", dup_given, {element::f32 | element::f16 | element::bf16, 1, 5}, dup);
    in.same_elements("dup", dup_given, "dy", dy_given);
    in.same_rank("dup", dup_given, "dy", dy_given, 0);
    ops::gated_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_gated_backward(stream, kind, dy, gate, up, dgate, dup, options);
  });
}

kaio_status kaio_copy_tensor(void* stream_handle, const DLTensor* to_given, const DLTensor* from_given) {
  return guarded([&] {
    call in("copy_tensor");
    ops::any_view to;
    in.tensor("to", to_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::e8m0 | element::boolean | element::i8 | element::u8 | element::i16 | element::u16 | element::i32 | element::u32 | element::i64 | element::u64 | element::f64, 1, 5}, to);
    ops::any_view from;
    in.tensor("from", from_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::e8m0 | element::boolean | element::i8 | element::u8 | element::i16 | element::u16 | element::i32 | element::u32 | element::i64 | element::u64 | element::f64, 1, 5}, from);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_copy(stream, to, from);
    in.finish();
  });
}

kaio_status kaio_copy_tensor_warmup(const DLTensor* to_given, const DLTensor* from_given) {
  return guarded([&] {
    call in("copy_tensor_warmup");
    ops::any_view to;
    in.tensor("to", to_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::e8m0 | element::boolean | element::i8 | element::u8 | element::i16 | element::u16 | element::i32 | element::u32 | element::i64 | element::u64 | element::f64, 1, 5}, to);
    ops::any_view from;
    in.tensor("from", from_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::e8m0 | element::boolean | element::i8 | element::u8 | element::i16 | element::u16 | element::i32 | element::u32 | element::i64 | element::u64 | element::f64, 1, 5}, from);
    const runtime::stream& stream = in.loading();
    ops::detail::run_copy(stream, to, from);
  });
}

kaio_status kaio_int8_dequant(void* stream_handle, const DLTensor* codes_given, float scale,
                              const DLTensor* x_given) {
  return guarded([&] {
    call in("int8_dequant");
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::i8, 1, 5}, codes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 1, 5}, x);
    in.same_rank("x", x_given, "codes", codes_given, 0);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_int8_dequant(stream, codes, scale, x);
    in.finish();
  });
}

kaio_status kaio_int8_dequant_warmup(const DLTensor* codes_given, float scale, const DLTensor* x_given) {
  return guarded([&] {
    call in("int8_dequant_warmup");
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::i8, 1, 5}, codes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 1, 5}, x);
    in.same_rank("x", x_given, "codes", codes_given, 0);
    const runtime::stream& stream = in.loading();
    ops::detail::run_int8_dequant(stream, codes, scale, x);
  });
}

kaio_status kaio_int8_dequant_groups(void* stream_handle, const DLTensor* codes_given,
                                     const DLTensor* scales_given, const DLTensor* x_given) {
  return guarded([&] {
    call in("int8_dequant_groups");
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::i8, 2, 2}, codes);
    ops::any_view scales;
    in.tensor("scales", scales_given, {element::f32 | element::f16 | element::bf16, 2, 2}, scales);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_int8_dequant_groups(stream, codes, scales, x);
    in.finish();
  });
}

kaio_status kaio_int8_dequant_groups_warmup(const DLTensor* codes_given, const DLTensor* scales_given,
                                            const DLTensor* x_given) {
  return guarded([&] {
    call in("int8_dequant_groups_warmup");
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::i8, 2, 2}, codes);
    ops::any_view scales;
    in.tensor("scales", scales_given, {element::f32 | element::f16 | element::bf16, 2, 2}, scales);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    const runtime::stream& stream = in.loading();
    ops::detail::run_int8_dequant_groups(stream, codes, scales, x);
  });
}
}
