// Made by src/c/generate.py from src/c/operations/weight_formats.json.
// clang-format off

#include <kaio/c/weight_formats.h>
#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/ops/weight_only/quantise_weights.hpp>
#include <kaio/ops/weight_only/repack_blocks.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::block_format::q4_0) == KAIO_BLOCK_FORMAT_Q4_0);
static_assert(static_cast<int>(ops::block_format::q4_1) == KAIO_BLOCK_FORMAT_Q4_1);
static_assert(static_cast<int>(ops::block_format::q5_0) == KAIO_BLOCK_FORMAT_Q5_0);
static_assert(static_cast<int>(ops::block_format::q5_1) == KAIO_BLOCK_FORMAT_Q5_1);
static_assert(static_cast<int>(ops::block_format::q8_0) == KAIO_BLOCK_FORMAT_Q8_0);
static_assert(static_cast<int>(ops::block_format::q2_k) == KAIO_BLOCK_FORMAT_Q2_K);
static_assert(static_cast<int>(ops::block_format::q3_k) == KAIO_BLOCK_FORMAT_Q3_K);
static_assert(static_cast<int>(ops::block_format::q4_k) == KAIO_BLOCK_FORMAT_Q4_K);
static_assert(static_cast<int>(ops::block_format::q5_k) == KAIO_BLOCK_FORMAT_Q5_K);
static_assert(static_cast<int>(ops::block_format::q6_k) == KAIO_BLOCK_FORMAT_Q6_K);
static_assert(static_cast<int>(ops::block_format::iq4_nl) == KAIO_BLOCK_FORMAT_IQ4_NL);
static_assert(static_cast<int>(ops::block_format::iq4_xs) == KAIO_BLOCK_FORMAT_IQ4_XS);
static_assert(static_cast<int>(ops::block_format::mxfp4) == KAIO_BLOCK_FORMAT_MXFP4);
static_assert(static_cast<int>(ops::block_format::nvfp4) == KAIO_BLOCK_FORMAT_NVFP4);
static_assert(static_cast<int>(ops::block_operation::none) == KAIO_BLOCK_OPERATION_NONE);
static_assert(static_cast<int>(ops::block_operation::matmul_w4) == KAIO_BLOCK_OPERATION_MATMUL_W4);
static_assert(static_cast<int>(ops::block_operation::matmul_w8) == KAIO_BLOCK_OPERATION_MATMUL_W8);
static_assert(static_cast<int>(ops::bnb_code::nf4) == KAIO_BNB_CODE_NF4);
static_assert(static_cast<int>(ops::bnb_code::fp4) == KAIO_BNB_CODE_FP4);
static_assert(ops::bnb_nested{}.offset == 0.0f);
static_assert(ops::bnb_nested{}.blocksize == 256);
static_assert(ops::bnb_4bit{}.code == static_cast<ops::bnb_code>(0));
static_assert(ops::bnb_4bit{}.blocksize == 64);
static_assert(ops::scaled_bytes{}.block_rows == 128);
static_assert(ops::scaled_bytes{}.block_columns == 128);
static_assert(ops::nvfp4_tensors{}.divide == false);
static_assert(ops::bnb_4bit_output{}.code == static_cast<ops::bnb_code>(0));
static_assert(ops::bnb_4bit_output{}.blocksize == 64);
static_assert(ops::w4_output{}.group == 128);

void read(call& in, const char* name, const kaio_bnb_nested* given, ops::bnb_nested& to) {
  kaio_bnb_nested from = kaio_bnb_nested_default();
  in.take(name, given, &from, sizeof from);
  in.zero("nested.reserved_4", from.reserved_4);
  in.tensor("nested.absmax", from.absmax, {element::u8, 1, 1}, to.absmax);
  in.tensor("nested.nested_absmax", from.nested_absmax, {element::f32, 1, 1}, to.nested_absmax);
  in.tensor("nested.nested_quant_map", from.nested_quant_map, {element::f32, 1, 1}, to.nested_quant_map);
  to.offset = from.offset;
  in.zero("nested.reserved_36", from.reserved_36);
  to.blocksize = from.blocksize;
}

void read(call& in, const char* name, const kaio_bnb_4bit* given, ops::bnb_4bit& to) {
  kaio_bnb_4bit from = kaio_bnb_4bit_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("code", from.code, 2, to.code);
  in.tensor("weight", from.weight, {element::u8, 1, 1}, to.weight);
  in.optional_tensor("absmax", from.absmax, {element::f32, 1, 1}, to.absmax);
  to.blocksize = from.blocksize;
  if (from.nested != nullptr) read(in, "nested", from.nested, to.nested);
}

void read(call& in, const char* name, const kaio_bnb_int8* given, ops::bnb_int8& to) {
  kaio_bnb_int8 from = kaio_bnb_int8_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("weight", from.weight, {element::i8, 2, 2}, to.weight);
  in.tensor("SCB", from.SCB, {element::f32, 1, 1}, to.SCB);
}

void read(call& in, const char* name, const kaio_scaled_bytes* given, ops::scaled_bytes& to) {
  kaio_scaled_bytes from = kaio_scaled_bytes_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("weight", from.weight, {element::i8 | element::e4m3 | element::e5m2, 2, 2}, to.weight.view);
  in.tensor("scale", from.scale, {element::f32 | element::f16 | element::bf16 | element::u8 | element::e8m0, 2, 2}, to.scale.view);
  to.block_rows = from.block_rows;
  to.block_columns = from.block_columns;
}

void read(call& in, const char* name, const kaio_mxfp4_tensors* given, ops::mxfp4_tensors& to) {
  kaio_mxfp4_tensors from = kaio_mxfp4_tensors_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("packed", from.packed, {element::u8, 2, 2}, to.packed);
  in.tensor("scales", from.scales, {element::u8 | element::e8m0, 2, 2}, to.scales);
}

void read(call& in, const char* name, const kaio_nvfp4_tensors* given, ops::nvfp4_tensors& to) {
  kaio_nvfp4_tensors from = kaio_nvfp4_tensors_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("packed", from.packed, {element::u8, 2, 2}, to.packed);
  in.tensor("scales", from.scales, {element::e4m3, 2, 2}, to.scales);
  in.optional_tensor("global", from.global, {element::f32, 1, 1}, to.global);
  to.divide = in.flag("divide", from.divide);
  in.zero("reserved_36", from.reserved_36);
}

void read(call& in, const char* name, const kaio_bnb_4bit_output* given, ops::bnb_4bit_output& to) {
  kaio_bnb_4bit_output from = kaio_bnb_4bit_output_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("code", from.code, 2, to.code);
  in.tensor("weight", from.weight, {element::u8, 1, 1}, to.weight);
  in.tensor("absmax", from.absmax, {element::f32, 1, 1}, to.absmax);
  to.blocksize = from.blocksize;
}

void read(call& in, const char* name, const kaio_mxfp4_output* given, ops::mxfp4_output& to) {
  kaio_mxfp4_output from = kaio_mxfp4_output_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("packed", from.packed, {element::u8, 2, 2}, to.packed);
  in.tensor("scales", from.scales, {element::u8 | element::e8m0, 2, 2}, to.scales);
}

void read(call& in, const char* name, const kaio_nvfp4_output* given, ops::nvfp4_output& to) {
  kaio_nvfp4_output from = kaio_nvfp4_output_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("packed", from.packed, {element::u8, 2, 2}, to.packed);
  in.tensor("scales", from.scales, {element::e4m3, 2, 2}, to.scales);
  in.optional_tensor("global", from.global, {element::f32, 1, 1}, to.global);
}

void read(call& in, const char* name, const kaio_w4_output* given, ops::w4_output& to) {
  kaio_w4_output from = kaio_w4_output_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("weight_packed", from.weight_packed, {element::i32, 2, 2}, to.weight_packed);
  in.tensor("weight_scale", from.weight_scale, {element::f16 | element::bf16, 2, 2}, to.weight_scale.view);
  in.optional_tensor("weight_zero_point", from.weight_zero_point, {element::i32, 2, 2}, to.weight_zero_point);
  to.group = from.group;
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_block_format_named(const char* name, int32_t* format) {
  return guarded([&] {
    call in("block_format_named");
    in.need("format", format);
    in.need("name", name);
    *format = static_cast<std::int32_t>(ops::block_format_named(name));
  });
}

kaio_status kaio_block_bytes(int32_t format_given, int64_t elements, uint64_t* bytes) {
  return guarded([&] {
    call in("block_bytes");
    in.need("bytes", bytes);
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    *bytes = ops::packed_bytes(format, elements);
  });
}

kaio_status kaio_block_operation_of(int32_t format_given, int32_t* operation) {
  return guarded([&] {
    call in("block_operation_of");
    in.need("operation", operation);
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    *operation = static_cast<std::int32_t>(ops::operation_of(format));
  });
}

kaio_status kaio_w4_weights_of_blocks(int32_t format_given, int64_t n, int64_t k, kaio_w4_weights* weights) {
  return guarded([&] {
    call in("w4_weights_of_blocks");
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    give(in, "weights", ops::w4_weights{ops::w4_shape_of(format, n, k), {}}, weights);
  });
}

kaio_status kaio_w8_weights_of_blocks(int32_t format_given, int64_t n, int64_t k, kaio_w8_weights* weights) {
  return guarded([&] {
    call in("w8_weights_of_blocks");
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    give(in, "weights", ops::w8_weights{ops::w8_shape_of(format, n, k), {}}, weights);
  });
}

kaio_status kaio_repack_blocks_w4(void* stream_handle, int32_t format_given, const DLTensor* bytes_given,
                                  const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_blocks_w4");
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    ops::tensor_view<const u8, 1> bytes;
    in.tensor("bytes", bytes_given, {element::u8, 1, 1}, bytes);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, ops::gguf_blocks{format, bytes}, weights);
    in.finish();
  });
}

kaio_status kaio_repack_blocks_w4_warmup(int32_t format_given, const DLTensor* bytes_given,
                                         const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_blocks_w4_warmup");
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    ops::tensor_view<const u8, 1> bytes;
    in.tensor("bytes", bytes_given, {element::u8, 1, 1}, bytes);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, ops::gguf_blocks{format, bytes}, weights);
  });
}

kaio_status kaio_repack_blocks_w8(void* stream_handle, int32_t format_given, const DLTensor* bytes_given,
                                  const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_blocks_w8");
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    ops::tensor_view<const u8, 1> bytes;
    in.tensor("bytes", bytes_given, {element::u8, 1, 1}, bytes);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, ops::gguf_blocks{format, bytes}, weights);
    in.finish();
  });
}

kaio_status kaio_repack_blocks_w8_warmup(int32_t format_given, const DLTensor* bytes_given,
                                         const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_blocks_w8_warmup");
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    ops::tensor_view<const u8, 1> bytes;
    in.tensor("bytes", bytes_given, {element::u8, 1, 1}, bytes);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, ops::gguf_blocks{format, bytes}, weights);
  });
}

kaio_status kaio_dequantise_blocks(void* stream_handle, int32_t format_given, const DLTensor* bytes_given,
                                   const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_blocks");
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    ops::any_view bytes;
    in.tensor("bytes", bytes_given, {element::u8, 1, 1}, bytes);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_dequantise_blocks(stream, format, bytes, out);
    in.finish();
  });
}

kaio_status kaio_dequantise_blocks_warmup(int32_t format_given, const DLTensor* bytes_given,
                                          const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_blocks_warmup");
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    ops::any_view bytes;
    in.tensor("bytes", bytes_given, {element::u8, 1, 1}, bytes);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.loading();
    ops::detail::run_dequantise_blocks(stream, format, bytes, out);
  });
}

kaio_status kaio_dequantise_bnb_4bit(void* stream_handle, const kaio_bnb_4bit* source_given,
                                     const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_bnb_4bit");
    in.need("source", source_given);
    ops::bnb_4bit source;
    read(in, "source", source_given, source);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_dequantise_codes(stream, ops::detail::code_source_of(source), out);
    in.finish();
  });
}

kaio_status kaio_dequantise_bnb_4bit_warmup(const kaio_bnb_4bit* source_given, const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_bnb_4bit_warmup");
    in.need("source", source_given);
    ops::bnb_4bit source;
    read(in, "source", source_given, source);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.loading();
    ops::detail::run_dequantise_codes(stream, ops::detail::code_source_of(source), out);
  });
}

kaio_status kaio_dequantise_bnb_int8(void* stream_handle, const kaio_bnb_int8* source_given,
                                     const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_bnb_int8");
    in.need("source", source_given);
    ops::bnb_int8 source;
    read(in, "source", source_given, source);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_dequantise_codes(stream, ops::detail::code_source_of(source), out);
    in.finish();
  });
}

kaio_status kaio_dequantise_bnb_int8_warmup(const kaio_bnb_int8* source_given, const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_bnb_int8_warmup");
    in.need("source", source_given);
    ops::bnb_int8 source;
    read(in, "source", source_given, source);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.loading();
    ops::detail::run_dequantise_codes(stream, ops::detail::code_source_of(source), out);
  });
}

kaio_status kaio_dequantise_scaled_bytes(void* stream_handle, const kaio_scaled_bytes* source_given,
                                         const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_scaled_bytes");
    in.need("source", source_given);
    ops::scaled_bytes source;
    read(in, "source", source_given, source);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_dequantise_codes(stream, ops::detail::code_source_of(source), out);
    in.finish();
  });
}

kaio_status kaio_dequantise_scaled_bytes_warmup(const kaio_scaled_bytes* source_given,
                                                const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_scaled_bytes_warmup");
    in.need("source", source_given);
    ops::scaled_bytes source;
    read(in, "source", source_given, source);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.loading();
    ops::detail::run_dequantise_codes(stream, ops::detail::code_source_of(source), out);
  });
}

kaio_status kaio_dequantise_mxfp4(void* stream_handle, const kaio_mxfp4_tensors* source_given,
                                  const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_mxfp4");
    in.need("source", source_given);
    ops::mxfp4_tensors source;
    read(in, "source", source_given, source);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_dequantise_codes(stream, ops::detail::code_source_of(source), out);
    in.finish();
  });
}

kaio_status kaio_dequantise_mxfp4_warmup(const kaio_mxfp4_tensors* source_given, const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_mxfp4_warmup");
    in.need("source", source_given);
    ops::mxfp4_tensors source;
    read(in, "source", source_given, source);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.loading();
    ops::detail::run_dequantise_codes(stream, ops::detail::code_source_of(source), out);
  });
}

kaio_status kaio_dequantise_nvfp4(void* stream_handle, const kaio_nvfp4_tensors* source_given,
                                  const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_nvfp4");
    in.need("source", source_given);
    ops::nvfp4_tensors source;
    read(in, "source", source_given, source);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_dequantise_codes(stream, ops::detail::code_source_of(source), out);
    in.finish();
  });
}

kaio_status kaio_dequantise_nvfp4_warmup(const kaio_nvfp4_tensors* source_given, const DLTensor* out_given) {
  return guarded([&] {
    call in("dequantise_nvfp4_warmup");
    in.need("source", source_given);
    ops::nvfp4_tensors source;
    read(in, "source", source_given, source);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    const runtime::stream& stream = in.loading();
    ops::detail::run_dequantise_codes(stream, ops::detail::code_source_of(source), out);
  });
}

kaio_status kaio_quantise_blocks(void* stream_handle, const DLTensor* w_given, int32_t format_given,
                                 const DLTensor* bytes_given) {
  return guarded([&] {
    call in("quantise_blocks");
    ops::any_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    ops::tensor_view<u8, 1> bytes;
    in.tensor("bytes", bytes_given, {element::u8, 1, 1}, bytes);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_quantise_weights(stream, w, ops::detail::quantised_output_of(format, bytes));
    in.finish();
  });
}

kaio_status kaio_quantise_blocks_warmup(const DLTensor* w_given, int32_t format_given,
                                        const DLTensor* bytes_given) {
  return guarded([&] {
    call in("quantise_blocks_warmup");
    ops::any_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    ops::block_format format{};
    in.enumerated("format", format_given, 14, format);
    ops::tensor_view<u8, 1> bytes;
    in.tensor("bytes", bytes_given, {element::u8, 1, 1}, bytes);
    const runtime::stream& stream = in.loading();
    ops::detail::run_quantise_weights(stream, w, ops::detail::quantised_output_of(format, bytes));
  });
}

kaio_status kaio_quantise_bnb_4bit(void* stream_handle, const DLTensor* w_given,
                                   const kaio_bnb_4bit_output* to_given) {
  return guarded([&] {
    call in("quantise_bnb_4bit");
    ops::any_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    in.need("to", to_given);
    ops::bnb_4bit_output to;
    read(in, "to", to_given, to);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_quantise_weights(stream, w, ops::detail::quantised_output_of(to));
    in.finish();
  });
}

kaio_status kaio_quantise_bnb_4bit_warmup(const DLTensor* w_given, const kaio_bnb_4bit_output* to_given) {
  return guarded([&] {
    call in("quantise_bnb_4bit_warmup");
    ops::any_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    in.need("to", to_given);
    ops::bnb_4bit_output to;
    read(in, "to", to_given, to);
    const runtime::stream& stream = in.loading();
    ops::detail::run_quantise_weights(stream, w, ops::detail::quantised_output_of(to));
  });
}

kaio_status kaio_quantise_mxfp4(void* stream_handle, const DLTensor* w_given,
                                const kaio_mxfp4_output* to_given) {
  return guarded([&] {
    call in("quantise_mxfp4");
    ops::any_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    in.need("to", to_given);
    ops::mxfp4_output to;
    read(in, "to", to_given, to);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_quantise_weights(stream, w, ops::detail::quantised_output_of(to));
    in.finish();
  });
}

kaio_status kaio_quantise_mxfp4_warmup(const DLTensor* w_given, const kaio_mxfp4_output* to_given) {
  return guarded([&] {
    call in("quantise_mxfp4_warmup");
    ops::any_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    in.need("to", to_given);
    ops::mxfp4_output to;
    read(in, "to", to_given, to);
    const runtime::stream& stream = in.loading();
    ops::detail::run_quantise_weights(stream, w, ops::detail::quantised_output_of(to));
  });
}

kaio_status kaio_quantise_nvfp4(void* stream_handle, const DLTensor* w_given,
                                const kaio_nvfp4_output* to_given) {
  return guarded([&] {
    call in("quantise_nvfp4");
    ops::any_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    in.need("to", to_given);
    ops::nvfp4_output to;
    read(in, "to", to_given, to);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_quantise_weights(stream, w, ops::detail::quantised_output_of(to));
    in.finish();
  });
}

kaio_status kaio_quantise_nvfp4_warmup(const DLTensor* w_given, const kaio_nvfp4_output* to_given) {
  return guarded([&] {
    call in("quantise_nvfp4_warmup");
    ops::any_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    in.need("to", to_given);
    ops::nvfp4_output to;
    read(in, "to", to_given, to);
    const runtime::stream& stream = in.loading();
    ops::detail::run_quantise_weights(stream, w, ops::detail::quantised_output_of(to));
  });
}

kaio_status kaio_quantise_w4(void* stream_handle, const DLTensor* w_given, const kaio_w4_output* to_given) {
  return guarded([&] {
    call in("quantise_w4");
    ops::any_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    in.need("to", to_given);
    ops::w4_output to;
    read(in, "to", to_given, to);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_quantise_w4(stream, w, to);
    in.finish();
  });
}

kaio_status kaio_quantise_w4_warmup(const DLTensor* w_given, const kaio_w4_output* to_given) {
  return guarded([&] {
    call in("quantise_w4_warmup");
    ops::any_view w;
    in.tensor("w", w_given, {element::f32 | element::f16 | element::bf16, 2, 2}, w);
    in.need("to", to_given);
    ops::w4_output to;
    read(in, "to", to_given, to);
    const runtime::stream& stream = in.loading();
    ops::detail::run_quantise_w4(stream, w, to);
  });
}
}
