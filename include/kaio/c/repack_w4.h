/* Packing weights of four bits. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/repack_w4.json. */
#ifndef KAIO_C_REPACK_W4_H
#define KAIO_C_REPACK_W4_H

#include <kaio/c/base.h>
#include <kaio/c/packed_weights.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* GPTQ's tensors of 2, 3 or 4 bits. Any strides. */
typedef struct kaio_gptq_w4 {
  uint32_t size; /* sizeof(kaio_gptq_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* qweight; /* needed; (k bits / 32, n); i32 or u32 */
  const DLTensor* scales; /* needed; (groups, n); f16 or bf16 */
  const DLTensor* qzeros; /* (groups, n bits / 32); i32 or u32; for weights with zero_points */
  const DLTensor* g_idx; /* (k); i32; the group of each k; for weights with act_order */
  int32_t v2; /* 1: checkpoint_format gptq_v2; gptq stores zero points less 1 */
  int32_t reserved_44; /* 0 */
  int64_t bits; /* default 4; 2, 3 or 4 */
} kaio_gptq_w4;
static inline kaio_gptq_w4 kaio_gptq_w4_default(void) {
  kaio_gptq_w4 it;
  it.size = sizeof(kaio_gptq_w4);
  it.reserved_4 = 0;
  it.qweight = NULL;
  it.scales = NULL;
  it.qzeros = NULL;
  it.g_idx = NULL;
  it.v2 = 0;
  it.reserved_44 = 0;
  it.bits = 4;
  return it;
}

/* AutoAWQ's tensors, version gemm. The weights have zero_points. Any strides. */
typedef struct kaio_awq_w4 {
  uint32_t size; /* sizeof(kaio_awq_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* qweight; /* needed; (k, n / 8); i32 or u32 */
  const DLTensor* qzeros; /* needed; (groups, n / 8); i32 or u32 */
  const DLTensor* scales; /* needed; (groups, n); f16 or bf16 */
} kaio_awq_w4;
static inline kaio_awq_w4 kaio_awq_w4_default(void) {
  kaio_awq_w4 it;
  it.size = sizeof(kaio_awq_w4);
  it.reserved_4 = 0;
  it.qweight = NULL;
  it.qzeros = NULL;
  it.scales = NULL;
  return it;
}

/* Tensors of compressed-tensors, format pack-quantized, of 2, 3 or 4 bits. Any strides. */
typedef struct kaio_compressed_tensors_w4 {
  uint32_t size; /* sizeof(kaio_compressed_tensors_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* weight_packed; /* needed; (n, k bits / 32); i32 or u32 */
  const DLTensor* weight_scale; /* needed; (n, groups); f16 or bf16 */
  const DLTensor* weight_zero_point; /* (n bits / 32, groups); i32 or u32; for weights with zero_points */
  const DLTensor* weight_g_idx; /* (k); i32; the group of each k; for weights with act_order */
  int64_t bits; /* default 4; 2, 3 or 4 */
} kaio_compressed_tensors_w4;
static inline kaio_compressed_tensors_w4 kaio_compressed_tensors_w4_default(void) {
  kaio_compressed_tensors_w4 it;
  it.size = sizeof(kaio_compressed_tensors_w4);
  it.reserved_4 = 0;
  it.weight_packed = NULL;
  it.weight_scale = NULL;
  it.weight_zero_point = NULL;
  it.weight_g_idx = NULL;
  it.bits = 4;
  return it;
}

/* bitsandbytes' nf4 or fp4, in blocks of `group`, which divides k. Either absmax, or the members after it.
 * Any strides. */
typedef struct kaio_bitsandbytes_w4 {
  uint32_t size; /* sizeof(kaio_bitsandbytes_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* weight; /* needed; (n, k / 2); u8; the even k in the upper half of a byte */
  const DLTensor* absmax; /* (n, k / group); f32 */
  /* (n, k / group); u8; rows adjacent: absmax = nested_quant_map[code] * nested_absmax[block /
   * nested_blocksize] + nested_offset */
  const DLTensor* absmax_codes;
  const DLTensor* nested_quant_map; /* (256); f32 */
  const DLTensor* nested_absmax; /* (blocks); f32 */
  float nested_offset;
  int32_t reserved_52; /* 0 */
  int64_t nested_blocksize; /* default 256 */
} kaio_bitsandbytes_w4;
static inline kaio_bitsandbytes_w4 kaio_bitsandbytes_w4_default(void) {
  kaio_bitsandbytes_w4 it;
  it.size = sizeof(kaio_bitsandbytes_w4);
  it.reserved_4 = 0;
  it.weight = NULL;
  it.absmax = NULL;
  it.absmax_codes = NULL;
  it.nested_quant_map = NULL;
  it.nested_absmax = NULL;
  it.nested_offset = 0.0f;
  it.reserved_52 = 0;
  it.nested_blocksize = 256;
  return it;
}

/* MXFP4 of gpt-oss (its last two dimensions as one) and compressed-tensors. The weights have codes e2m1
 * and scales e8m0. Any strides. */
typedef struct kaio_mxfp4_w4 {
  uint32_t size; /* sizeof(kaio_mxfp4_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* blocks; /* needed; (n, k / 2); u8; the even k in the lower half of a byte */
  const DLTensor* scales; /* needed; (n, k / 32); u8 or e8m0 */
} kaio_mxfp4_w4;
static inline kaio_mxfp4_w4 kaio_mxfp4_w4_default(void) {
  kaio_mxfp4_w4 it;
  it.size = sizeof(kaio_mxfp4_w4);
  it.reserved_4 = 0;
  it.blocks = NULL;
  it.scales = NULL;
  return it;
}

/* NVFP4. The weights have codes e2m1 and scales e4m3. Any strides. */
typedef struct kaio_nvfp4_w4 {
  uint32_t size; /* sizeof(kaio_nvfp4_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* weight; /* needed; (n, k / 2); u8; the even k in the lower half of a byte */
  const DLTensor* scales; /* needed; (n, k / 16); u8 or e4m3 */
  const DLTensor* tensor_scale; /* (1) or (n); f32; for weights with factors */
  int32_t divides; /* 1: compressed-tensors' weight_global_scale, which divides; ModelOpt's multiplies */
  int32_t reserved_36; /* 0 */
} kaio_nvfp4_w4;
static inline kaio_nvfp4_w4 kaio_nvfp4_w4_default(void) {
  kaio_nvfp4_w4 it;
  it.size = sizeof(kaio_nvfp4_w4);
  it.reserved_4 = 0;
  it.weight = NULL;
  it.scales = NULL;
  it.tensor_scale = NULL;
  it.divides = 0;
  it.reserved_36 = 0;
  return it;
}

/* Weights in two's complement, eight codes in a word. Any strides. */
typedef struct kaio_int4_w4 {
  uint32_t size; /* sizeof(kaio_int4_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* packed; /* needed; (n, k / 8); i32 or u32 */
  const DLTensor* scales; /* needed; (groups, n); f16 or bf16 */
} kaio_int4_w4;
static inline kaio_int4_w4 kaio_int4_w4_default(void) {
  kaio_int4_w4 it;
  it.size = sizeof(kaio_int4_w4);
  it.reserved_4 = 0;
  it.packed = NULL;
  it.scales = NULL;
  return it;
}

/* AutoAWQ's tensors, version gemv. zw = groups / 8, rounded up; to a multiple of 2 with groups of 64, of 4
 * with groups of 32. The weights have zero_points. Any strides. */
typedef struct kaio_awq_gemv_w4 {
  uint32_t size; /* sizeof(kaio_awq_gemv_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* qweight; /* needed; (n, k / 8); i32 or u32 */
  const DLTensor* qzeros; /* needed; (n, zw); i32 or u32 */
  const DLTensor* scales; /* needed; (n, 8 zw); f16 or bf16 */
} kaio_awq_gemv_w4;
static inline kaio_awq_gemv_w4 kaio_awq_gemv_w4_default(void) {
  kaio_awq_gemv_w4 it;
  it.size = sizeof(kaio_awq_gemv_w4);
  it.reserved_4 = 0;
  it.qweight = NULL;
  it.qzeros = NULL;
  it.scales = NULL;
  return it;
}

/* AutoAWQ's tensors, version gemv_fast: W = scale * q + qzeros. The weights have scales f32, offsets, and
 * zero 0. zw as in kaio_awq_gemv_w4. Any strides. */
typedef struct kaio_awq_gemv_fast_w4 {
  uint32_t size; /* sizeof(kaio_awq_gemv_fast_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* qweight; /* needed; (n / 4, k); i16 */
  const DLTensor* scales; /* needed; (8 zw, n); f16 or bf16 */
  const DLTensor* qzeros; /* needed; (8 zw, n); elements of scales */
} kaio_awq_gemv_fast_w4;
static inline kaio_awq_gemv_fast_w4 kaio_awq_gemv_fast_w4_default(void) {
  kaio_awq_gemv_fast_w4 it;
  it.size = sizeof(kaio_awq_gemv_fast_w4);
  it.reserved_4 = 0;
  it.qweight = NULL;
  it.scales = NULL;
  it.qzeros = NULL;
  return it;
}

/* vLLM's Marlin with bias 8, k a multiple of 16, n of 64. With act-order, k is sorted while packing, and x
 * is not permuted here. Any strides. */
typedef struct kaio_marlin_w4 {
  uint32_t size; /* sizeof(kaio_marlin_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* b; /* needed; (k / 16, 2 n); i32 or u32 */
  const DLTensor* scales; /* needed; (groups, n); f16 or bf16; permuted */
  const DLTensor* zeros; /* (groups, n / 8); i32 or u32; permuted; for weights with zero_points */
} kaio_marlin_w4;
static inline kaio_marlin_w4 kaio_marlin_w4_default(void) {
  kaio_marlin_w4 it;
  it.size = sizeof(kaio_marlin_w4);
  it.reserved_4 = 0;
  it.b = NULL;
  it.scales = NULL;
  it.zeros = NULL;
  return it;
}

/* PyTorch's int4pack: W = scale * (q - 8) + zero. The weights have scales f32, offsets, and k and n as
 * packed. t = inner_k_tiles is 2, 4 or 8. Any strides. */
typedef struct kaio_tinygemm_w4 {
  uint32_t size; /* sizeof(kaio_tinygemm_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* packed; /* needed; (n / 8, k / (16 t), 32, t / 2); i32 */
  const DLTensor* scales_and_zeros; /* needed; (k / group, n, 2); bf16 */
} kaio_tinygemm_w4;
static inline kaio_tinygemm_w4 kaio_tinygemm_w4_default(void) {
  kaio_tinygemm_w4 it;
  it.size = sizeof(kaio_tinygemm_w4);
  it.reserved_4 = 0;
  it.packed = NULL;
  it.scales_and_zeros = NULL;
  return it;
}

/* torchao's Int4Tensor: W = scale * q + zero_point. The weights have scales f32 and offsets. Any strides. */
typedef struct kaio_torchao_int4_w4 {
  uint32_t size; /* sizeof(kaio_torchao_int4_w4) */
  int32_t reserved_4; /* 0 */
  const DLTensor* qdata; /* needed; (n, k / 8); i32 or u32; the file's bytes (n, k / 2), four as a word */
  const DLTensor* scale; /* needed; (groups, n); f16 or bf16 */
  const DLTensor* zero_point; /* needed; (groups, n); elements of scale */
} kaio_torchao_int4_w4;
static inline kaio_torchao_int4_w4 kaio_torchao_int4_w4_default(void) {
  kaio_torchao_int4_w4 it;
  it.size = sizeof(kaio_torchao_int4_w4);
  it.reserved_4 = 0;
  it.qdata = NULL;
  it.scale = NULL;
  it.zero_point = NULL;
  return it;
}

/* Packs GPTQ's tensors for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_gptq_w4(void* stream, const kaio_gptq_w4* source,
                                         const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_gptq_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_gptq_w4_warmup(const kaio_gptq_w4* source, const kaio_w4_weights* weights);

/* Packs AutoAWQ's tensors, version gemm for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_awq_w4(void* stream, const kaio_awq_w4* source,
                                        const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_awq_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_awq_w4_warmup(const kaio_awq_w4* source, const kaio_w4_weights* weights);

/* Packs tensors of compressed-tensors, format pack-quantized for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_compressed_tensors_w4(void* stream, const kaio_compressed_tensors_w4* source,
                                                       const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_compressed_tensors_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_compressed_tensors_w4_warmup(const kaio_compressed_tensors_w4* source,
                                                              const kaio_w4_weights* weights);

/* Packs bitsandbytes' nf4 or fp4 for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_bitsandbytes_w4(void* stream, const kaio_bitsandbytes_w4* source,
                                                 const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_bitsandbytes_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_bitsandbytes_w4_warmup(const kaio_bitsandbytes_w4* source,
                                                        const kaio_w4_weights* weights);

/* Packs MXFP4 for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_mxfp4_w4(void* stream, const kaio_mxfp4_w4* source,
                                          const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_mxfp4_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_mxfp4_w4_warmup(const kaio_mxfp4_w4* source, const kaio_w4_weights* weights);

/* Packs NVFP4 for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_nvfp4_w4(void* stream, const kaio_nvfp4_w4* source,
                                          const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_nvfp4_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_nvfp4_w4_warmup(const kaio_nvfp4_w4* source, const kaio_w4_weights* weights);

/* Packs weights in two's complement for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_int4_w4(void* stream, const kaio_int4_w4* source,
                                         const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_int4_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_int4_w4_warmup(const kaio_int4_w4* source, const kaio_w4_weights* weights);

/* Packs AutoAWQ's tensors, version gemv for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_awq_gemv_w4(void* stream, const kaio_awq_gemv_w4* source,
                                             const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_awq_gemv_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_awq_gemv_w4_warmup(const kaio_awq_gemv_w4* source,
                                                    const kaio_w4_weights* weights);

/* Packs AutoAWQ's tensors, version gemv_fast for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_awq_gemv_fast_w4(void* stream, const kaio_awq_gemv_fast_w4* source,
                                                  const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_awq_gemv_fast_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_awq_gemv_fast_w4_warmup(const kaio_awq_gemv_fast_w4* source,
                                                         const kaio_w4_weights* weights);

/* Packs vLLM's Marlin for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_marlin_w4(void* stream, const kaio_marlin_w4* source,
                                           const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_marlin_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_marlin_w4_warmup(const kaio_marlin_w4* source,
                                                  const kaio_w4_weights* weights);

/* Packs PyTorch's int4pack for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_tinygemm_w4(void* stream, const kaio_tinygemm_w4* source,
                                             const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_tinygemm_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_tinygemm_w4_warmup(const kaio_tinygemm_w4* source,
                                                    const kaio_w4_weights* weights);

/* Packs torchao's Int4Tensor for kaio_matmul_w4, once at load.
 *   weights  gets the weights; its memory overlaps no tensor */
KAIO_API kaio_status kaio_repack_torchao_int4_w4(void* stream, const kaio_torchao_int4_w4* source,
                                                 const kaio_w4_weights* weights);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_repack_torchao_int4_w4; memory is not read. */
KAIO_API kaio_status kaio_repack_torchao_int4_w4_warmup(const kaio_torchao_int4_w4* source,
                                                        const kaio_w4_weights* weights);

#ifdef __cplusplus
}
#endif

#endif
