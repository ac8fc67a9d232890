// Made by src/c/generate.py from src/c/operations/packed_weights.json.
// clang-format off

#include <kaio/c/packed_weights.h>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/matmul_w4_grouped.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/matmul_w8_grouped.hpp>
#include <kaio/ops/tune.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/call/packed.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::w4_codes::int4) == KAIO_W4_CODES_INT4);
static_assert(static_cast<int>(ops::w4_codes::nf4) == KAIO_W4_CODES_NF4);
static_assert(static_cast<int>(ops::w4_codes::fp4) == KAIO_W4_CODES_FP4);
static_assert(static_cast<int>(ops::w4_codes::e2m1) == KAIO_W4_CODES_E2M1);
static_assert(static_cast<int>(ops::w4_scale_type::f16) == KAIO_W4_SCALE_TYPE_F16);
static_assert(static_cast<int>(ops::w4_scale_type::bf16) == KAIO_W4_SCALE_TYPE_BF16);
static_assert(static_cast<int>(ops::w4_scale_type::f32) == KAIO_W4_SCALE_TYPE_F32);
static_assert(static_cast<int>(ops::w4_scale_type::e8m0) == KAIO_W4_SCALE_TYPE_E8M0);
static_assert(static_cast<int>(ops::w4_scale_type::e4m3) == KAIO_W4_SCALE_TYPE_E4M3);
static_assert(static_cast<int>(ops::w8_codes::int8) == KAIO_W8_CODES_INT8);
static_assert(static_cast<int>(ops::w8_codes::e4m3) == KAIO_W8_CODES_E4M3);
static_assert(ops::w4_weights{}.shape.codes == static_cast<ops::w4_codes>(0));
static_assert(ops::w4_weights{}.shape.n == 0);
static_assert(ops::w4_weights{}.shape.k == 0);
static_assert(ops::w4_weights{}.shape.group == 128);
static_assert(ops::w4_weights{}.shape.scales == static_cast<ops::w4_scale_type>(0));
static_assert(ops::w4_weights{}.shape.zero_points == false);
static_assert(ops::w4_weights{}.shape.act_order == false);
static_assert(ops::w4_weights{}.shape.factors == false);
static_assert(ops::w4_weights{}.shape.offsets == false);
static_assert(ops::w4_weights{}.shape.zero == 8);
static_assert(ops::w8_weights{}.shape.codes == static_cast<ops::w8_codes>(0));
static_assert(ops::w8_weights{}.shape.n == 0);
static_assert(ops::w8_weights{}.shape.k == 0);
static_assert(ops::w8_weights{}.shape.group == -1);
static_assert(ops::w8_weights{}.shape.zero_points == false);
static_assert(ops::w8_weights{}.shape.act_order == false);
static_assert(ops::w8_weights{}.shape.offsets == false);
static_assert(ops::matmul_w4_options{}.splits == 0);
static_assert(ops::matmul_w4_options{}.constant == static_cast<ops::constant_inputs>(0));
static_assert(ops::matmul_w4_options{}.exact_weights == false);
static_assert(ops::matmul_w4_grouped_options{}.gate == static_cast<ops::matmul_activation>(0));
static_assert(ops::matmul_w4_grouped_options{}.alpha == 1.0f);
static_assert(ops::matmul_w4_grouped_options{}.limit == 0.0f);
static_assert(ops::matmul_w4_grouped_options{}.up_offset == 0.0f);

void read(call& in, const char* name, const kaio_w4_weights* given, ops::w4_weights& to) {
  kaio_w4_weights from = kaio_w4_weights_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("codes", from.codes, 4, to.shape.codes);
  to.shape.n = from.n;
  to.shape.k = from.k;
  to.shape.group = from.group;
  in.enumerated("scales", from.scales, 5, to.shape.scales);
  to.shape.zero_points = in.flag("zero_points", from.zero_points);
  to.shape.act_order = in.flag("act_order", from.act_order);
  to.shape.factors = in.flag("factors", from.factors);
  to.shape.offsets = in.flag("offsets", from.offsets);
  in.byte("zero", from.zero, to.shape.zero);
  in.workspace("memory", from.memory, to.memory);
}

void give(const call& out, const char* name, const ops::w4_weights& from, kaio_w4_weights* given) {
  kaio_w4_weights to = kaio_w4_weights_default();
  to.codes = static_cast<std::int32_t>(from.shape.codes);
  to.n = from.shape.n;
  to.k = from.shape.k;
  to.group = from.shape.group;
  to.scales = static_cast<std::int32_t>(from.shape.scales);
  to.zero_points = from.shape.zero_points;
  to.act_order = from.shape.act_order;
  to.factors = from.shape.factors;
  to.offsets = from.shape.offsets;
  to.zero = from.shape.zero;
  out.give(name, given, &to, sizeof to);
}

void read(call& in, const char* name, const kaio_w8_weights* given, ops::w8_weights& to) {
  kaio_w8_weights from = kaio_w8_weights_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("codes", from.codes, 2, to.shape.codes);
  to.shape.n = from.n;
  to.shape.k = from.k;
  to.shape.group = from.group;
  to.shape.zero_points = in.flag("zero_points", from.zero_points);
  to.shape.act_order = in.flag("act_order", from.act_order);
  to.shape.offsets = in.flag("offsets", from.offsets);
  in.zero("reserved_44", from.reserved_44);
  in.workspace("memory", from.memory, to.memory);
}

void give(const call& out, const char* name, const ops::w8_weights& from, kaio_w8_weights* given) {
  kaio_w8_weights to = kaio_w8_weights_default();
  to.codes = static_cast<std::int32_t>(from.shape.codes);
  to.n = from.shape.n;
  to.k = from.shape.k;
  to.group = from.shape.group;
  to.zero_points = from.shape.zero_points;
  to.act_order = from.shape.act_order;
  to.offsets = from.shape.offsets;
  out.give(name, given, &to, sizeof to);
}

void read(call& in, const char* name, const kaio_matmul_w4_options* given, ops::matmul_w4_options& to) {
  kaio_matmul_w4_options from = kaio_matmul_w4_options_default();
  in.take(name, given, &from, sizeof from);
  to.splits = from.splits;
  in.set_of("constant", from.constant, 7, to.constant);
  to.exact_weights = in.flag("exact_weights", from.exact_weights);
  in.optional_tensor("bias", from.bias, {element::f16 | element::bf16, 1, 1}, to.bias);
  in.workspace("workspace", from.workspace, to.workspace);
  if (from.variant != nullptr) to.variant = from.variant;
}

void read(call& in, const char* name, const kaio_matmul_w4_grouped_options* given, ops::matmul_w4_grouped_options& to) {
  kaio_matmul_w4_grouped_options from = kaio_matmul_w4_grouped_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.optional_tensor("bias", from.bias, {element::f16 | element::bf16, 2, 2}, to.bias);
  if (from.variant != nullptr) to.variant = from.variant;
  in.optional_tensor("rows", from.rows, {element::i32, 1, 1}, to.rows);
  in.enumerated("gate", from.gate, 5, to.gate);
  to.alpha = from.alpha;
  to.limit = from.limit;
  to.up_offset = from.up_offset;
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_w4_packed_bytes(const kaio_w4_weights* weights_given, uint64_t* bytes) {
  return guarded([&] {
    call in("w4_packed_bytes");
    in.need("bytes", bytes);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    *bytes = ops::packed_bytes(weights.shape);
  });
}

kaio_status kaio_w8_packed_bytes(const kaio_w8_weights* weights_given, uint64_t* bytes) {
  return guarded([&] {
    call in("w8_packed_bytes");
    in.need("bytes", bytes);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    *bytes = ops::packed_bytes(weights.shape);
  });
}

kaio_status kaio_matmul_w4(void* stream_handle, const DLTensor* x_given, const kaio_w4_weights* weights_given,
                           const DLTensor* out_given, const kaio_matmul_w4_options* options_given) {
  return guarded([&] {
    call in("matmul_w4");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w4", x, out);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_matmul_w4(stream, {"matmul_w4", x, out, &weights, &options});
    in.finish();
  });
}

kaio_status kaio_matmul_w4_warmup(const DLTensor* x_given, const kaio_w4_weights* weights_given,
                                  const DLTensor* out_given, const kaio_matmul_w4_options* options_given) {
  return guarded([&] {
    call in("matmul_w4_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w4", x, out);
    const runtime::stream& stream = in.loading();
    ops::detail::run_matmul_w4(stream, {"matmul_w4", x, out, &weights, &options});
  });
}

kaio_status kaio_matmul_w4_workspace_bytes(const DLTensor* x_given, const kaio_w4_weights* weights_given,
                                           const DLTensor* out_given,
                                           const kaio_matmul_w4_options* options_given, uint64_t* bytes) {
  return guarded([&] {
    call in("matmul_w4_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w4", x, out);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::matmul_w4_workspace_bytes(stream, x, weights, options);
  });
}

kaio_status kaio_matmul_w4_choice(const DLTensor* x_given, const kaio_w4_weights* weights_given,
                                  const DLTensor* out_given, const kaio_matmul_w4_options* options_given,
                                  kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("matmul_w4_choice");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w4", x, out);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::matmul_w4_choice(stream, x, weights, options), choice);
  });
}

kaio_status kaio_tune_matmul_w4(const DLTensor* x_given, const kaio_w4_weights* weights_given,
                                const DLTensor* out_given, const kaio_matmul_w4_options* options_given,
                                const kaio_tune_options* how_given, kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_matmul_w4");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    require_out_type("matmul_w4", x, out);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::tune_matmul_w4(gpu, x, weights, out, options, how), report);
  });
}

kaio_status kaio_matmul_w8(void* stream_handle, const DLTensor* x_given, const kaio_w8_weights* weights_given,
                           const DLTensor* out_given, const kaio_matmul_w4_options* options_given) {
  return guarded([&] {
    call in("matmul_w8");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w8", x, out);
    const runtime::stream& stream = in.stream(stream_handle);
    const ops::w4_weights packed = ops::detail::as_w4_weights(weights); ops::detail::run_matmul_w4(stream, {"matmul_w8", x, out, &packed, &options});
    in.finish();
  });
}

kaio_status kaio_matmul_w8_warmup(const DLTensor* x_given, const kaio_w8_weights* weights_given,
                                  const DLTensor* out_given, const kaio_matmul_w4_options* options_given) {
  return guarded([&] {
    call in("matmul_w8_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w8", x, out);
    const runtime::stream& stream = in.loading();
    const ops::w4_weights packed = ops::detail::as_w4_weights(weights); ops::detail::run_matmul_w4(stream, {"matmul_w8", x, out, &packed, &options});
  });
}

kaio_status kaio_matmul_w8_workspace_bytes(const DLTensor* x_given, const kaio_w8_weights* weights_given,
                                           const DLTensor* out_given,
                                           const kaio_matmul_w4_options* options_given, uint64_t* bytes) {
  return guarded([&] {
    call in("matmul_w8_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w8", x, out);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::matmul_w8_workspace_bytes(stream, x, weights, options);
  });
}

kaio_status kaio_matmul_w8_choice(const DLTensor* x_given, const kaio_w8_weights* weights_given,
                                  const DLTensor* out_given, const kaio_matmul_w4_options* options_given,
                                  kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("matmul_w8_choice");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w8", x, out);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::matmul_w8_choice(stream, x, weights, options), choice);
  });
}

kaio_status kaio_tune_matmul_w8(const DLTensor* x_given, const kaio_w8_weights* weights_given,
                                const DLTensor* out_given, const kaio_matmul_w4_options* options_given,
                                const kaio_tune_options* how_given, kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_matmul_w8");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    require_out_type("matmul_w8", x, out);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::tune_matmul_w8(gpu, x, weights, out, options, how), report);
  });
}

kaio_status kaio_matmul_w4_grouped(void* stream_handle, const DLTensor* x_given,
                                   const kaio_w4_weights* weights_given, const DLTensor* offsets_given,
                                   const DLTensor* out_given,
                                   const kaio_matmul_w4_grouped_options* options_given) {
  return guarded([&] {
    call in("matmul_w4_grouped");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_grouped_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w4_grouped", x, out);
    const ops::grouped_w4_weights groups{weights.shape, offsets.extents[0] - 1, weights.memory};
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_matmul_w4_grouped(stream, {"matmul_w4_grouped", x, offsets, out, &groups, &options});
    in.finish();
  });
}

kaio_status kaio_matmul_w4_grouped_warmup(const DLTensor* x_given, const kaio_w4_weights* weights_given,
                                          const DLTensor* offsets_given, const DLTensor* out_given,
                                          const kaio_matmul_w4_grouped_options* options_given) {
  return guarded([&] {
    call in("matmul_w4_grouped_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_grouped_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w4_grouped", x, out);
    const ops::grouped_w4_weights groups{weights.shape, offsets.extents[0] - 1, weights.memory};
    const runtime::stream& stream = in.loading();
    ops::detail::run_matmul_w4_grouped(stream, {"matmul_w4_grouped", x, offsets, out, &groups, &options});
  });
}

kaio_status kaio_matmul_w4_grouped_choice(const DLTensor* x_given, const kaio_w4_weights* weights_given,
                                          const DLTensor* offsets_given, const DLTensor* out_given,
                                          const kaio_matmul_w4_grouped_options* options_given,
                                          kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("matmul_w4_grouped_choice");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_grouped_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w4_grouped", x, out);
    const ops::grouped_w4_weights groups{weights.shape, offsets.extents[0] - 1, weights.memory};
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::matmul_w4_grouped_choice(stream, x, groups, options), choice);
  });
}

kaio_status kaio_matmul_w8_grouped(void* stream_handle, const DLTensor* x_given,
                                   const kaio_w8_weights* weights_given, const DLTensor* offsets_given,
                                   const DLTensor* out_given,
                                   const kaio_matmul_w4_grouped_options* options_given) {
  return guarded([&] {
    call in("matmul_w8_grouped");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_grouped_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w8_grouped", x, out);
    const ops::grouped_w4_weights groups{ops::detail::as_w4_shape(weights.shape), offsets.extents[0] - 1, weights.memory};
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_matmul_w4_grouped(stream, {"matmul_w8_grouped", x, offsets, out, &groups, &options});
    in.finish();
  });
}

kaio_status kaio_matmul_w8_grouped_warmup(const DLTensor* x_given, const kaio_w8_weights* weights_given,
                                          const DLTensor* offsets_given, const DLTensor* out_given,
                                          const kaio_matmul_w4_grouped_options* options_given) {
  return guarded([&] {
    call in("matmul_w8_grouped_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_grouped_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w8_grouped", x, out);
    const ops::grouped_w4_weights groups{ops::detail::as_w4_shape(weights.shape), offsets.extents[0] - 1, weights.memory};
    const runtime::stream& stream = in.loading();
    ops::detail::run_matmul_w4_grouped(stream, {"matmul_w8_grouped", x, offsets, out, &groups, &options});
  });
}

kaio_status kaio_matmul_w8_grouped_choice(const DLTensor* x_given, const kaio_w8_weights* weights_given,
                                          const DLTensor* offsets_given, const DLTensor* out_given,
                                          const kaio_matmul_w4_grouped_options* options_given,
                                          kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("matmul_w8_grouped_choice");
    ops::any_view x;
    in.tensor("x", x_given, {element::f16 | element::bf16, 2, 2}, x);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view out;
    in.tensor("out", out_given, {element::f16 | element::bf16 | element::f32, 2, 2}, out);
    ops::matmul_w4_grouped_options options;
    read(in, "options", options_given, options);
    require_out_type("matmul_w8_grouped", x, out);
    const ops::grouped_w4_weights groups{ops::detail::as_w4_shape(weights.shape), offsets.extents[0] - 1, weights.memory};
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::matmul_w4_grouped_choice(stream, x, groups, options), choice);
  });
}

kaio_status kaio_dequantise_w4(void* stream_handle, const kaio_w4_weights* weights_given,
                               const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_w4");
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_dequantise_w4(stream, weights, out);
    in.finish();
  });
}

kaio_status kaio_dequantise_w4_warmup(const kaio_w4_weights* weights_given, const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_w4_warmup");
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.loading();
    ops::detail::run_dequantise_w4(stream, weights, out);
  });
}

kaio_status kaio_dequantise_w8(void* stream_handle, const kaio_w8_weights* weights_given,
                               const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_w8");
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_dequantise_w4(stream, ops::detail::as_w4_weights(weights), out);
    in.finish();
  });
}

kaio_status kaio_dequantise_w8_warmup(const kaio_w8_weights* weights_given, const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_w8_warmup");
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.loading();
    ops::detail::run_dequantise_w4(stream, ops::detail::as_w4_weights(weights), out);
  });
}
}
