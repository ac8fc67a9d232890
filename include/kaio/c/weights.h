/* Weight files: GGUF and safetensors. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/weights.json. */
#ifndef KAIO_C_WEIGHTS_H
#define KAIO_C_WEIGHTS_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open model: one file, or several. It does not change, so any threads may read it. Pointers that
 * functions return live until kaio_weights_close. Nobody may shorten a file meanwhile. */
typedef struct kaio_weights kaio_weights;

/* The quantised layers of a safetensors model. It keeps the file open: the order of closing is free.
 * Pointers that functions return live until kaio_weights_layers_close. */
typedef struct kaio_weights_layers kaio_weights_layers;

/* kaio_weights_kind: A kind of weight files. */
enum {
  KAIO_WEIGHTS_KIND_GGUF = 0,
  KAIO_WEIGHTS_KIND_SAFETENSORS = 1
};

/* kaio_weight_format: The elements of a tensor in a file. */
enum {
  KAIO_WEIGHT_FORMAT_F64 = 0,
  KAIO_WEIGHT_FORMAT_F32 = 1,
  KAIO_WEIGHT_FORMAT_F16 = 2,
  KAIO_WEIGHT_FORMAT_BF16 = 3,
  KAIO_WEIGHT_FORMAT_E4M3 = 4,
  KAIO_WEIGHT_FORMAT_E5M2 = 5,
  KAIO_WEIGHT_FORMAT_E4M3FNUZ = 6,
  KAIO_WEIGHT_FORMAT_E5M2FNUZ = 7,
  KAIO_WEIGHT_FORMAT_E8M0 = 8,
  KAIO_WEIGHT_FORMAT_C64 = 9,
  KAIO_WEIGHT_FORMAT_BOOLEAN = 10,
  KAIO_WEIGHT_FORMAT_I64 = 11,
  KAIO_WEIGHT_FORMAT_I32 = 12,
  KAIO_WEIGHT_FORMAT_I16 = 13,
  KAIO_WEIGHT_FORMAT_I8 = 14,
  KAIO_WEIGHT_FORMAT_U64 = 15,
  KAIO_WEIGHT_FORMAT_U32 = 16,
  KAIO_WEIGHT_FORMAT_U16 = 17,
  KAIO_WEIGHT_FORMAT_U8 = 18,
  KAIO_WEIGHT_FORMAT_F4_E2M1 = 19,
  KAIO_WEIGHT_FORMAT_F6_E2M3 = 20,
  KAIO_WEIGHT_FORMAT_F6_E3M2 = 21,
  KAIO_WEIGHT_FORMAT_Q4_0 = 22,
  KAIO_WEIGHT_FORMAT_Q4_1 = 23,
  KAIO_WEIGHT_FORMAT_Q5_0 = 24,
  KAIO_WEIGHT_FORMAT_Q5_1 = 25,
  KAIO_WEIGHT_FORMAT_Q8_0 = 26,
  KAIO_WEIGHT_FORMAT_Q2_K = 27,
  KAIO_WEIGHT_FORMAT_Q3_K = 28,
  KAIO_WEIGHT_FORMAT_Q4_K = 29,
  KAIO_WEIGHT_FORMAT_Q5_K = 30,
  KAIO_WEIGHT_FORMAT_Q6_K = 31,
  KAIO_WEIGHT_FORMAT_IQ4_NL = 32,
  KAIO_WEIGHT_FORMAT_IQ4_XS = 33,
  KAIO_WEIGHT_FORMAT_MXFP4 = 34,
  KAIO_WEIGHT_FORMAT_NVFP4 = 35,
  KAIO_WEIGHT_FORMAT_IQ1_S = 36,
  KAIO_WEIGHT_FORMAT_IQ1_M = 37,
  KAIO_WEIGHT_FORMAT_IQ2_XXS = 38,
  KAIO_WEIGHT_FORMAT_IQ2_XS = 39,
  KAIO_WEIGHT_FORMAT_IQ2_S = 40,
  KAIO_WEIGHT_FORMAT_IQ3_XXS = 41,
  KAIO_WEIGHT_FORMAT_IQ3_S = 42,
  KAIO_WEIGHT_FORMAT_TQ1_0 = 43,
  KAIO_WEIGHT_FORMAT_TQ2_0 = 44,
  KAIO_WEIGHT_FORMAT_Q1_0 = 45,
  KAIO_WEIGHT_FORMAT_Q2_0 = 46,
  KAIO_WEIGHT_FORMAT_UNKNOWN = 47 /* a type of GGUF that kaio does not know: `type` is its number */
};

/* kaio_weights_type: The type of a value of the metadata. Those of safetensors are strings. */
enum {
  KAIO_WEIGHTS_TYPE_U8 = 0,
  KAIO_WEIGHTS_TYPE_I8 = 1,
  KAIO_WEIGHTS_TYPE_U16 = 2,
  KAIO_WEIGHTS_TYPE_I16 = 3,
  KAIO_WEIGHTS_TYPE_U32 = 4,
  KAIO_WEIGHTS_TYPE_I32 = 5,
  KAIO_WEIGHTS_TYPE_F32 = 6,
  KAIO_WEIGHTS_TYPE_BOOLEAN = 7,
  KAIO_WEIGHTS_TYPE_STRING = 8,
  KAIO_WEIGHTS_TYPE_ARRAY = 9,
  KAIO_WEIGHTS_TYPE_U64 = 10,
  KAIO_WEIGHTS_TYPE_I64 = 11,
  KAIO_WEIGHTS_TYPE_F64 = 12
};

/* kaio_weight_scheme: How the tensors of a quantised layer make up its weight. */
enum {
  KAIO_WEIGHT_SCHEME_GPTQ = 0, /* GPTQ */
  KAIO_WEIGHT_SCHEME_AWQ_GEMM = 1, /* AutoAWQ, version gemm */
  KAIO_WEIGHT_SCHEME_AWQ_GEMV = 2, /* AutoAWQ, version gemv */
  KAIO_WEIGHT_SCHEME_AWQ_GEMV_FAST = 3, /* AutoAWQ, version gemv_fast */
  KAIO_WEIGHT_SCHEME_PACKED_INT = 4, /* compressed-tensors pack-quantized */
  KAIO_WEIGHT_SCHEME_INT8 = 5, /* compressed-tensors int-quantized */
  KAIO_WEIGHT_SCHEME_LLM_INT8 = 6, /* bitsandbytes' LLM.int8 */
  KAIO_WEIGHT_SCHEME_FP8 = 7, /* with weight_scale */
  KAIO_WEIGHT_SCHEME_FP8_BLOCK = 8, /* with weight_scale_inv */
  KAIO_WEIGHT_SCHEME_NF4 = 9, /* bitsandbytes */
  KAIO_WEIGHT_SCHEME_FP4 = 10, /* bitsandbytes */
  KAIO_WEIGHT_SCHEME_NVFP4_PACKED = 11, /* compressed-tensors */
  KAIO_WEIGHT_SCHEME_NVFP4_MODELOPT = 12, /* ModelOpt */
  KAIO_WEIGHT_SCHEME_MXFP4_PACKED = 13, /* compressed-tensors */
  KAIO_WEIGHT_SCHEME_MXFP4_BLOCKS = 14, /* gpt-oss */
  KAIO_WEIGHT_SCHEME_TORCHAO_INT8 = 15,
  KAIO_WEIGHT_SCHEME_TORCHAO_FP8 = 16,
  KAIO_WEIGHT_SCHEME_TORCHAO_TINYGEMM = 17,
  KAIO_WEIGHT_SCHEME_TORCHAO_INT4_PLAIN = 18,
  KAIO_WEIGHT_SCHEME_TORCHAO_NVFP4 = 19,
  KAIO_WEIGHT_SCHEME_TORCHAO_MX = 20,
  KAIO_WEIGHT_SCHEME_MXFP8 = 21 /* compressed-tensors */
};

/* kaio_weight_part: What a tensor is to its layer. */
enum {
  KAIO_WEIGHT_PART_CODES = 0,
  KAIO_WEIGHT_PART_SCALES = 1,
  KAIO_WEIGHT_PART_ZERO_POINTS = 2,
  KAIO_WEIGHT_PART_GROUP_INDEX = 3,
  KAIO_WEIGHT_PART_SHAPE = 4, /* the shape of the weight, in the file */
  KAIO_WEIGHT_PART_GLOBAL_SCALE = 5, /* the tensor scale of NVFP4 */
  KAIO_WEIGHT_PART_INPUT_SCALE = 6, /* the scale of x */
  KAIO_WEIGHT_PART_CODE_TABLE = 7, /* quant_map */
  KAIO_WEIGHT_PART_NESTED_SCALES = 8, /* nested_absmax of bitsandbytes */
  KAIO_WEIGHT_PART_NESTED_TABLE = 9, /* nested_quant_map of bitsandbytes */
  KAIO_WEIGHT_PART_STATE = 10, /* JSON of bitsandbytes */
  KAIO_WEIGHT_PART_INPUT_FACTORS = 11, /* factors of the columns of x, before the product */
  KAIO_WEIGHT_PART_UNKNOWN = 12 /* no scheme explains it: the layer has a problem */
};

/* A model. */
typedef struct kaio_weights_info {
  uint32_t size; /* sizeof(kaio_weights_info) */
  int32_t kind; /* kaio_weights_kind */
  uint32_t version; /* GGUF's; else 0 */
  uint32_t alignment; /* that of GGUF's tensors in the file; else 0 */
  uint64_t tensors;
  uint64_t metadata; /* values; those of the first file */
  uint64_t files; /* that are mapped */
} kaio_weights_info;
static inline kaio_weights_info kaio_weights_info_default(void) {
  kaio_weights_info it;
  it.size = sizeof(kaio_weights_info);
  it.kind = 0;
  it.version = 0;
  it.alignment = 0;
  it.tensors = 0;
  it.metadata = 0;
  it.files = 0;
  return it;
}

/* A tensor of a file. */
typedef struct kaio_weights_tensor {
  uint32_t size; /* sizeof(kaio_weights_tensor) */
  int32_t format; /* kaio_weight_format */
  const char* name; /* UTF-8; in safetensors with any character */
  uint64_t name_bytes; /* without the zero at its end */
  int32_t rank; /* 0: one number */
  int32_t has_values; /* 1: kaio_weights_read_values decodes it */
  const int64_t* shape; /* `rank` extents, outermost first, in GGUF too: a weight is (n, k) */
  uint64_t elements; /* the product of the shape */
  /* the bytes in the mapped file, read-only; aligned to nothing in general; of an unknown format none */
  const void* data;
  uint64_t bytes;
  /* the same bytes on kDLCPU, read-only: of formats that DLPack has, with their shape; of others, such as
   * Q4_K, u8 of (bytes) */
  const DLTensor* tensor;
  /* as its files spell it: Q4_K, BF16, F8_E4M3. kaio_block_format_named takes those of blocks */
  const char* format_name;
  const char* operation; /* kaio's operation that multiplies with it, after a step before; empty: none does */
  uint32_t block_elements;
  uint32_t block_bytes;
  const char* file; /* the path of the file that has it */
  uint64_t offset; /* where the first byte is in that file */
  uint32_t type; /* GGUF's number, if kaio does not know the format */
  int32_t reserved_116; /* 0 */
} kaio_weights_tensor;
static inline kaio_weights_tensor kaio_weights_tensor_default(void) {
  kaio_weights_tensor it;
  it.size = sizeof(kaio_weights_tensor);
  it.format = 0;
  it.name = NULL;
  it.name_bytes = 0;
  it.rank = 0;
  it.has_values = 0;
  it.shape = NULL;
  it.elements = 0;
  it.data = NULL;
  it.bytes = 0;
  it.tensor = NULL;
  it.format_name = NULL;
  it.operation = NULL;
  it.block_elements = 0;
  it.block_bytes = 0;
  it.file = NULL;
  it.offset = 0;
  it.type = 0;
  it.reserved_116 = 0;
  return it;
}

/* A value of the metadata. */
typedef struct kaio_weights_value {
  uint32_t size; /* sizeof(kaio_weights_value) */
  int32_t type; /* kaio_weights_type */
  int32_t element; /* kaio_weights_type: the type of an array's elements */
  int32_t boolean; /* the value of a boolean */
  const char* key;
  uint64_t key_bytes; /* without the zero at its end */
  uint64_t count; /* elements of an array; else 1 */
  const char* text; /* a string with a zero at its end; NULL if the value is none */
  uint64_t text_bytes; /* without the zero at its end */
  /* the value in the file, aligned to nothing; of an array all elements, strings each with its length
   * before it, a u64 */
  const void* data;
  uint64_t bytes;
  int32_t has_number; /* 1: it is a number */
  int32_t has_integer; /* 1: it is an integer that fits an int64_t */
  int32_t has_natural; /* 1: it is an integer that fits a uint64_t */
  int32_t reserved_84; /* 0 */
  double number;
  int64_t integer;
  uint64_t natural;
} kaio_weights_value;
static inline kaio_weights_value kaio_weights_value_default(void) {
  kaio_weights_value it;
  it.size = sizeof(kaio_weights_value);
  it.type = 0;
  it.element = 0;
  it.boolean = 0;
  it.key = NULL;
  it.key_bytes = 0;
  it.count = 0;
  it.text = NULL;
  it.text_bytes = 0;
  it.data = NULL;
  it.bytes = 0;
  it.has_number = 0;
  it.has_integer = 0;
  it.has_natural = 0;
  it.reserved_84 = 0;
  it.number = 0.0;
  it.integer = 0;
  it.natural = 0;
  return it;
}

/* The quantised layers of a model, and its quantization_config. */
typedef struct kaio_weights_layers_info {
  uint32_t size; /* sizeof(kaio_weights_layers_info) */
  int32_t has_config; /* 1: there is a configuration, which the other fields describe */
  uint64_t layers;
  /* gptq, awq, auto-round, compressed-tensors, bitsandbytes, fp8, mxfp4, modelopt, torchao */
  const char* method;
  const char* format; /* in small letters, such as gptq_v2 or gemv; empty: not said */
  uint32_t bits; /* 0: not said */
  int32_t has_group;
  int64_t group; /* -1: all of k */
  int32_t act_order;
  int32_t symmetric; /* 1, 0, or -1: not said */
  uint64_t block_rows; /* that share a scale; 0: not said */
  uint64_t block_columns;
  int32_t inverse_scales; /* 1: weight_scale_inv divides */
  int32_t per_layer; /* 1: some layers have their own bits and groups, which are not read */
} kaio_weights_layers_info;
static inline kaio_weights_layers_info kaio_weights_layers_info_default(void) {
  kaio_weights_layers_info it;
  it.size = sizeof(kaio_weights_layers_info);
  it.has_config = 0;
  it.layers = 0;
  it.method = NULL;
  it.format = NULL;
  it.bits = 0;
  it.has_group = 0;
  it.group = 0;
  it.act_order = 0;
  it.symmetric = 0;
  it.block_rows = 0;
  it.block_columns = 0;
  it.inverse_scales = 0;
  it.per_layer = 0;
  return it;
}

/* A quantised layer: tensors that make up one weight (n, k). */
typedef struct kaio_weights_layer {
  uint32_t size; /* sizeof(kaio_weights_layer) */
  int32_t scheme; /* kaio_weight_scheme */
  const char* scheme_name;
  const char* name; /* the common beginning of the names of its tensors */
  uint64_t n; /* rows of the weight; if there are experts, those of each; 0: not known */
  uint64_t k;
  uint64_t group; /* codes along k that share a scale; 0: blocks of rows and columns */
  uint64_t block_rows; /* rows that share a scale, if the group is 0 */
  uint64_t block_columns;
  uint64_t nested_group; /* nested_blocksize of bitsandbytes; 0: absmax is not quantised */
  float nested_offset;
  uint32_t bits; /* bits of a code */
  int32_t act_order; /* 1: groups are interleaved */
  /* 1: scales have the order of cuBLASLt; kaio_weights_part_bytes gives them row after row */
  int32_t swizzled;
  const char* problem; /* why the layer cannot be used; empty: no problem */
  /* the operation that multiplies with it, such as matmul_w4 after repack; empty: none does */
  const char* operation;
  const char* obstacle; /* why none does; empty: one does */
  uint64_t parts;
} kaio_weights_layer;
static inline kaio_weights_layer kaio_weights_layer_default(void) {
  kaio_weights_layer it;
  it.size = sizeof(kaio_weights_layer);
  it.scheme = 0;
  it.scheme_name = NULL;
  it.name = NULL;
  it.n = 0;
  it.k = 0;
  it.group = 0;
  it.block_rows = 0;
  it.block_columns = 0;
  it.nested_group = 0;
  it.nested_offset = 0.0f;
  it.bits = 0;
  it.act_order = 0;
  it.swizzled = 0;
  it.problem = NULL;
  it.operation = NULL;
  it.obstacle = NULL;
  it.parts = 0;
  return it;
}

/* A tensor of a quantised layer. */
typedef struct kaio_weights_layer_part {
  uint32_t size; /* sizeof(kaio_weights_layer_part) */
  int32_t part; /* kaio_weight_part */
  const char* part_name;
  uint64_t tensor; /* its index in the model */
} kaio_weights_layer_part;
static inline kaio_weights_layer_part kaio_weights_layer_part_default(void) {
  kaio_weights_layer_part it;
  it.size = sizeof(kaio_weights_layer_part);
  it.part = 0;
  it.part_name = NULL;
  it.tensor = 0;
  return it;
}

/* Opens a model, and checks its structure. Bytes of tensors are not touched.
 * GGUF: of several files any. safetensors: a file, or the index model.safetensors.index.json of several.
 * Fails with KAIO_UNREADABLE_FILE, KAIO_DAMAGED_FILE or KAIO_UNSUPPORTED_FORMAT; the text names the file,
 * and the tensor if one is concerned. */
KAIO_API kaio_status kaio_weights_open(const char* path, kaio_weights** weights);

/* Opens a model in the caller's memory, which must not change until it is closed.
 *   name     for messages */
KAIO_API kaio_status kaio_weights_view(const void* data, uint64_t bytes, const char* name,
                                       kaio_weights** weights);

/* Closes a model. NULL is closed without effect. */
KAIO_API kaio_status kaio_weights_close(kaio_weights* weights);

/* What a model is. Set info->size first. */
KAIO_API kaio_status kaio_weights_describe(const kaio_weights* weights, kaio_weights_info* info);

/* A tensor by its index, in the order of the file, file by file. Set tensor->size first. */
KAIO_API kaio_status kaio_weights_tensor_at(const kaio_weights* weights, uint64_t index,
                                            kaio_weights_tensor* tensor);

/* The index of the tensor of a name; UINT64_MAX: there is none. */
KAIO_API kaio_status kaio_weights_find(const kaio_weights* weights, const char* name, uint64_t* index);

/* Decodes `count` elements of a tensor from `first` on, row by row, with the bits of the format's
 * reference. */
KAIO_API kaio_status kaio_weights_read_values(const kaio_weights* weights, uint64_t index, uint64_t first,
                                              uint64_t count, float* to);

/* A value of the metadata by its index. Set value->size first. */
KAIO_API kaio_status kaio_weights_value_at(const kaio_weights* weights, uint64_t index,
                                           kaio_weights_value* value);

/* The index of the value of a key; UINT64_MAX: there is none. */
KAIO_API kaio_status kaio_weights_find_value(const kaio_weights* weights, const char* key, uint64_t* index);

/* Finds the quantised layers of a model, in the order of their names.
 *   config   the path of a config.json, quantize_config.json or hf_quant_config.json; NULL: none */
KAIO_API kaio_status kaio_weights_layers_open(const kaio_weights* weights, const char* config,
                                              kaio_weights_layers** layers);

/* Closes a list of layers. NULL is closed without effect. */
KAIO_API kaio_status kaio_weights_layers_close(kaio_weights_layers* layers);

/* The number of layers, and the configuration. Set info->size first. */
KAIO_API kaio_status kaio_weights_layers_describe(const kaio_weights_layers* layers,
                                                  kaio_weights_layers_info* info);

/* A layer by its index. Set layer->size first. */
KAIO_API kaio_status kaio_weights_layer_at(const kaio_weights_layers* layers, uint64_t index,
                                           kaio_weights_layer* layer);

/* A tensor of a layer by its index in the layer. Set part->size first. */
KAIO_API kaio_status kaio_weights_part_at(const kaio_weights_layers* layers, uint64_t layer, uint64_t index,
                                          kaio_weights_layer_part* part);

/* The bytes of a part in the type and order that kaio_repack_... and kaio_dequantise_... take.
 * An index of i64 becomes i32, zero points of a byte become words, and swizzled scales come row after row.
 * All else is as in the file.
 *   part    kaio_weight_part
 *   to      NULL: only their number is returned
 *   room    bytes at `to`
 *   bytes   gets their number; 0: the layer has no such part */
KAIO_API kaio_status kaio_weights_part_bytes(const kaio_weights_layers* layers, uint64_t layer, int32_t part,
                                             void* to, uint64_t room, uint64_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
