// Made by src/c/generate.py from src/c/operations/matmul.json.
// clang-format off

#include <kaio/c/matmul.h>
#include <kaio/ops/gate_up_grouped.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_backward.hpp>
#include <kaio/ops/matmul_grouped.hpp>
#include <kaio/ops/matmul_grouped_backward.hpp>
#include <kaio/ops/tune.hpp>

#include <vector>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::matmul_activation::none) == KAIO_MATMUL_ACTIVATION_NONE);
static_assert(static_cast<int>(ops::matmul_activation::relu) == KAIO_MATMUL_ACTIVATION_RELU);
static_assert(static_cast<int>(ops::matmul_activation::gelu) == KAIO_MATMUL_ACTIVATION_GELU);
static_assert(static_cast<int>(ops::matmul_activation::gelu_tanh) == KAIO_MATMUL_ACTIVATION_GELU_TANH);
static_assert(static_cast<int>(ops::matmul_activation::silu) == KAIO_MATMUL_ACTIVATION_SILU);
static_assert(static_cast<int>(ops::matmul_precision::ieee) == KAIO_MATMUL_PRECISION_IEEE);
static_assert(static_cast<int>(ops::matmul_precision::tf32) == KAIO_MATMUL_PRECISION_TF32);
static_assert(static_cast<int>(ops::matmul_precision::tf32x3) == KAIO_MATMUL_PRECISION_TF32X3);
static_assert(ops::matmul_options{}.alpha == 1.0f);
static_assert(ops::matmul_options{}.beta == 0.0f);
static_assert(ops::matmul_options{}.activation == static_cast<ops::matmul_activation>(0));
static_assert(ops::matmul_options{}.precision == static_cast<ops::matmul_precision>(0));
static_assert(ops::matmul_options{}.constant == static_cast<ops::constant_inputs>(0));
static_assert(ops::matmul_options{}.bias.of_rows == false);
static_assert(ops::matmul_backward_options{}.alpha == 1.0f);
static_assert(ops::matmul_backward_options{}.accumulate == false);
static_assert(ops::matmul_backward_options{}.precision == static_cast<ops::matmul_precision>(0));
static_assert(ops::matmul_grouped_backward_options{}.accumulate == false);
static_assert(ops::gate_up_grouped_options{}.activation == static_cast<ops::matmul_activation>(4));
static_assert(ops::gate_up_grouped_options{}.alpha == 1.0f);
static_assert(ops::gate_up_grouped_options{}.limit == 0.0f);
static_assert(ops::gate_up_grouped_options{}.up_offset == 0.0f);

void read(call& in, const char* name, const kaio_matmul_options* given, ops::matmul_options& to) {
  kaio_matmul_options from = kaio_matmul_options_default();
  in.take(name, given, &from, sizeof from);
  to.alpha = from.alpha;
  to.beta = from.beta;
  in.enumerated("activation", from.activation, 5, to.activation);
  in.enumerated("precision", from.precision, 3, to.precision);
  in.set_of("constant", from.constant, 7, to.constant);
  to.bias.of_rows = in.flag("bias_of_rows", from.bias_of_rows);
  in.zero("reserved_28", from.reserved_28);
  in.optional_tensor("bias", from.bias, {element::f32 | element::f16 | element::bf16, 1, 2}, to.bias.vector);
  in.optional_tensor("residual", from.residual, {element::f32 | element::f16 | element::bf16, 2, 3}, to.residual);
  in.workspace("workspace", from.workspace, to.workspace);
  if (from.variant != nullptr) to.variant = from.variant;
}

void read(call& in, const char* name, const kaio_matmul_backward_options* given, ops::matmul_backward_options& to) {
  kaio_matmul_backward_options from = kaio_matmul_backward_options_default();
  in.take(name, given, &from, sizeof from);
  to.alpha = from.alpha;
  to.accumulate = in.flag("accumulate", from.accumulate);
  in.enumerated("precision", from.precision, 3, to.precision);
  in.workspace("workspace", from.workspace, to.workspace);
}

void read(call& in, const char* name, const kaio_matmul_grouped_options* given, ops::matmul_grouped_options& to) {
  kaio_matmul_grouped_options from = kaio_matmul_grouped_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.optional_tensor("rows", from.rows, {element::i32, 1, 1}, to.rows);
  in.optional_tensor("bias", from.bias, {element::f32, 2, 2}, to.bias);
}

void read(call& in, const char* name, const kaio_matmul_grouped_backward_options* given, ops::matmul_grouped_backward_options& to) {
  kaio_matmul_grouped_backward_options from = kaio_matmul_grouped_backward_options_default();
  in.take(name, given, &from, sizeof from);
  to.accumulate = in.flag("accumulate", from.accumulate);
}

void read(call& in, const char* name, const kaio_gate_up_grouped_options* given, ops::gate_up_grouped_options& to) {
  kaio_gate_up_grouped_options from = kaio_gate_up_grouped_options_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("activation", from.activation, 5, to.activation);
  in.optional_tensor("rows", from.rows, {element::i32, 1, 1}, to.rows);
  in.optional_tensor("gate_bias", from.gate_bias, {element::f32, 2, 2}, to.gate_bias);
  in.optional_tensor("up_bias", from.up_bias, {element::f32, 2, 2}, to.up_bias);
  to.alpha = from.alpha;
  to.limit = from.limit;
  to.up_offset = from.up_offset;
  in.zero("reserved_44", from.reserved_44);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_matmul(void* stream_handle, const DLTensor* a_given, const DLTensor* b_given,
                        const DLTensor* c_given, const kaio_matmul_options* options_given) {
  return guarded([&] {
    call in("matmul");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 3}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 3}, c);
    ops::matmul_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_matmul(stream, {"matmul", a, b, c, &options});
    in.finish();
  });
}

kaio_status kaio_matmul_warmup(const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                               const kaio_matmul_options* options_given) {
  return guarded([&] {
    call in("matmul_warmup");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 3}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 3}, c);
    ops::matmul_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_matmul(stream, {"matmul", a, b, c, &options});
  });
}

kaio_status kaio_matmul_workspace_bytes(const DLTensor* a_given, const DLTensor* b_given,
                                        const DLTensor* c_given, const kaio_matmul_options* options_given,
                                        uint64_t* bytes) {
  return guarded([&] {
    call in("matmul_workspace_bytes");
    in.need("bytes", bytes);
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 3}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 3}, c);
    ops::matmul_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::matmul_workspace_bytes(stream, a, b, c, options);
  });
}

kaio_status kaio_matmul_choice(const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                               const kaio_matmul_options* options_given, kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("matmul_choice");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 3}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 3}, c);
    ops::matmul_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::matmul_choice(stream, a, b, c, options), choice);
  });
}

kaio_status kaio_tune_matmul(const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                             const kaio_matmul_options* options_given, const kaio_tune_options* how_given,
                             kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_matmul");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 3}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 3}, c);
    ops::matmul_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::tune_matmul(gpu, a, b, c, options, how), report);
  });
}

kaio_status kaio_matmul_batch(void* stream_handle, size_t count, const DLTensor* a_given,
                              const DLTensor* b_given, const DLTensor* c_given,
                              const kaio_matmul_options* options_given) {
  return guarded([&] {
    call in("matmul_batch");
    if (count == 0) return;
    std::vector<ops::matmul_view> a;
    in.tensors("a", a_given, count, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 2}, a);
    std::vector<ops::matmul_view> b;
    in.tensors("b", b_given, count, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 2}, b);
    in.same_elements("b", b_given, "a", a_given, count);
    std::vector<ops::matmul_view> c;
    in.tensors("c", c_given, count, {element::f32 | element::f16 | element::bf16, 2, 2}, c);
    ops::matmul_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_matmul_batch(stream, "matmul_batch", a, b, c, options);
    in.finish();
  });
}

kaio_status kaio_matmul_batch_warmup(size_t count, const DLTensor* a_given, const DLTensor* b_given,
                                     const DLTensor* c_given, const kaio_matmul_options* options_given) {
  return guarded([&] {
    call in("matmul_batch_warmup");
    if (count == 0) return;
    std::vector<ops::matmul_view> a;
    in.tensors("a", a_given, count, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 2}, a);
    std::vector<ops::matmul_view> b;
    in.tensors("b", b_given, count, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 2}, b);
    in.same_elements("b", b_given, "a", a_given, count);
    std::vector<ops::matmul_view> c;
    in.tensors("c", c_given, count, {element::f32 | element::f16 | element::bf16, 2, 2}, c);
    ops::matmul_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_matmul_batch(stream, "matmul_batch", a, b, c, options);
  });
}

kaio_status kaio_matmul_backward(void* stream_handle, const DLTensor* dc_given, const DLTensor* a_given,
                                 const DLTensor* b_given, const DLTensor* da_given, const DLTensor* db_given,
                                 const kaio_matmul_backward_options* options_given) {
  return guarded([&] {
    call in("matmul_backward");
    ops::matmul_view dc;
    in.tensor("dc", dc_given, {element::f32 | element::f16 | element::bf16, 2, 3}, dc);
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::f32 | element::f16 | element::bf16, 2, 3}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::matmul_view da;
    in.optional_tensor("da", da_given, {element::f32 | element::f16 | element::bf16, 2, 3}, da);
    ops::matmul_view db;
    in.optional_tensor("db", db_given, {element::f32 | element::f16 | element::bf16, 2, 3}, db);
    ops::matmul_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::matmul_backward(stream, dc, a, b, da, db, options);
    in.finish();
  });
}

kaio_status kaio_matmul_backward_warmup(const DLTensor* dc_given, const DLTensor* a_given,
                                        const DLTensor* b_given, const DLTensor* da_given,
                                        const DLTensor* db_given,
                                        const kaio_matmul_backward_options* options_given) {
  return guarded([&] {
    call in("matmul_backward_warmup");
    ops::matmul_view dc;
    in.tensor("dc", dc_given, {element::f32 | element::f16 | element::bf16, 2, 3}, dc);
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::f32 | element::f16 | element::bf16, 2, 3}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::matmul_view da;
    in.optional_tensor("da", da_given, {element::f32 | element::f16 | element::bf16, 2, 3}, da);
    ops::matmul_view db;
    in.optional_tensor("db", db_given, {element::f32 | element::f16 | element::bf16, 2, 3}, db);
    ops::matmul_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::matmul_backward(stream, dc, a, b, da, db, options);
  });
}

kaio_status kaio_matmul_backward_workspace_bytes(const DLTensor* dc_given, const DLTensor* a_given,
                                                 uint64_t* bytes) {
  return guarded([&] {
    call in("matmul_backward_workspace_bytes");
    in.need("bytes", bytes);
    ops::matmul_view dc;
    in.tensor("dc", dc_given, {element::f32 | element::f16 | element::bf16, 2, 3}, dc);
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16, 2, 3}, a);
    *bytes = ops::matmul_backward_workspace_bytes(dc, a);
  });
}

kaio_status kaio_matmul_grouped(void* stream_handle, const DLTensor* a_given, const DLTensor* b_given,
                                const DLTensor* offsets_given, const DLTensor* c_given,
                                const kaio_matmul_grouped_options* options_given) {
  return guarded([&] {
    call in("matmul_grouped");
    ops::any_view a;
    in.tensor("a", a_given, {element::f16 | element::bf16, 2, 2}, a);
    ops::any_view b;
    in.tensor("b", b_given, {element::f16 | element::bf16, 3, 3}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 2}, c);
    ops::matmul_grouped_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_matmul_grouped(stream, a, b, offsets, c, options);
    in.finish();
  });
}

kaio_status kaio_matmul_grouped_warmup(const DLTensor* a_given, const DLTensor* b_given,
                                       const DLTensor* offsets_given, const DLTensor* c_given,
                                       const kaio_matmul_grouped_options* options_given) {
  return guarded([&] {
    call in("matmul_grouped_warmup");
    ops::any_view a;
    in.tensor("a", a_given, {element::f16 | element::bf16, 2, 2}, a);
    ops::any_view b;
    in.tensor("b", b_given, {element::f16 | element::bf16, 3, 3}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 2}, c);
    ops::matmul_grouped_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_matmul_grouped(stream, a, b, offsets, c, options);
  });
}

kaio_status kaio_matmul_grouped_backward(void* stream_handle, const DLTensor* dc_given,
                                         const DLTensor* a_given, const DLTensor* b_given,
                                         const DLTensor* offsets_given, const DLTensor* da_given,
                                         const DLTensor* db_given,
                                         const kaio_matmul_grouped_backward_options* options_given) {
  return guarded([&] {
    call in("matmul_grouped_backward");
    ops::any_view dc;
    in.tensor("dc", dc_given, {element::f16 | element::bf16, 2, 2}, dc);
    ops::any_view a;
    in.tensor("a", a_given, {element::f16 | element::bf16, 2, 2}, a);
    in.same_elements("a", a_given, "dc", dc_given);
    ops::any_view b;
    in.tensor("b", b_given, {element::f16 | element::bf16, 3, 3}, b);
    in.same_elements("b", b_given, "dc", dc_given);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view da;
    in.optional_tensor("da", da_given, {element::f32 | element::f16 | element::bf16, 2, 2}, da);
    ops::any_view db;
    in.optional_tensor("db", db_given, {element::f32 | element::f16 | element::bf16, 3, 3}, db);
    ops::matmul_grouped_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::matmul_grouped_backward(stream, dc, a, b, offsets, ops::output_view(da), ops::output_view(db), options);
    in.finish();
  });
}

kaio_status kaio_matmul_grouped_backward_warmup(const DLTensor* dc_given, const DLTensor* a_given,
                                                const DLTensor* b_given, const DLTensor* offsets_given,
                                                const DLTensor* da_given, const DLTensor* db_given,
                                                const kaio_matmul_grouped_backward_options* options_given) {
  return guarded([&] {
    call in("matmul_grouped_backward_warmup");
    ops::any_view dc;
    in.tensor("dc", dc_given, {element::f16 | element::bf16, 2, 2}, dc);
    ops::any_view a;
    in.tensor("a", a_given, {element::f16 | element::bf16, 2, 2}, a);
    in.same_elements("a", a_given, "dc", dc_given);
    ops::any_view b;
    in.tensor("b", b_given, {element::f16 | element::bf16, 3, 3}, b);
    in.same_elements("b", b_given, "dc", dc_given);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view da;
    in.optional_tensor("da", da_given, {element::f32 | element::f16 | element::bf16, 2, 2}, da);
    ops::any_view db;
    in.optional_tensor("db", db_given, {element::f32 | element::f16 | element::bf16, 3, 3}, db);
    ops::matmul_grouped_backward_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::matmul_grouped_backward(stream, dc, a, b, offsets, ops::output_view(da), ops::output_view(db), options);
  });
}

kaio_status kaio_gate_up_grouped(void* stream_handle, const DLTensor* x_given, const DLTensor* gate_given,
                                 const DLTensor* up_given, const DLTensor* offsets_given,
                                 const DLTensor* y_given, const kaio_gate_up_grouped_options* options_given) {
  return guarded([&] {
    call in("gate_up_grouped");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    ops::any_view gate;
    in.tensor("gate", gate_given, {element::f16 | element::bf16, 3, 3}, gate);
    in.same_elements("gate", gate_given, "x", x_given);
    ops::any_view up;
    in.tensor("up", up_given, {element::f16 | element::bf16, 3, 3}, up);
    in.same_elements("up", up_given, "x", x_given);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 2}, y);
    ops::gate_up_grouped_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_gate_up_grouped(stream, x, gate, up, offsets, y, options);
    in.finish();
  });
}

kaio_status kaio_gate_up_grouped_warmup(const DLTensor* x_given, const DLTensor* gate_given,
                                        const DLTensor* up_given, const DLTensor* offsets_given,
                                        const DLTensor* y_given,
                                        const kaio_gate_up_grouped_options* options_given) {
  return guarded([&] {
    call in("gate_up_grouped_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    ops::any_view gate;
    in.tensor("gate", gate_given, {element::f16 | element::bf16, 3, 3}, gate);
    in.same_elements("gate", gate_given, "x", x_given);
    ops::any_view up;
    in.tensor("up", up_given, {element::f16 | element::bf16, 3, 3}, up);
    in.same_elements("up", up_given, "x", x_given);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view y;
    in.tensor("y", y_given, {element::f32 | element::f16 | element::bf16, 2, 2}, y);
    ops::gate_up_grouped_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_gate_up_grouped(stream, x, gate, up, offsets, y, options);
  });
}
}
