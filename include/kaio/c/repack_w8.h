/* Packing weights of eight bits. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/repack_w8.json. */
#ifndef KAIO_C_REPACK_W8_H
#define KAIO_C_REPACK_W8_H

#include <kaio/c/base.h>
#include <kaio/c/packed_weights.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Integers of eight bits with scales: compressed-tensors int-quantized, and others. Any strides. */
typedef struct kaio_int8_w8 {
  uint32_t size; /* sizeof(kaio_int8_w8) */
  int32_t reserved_4; /* 0 */
  const DLTensor* weight; /* needed; (n, k); i8 */
  const DLTensor* scales; /* needed; (n, groups), (n) or (1); f32, f16 or bf16 */
  /* (n, groups), or (1, 1) if the group is k; i8; for weights with zero_points */
  const DLTensor* zero_points;
} kaio_int8_w8;
static inline kaio_int8_w8 kaio_int8_w8_default(void) {
  kaio_int8_w8 it;
  it.size = sizeof(kaio_int8_w8);
  it.reserved_4 = 0;
  it.weight = NULL;
  it.scales = NULL;
  it.zero_points = NULL;
  return it;
}

/* bitsandbytes' LLM.int8, rows: W = weight * scb / 127. Any strides. */
typedef struct kaio_llm_int8_w8 {
  uint32_t size; /* sizeof(kaio_llm_int8_w8) */
  int32_t reserved_4; /* 0 */
  const DLTensor* weight; /* needed; (n, k); i8 */
  const DLTensor* scb; /* needed; (n); f32 */
} kaio_llm_int8_w8;
static inline kaio_llm_int8_w8 kaio_llm_int8_w8_default(void) {
  kaio_llm_int8_w8 it;
  it.size = sizeof(kaio_llm_int8_w8);
  it.reserved_4 = 0;
  it.weight = NULL;
  it.scb = NULL;
  return it;
}

/* GPTQ's tensors of 8 bits. Any strides. */
typedef struct kaio_gptq_w8 {
  uint32_t size; /* sizeof(kaio_gptq_w8) */
  int32_t reserved_4; /* 0 */
  const DLTensor* qweight; /* needed; (k / 4, n); i32 or u32 */
  const DLTensor* scales; /* needed; (groups, n); f32, f16 or bf16 */
  const DLTensor* qzeros; /* (groups, n / 4); i32 or u32; for weights with zero_points */
  const DLTensor* g_idx; /* (k); i32; the group of each k; for weights with act_order */
  int32_t v2; /* 1: checkpoint_format gptq_v2; gptq stores zero points less 1 */
  int32_t reserved_44; /* 0 */
} kaio_gptq_w8;
static inline kaio_gptq_w8 kaio_gptq_w8_default(void) {
  kaio_gptq_w8 it;
  it.size = sizeof(kaio_gptq_w8);
  it.reserved_4 = 0;
  it.qweight = NULL;
  it.scales = NULL;
  it.qzeros = NULL;
  it.g_idx = NULL;
  it.v2 = 0;
  it.reserved_44 = 0;
  return it;
}

/* Tensors of compressed-tensors, format pack-quantized, of 8 bits. Any strides. */
typedef struct kaio_compressed_tensors_w8 {
  uint32_t size; /* sizeof(kaio_compressed_tensors_w8) */
  int32_t reserved_4; /* 0 */
  const DLTensor* weight_packed; /* needed; (n, k / 4); i32 or u32 */
  const DLTensor* weight_scale; /* needed; (n, groups) or (n); f32, f16 or bf16 */
  const DLTensor* weight_zero_point; /* (n / 4, groups); i32 or u32; for weights with zero_points */
  const DLTensor* weight_g_idx; /* (k); i32; the group of each k; for weights with act_order */
} kaio_compressed_tensors_w8;
static inline kaio_compressed_tensors_w8 kaio_compressed_tensors_w8_default(void) {
  kaio_compressed_tensors_w8 it;
  it.size = sizeof(kaio_compressed_tensors_w8);
  it.reserved_4 = 0;
  it.weight_packed = NULL;
  it.weight_scale = NULL;
  it.weight_zero_point = NULL;
  it.weight_g_idx = NULL;
  return it;
}

/* GGUF's Q8_0, in groups of 32. Any strides. */
typedef struct kaio_q8_0_w8 {
  uint32_t size; /* sizeof(kaio_q8_0_w8) */
  int32_t reserved_4; /* 0 */
  const DLTensor* blocks; /* needed; (n, k / 32 * 34); u8; rows adjacent, at even addresses */
} kaio_q8_0_w8;
static inline kaio_q8_0_w8 kaio_q8_0_w8_default(void) {
  kaio_q8_0_w8 it;
  it.size = sizeof(kaio_q8_0_w8);
  it.reserved_4 = 0;
  it.blocks = NULL;
  return it;
}

/* 8-bit floats with scales, as DeepSeek's weight_scale_inv. Any strides. */
typedef struct kaio_e4m3_w8 {
  uint32_t size; /* sizeof(kaio_e4m3_w8) */
  int32_t reserved_4; /* 0 */
  const DLTensor* weight; /* needed; (n, k); e4m3 or u8 */
  /* needed; (n, groups), (n) or (1); or (n / 128, k / 128), rounded up, if the group is 128; f32, f16 or
   * bf16 */
  const DLTensor* scales;
} kaio_e4m3_w8;
static inline kaio_e4m3_w8 kaio_e4m3_w8_default(void) {
  kaio_e4m3_w8 it;
  it.size = sizeof(kaio_e4m3_w8);
  it.reserved_4 = 0;
  it.weight = NULL;
  it.scales = NULL;
  return it;
}

/* vLLM's Marlin with bias 128, k a multiple of 16, n of 64. Any strides. */
typedef struct kaio_marlin_w8 {
  uint32_t size; /* sizeof(kaio_marlin_w8) */
  int32_t reserved_4; /* 0 */
  const DLTensor* b; /* needed; (k / 16, 4 n); i32 or u32 */
  const DLTensor* scales; /* needed; (groups, n); f16 or bf16; permuted */
} kaio_marlin_w8;
static inline kaio_marlin_w8 kaio_marlin_w8_default(void) {
  kaio_marlin_w8 it;
  it.size = sizeof(kaio_marlin_w8);
  it.reserved_4 = 0;
  it.b = NULL;
  it.scales = NULL;
  return it;
}

/* Packs integers of eight bits with scales for kaio_matmul_w8, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_int8_w8(void* stream, const kaio_int8_w8* source,
                                         const kaio_w8_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_int8_w8; memory is not read. */
KAIO_API kaio_status kaio_repack_int8_w8_warmup(const kaio_int8_w8* source, const kaio_w8_weights* weights);

/* Packs bitsandbytes' LLM.int8 for kaio_matmul_w8, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_llm_int8_w8(void* stream, const kaio_llm_int8_w8* source,
                                             const kaio_w8_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_llm_int8_w8; memory is not read. */
KAIO_API kaio_status kaio_repack_llm_int8_w8_warmup(const kaio_llm_int8_w8* source,
                                                    const kaio_w8_weights* weights);

/* Packs GPTQ's tensors of 8 bits for kaio_matmul_w8, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_gptq_w8(void* stream, const kaio_gptq_w8* source,
                                         const kaio_w8_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_gptq_w8; memory is not read. */
KAIO_API kaio_status kaio_repack_gptq_w8_warmup(const kaio_gptq_w8* source, const kaio_w8_weights* weights);

/* Packs tensors of compressed-tensors of 8 bits for kaio_matmul_w8, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_compressed_tensors_w8(void* stream, const kaio_compressed_tensors_w8* source,
                                                       const kaio_w8_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_compressed_tensors_w8; memory is not read. */
KAIO_API kaio_status kaio_repack_compressed_tensors_w8_warmup(const kaio_compressed_tensors_w8* source,
                                                              const kaio_w8_weights* weights);

/* Packs GGUF's Q8_0 for kaio_matmul_w8, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_q8_0_w8(void* stream, const kaio_q8_0_w8* source,
                                         const kaio_w8_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_q8_0_w8; memory is not read. */
KAIO_API kaio_status kaio_repack_q8_0_w8_warmup(const kaio_q8_0_w8* source, const kaio_w8_weights* weights);

/* Packs 8-bit floats with scales for kaio_matmul_w8, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_e4m3_w8(void* stream, const kaio_e4m3_w8* source,
                                         const kaio_w8_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_e4m3_w8; memory is not read. */
KAIO_API kaio_status kaio_repack_e4m3_w8_warmup(const kaio_e4m3_w8* source, const kaio_w8_weights* weights);

/* Packs vLLM's Marlin of 8 bits for kaio_matmul_w8, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_marlin_w8(void* stream, const kaio_marlin_w8* source,
                                           const kaio_w8_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_marlin_w8; memory is not read. */
KAIO_API kaio_status kaio_repack_marlin_w8_warmup(const kaio_marlin_w8* source,
                                                  const kaio_w8_weights* weights);

#ifdef __cplusplus
}
#endif

#endif
