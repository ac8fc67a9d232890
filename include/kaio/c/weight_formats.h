/* Formats of weights: blocks of GGUF, dequantising and quantising. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/weight_formats.json. */
#ifndef KAIO_C_WEIGHT_FORMATS_H
#define KAIO_C_WEIGHT_FORMATS_H

#include <kaio/c/base.h>
#include <kaio/c/packed_weights.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_block_format: A format of GGUF whose files have blocks of codes with the scales inside. */
enum {
  KAIO_BLOCK_FORMAT_Q4_0 = 0,
  KAIO_BLOCK_FORMAT_Q4_1 = 1,
  KAIO_BLOCK_FORMAT_Q5_0 = 2,
  KAIO_BLOCK_FORMAT_Q5_1 = 3,
  KAIO_BLOCK_FORMAT_Q8_0 = 4,
  KAIO_BLOCK_FORMAT_Q2_K = 5,
  KAIO_BLOCK_FORMAT_Q3_K = 6,
  KAIO_BLOCK_FORMAT_Q4_K = 7,
  KAIO_BLOCK_FORMAT_Q5_K = 8,
  KAIO_BLOCK_FORMAT_Q6_K = 9,
  KAIO_BLOCK_FORMAT_IQ4_NL = 10,
  KAIO_BLOCK_FORMAT_IQ4_XS = 11,
  KAIO_BLOCK_FORMAT_MXFP4 = 12,
  KAIO_BLOCK_FORMAT_NVFP4 = 13
};

/* kaio_block_operation: The operation that multiplies a format of blocks after kaio_repack_blocks_.... */
enum {
  KAIO_BLOCK_OPERATION_NONE = 0, /* kaio_dequantise_blocks, then kaio_matmul */
  KAIO_BLOCK_OPERATION_MATMUL_W4 = 1,
  KAIO_BLOCK_OPERATION_MATMUL_W8 = 2
};

/* kaio_bnb_code: The codes of bitsandbytes. */
enum {
  KAIO_BNB_CODE_NF4 = 0,
  KAIO_BNB_CODE_FP4 = 1
};

/* absmax as codes of 8 bits: absmax of block i = nested_quant_map[absmax[i]] * nested_absmax[i /
 * blocksize] + offset. */
typedef struct kaio_bnb_nested {
  uint32_t size; /* sizeof(kaio_bnb_nested) */
  int32_t reserved_4; /* 0 */
  const DLTensor* absmax; /* needed; (blocks); u8 */
  const DLTensor* nested_absmax; /* needed; (ceil(blocks / blocksize)); f32 */
  const DLTensor* nested_quant_map; /* needed; (256); f32 */
  float offset;
  int32_t reserved_36; /* 0 */
  int64_t blocksize; /* default 256; a power of two, at least 8 */
} kaio_bnb_nested;
static inline kaio_bnb_nested kaio_bnb_nested_default(void) {
  kaio_bnb_nested it;
  it.size = sizeof(kaio_bnb_nested);
  it.reserved_4 = 0;
  it.absmax = NULL;
  it.nested_absmax = NULL;
  it.nested_quant_map = NULL;
  it.offset = 0.0f;
  it.reserved_36 = 0;
  it.blocksize = 256;
  return it;
}

/* bitsandbytes' nf4 and fp4. Blocks run over W row by row, and may span rows. Either absmax or nested is
 * given. */
typedef struct kaio_bnb_4bit {
  uint32_t size; /* sizeof(kaio_bnb_4bit) */
  int32_t code; /* kaio_bnb_code */
  const DLTensor* weight; /* needed; (ceil(n k / 2)); u8; the even element in the upper half of a byte */
  const DLTensor* absmax; /* (ceil(n k / blocksize)); f32; not read if nested is given */
  int64_t blocksize; /* default 64; a power of two, at least 8 */
  const kaio_bnb_nested* nested; /* NULL: absmax is given */
} kaio_bnb_4bit;
static inline kaio_bnb_4bit kaio_bnb_4bit_default(void) {
  kaio_bnb_4bit it;
  it.size = sizeof(kaio_bnb_4bit);
  it.code = 0;
  it.weight = NULL;
  it.absmax = NULL;
  it.blocksize = 64;
  it.nested = NULL;
  return it;
}

/* bitsandbytes' LLM.int8: W = weight * SCB / 127. */
typedef struct kaio_bnb_int8 {
  uint32_t size; /* sizeof(kaio_bnb_int8) */
  int32_t reserved_4; /* 0 */
  const DLTensor* weight; /* needed; (n, k); i8 */
  const DLTensor* SCB; /* needed; (n); f32 */
} kaio_bnb_int8;
static inline kaio_bnb_int8 kaio_bnb_int8_default(void) {
  kaio_bnb_int8 it;
  it.size = sizeof(kaio_bnb_int8);
  it.reserved_4 = 0;
  it.weight = NULL;
  it.SCB = NULL;
  return it;
}

/* Codes of 8 bits with one scale for all, for each row, or for each block of rows and columns: W = weight
 * * scale. */
typedef struct kaio_scaled_bytes {
  uint32_t size; /* sizeof(kaio_scaled_bytes) */
  int32_t reserved_4; /* 0 */
  const DLTensor* weight; /* needed; (n, k); i8, e4m3 or e5m2 */
  /* needed; (1, n or n / block_rows) x (1 or k / block_columns), rounded up; f32, f16, bf16, u8 or e8m0;
   * u8 is E8M0 */
  const DLTensor* scale;
  int64_t block_rows; /* default 128 */
  int64_t block_columns; /* default 128 */
} kaio_scaled_bytes;
static inline kaio_scaled_bytes kaio_scaled_bytes_default(void) {
  kaio_scaled_bytes it;
  it.size = sizeof(kaio_scaled_bytes);
  it.reserved_4 = 0;
  it.weight = NULL;
  it.scale = NULL;
  it.block_rows = 128;
  it.block_columns = 128;
  return it;
}

/* MXFP4 of gpt-oss (all experts as one matrix) and of compressed-tensors. */
typedef struct kaio_mxfp4_tensors {
  uint32_t size; /* sizeof(kaio_mxfp4_tensors) */
  int32_t reserved_4; /* 0 */
  const DLTensor* packed; /* needed; (n, k / 2); u8; the even element in the lower half of a byte */
  const DLTensor* scales; /* needed; (n, k / 32); u8 or e8m0 */
} kaio_mxfp4_tensors;
static inline kaio_mxfp4_tensors kaio_mxfp4_tensors_default(void) {
  kaio_mxfp4_tensors it;
  it.size = sizeof(kaio_mxfp4_tensors);
  it.reserved_4 = 0;
  it.packed = NULL;
  it.scales = NULL;
  return it;
}

/* NVFP4: W = e2m1 * (scale * global), or e2m1 * (scale / global). */
typedef struct kaio_nvfp4_tensors {
  uint32_t size; /* sizeof(kaio_nvfp4_tensors) */
  int32_t reserved_4; /* 0 */
  const DLTensor* packed; /* needed; (n, k / 2); u8; the even element in the lower half of a byte */
  const DLTensor* scales; /* needed; (n, k / 16); e4m3 */
  const DLTensor* global; /* (1); f32; NULL: 1 */
  int32_t divide; /* 1: compressed-tensors' weight_global_scale, which divides */
  int32_t reserved_36; /* 0 */
} kaio_nvfp4_tensors;
static inline kaio_nvfp4_tensors kaio_nvfp4_tensors_default(void) {
  kaio_nvfp4_tensors it;
  it.size = sizeof(kaio_nvfp4_tensors);
  it.reserved_4 = 0;
  it.packed = NULL;
  it.scales = NULL;
  it.global = NULL;
  it.divide = 0;
  it.reserved_36 = 0;
  return it;
}

/* Where kaio_quantise_bnb_4bit writes. If blocks do not end with rows, the rows of w have no gaps between
 * them. */
typedef struct kaio_bnb_4bit_output {
  uint32_t size; /* sizeof(kaio_bnb_4bit_output) */
  int32_t code; /* kaio_bnb_code */
  const DLTensor* weight; /* needed; (ceil(n k / 2)); u8 */
  const DLTensor* absmax; /* needed; (ceil(n k / blocksize)); f32 */
  int64_t blocksize; /* default 64; a power of two, 32 to 65536 */
} kaio_bnb_4bit_output;
static inline kaio_bnb_4bit_output kaio_bnb_4bit_output_default(void) {
  kaio_bnb_4bit_output it;
  it.size = sizeof(kaio_bnb_4bit_output);
  it.code = 0;
  it.weight = NULL;
  it.absmax = NULL;
  it.blocksize = 64;
  return it;
}

/* Where kaio_quantise_mxfp4 writes. */
typedef struct kaio_mxfp4_output {
  uint32_t size; /* sizeof(kaio_mxfp4_output) */
  int32_t reserved_4; /* 0 */
  const DLTensor* packed; /* needed; (n, k / 2); u8 */
  const DLTensor* scales; /* needed; (n, k / 32); u8 or e8m0 */
} kaio_mxfp4_output;
static inline kaio_mxfp4_output kaio_mxfp4_output_default(void) {
  kaio_mxfp4_output it;
  it.size = sizeof(kaio_mxfp4_output);
  it.reserved_4 = 0;
  it.packed = NULL;
  it.scales = NULL;
  return it;
}

/* Where kaio_quantise_nvfp4 writes. */
typedef struct kaio_nvfp4_output {
  uint32_t size; /* sizeof(kaio_nvfp4_output) */
  int32_t reserved_4; /* 0 */
  const DLTensor* packed; /* needed; (n, k / 2); u8 */
  const DLTensor* scales; /* needed; (n, k / 16); e4m3 */
  const DLTensor* global; /* (1); f32; gets absmax / 2688; NULL: scales of one level */
} kaio_nvfp4_output;
static inline kaio_nvfp4_output kaio_nvfp4_output_default(void) {
  kaio_nvfp4_output it;
  it.size = sizeof(kaio_nvfp4_output);
  it.reserved_4 = 0;
  it.packed = NULL;
  it.scales = NULL;
  it.global = NULL;
  return it;
}

/* Where kaio_quantise_w4 writes: the layout of kaio_compressed_tensors_w4. */
typedef struct kaio_w4_output {
  uint32_t size; /* sizeof(kaio_w4_output) */
  int32_t reserved_4; /* 0 */
  const DLTensor* weight_packed; /* needed; (n, k / 8); i32 */
  const DLTensor* weight_scale; /* needed; (n, k / group); f16 or bf16 */
  const DLTensor* weight_zero_point; /* (n / 8, k / group); i32; NULL: symmetric */
  int64_t group; /* default 128; a multiple of 16 that divides k; or k, also given as -1 */
} kaio_w4_output;
static inline kaio_w4_output kaio_w4_output_default(void) {
  kaio_w4_output it;
  it.size = sizeof(kaio_w4_output);
  it.reserved_4 = 0;
  it.weight_packed = NULL;
  it.weight_scale = NULL;
  it.weight_zero_point = NULL;
  it.group = 128;
  return it;
}

/* The format of ggml's name, such as Q4_K, as kaio_weights_tensor has it. */
KAIO_API kaio_status kaio_block_format_named(const char* name, int32_t* format);

/* The bytes of `elements` elements, which are whole blocks.
 *   format    kaio_block_format */
KAIO_API kaio_status kaio_block_bytes(int32_t format, int64_t elements, uint64_t* bytes);

/* The operation that multiplies a format after repacking.
 *   format  kaio_block_format */
KAIO_API kaio_status kaio_block_operation_of(int32_t format, int32_t* operation);

/* The weights into which blocks of this format are packed, for kaio_matmul_w4. Set weights->size first.
 * The memory becomes NULL.
 * Q4_0, Q4_1, Q4_K, MXFP4 and NVFP4.
 *   format  kaio_block_format */
KAIO_API kaio_status kaio_w4_weights_of_blocks(int32_t format, int64_t n, int64_t k, kaio_w4_weights* weights);

/* The weights into which blocks of this format are packed, for kaio_matmul_w8. Set weights->size first.
 * The memory becomes NULL.
 * Q5_0, Q5_1, Q8_0, Q3_K, Q5_K, Q6_K, IQ4_NL and IQ4_XS.
 *   format  kaio_block_format */
KAIO_API kaio_status kaio_w8_weights_of_blocks(int32_t format, int64_t n, int64_t k, kaio_w8_weights* weights);

/* Packs blocks of GGUF for kaio_matmul_w4, once at load. The numbers stay the same.
 *   format   kaio_block_format
 *   bytes    (kaio_block_bytes of n k); u8; blocks row after row, at a multiple of 2
 *   weights  what kaio_w4_weights_of_blocks gave; its memory gets the weights, and overlaps no blocks */
KAIO_API kaio_status kaio_repack_blocks_w4(void* stream, int32_t format, const DLTensor* bytes,
                                           const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_blocks_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_blocks_w4_warmup(int32_t format, const DLTensor* bytes,
                                                  const kaio_w4_weights* weights);

/* Packs blocks of GGUF for kaio_matmul_w8, once at load. The numbers stay the same.
 *   format   kaio_block_format
 *   bytes    (kaio_block_bytes of n k); u8; blocks row after row, at a multiple of 2
 *   weights  what kaio_w8_weights_of_blocks gave; its memory gets the weights, and overlaps no blocks */
KAIO_API kaio_status kaio_repack_blocks_w8(void* stream, int32_t format, const DLTensor* bytes,
                                           const kaio_w8_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_blocks_w8; memory is not read. */
KAIO_API kaio_status kaio_repack_blocks_w8_warmup(int32_t format, const DLTensor* bytes,
                                                  const kaio_w8_weights* weights);

/* out = the weights of blocks of GGUF.
 * Numbers are those of the formats' references in f32, rounded once to the type of out. Elements of a row
 * of out are adjacent.
 *   format  kaio_block_format
 *   bytes   (kaio_block_bytes of n k); u8; blocks row after row, at a multiple of 2
 *   out     writes (n, k); f32, f16 or bf16 */
KAIO_API kaio_status kaio_dequantise_blocks(void* stream, int32_t format, const DLTensor* bytes,
                                            const DLTensor* out);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_dequantise_blocks; memory is not read. */
KAIO_API kaio_status kaio_dequantise_blocks_warmup(int32_t format, const DLTensor* bytes, const DLTensor* out);

/* out = weights of bitsandbytes' nf4 or fp4.
 *   out     writes (n, k); f32, f16 or bf16 */
KAIO_API kaio_status kaio_dequantise_bnb_4bit(void* stream, const kaio_bnb_4bit* source, const DLTensor* out);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_dequantise_bnb_4bit; memory is not read. */
KAIO_API kaio_status kaio_dequantise_bnb_4bit_warmup(const kaio_bnb_4bit* source, const DLTensor* out);

/* out = weights of bitsandbytes' LLM.int8.
 *   out     writes (n, k); f32, f16 or bf16 */
KAIO_API kaio_status kaio_dequantise_bnb_int8(void* stream, const kaio_bnb_int8* source, const DLTensor* out);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_dequantise_bnb_int8; memory is not read. */
KAIO_API kaio_status kaio_dequantise_bnb_int8_warmup(const kaio_bnb_int8* source, const DLTensor* out);

/* out = weights of codes of 8 bits with scales: FP8, INT8, MXFP8.
 *   out     writes (n, k); f32, f16 or bf16 */
KAIO_API kaio_status kaio_dequantise_scaled_bytes(void* stream, const kaio_scaled_bytes* source,
                                                  const DLTensor* out);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_dequantise_scaled_bytes; memory is not read. */
KAIO_API kaio_status kaio_dequantise_scaled_bytes_warmup(const kaio_scaled_bytes* source, const DLTensor* out);

/* out = weights of MXFP4.
 *   out     writes (n, k); f32, f16 or bf16 */
KAIO_API kaio_status kaio_dequantise_mxfp4(void* stream, const kaio_mxfp4_tensors* source,
                                           const DLTensor* out);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_dequantise_mxfp4; memory is not read. */
KAIO_API kaio_status kaio_dequantise_mxfp4_warmup(const kaio_mxfp4_tensors* source, const DLTensor* out);

/* out = weights of NVFP4.
 *   out     writes (n, k); f32, f16 or bf16 */
KAIO_API kaio_status kaio_dequantise_nvfp4(void* stream, const kaio_nvfp4_tensors* source,
                                           const DLTensor* out);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_dequantise_nvfp4; memory is not read. */
KAIO_API kaio_status kaio_dequantise_nvfp4_warmup(const kaio_nvfp4_tensors* source, const DLTensor* out);

/* Quantises w into blocks of GGUF: Q4_0 or Q8_0.
 * Bits are those of the format's reference. Elements of a row of w are adjacent.
 *   w       (n, k); f32, f16 or bf16; k is a multiple of 32
 *   format  kaio_block_format: Q4_0 or Q8_0
 *   bytes   writes (kaio_block_bytes of n k); u8; at a multiple of 2 */
KAIO_API kaio_status kaio_quantise_blocks(void* stream, const DLTensor* w, int32_t format,
                                          const DLTensor* bytes);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_quantise_blocks; memory is not read. */
KAIO_API kaio_status kaio_quantise_blocks_warmup(const DLTensor* w, int32_t format, const DLTensor* bytes);

/* Quantises w into bitsandbytes' nf4 or fp4.
 *   w   (n, k); f32, f16 or bf16
 *   to  where it is written */
KAIO_API kaio_status kaio_quantise_bnb_4bit(void* stream, const DLTensor* w, const kaio_bnb_4bit_output* to);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_quantise_bnb_4bit; memory is not read. */
KAIO_API kaio_status kaio_quantise_bnb_4bit_warmup(const DLTensor* w, const kaio_bnb_4bit_output* to);

/* Quantises w into MXFP4, with scales of 2^(floor(log2 absmax) - 2).
 *   w   (n, k); f32, f16 or bf16
 *   to  where it is written */
KAIO_API kaio_status kaio_quantise_mxfp4(void* stream, const DLTensor* w, const kaio_mxfp4_output* to);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_quantise_mxfp4; memory is not read. */
KAIO_API kaio_status kaio_quantise_mxfp4_warmup(const DLTensor* w, const kaio_mxfp4_output* to);

/* Quantises w into NVFP4, whose global multiplies.
 *   w   (n, k); f32, f16 or bf16
 *   to  where it is written */
KAIO_API kaio_status kaio_quantise_nvfp4(void* stream, const DLTensor* w, const kaio_nvfp4_output* to);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_quantise_nvfp4; memory is not read. */
KAIO_API kaio_status kaio_quantise_nvfp4_warmup(const DLTensor* w, const kaio_nvfp4_output* to);

/* Quantises w into codes of four bits in groups along k, for kaio_repack_compressed_tensors_w4.
 * Rounded to nearest: scale = absmax / 7.5, or with zero points the range / 15.
 *   w   (n, k); f32, f16 or bf16
 *   to  where it is written */
KAIO_API kaio_status kaio_quantise_w4(void* stream, const DLTensor* w, const kaio_w4_output* to);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_quantise_w4; memory is not read. */
KAIO_API kaio_status kaio_quantise_w4_warmup(const DLTensor* w, const kaio_w4_output* to);

#ifdef __cplusplus
}
#endif

#endif
