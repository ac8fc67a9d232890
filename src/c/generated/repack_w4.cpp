// Made by src/c/generate.py from src/c/operations/repack_w4.json.
// clang-format off

#include <kaio/c/repack_w4.h>
#include <kaio/ops/weight_only/repack_w4.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::gptq_w4{}.v2 == false);
static_assert(ops::gptq_w4{}.bits == 4);
static_assert(ops::compressed_tensors_w4{}.bits == 4);
static_assert(ops::bitsandbytes_w4{}.nested_offset == 0.0f);
static_assert(ops::bitsandbytes_w4{}.nested_blocksize == 256);
static_assert(ops::nvfp4_w4{}.divides == false);

void read(call& in, const char* name, const kaio_gptq_w4* given, ops::gptq_w4& to) {
  kaio_gptq_w4 from = kaio_gptq_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("qweight", from.qweight, {element::i32 | element::u32, 2, 2}, to.qweight.view);
  in.tensor("scales", from.scales, {element::f16 | element::bf16, 2, 2}, to.scales.view);
  in.optional_tensor("qzeros", from.qzeros, {element::i32 | element::u32, 2, 2}, to.qzeros.view);
  in.optional_tensor("g_idx", from.g_idx, {element::i32, 1, 1}, to.g_idx);
  to.v2 = in.flag("v2", from.v2);
  in.zero("reserved_44", from.reserved_44);
  to.bits = from.bits;
}

void read(call& in, const char* name, const kaio_awq_w4* given, ops::awq_w4& to) {
  kaio_awq_w4 from = kaio_awq_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("qweight", from.qweight, {element::i32 | element::u32, 2, 2}, to.qweight.view);
  in.tensor("qzeros", from.qzeros, {element::i32 | element::u32, 2, 2}, to.qzeros.view);
  in.tensor("scales", from.scales, {element::f16 | element::bf16, 2, 2}, to.scales.view);
}

void read(call& in, const char* name, const kaio_compressed_tensors_w4* given, ops::compressed_tensors_w4& to) {
  kaio_compressed_tensors_w4 from = kaio_compressed_tensors_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("weight_packed", from.weight_packed, {element::i32 | element::u32, 2, 2}, to.weight_packed.view);
  in.tensor("weight_scale", from.weight_scale, {element::f16 | element::bf16, 2, 2}, to.weight_scale.view);
  in.optional_tensor("weight_zero_point", from.weight_zero_point, {element::i32 | element::u32, 2, 2}, to.weight_zero_point.view);
  in.optional_tensor("weight_g_idx", from.weight_g_idx, {element::i32, 1, 1}, to.weight_g_idx);
  to.bits = from.bits;
}

void read(call& in, const char* name, const kaio_bitsandbytes_w4* given, ops::bitsandbytes_w4& to) {
  kaio_bitsandbytes_w4 from = kaio_bitsandbytes_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("weight", from.weight, {element::u8, 2, 2}, to.weight.view);
  in.optional_tensor("absmax", from.absmax, {element::f32, 2, 2}, to.absmax);
  in.optional_tensor("absmax_codes", from.absmax_codes, {element::u8, 2, 2}, to.absmax_codes.view);
  in.optional_tensor("nested_quant_map", from.nested_quant_map, {element::f32, 1, 1}, to.nested_quant_map);
  in.optional_tensor("nested_absmax", from.nested_absmax, {element::f32, 1, 1}, to.nested_absmax);
  to.nested_offset = from.nested_offset;
  in.zero("reserved_52", from.reserved_52);
  to.nested_blocksize = from.nested_blocksize;
}

void read(call& in, const char* name, const kaio_mxfp4_w4* given, ops::mxfp4_w4& to) {
  kaio_mxfp4_w4 from = kaio_mxfp4_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("blocks", from.blocks, {element::u8, 2, 2}, to.blocks.view);
  in.tensor("scales", from.scales, {element::u8 | element::e8m0, 2, 2}, to.scales.view);
}

void read(call& in, const char* name, const kaio_nvfp4_w4* given, ops::nvfp4_w4& to) {
  kaio_nvfp4_w4 from = kaio_nvfp4_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("weight", from.weight, {element::u8, 2, 2}, to.weight.view);
  in.tensor("scales", from.scales, {element::u8 | element::e4m3, 2, 2}, to.scales.view);
  in.optional_tensor("tensor_scale", from.tensor_scale, {element::f32, 1, 1}, to.tensor_scale);
  to.divides = in.flag("divides", from.divides);
  in.zero("reserved_36", from.reserved_36);
}

void read(call& in, const char* name, const kaio_int4_w4* given, ops::kaio_int4& to) {
  kaio_int4_w4 from = kaio_int4_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("packed", from.packed, {element::i32 | element::u32, 2, 2}, to.packed.view);
  in.tensor("scales", from.scales, {element::f16 | element::bf16, 2, 2}, to.scales.view);
}

void read(call& in, const char* name, const kaio_awq_gemv_w4* given, ops::awq_gemv_w4& to) {
  kaio_awq_gemv_w4 from = kaio_awq_gemv_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("qweight", from.qweight, {element::i32 | element::u32, 2, 2}, to.qweight.view);
  in.tensor("qzeros", from.qzeros, {element::i32 | element::u32, 2, 2}, to.qzeros.view);
  in.tensor("scales", from.scales, {element::f16 | element::bf16, 2, 2}, to.scales.view);
}

void read(call& in, const char* name, const kaio_awq_gemv_fast_w4* given, ops::awq_gemv_fast_w4& to) {
  kaio_awq_gemv_fast_w4 from = kaio_awq_gemv_fast_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("qweight", from.qweight, {element::i16, 2, 2}, to.qweight);
  in.tensor("scales", from.scales, {element::f16 | element::bf16, 2, 2}, to.scales.view);
  in.tensor("qzeros", from.qzeros, {element::f16 | element::bf16, 2, 2}, to.qzeros.view);
  in.same_elements("qzeros", from.qzeros, "scales", from.scales);
}

void read(call& in, const char* name, const kaio_marlin_w4* given, ops::marlin_w4& to) {
  kaio_marlin_w4 from = kaio_marlin_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("b", from.b, {element::i32 | element::u32, 2, 2}, to.b.view);
  in.tensor("scales", from.scales, {element::f16 | element::bf16, 2, 2}, to.scales.view);
  in.optional_tensor("zeros", from.zeros, {element::i32 | element::u32, 2, 2}, to.zeros.view);
}

void read(call& in, const char* name, const kaio_tinygemm_w4* given, ops::tinygemm_w4& to) {
  kaio_tinygemm_w4 from = kaio_tinygemm_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("packed", from.packed, {element::i32, 4, 4}, to.packed);
  in.tensor("scales_and_zeros", from.scales_and_zeros, {element::bf16, 3, 3}, to.scales_and_zeros);
}

void read(call& in, const char* name, const kaio_torchao_int4_w4* given, ops::torchao_int4_w4& to) {
  kaio_torchao_int4_w4 from = kaio_torchao_int4_w4_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.tensor("qdata", from.qdata, {element::i32 | element::u32, 2, 2}, to.qdata.view);
  in.tensor("scale", from.scale, {element::f16 | element::bf16, 2, 2}, to.scale.view);
  in.tensor("zero_point", from.zero_point, {element::f16 | element::bf16, 2, 2}, to.zero_point.view);
  in.same_elements("zero_point", from.zero_point, "scale", from.scale);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_repack_gptq_w4(void* stream_handle, const kaio_gptq_w4* source_given,
                                const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_gptq_w4");
    in.need("source", source_given);
    ops::gptq_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_gptq_w4_warmup(const kaio_gptq_w4* source_given, const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_gptq_w4_warmup");
    in.need("source", source_given);
    ops::gptq_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_awq_w4(void* stream_handle, const kaio_awq_w4* source_given,
                               const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_awq_w4");
    in.need("source", source_given);
    ops::awq_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_awq_w4_warmup(const kaio_awq_w4* source_given, const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_awq_w4_warmup");
    in.need("source", source_given);
    ops::awq_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_compressed_tensors_w4(void* stream_handle,
                                              const kaio_compressed_tensors_w4* source_given,
                                              const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_compressed_tensors_w4");
    in.need("source", source_given);
    ops::compressed_tensors_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_compressed_tensors_w4_warmup(const kaio_compressed_tensors_w4* source_given,
                                                     const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_compressed_tensors_w4_warmup");
    in.need("source", source_given);
    ops::compressed_tensors_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_bitsandbytes_w4(void* stream_handle, const kaio_bitsandbytes_w4* source_given,
                                        const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_bitsandbytes_w4");
    in.need("source", source_given);
    ops::bitsandbytes_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_bitsandbytes_w4_warmup(const kaio_bitsandbytes_w4* source_given,
                                               const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_bitsandbytes_w4_warmup");
    in.need("source", source_given);
    ops::bitsandbytes_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_mxfp4_w4(void* stream_handle, const kaio_mxfp4_w4* source_given,
                                 const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_mxfp4_w4");
    in.need("source", source_given);
    ops::mxfp4_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_mxfp4_w4_warmup(const kaio_mxfp4_w4* source_given,
                                        const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_mxfp4_w4_warmup");
    in.need("source", source_given);
    ops::mxfp4_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_nvfp4_w4(void* stream_handle, const kaio_nvfp4_w4* source_given,
                                 const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_nvfp4_w4");
    in.need("source", source_given);
    ops::nvfp4_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_nvfp4_w4_warmup(const kaio_nvfp4_w4* source_given,
                                        const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_nvfp4_w4_warmup");
    in.need("source", source_given);
    ops::nvfp4_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_int4_w4(void* stream_handle, const kaio_int4_w4* source_given,
                                const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_int4_w4");
    in.need("source", source_given);
    ops::kaio_int4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_int4_w4_warmup(const kaio_int4_w4* source_given, const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_int4_w4_warmup");
    in.need("source", source_given);
    ops::kaio_int4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_awq_gemv_w4(void* stream_handle, const kaio_awq_gemv_w4* source_given,
                                    const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_awq_gemv_w4");
    in.need("source", source_given);
    ops::awq_gemv_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_awq_gemv_w4_warmup(const kaio_awq_gemv_w4* source_given,
                                           const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_awq_gemv_w4_warmup");
    in.need("source", source_given);
    ops::awq_gemv_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_awq_gemv_fast_w4(void* stream_handle, const kaio_awq_gemv_fast_w4* source_given,
                                         const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_awq_gemv_fast_w4");
    in.need("source", source_given);
    ops::awq_gemv_fast_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_awq_gemv_fast_w4_warmup(const kaio_awq_gemv_fast_w4* source_given,
                                                const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_awq_gemv_fast_w4_warmup");
    in.need("source", source_given);
    ops::awq_gemv_fast_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_marlin_w4(void* stream_handle, const kaio_marlin_w4* source_given,
                                  const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_marlin_w4");
    in.need("source", source_given);
    ops::marlin_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_marlin_w4_warmup(const kaio_marlin_w4* source_given,
                                         const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_marlin_w4_warmup");
    in.need("source", source_given);
    ops::marlin_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_tinygemm_w4(void* stream_handle, const kaio_tinygemm_w4* source_given,
                                    const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_tinygemm_w4");
    in.need("source", source_given);
    ops::tinygemm_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_tinygemm_w4_warmup(const kaio_tinygemm_w4* source_given,
                                           const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_tinygemm_w4_warmup");
    in.need("source", source_given);
    ops::tinygemm_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}

kaio_status kaio_repack_torchao_int4_w4(void* stream_handle, const kaio_torchao_int4_w4* source_given,
                                        const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_torchao_int4_w4");
    in.need("source", source_given);
    ops::torchao_int4_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::repack(stream, source, weights);
    in.finish();
  });
}

kaio_status kaio_repack_torchao_int4_w4_warmup(const kaio_torchao_int4_w4* source_given,
                                               const kaio_w4_weights* weights_given) {
  return guarded([&] {
    call in("repack_torchao_int4_w4_warmup");
    in.need("source", source_given);
    ops::torchao_int4_w4 source;
    read(in, "source", source_given, source);
    in.need("weights", weights_given);
    ops::w4_weights weights;
    read(in, "weights", weights_given, weights);
    const runtime::stream& stream = in.loading();
    ops::repack(stream, source, weights);
  });
}
}
