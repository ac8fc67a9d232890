// Made by src/c/generate.py from src/c/operations/matmul_8bit.json.
// clang-format off

#include <kaio/c/matmul_8bit.h>
#include <kaio/ops/matmul_8bit/quantise_fp8.hpp>
#include <kaio/ops/matmul_8bit/quantise_int8.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_fp8_grouped.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_int8_grouped.hpp>
#include <kaio/ops/tune.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::matmul_int8_options{}.alpha == 1.0f);
static_assert(ops::matmul_int8_options{}.out_scale == 1.0f);
static_assert(ops::matmul_int8_options{}.activation == static_cast<ops::matmul_activation>(0));
static_assert(ops::matmul_int8_options{}.constant == static_cast<ops::constant_inputs>(0));
static_assert(ops::matmul_int8_options{}.bias.of_rows == false);
static_assert(ops::matmul_fp8_options{}.alpha == 1.0f);
static_assert(ops::matmul_fp8_options{}.out_scale == 1.0f);
static_assert(ops::matmul_fp8_options{}.activation == static_cast<ops::matmul_activation>(0));
static_assert(ops::matmul_fp8_options{}.constant == static_cast<ops::constant_inputs>(0));
static_assert(ops::matmul_fp8_options{}.bias.of_rows == false);
static_assert(ops::matmul_int8_grouped_options{}.gate == static_cast<ops::matmul_activation>(0));
static_assert(ops::matmul_int8_grouped_options{}.alpha == 1.0f);
static_assert(ops::matmul_int8_grouped_options{}.limit == 0.0f);
static_assert(ops::matmul_int8_grouped_options{}.up_offset == 0.0f);
static_assert(ops::matmul_fp8_grouped_options{}.gate == static_cast<ops::matmul_activation>(0));
static_assert(ops::matmul_fp8_grouped_options{}.alpha == 1.0f);
static_assert(ops::matmul_fp8_grouped_options{}.limit == 0.0f);
static_assert(ops::matmul_fp8_grouped_options{}.up_offset == 0.0f);

void read(call& in, const char* name, const kaio_matmul_int8_options* given, ops::matmul_int8_options& to) {
  kaio_matmul_int8_options from = kaio_matmul_int8_options_default();
  in.take(name, given, &from, sizeof from);
  to.alpha = from.alpha;
  to.out_scale = from.out_scale;
  in.enumerated("activation", from.activation, 5, to.activation);
  in.set_of("constant", from.constant, 7, to.constant);
  to.bias.of_rows = in.flag("bias_of_rows", from.bias_of_rows);
  in.optional_tensor("scale_a", from.scale_a, {element::f32 | element::f16 | element::bf16, 1, 2}, to.scale_a);
  in.optional_tensor("scale_b", from.scale_b, {element::f32 | element::f16 | element::bf16, 1, 2}, to.scale_b);
  in.optional_tensor("zero_a", from.zero_a, {element::i32, 1, 2}, to.zero_a);
  in.optional_tensor("column_sums", from.column_sums, {element::i32, 1, 2}, to.column_sums);
  in.optional_tensor("bias", from.bias, {element::f32 | element::f16 | element::bf16, 1, 2}, to.bias.vector);
  in.optional_tensor("residual", from.residual, {element::f32 | element::f16 | element::bf16, 2, 3}, to.residual);
  if (from.variant != nullptr) to.variant = from.variant;
}

void read(call& in, const char* name, const kaio_matmul_fp8_options* given, ops::matmul_fp8_options& to) {
  kaio_matmul_fp8_options from = kaio_matmul_fp8_options_default();
  in.take(name, given, &from, sizeof from);
  to.alpha = from.alpha;
  to.out_scale = from.out_scale;
  in.enumerated("activation", from.activation, 5, to.activation);
  in.set_of("constant", from.constant, 7, to.constant);
  to.bias.of_rows = in.flag("bias_of_rows", from.bias_of_rows);
  in.optional_tensor("scale_a", from.scale_a, {element::f32 | element::f16 | element::bf16, 1, 2}, to.scale_a);
  in.optional_tensor("scale_b", from.scale_b, {element::f32 | element::f16 | element::bf16, 1, 2}, to.scale_b);
  in.optional_tensor("groups_a", from.groups_a, {element::f32, 2, 3}, to.groups_a);
  in.optional_tensor("blocks_b", from.blocks_b, {element::f32, 2, 3}, to.blocks_b);
  in.optional_tensor("bias", from.bias, {element::f32 | element::f16 | element::bf16, 1, 2}, to.bias.vector);
  in.optional_tensor("residual", from.residual, {element::f32 | element::f16 | element::bf16, 2, 3}, to.residual);
  if (from.variant != nullptr) to.variant = from.variant;
}

void read(call& in, const char* name, const kaio_matmul_int8_grouped_options* given, ops::matmul_int8_grouped_options& to) {
  kaio_matmul_int8_grouped_options from = kaio_matmul_int8_grouped_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.optional_tensor("scale_a", from.scale_a, {element::f32 | element::f16 | element::bf16, 1, 1}, to.scale_a);
  in.optional_tensor("scale_b", from.scale_b, {element::f32 | element::f16 | element::bf16, 2, 2}, to.scale_b);
  in.optional_tensor("bias", from.bias, {element::f32 | element::f16 | element::bf16, 2, 2}, to.bias);
  in.optional_tensor("rows", from.rows, {element::i32, 1, 1}, to.rows);
  in.enumerated("gate", from.gate, 5, to.gate);
  in.zero("reserved_44", from.reserved_44);
  in.optional_tensor("zero_a", from.zero_a, {element::i32, 1, 1}, to.zero_a);
  in.optional_tensor("column_sums", from.column_sums, {element::i32, 2, 2}, to.column_sums);
  to.alpha = from.alpha;
  to.limit = from.limit;
  to.up_offset = from.up_offset;
  in.zero("reserved_76", from.reserved_76);
}

void read(call& in, const char* name, const kaio_matmul_fp8_grouped_options* given, ops::matmul_fp8_grouped_options& to) {
  kaio_matmul_fp8_grouped_options from = kaio_matmul_fp8_grouped_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.optional_tensor("scale_a", from.scale_a, {element::f32 | element::f16 | element::bf16, 1, 1}, to.scale_a);
  in.optional_tensor("scale_b", from.scale_b, {element::f32 | element::f16 | element::bf16, 2, 2}, to.scale_b);
  in.optional_tensor("groups_a", from.groups_a, {element::f32, 2, 2}, to.groups_a);
  in.optional_tensor("blocks_b", from.blocks_b, {element::f32, 3, 3}, to.blocks_b);
  in.optional_tensor("bias", from.bias, {element::f32 | element::f16 | element::bf16, 2, 2}, to.bias);
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

kaio_status kaio_matmul_int8(void* stream_handle, const DLTensor* a_given, const DLTensor* b_given,
                             const DLTensor* c_given, const kaio_matmul_int8_options* options_given) {
  return guarded([&] {
    call in("matmul_int8");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::i8, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::i8, 2, 3}, b);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16 | element::i8 | element::i32, 2, 3}, c);
    ops::matmul_int8_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_matmul_int8(stream, {"matmul_int8", a, b, c, &options});
    in.finish();
  });
}

kaio_status kaio_matmul_int8_warmup(const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                                    const kaio_matmul_int8_options* options_given) {
  return guarded([&] {
    call in("matmul_int8_warmup");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::i8, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::i8, 2, 3}, b);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16 | element::i8 | element::i32, 2, 3}, c);
    ops::matmul_int8_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_matmul_int8(stream, {"matmul_int8", a, b, c, &options});
  });
}

kaio_status kaio_matmul_int8_choice(const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                                    const kaio_matmul_int8_options* options_given, kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("matmul_int8_choice");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::i8, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::i8, 2, 3}, b);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16 | element::i8 | element::i32, 2, 3}, c);
    ops::matmul_int8_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::matmul_int8_choice(stream, a, b, c, options), choice);
  });
}

kaio_status kaio_tune_matmul_int8(const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                                  const kaio_matmul_int8_options* options_given,
                                  const kaio_tune_options* how_given, kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_matmul_int8");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::i8, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::i8, 2, 3}, b);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16 | element::i8 | element::i32, 2, 3}, c);
    ops::matmul_int8_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::tune_matmul_int8(gpu, a, b, c, options, how), report);
  });
}

kaio_status kaio_matmul_int8_grouped(void* stream_handle, const DLTensor* a_given, const DLTensor* b_given,
                                     const DLTensor* offsets_given, const DLTensor* c_given,
                                     const kaio_matmul_int8_grouped_options* options_given) {
  return guarded([&] {
    call in("matmul_int8_grouped");
    ops::any_view a;
    in.tensor("a", a_given, {element::i8, 2, 2}, a);
    ops::any_view b;
    in.tensor("b", b_given, {element::i8, 3, 3}, b);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16 | element::i32, 2, 2}, c);
    ops::matmul_int8_grouped_options options;
    read(in, "options", options_given, options);
    const ops::matmul_fp8_grouped_options all = ops::detail::as_fp8_options(options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_matmul_int8_grouped(stream, {"matmul_int8_grouped", a, b, offsets, c, &all, options.zero_a, options.column_sums});
    in.finish();
  });
}

kaio_status kaio_matmul_int8_grouped_warmup(const DLTensor* a_given, const DLTensor* b_given,
                                            const DLTensor* offsets_given, const DLTensor* c_given,
                                            const kaio_matmul_int8_grouped_options* options_given) {
  return guarded([&] {
    call in("matmul_int8_grouped_warmup");
    ops::any_view a;
    in.tensor("a", a_given, {element::i8, 2, 2}, a);
    ops::any_view b;
    in.tensor("b", b_given, {element::i8, 3, 3}, b);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16 | element::i32, 2, 2}, c);
    ops::matmul_int8_grouped_options options;
    read(in, "options", options_given, options);
    const ops::matmul_fp8_grouped_options all = ops::detail::as_fp8_options(options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_matmul_int8_grouped(stream, {"matmul_int8_grouped", a, b, offsets, c, &all, options.zero_a, options.column_sums});
  });
}

kaio_status kaio_matmul_fp8_grouped(void* stream_handle, const DLTensor* a_given, const DLTensor* b_given,
                                    const DLTensor* offsets_given, const DLTensor* c_given,
                                    const kaio_matmul_fp8_grouped_options* options_given) {
  return guarded([&] {
    call in("matmul_fp8_grouped");
    ops::any_view a;
    in.tensor("a", a_given, {element::e4m3 | element::e5m2, 2, 2}, a);
    ops::any_view b;
    in.tensor("b", b_given, {element::e4m3 | element::e5m2, 3, 3}, b);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 2}, c);
    ops::matmul_fp8_grouped_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_matmul_fp8_grouped(stream, {"matmul_fp8_grouped", a, b, offsets, c, &options});
    in.finish();
  });
}

kaio_status kaio_matmul_fp8_grouped_warmup(const DLTensor* a_given, const DLTensor* b_given,
                                           const DLTensor* offsets_given, const DLTensor* c_given,
                                           const kaio_matmul_fp8_grouped_options* options_given) {
  return guarded([&] {
    call in("matmul_fp8_grouped_warmup");
    ops::any_view a;
    in.tensor("a", a_given, {element::e4m3 | element::e5m2, 2, 2}, a);
    ops::any_view b;
    in.tensor("b", b_given, {element::e4m3 | element::e5m2, 3, 3}, b);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    ops::any_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 2}, c);
    ops::matmul_fp8_grouped_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_matmul_fp8_grouped(stream, {"matmul_fp8_grouped", a, b, offsets, c, &options});
  });
}

kaio_status kaio_int8_column_sums(void* stream_handle, const DLTensor* b_given, const DLTensor* sums_given) {
  return guarded([&] {
    call in("int8_column_sums");
    ops::matmul_view b;
    in.tensor("b", b_given, {element::i8, 2, 2}, b);
    ops::matmul_view sums;
    in.tensor("sums", sums_given, {element::i32, 1, 1}, sums);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_int8_column_sums(stream, b, sums);
    in.finish();
  });
}

kaio_status kaio_int8_column_sums_warmup(const DLTensor* b_given, const DLTensor* sums_given) {
  return guarded([&] {
    call in("int8_column_sums_warmup");
    ops::matmul_view b;
    in.tensor("b", b_given, {element::i8, 2, 2}, b);
    ops::matmul_view sums;
    in.tensor("sums", sums_given, {element::i32, 1, 1}, sums);
    const runtime::stream& stream = in.loading();
    ops::detail::run_int8_column_sums(stream, b, sums);
  });
}

kaio_status kaio_quantise_int8(void* stream_handle, const DLTensor* x_given, const DLTensor* codes_given,
                               const DLTensor* scales_given, const DLTensor* zero_points_given, float scale) {
  return guarded([&] {
    call in("quantise_int8");
    ops::matmul_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::matmul_view codes;
    in.tensor("codes", codes_given, {element::i8, 2, 2}, codes);
    ops::matmul_view scales;
    in.optional_tensor("scales", scales_given, {element::f32, 1, 1}, scales);
    ops::matmul_view zero_points;
    in.optional_tensor("zero_points", zero_points_given, {element::i32, 1, 1}, zero_points);
    if (zero_points.exists() && !scales.exists()) refuse("quantise_int8", "zero_points without scales; give both");
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_quantise_int8(stream, x, codes, scales, zero_points, scales.exists() ? 0.0f : scale);
    in.finish();
  });
}

kaio_status kaio_quantise_int8_warmup(const DLTensor* x_given, const DLTensor* codes_given,
                                      const DLTensor* scales_given, const DLTensor* zero_points_given,
                                      float scale) {
  return guarded([&] {
    call in("quantise_int8_warmup");
    ops::matmul_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::matmul_view codes;
    in.tensor("codes", codes_given, {element::i8, 2, 2}, codes);
    ops::matmul_view scales;
    in.optional_tensor("scales", scales_given, {element::f32, 1, 1}, scales);
    ops::matmul_view zero_points;
    in.optional_tensor("zero_points", zero_points_given, {element::i32, 1, 1}, zero_points);
    if (zero_points.exists() && !scales.exists()) refuse("quantise_int8", "zero_points without scales; give both");
    const runtime::stream& stream = in.loading();
    ops::detail::run_quantise_int8(stream, x, codes, scales, zero_points, scales.exists() ? 0.0f : scale);
  });
}

kaio_status kaio_matmul_fp8(void* stream_handle, const DLTensor* a_given, const DLTensor* b_given,
                            const DLTensor* c_given, const kaio_matmul_fp8_options* options_given) {
  return guarded([&] {
    call in("matmul_fp8");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::e4m3 | element::e5m2, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::e4m3 | element::e5m2, 2, 3}, b);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16 | element::e4m3, 2, 3}, c);
    ops::matmul_fp8_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_matmul_fp8(stream, {"matmul_fp8", a, b, c, &options});
    in.finish();
  });
}

kaio_status kaio_matmul_fp8_warmup(const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                                   const kaio_matmul_fp8_options* options_given) {
  return guarded([&] {
    call in("matmul_fp8_warmup");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::e4m3 | element::e5m2, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::e4m3 | element::e5m2, 2, 3}, b);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16 | element::e4m3, 2, 3}, c);
    ops::matmul_fp8_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_matmul_fp8(stream, {"matmul_fp8", a, b, c, &options});
  });
}

kaio_status kaio_matmul_fp8_choice(const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                                   const kaio_matmul_fp8_options* options_given, kaio_kernel_choice* choice) {
  return guarded([&] {
    call in("matmul_fp8_choice");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::e4m3 | element::e5m2, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::e4m3 | element::e5m2, 2, 3}, b);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16 | element::e4m3, 2, 3}, c);
    ops::matmul_fp8_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.gpu().stream();
    give(in, "choice", ops::matmul_fp8_choice(stream, a, b, c, options), choice);
  });
}

kaio_status kaio_tune_matmul_fp8(const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                                 const kaio_matmul_fp8_options* options_given,
                                 const kaio_tune_options* how_given, kaio_tune_report* report) {
  return guarded([&] {
    call in("tune_matmul_fp8");
    ops::matmul_view a;
    in.tensor("a", a_given, {element::e4m3 | element::e5m2, 2, 3}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::e4m3 | element::e5m2, 2, 3}, b);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16 | element::e4m3, 2, 3}, c);
    ops::matmul_fp8_options options;
    read(in, "options", options_given, options);
    ops::tune_options how;
    read(in, "how", how_given, how);
    const runtime::device& gpu = in.gpu();
    give(in, "report", ops::tune_matmul_fp8(gpu, a, b, c, options, how), report);
  });
}

kaio_status kaio_quantise_fp8(void* stream_handle, const DLTensor* x_given, const DLTensor* codes_given,
                              const DLTensor* scales_given, float scale) {
  return guarded([&] {
    call in("quantise_fp8");
    ops::matmul_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::matmul_view codes;
    in.tensor("codes", codes_given, {element::e4m3, 2, 2}, codes);
    ops::matmul_view scales;
    in.optional_tensor("scales", scales_given, {element::f32, 1, 2}, scales);
    const ops::detail::quantise_fp8_tile tile{scales.exists() ? 1u : 0u, scales.rank == 2 ? 128u : 0u};
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_quantise_fp8(stream, "quantise_fp8", x, codes, scales, scales.exists() ? 0.0f : scale, tile);
    in.finish();
  });
}

kaio_status kaio_quantise_fp8_warmup(const DLTensor* x_given, const DLTensor* codes_given,
                                     const DLTensor* scales_given, float scale) {
  return guarded([&] {
    call in("quantise_fp8_warmup");
    ops::matmul_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::matmul_view codes;
    in.tensor("codes", codes_given, {element::e4m3, 2, 2}, codes);
    ops::matmul_view scales;
    in.optional_tensor("scales", scales_given, {element::f32, 1, 2}, scales);
    const ops::detail::quantise_fp8_tile tile{scales.exists() ? 1u : 0u, scales.rank == 2 ? 128u : 0u};
    const runtime::stream& stream = in.loading();
    ops::detail::run_quantise_fp8(stream, "quantise_fp8", x, codes, scales, scales.exists() ? 0.0f : scale, tile);
  });
}

kaio_status kaio_quantise_fp8_blocks(void* stream_handle, const DLTensor* w_given,
                                     const DLTensor* codes_given, const DLTensor* blocks_given) {
  return guarded([&] {
    call in("quantise_fp8_blocks");
    ops::matmul_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    ops::matmul_view codes;
    in.tensor("codes", codes_given, {element::e4m3, 2, 2}, codes);
    ops::matmul_view blocks;
    in.tensor("blocks", blocks_given, {element::f32, 2, 2}, blocks);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_quantise_fp8(stream, "quantise_fp8_blocks", w, codes, blocks, 0, {128, 128});
    in.finish();
  });
}

kaio_status kaio_quantise_fp8_blocks_warmup(const DLTensor* w_given, const DLTensor* codes_given,
                                            const DLTensor* blocks_given) {
  return guarded([&] {
    call in("quantise_fp8_blocks_warmup");
    ops::matmul_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    ops::matmul_view codes;
    in.tensor("codes", codes_given, {element::e4m3, 2, 2}, codes);
    ops::matmul_view blocks;
    in.tensor("blocks", blocks_given, {element::f32, 2, 2}, blocks);
    const runtime::stream& stream = in.loading();
    ops::detail::run_quantise_fp8(stream, "quantise_fp8_blocks", w, codes, blocks, 0, {128, 128});
  });
}
}
