// Made by src/c/generate.py from src/c/operations/weights.json.
// clang-format off

#include <kaio/c/weights.h>
#include <kaio/weights/weights.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"
#include "c/weights/file.hpp"

namespace kaio::c {

static_assert(static_cast<int>(weights_kind::gguf) == KAIO_WEIGHTS_KIND_GGUF);
static_assert(static_cast<int>(weights_kind::safetensors) == KAIO_WEIGHTS_KIND_SAFETENSORS);
static_assert(static_cast<int>(weights::weight_format::f64) == KAIO_WEIGHT_FORMAT_F64);
static_assert(static_cast<int>(weights::weight_format::f32) == KAIO_WEIGHT_FORMAT_F32);
static_assert(static_cast<int>(weights::weight_format::f16) == KAIO_WEIGHT_FORMAT_F16);
static_assert(static_cast<int>(weights::weight_format::bf16) == KAIO_WEIGHT_FORMAT_BF16);
static_assert(static_cast<int>(weights::weight_format::e4m3) == KAIO_WEIGHT_FORMAT_E4M3);
static_assert(static_cast<int>(weights::weight_format::e5m2) == KAIO_WEIGHT_FORMAT_E5M2);
static_assert(static_cast<int>(weights::weight_format::e4m3fnuz) == KAIO_WEIGHT_FORMAT_E4M3FNUZ);
static_assert(static_cast<int>(weights::weight_format::e5m2fnuz) == KAIO_WEIGHT_FORMAT_E5M2FNUZ);
static_assert(static_cast<int>(weights::weight_format::e8m0) == KAIO_WEIGHT_FORMAT_E8M0);
static_assert(static_cast<int>(weights::weight_format::c64) == KAIO_WEIGHT_FORMAT_C64);
static_assert(static_cast<int>(weights::weight_format::boolean) == KAIO_WEIGHT_FORMAT_BOOLEAN);
static_assert(static_cast<int>(weights::weight_format::i64) == KAIO_WEIGHT_FORMAT_I64);
static_assert(static_cast<int>(weights::weight_format::i32) == KAIO_WEIGHT_FORMAT_I32);
static_assert(static_cast<int>(weights::weight_format::i16) == KAIO_WEIGHT_FORMAT_I16);
static_assert(static_cast<int>(weights::weight_format::i8) == KAIO_WEIGHT_FORMAT_I8);
static_assert(static_cast<int>(weights::weight_format::u64) == KAIO_WEIGHT_FORMAT_U64);
static_assert(static_cast<int>(weights::weight_format::u32) == KAIO_WEIGHT_FORMAT_U32);
static_assert(static_cast<int>(weights::weight_format::u16) == KAIO_WEIGHT_FORMAT_U16);
static_assert(static_cast<int>(weights::weight_format::u8) == KAIO_WEIGHT_FORMAT_U8);
static_assert(static_cast<int>(weights::weight_format::f4_e2m1) == KAIO_WEIGHT_FORMAT_F4_E2M1);
static_assert(static_cast<int>(weights::weight_format::f6_e2m3) == KAIO_WEIGHT_FORMAT_F6_E2M3);
static_assert(static_cast<int>(weights::weight_format::f6_e3m2) == KAIO_WEIGHT_FORMAT_F6_E3M2);
static_assert(static_cast<int>(weights::weight_format::q4_0) == KAIO_WEIGHT_FORMAT_Q4_0);
static_assert(static_cast<int>(weights::weight_format::q4_1) == KAIO_WEIGHT_FORMAT_Q4_1);
static_assert(static_cast<int>(weights::weight_format::q5_0) == KAIO_WEIGHT_FORMAT_Q5_0);
static_assert(static_cast<int>(weights::weight_format::q5_1) == KAIO_WEIGHT_FORMAT_Q5_1);
static_assert(static_cast<int>(weights::weight_format::q8_0) == KAIO_WEIGHT_FORMAT_Q8_0);
static_assert(static_cast<int>(weights::weight_format::q2_k) == KAIO_WEIGHT_FORMAT_Q2_K);
static_assert(static_cast<int>(weights::weight_format::q3_k) == KAIO_WEIGHT_FORMAT_Q3_K);
static_assert(static_cast<int>(weights::weight_format::q4_k) == KAIO_WEIGHT_FORMAT_Q4_K);
static_assert(static_cast<int>(weights::weight_format::q5_k) == KAIO_WEIGHT_FORMAT_Q5_K);
static_assert(static_cast<int>(weights::weight_format::q6_k) == KAIO_WEIGHT_FORMAT_Q6_K);
static_assert(static_cast<int>(weights::weight_format::iq4_nl) == KAIO_WEIGHT_FORMAT_IQ4_NL);
static_assert(static_cast<int>(weights::weight_format::iq4_xs) == KAIO_WEIGHT_FORMAT_IQ4_XS);
static_assert(static_cast<int>(weights::weight_format::mxfp4) == KAIO_WEIGHT_FORMAT_MXFP4);
static_assert(static_cast<int>(weights::weight_format::nvfp4) == KAIO_WEIGHT_FORMAT_NVFP4);
static_assert(static_cast<int>(weights::weight_format::iq1_s) == KAIO_WEIGHT_FORMAT_IQ1_S);
static_assert(static_cast<int>(weights::weight_format::iq1_m) == KAIO_WEIGHT_FORMAT_IQ1_M);
static_assert(static_cast<int>(weights::weight_format::iq2_xxs) == KAIO_WEIGHT_FORMAT_IQ2_XXS);
static_assert(static_cast<int>(weights::weight_format::iq2_xs) == KAIO_WEIGHT_FORMAT_IQ2_XS);
static_assert(static_cast<int>(weights::weight_format::iq2_s) == KAIO_WEIGHT_FORMAT_IQ2_S);
static_assert(static_cast<int>(weights::weight_format::iq3_xxs) == KAIO_WEIGHT_FORMAT_IQ3_XXS);
static_assert(static_cast<int>(weights::weight_format::iq3_s) == KAIO_WEIGHT_FORMAT_IQ3_S);
static_assert(static_cast<int>(weights::weight_format::tq1_0) == KAIO_WEIGHT_FORMAT_TQ1_0);
static_assert(static_cast<int>(weights::weight_format::tq2_0) == KAIO_WEIGHT_FORMAT_TQ2_0);
static_assert(static_cast<int>(weights::weight_format::q1_0) == KAIO_WEIGHT_FORMAT_Q1_0);
static_assert(static_cast<int>(weights::weight_format::q2_0) == KAIO_WEIGHT_FORMAT_Q2_0);
static_assert(static_cast<int>(weights::weight_format::unknown) == KAIO_WEIGHT_FORMAT_UNKNOWN);
static_assert(static_cast<int>(weights::gguf_type::u8) == KAIO_WEIGHTS_TYPE_U8);
static_assert(static_cast<int>(weights::gguf_type::i8) == KAIO_WEIGHTS_TYPE_I8);
static_assert(static_cast<int>(weights::gguf_type::u16) == KAIO_WEIGHTS_TYPE_U16);
static_assert(static_cast<int>(weights::gguf_type::i16) == KAIO_WEIGHTS_TYPE_I16);
static_assert(static_cast<int>(weights::gguf_type::u32) == KAIO_WEIGHTS_TYPE_U32);
static_assert(static_cast<int>(weights::gguf_type::i32) == KAIO_WEIGHTS_TYPE_I32);
static_assert(static_cast<int>(weights::gguf_type::f32) == KAIO_WEIGHTS_TYPE_F32);
static_assert(static_cast<int>(weights::gguf_type::boolean) == KAIO_WEIGHTS_TYPE_BOOLEAN);
static_assert(static_cast<int>(weights::gguf_type::string) == KAIO_WEIGHTS_TYPE_STRING);
static_assert(static_cast<int>(weights::gguf_type::array) == KAIO_WEIGHTS_TYPE_ARRAY);
static_assert(static_cast<int>(weights::gguf_type::u64) == KAIO_WEIGHTS_TYPE_U64);
static_assert(static_cast<int>(weights::gguf_type::i64) == KAIO_WEIGHTS_TYPE_I64);
static_assert(static_cast<int>(weights::gguf_type::f64) == KAIO_WEIGHTS_TYPE_F64);
static_assert(static_cast<int>(weights::weight_scheme::gptq) == KAIO_WEIGHT_SCHEME_GPTQ);
static_assert(static_cast<int>(weights::weight_scheme::awq_gemm) == KAIO_WEIGHT_SCHEME_AWQ_GEMM);
static_assert(static_cast<int>(weights::weight_scheme::awq_gemv) == KAIO_WEIGHT_SCHEME_AWQ_GEMV);
static_assert(static_cast<int>(weights::weight_scheme::awq_gemv_fast) == KAIO_WEIGHT_SCHEME_AWQ_GEMV_FAST);
static_assert(static_cast<int>(weights::weight_scheme::packed_int) == KAIO_WEIGHT_SCHEME_PACKED_INT);
static_assert(static_cast<int>(weights::weight_scheme::int8) == KAIO_WEIGHT_SCHEME_INT8);
static_assert(static_cast<int>(weights::weight_scheme::llm_int8) == KAIO_WEIGHT_SCHEME_LLM_INT8);
static_assert(static_cast<int>(weights::weight_scheme::fp8) == KAIO_WEIGHT_SCHEME_FP8);
static_assert(static_cast<int>(weights::weight_scheme::fp8_block) == KAIO_WEIGHT_SCHEME_FP8_BLOCK);
static_assert(static_cast<int>(weights::weight_scheme::nf4) == KAIO_WEIGHT_SCHEME_NF4);
static_assert(static_cast<int>(weights::weight_scheme::fp4) == KAIO_WEIGHT_SCHEME_FP4);
static_assert(static_cast<int>(weights::weight_scheme::nvfp4_packed) == KAIO_WEIGHT_SCHEME_NVFP4_PACKED);
static_assert(static_cast<int>(weights::weight_scheme::nvfp4_modelopt) == KAIO_WEIGHT_SCHEME_NVFP4_MODELOPT);
static_assert(static_cast<int>(weights::weight_scheme::mxfp4_packed) == KAIO_WEIGHT_SCHEME_MXFP4_PACKED);
static_assert(static_cast<int>(weights::weight_scheme::mxfp4_blocks) == KAIO_WEIGHT_SCHEME_MXFP4_BLOCKS);
static_assert(static_cast<int>(weights::weight_scheme::torchao_int8) == KAIO_WEIGHT_SCHEME_TORCHAO_INT8);
static_assert(static_cast<int>(weights::weight_scheme::torchao_fp8) == KAIO_WEIGHT_SCHEME_TORCHAO_FP8);
static_assert(static_cast<int>(weights::weight_scheme::torchao_tinygemm) == KAIO_WEIGHT_SCHEME_TORCHAO_TINYGEMM);
static_assert(static_cast<int>(weights::weight_scheme::torchao_int4_plain) == KAIO_WEIGHT_SCHEME_TORCHAO_INT4_PLAIN);
static_assert(static_cast<int>(weights::weight_scheme::torchao_nvfp4) == KAIO_WEIGHT_SCHEME_TORCHAO_NVFP4);
static_assert(static_cast<int>(weights::weight_scheme::torchao_mx) == KAIO_WEIGHT_SCHEME_TORCHAO_MX);
static_assert(static_cast<int>(weights::weight_scheme::mxfp8) == KAIO_WEIGHT_SCHEME_MXFP8);
static_assert(static_cast<int>(weights::weight_part::codes) == KAIO_WEIGHT_PART_CODES);
static_assert(static_cast<int>(weights::weight_part::scales) == KAIO_WEIGHT_PART_SCALES);
static_assert(static_cast<int>(weights::weight_part::zero_points) == KAIO_WEIGHT_PART_ZERO_POINTS);
static_assert(static_cast<int>(weights::weight_part::group_index) == KAIO_WEIGHT_PART_GROUP_INDEX);
static_assert(static_cast<int>(weights::weight_part::shape) == KAIO_WEIGHT_PART_SHAPE);
static_assert(static_cast<int>(weights::weight_part::global_scale) == KAIO_WEIGHT_PART_GLOBAL_SCALE);
static_assert(static_cast<int>(weights::weight_part::input_scale) == KAIO_WEIGHT_PART_INPUT_SCALE);
static_assert(static_cast<int>(weights::weight_part::code_table) == KAIO_WEIGHT_PART_CODE_TABLE);
static_assert(static_cast<int>(weights::weight_part::nested_scales) == KAIO_WEIGHT_PART_NESTED_SCALES);
static_assert(static_cast<int>(weights::weight_part::nested_table) == KAIO_WEIGHT_PART_NESTED_TABLE);
static_assert(static_cast<int>(weights::weight_part::state) == KAIO_WEIGHT_PART_STATE);
static_assert(static_cast<int>(weights::weight_part::input_factors) == KAIO_WEIGHT_PART_INPUT_FACTORS);
static_assert(static_cast<int>(weights::weight_part::unknown) == KAIO_WEIGHT_PART_UNKNOWN);

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_weights_open(const char* path, kaio_weights** weights) {
  return guarded([&] {
    call in("weights_open");
    in.need("path", path);
    in.need("weights", weights);
    *weights = open_weights(path);
  });
}

kaio_status kaio_weights_view(const void* data, uint64_t bytes, const char* name, kaio_weights** weights) {
  return guarded([&] {
    call in("weights_view");
    in.need("data", data);
    in.need("name", name);
    in.need("weights", weights);
    *weights = view_weights(data, bytes, name);
  });
}

kaio_status kaio_weights_close(kaio_weights* weights) {
  return guarded([&] {
    call in("weights_close");
    c::close(weights);
  });
}

kaio_status kaio_weights_describe(const kaio_weights* weights, kaio_weights_info* info) {
  return guarded([&] {
    call in("weights_describe");
    in.need("weights", weights);
    in.need("info", info);
    give_info(in, *weights, info);
  });
}

kaio_status kaio_weights_tensor_at(const kaio_weights* weights, uint64_t index, kaio_weights_tensor* tensor) {
  return guarded([&] {
    call in("weights_tensor_at");
    in.need("weights", weights);
    in.need("tensor", tensor);
    give_tensor(in, *weights, index, tensor);
  });
}

kaio_status kaio_weights_find(const kaio_weights* weights, const char* name, uint64_t* index) {
  return guarded([&] {
    call in("weights_find");
    in.need("weights", weights);
    in.need("name", name);
    in.need("index", index);
    *index = index_of_tensor(*weights, name);
  });
}

kaio_status kaio_weights_read_values(const kaio_weights* weights, uint64_t index, uint64_t first,
                                     uint64_t count, float* to) {
  return guarded([&] {
    call in("weights_read_values");
    in.need("weights", weights);
    c::read_values(in, *weights, index, first, count, to);
  });
}

kaio_status kaio_weights_value_at(const kaio_weights* weights, uint64_t index, kaio_weights_value* value) {
  return guarded([&] {
    call in("weights_value_at");
    in.need("weights", weights);
    in.need("value", value);
    give_value(in, *weights, index, value);
  });
}

kaio_status kaio_weights_find_value(const kaio_weights* weights, const char* key, uint64_t* index) {
  return guarded([&] {
    call in("weights_find_value");
    in.need("weights", weights);
    in.need("key", key);
    in.need("index", index);
    *index = index_of_key(*weights, key);
  });
}

kaio_status kaio_weights_layers_open(const kaio_weights* weights, const char* config,
                                     kaio_weights_layers** layers) {
  return guarded([&] {
    call in("weights_layers_open");
    in.need("weights", weights);
    in.need("layers", layers);
    *layers = open_layers(*weights, config);
  });
}

kaio_status kaio_weights_layers_close(kaio_weights_layers* layers) {
  return guarded([&] {
    call in("weights_layers_close");
    c::close(layers);
  });
}

kaio_status kaio_weights_layers_describe(const kaio_weights_layers* layers, kaio_weights_layers_info* info) {
  return guarded([&] {
    call in("weights_layers_describe");
    in.need("layers", layers);
    in.need("info", info);
    give_info(in, *layers, info);
  });
}

kaio_status kaio_weights_layer_at(const kaio_weights_layers* layers, uint64_t index,
                                  kaio_weights_layer* layer) {
  return guarded([&] {
    call in("weights_layer_at");
    in.need("layers", layers);
    in.need("layer", layer);
    give_layer(in, *layers, index, layer);
  });
}

kaio_status kaio_weights_part_at(const kaio_weights_layers* layers, uint64_t layer, uint64_t index,
                                 kaio_weights_layer_part* part) {
  return guarded([&] {
    call in("weights_part_at");
    in.need("layers", layers);
    in.need("part", part);
    give_part(in, *layers, layer, index, part);
  });
}

kaio_status kaio_weights_part_bytes(const kaio_weights_layers* layers, uint64_t layer, int32_t part_given,
                                    void* to, uint64_t room, uint64_t* bytes) {
  return guarded([&] {
    call in("weights_part_bytes");
    in.need("layers", layers);
    weights::weight_part part{};
    in.enumerated("part", part_given, 13, part);
    in.need("bytes", bytes);
    *bytes = copy_part(in, *layers, layer, part, to, room);
  });
}
}
