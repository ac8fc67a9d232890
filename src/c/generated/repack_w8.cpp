// Made by src/c/generate.py from src/c/operations/repack_w8.json.
// clang-format off

#include <kaio/c/repack_w8.h>
#include <kaio/ops/matmul_w8.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::gptq_w8{}.v2 == false);

void read(call& in, const char* name, const kaio_int8_w8* given, ops::int8_w8& to) {
  kaio_int8_w8 from = kaio_int8_w8_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("weight", from.weight, {element::i8, 2, 2}, to.weight.view);
  in.tensor("scales", from.scales, {element::f32 | element::f16 | element::bf16, 1, 2}, to.scales.view);
  call::as_column(to.scales.view);
  in.optional_tensor("zero_points", from.zero_points, {element::i8, 2, 2}, to.zero_points);
}

void read(call& in, const char* name, const kaio_llm_int8_w8* given, ops::llm_int8_w8& to) {
  kaio_llm_int8_w8 from = kaio_llm_int8_w8_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("weight", from.weight, {element::i8, 2, 2}, to.weight.view);
  in.tensor("scb", from.scb, {element::f32, 1, 1}, to.scb);
}

void read(call& in, const char* name, const kaio_gptq_w8* given, ops::gptq_w8& to) {
  kaio_gptq_w8 from = kaio_gptq_w8_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("qweight", from.qweight, {element::i32 | element::u32, 2, 2}, to.qweight.view);
  in.tensor("scales", from.scales, {element::f32 | element::f16 | element::bf16, 2, 2}, to.scales.view);
  in.optional_tensor("qzeros", from.qzeros, {element::i32 | element::u32, 2, 2}, to.qzeros.view);
  in.optional_tensor("g_idx", from.g_idx, {element::i32, 1, 1}, to.g_idx);
  to.v2 = in.flag("v2", from.v2);
  in.zero("reserved_44", from.reserved_44);
}

void read(call& in, const char* name, const kaio_compressed_tensors_w8* given, ops::compressed_tensors_w8& to) {
  kaio_compressed_tensors_w8 from = kaio_compressed_tensors_w8_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("weight_packed", from.weight_packed, {element::i32 | element::u32, 2, 2}, to.weight_packed.view);
  in.tensor("weight_scale", from.weight_scale, {element::f32 | element::f16 | element::bf16, 1, 2}, to.weight_scale.view);
  call::as_column(to.weight_scale.view);
  in.optional_tensor("weight_zero_point", from.weight_zero_point, {element::i32 | element::u32, 2, 2}, to.weight_zero_point.view);
  in.optional_tensor("weight_g_idx", from.weight_g_idx, {element::i32, 1, 1}, to.weight_g_idx);
}

void read(call& in, const char* name, const kaio_q8_0_w8* given, ops::q8_0_w8& to) {
  kaio_q8_0_w8 from = kaio_q8_0_w8_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("blocks", from.blocks, {element::u8, 2, 2}, to.blocks.view);
}

void read(call& in, const char* name, const kaio_e4m3_w8* given, ops::e4m3_w8& to) {
  kaio_e4m3_w8 from = kaio_e4m3_w8_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("weight", from.weight, {element::e4m3 | element::u8, 2, 2}, to.weight.view);
  in.tensor("scales", from.scales, {element::f32 | element::f16 | element::bf16, 1, 2}, to.scales.view);
  call::as_column(to.scales.view);
}

void read(call& in, const char* name, const kaio_marlin_w8* given, ops::marlin_w8& to) {
  kaio_marlin_w8 from = kaio_marlin_w8_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("b", from.b, {element::i32 | element::u32, 2, 2}, to.b.view);
  in.tensor("scales", from.scales, {element::f16 | element::bf16, 2, 2}, to.scales.view);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_repack_int8_w8(void* stream_handle, const kaio_int8_w8* source_given,
                                const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_int8_w8");
    in.need("source", source_given);
    ops::int8_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_int8_w8_warmup(const kaio_int8_w8* source_given, const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_int8_w8_warmup");
    in.need("source", source_given);
    ops::int8_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_llm_int8_w8(void* stream_handle, const kaio_llm_int8_w8* source_given,
                                    const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_llm_int8_w8");
    in.need("source", source_given);
    ops::llm_int8_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_llm_int8_w8_warmup(const kaio_llm_int8_w8* source_given,
                                           const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_llm_int8_w8_warmup");
    in.need("source", source_given);
    ops::llm_int8_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_gptq_w8(void* stream_handle, const kaio_gptq_w8* source_given,
                                const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_gptq_w8");
    in.need("source", source_given);
    ops::gptq_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_gptq_w8_warmup(const kaio_gptq_w8* source_given, const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_gptq_w8_warmup");
    in.need("source", source_given);
    ops::gptq_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_compressed_tensors_w8(void* stream_handle,
                                              const kaio_compressed_tensors_w8* source_given,
                                              const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_compressed_tensors_w8");
    in.need("source", source_given);
    ops::compressed_tensors_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_compressed_tensors_w8_warmup(const kaio_compressed_tensors_w8* source_given,
                                                     const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_compressed_tensors_w8_warmup");
    in.need("source", source_given);
    ops::compressed_tensors_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_q8_0_w8(void* stream_handle, const kaio_q8_0_w8* source_given,
                                const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_q8_0_w8");
    in.need("source", source_given);
    ops::q8_0_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_q8_0_w8_warmup(const kaio_q8_0_w8* source_given, const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_q8_0_w8_warmup");
    in.need("source", source_given);
    ops::q8_0_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_e4m3_w8(void* stream_handle, const kaio_e4m3_w8* source_given,
                                const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_e4m3_w8");
    in.need("source", source_given);
    ops::e4m3_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_e4m3_w8_warmup(const kaio_e4m3_w8* source_given, const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_e4m3_w8_warmup");
    in.need("source", source_given);
    ops::e4m3_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_marlin_w8(void* stream_handle, const kaio_marlin_w8* source_given,
                                  const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_marlin_w8");
    in.need("source", source_given);
    ops::marlin_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_marlin_w8_warmup(const kaio_marlin_w8* source_given,
                                         const kaio_w8_weights* weights_given) {
  return guarded([&] {
    call in("repack_marlin_w8_warmup");
    in.need("source", source_given);
    ops::marlin_w8 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w8_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}
}
