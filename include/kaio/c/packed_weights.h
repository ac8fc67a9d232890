/* Products with packed weights of four and eight bits. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/packed_weights.json. */
#ifndef KAIO_C_PACKED_WEIGHTS_H
#define KAIO_C_PACKED_WEIGHTS_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_w4_codes: The number that a code of four bits means; the scale of its group multiplies it. */
enum {
  KAIO_W4_CODES_INT4 = 0, /* code - 8, or code - zero point of its group */
  KAIO_W4_CODES_NF4 = 1, /* nf4 of bitsandbytes */
  KAIO_W4_CODES_FP4 = 2, /* fp4 of bitsandbytes */
  KAIO_W4_CODES_E2M1 = 3 /* codes of MXFP4 and NVFP4 */
};

/* kaio_w4_scale_type: The element type of the scales of packed weights. */
enum {
  KAIO_W4_SCALE_TYPE_F16 = 0,
  KAIO_W4_SCALE_TYPE_BF16 = 1,
  KAIO_W4_SCALE_TYPE_F32 = 2,
  KAIO_W4_SCALE_TYPE_E8M0 = 3,
  KAIO_W4_SCALE_TYPE_E4M3 = 4
};

/* kaio_w8_codes: The number that a code of eight bits means. */
enum {
  KAIO_W8_CODES_INT8 = 0,
  KAIO_W8_CODES_E4M3 = 1
};

/* Packed weights W of y = x W^T, n outputs by k inputs: W[n][k] = scale[g][n] * (q[n][k] - zero[g][n])
 * with g = k / group. kaio_repack_..._w4 writes the memory, everything else reads it. */
typedef struct kaio_w4_weights {
  uint32_t size; /* sizeof(kaio_w4_weights) */
  int32_t codes; /* kaio_w4_codes */
  int64_t n;
  int64_t k;
  int64_t group; /* default 128; a multiple of 16; or k, also given as -1 */
  /* kaio_w4_scale_type: int4 f16 or bf16, with offsets f32; nf4 and fp4 f32; e2m1 e8m0 in groups of 32, or
   * e4m3 in groups of 16 */
  int32_t scales;
  int32_t zero_points; /* 1: one for each group and column; else all are 8 */
  int32_t act_order; /* 1: an index gives the groups of k */
  int32_t factors; /* 1: an f32 multiplies each W[n], such as the tensor scale of NVFP4 */
  int32_t offsets; /* 1: W = scale * (q - zero) + offset[g][n], for int4 with scales of f32 */
  uint32_t zero; /* default 8; with offsets; else 8 */
  const DLTensor* memory; /* kaio_w4_packed_bytes bytes, at a multiple of 16 */
} kaio_w4_weights;
static inline kaio_w4_weights kaio_w4_weights_default(void) {
  kaio_w4_weights it;
  it.size = sizeof(kaio_w4_weights);
  it.codes = 0;
  it.n = 0;
  it.k = 0;
  it.group = 128;
  it.scales = 0;
  it.zero_points = 0;
  it.act_order = 0;
  it.factors = 0;
  it.offsets = 0;
  it.zero = 8;
  it.memory = NULL;
  return it;
}

/* Packed weights W of y = x W^T, n outputs by k inputs: W[n][k] = scale[g][n] * (q[n][k] - zero[g][n])
 * with g = k / group. kaio_repack_..._w8 writes the memory, everything else reads it. */
typedef struct kaio_w8_weights {
  uint32_t size; /* sizeof(kaio_w8_weights) */
  int32_t codes; /* kaio_w8_codes */
  int64_t n;
  int64_t k;
  int64_t group; /* default -1; a multiple of 16 (int8) or 64 (e4m3); or k, also given as -1 */
  int32_t zero_points; /* 1: one for each group and column, for int8 */
  int32_t act_order; /* 1: an index gives the groups of k */
  int32_t offsets; /* 1: W = scale * q + offset[g][n], for int8 */
  int32_t reserved_44; /* 0 */
  const DLTensor* memory; /* kaio_w8_packed_bytes bytes, at a multiple of 16 */
} kaio_w8_weights;
static inline kaio_w8_weights kaio_w8_weights_default(void) {
  kaio_w8_weights it;
  it.size = sizeof(kaio_w8_weights);
  it.codes = 0;
  it.n = 0;
  it.k = 0;
  it.group = -1;
  it.zero_points = 0;
  it.act_order = 0;
  it.offsets = 0;
  it.reserved_44 = 0;
  it.memory = NULL;
  return it;
}

/* Options of products with packed weights, of four and of eight bits. */
typedef struct kaio_matmul_w4_options {
  uint32_t size; /* sizeof(kaio_matmul_w4_options) */
  uint32_t splits; /* parts of K; 0: the number that fills the device best */
  int32_t constant; /* kaio_constant_inputs: weights */
  int32_t exact_weights; /* 1: no weight is rounded to the type of x, as may be faster from 17 rows of x on */
  const DLTensor* bias; /* (n); f16 or bf16; the element type of x */
  const DLTensor* workspace; /* ..._workspace_bytes bytes, at a multiple of 16 */
  const char* variant; /* the kernel to run, as ..._choice names it; NULL: the best one */
} kaio_matmul_w4_options;
static inline kaio_matmul_w4_options kaio_matmul_w4_options_default(void) {
  kaio_matmul_w4_options it;
  it.size = sizeof(kaio_matmul_w4_options);
  it.splits = 0;
  it.constant = 0;
  it.exact_weights = 0;
  it.bias = NULL;
  it.workspace = NULL;
  it.variant = NULL;
  return it;
}

/* Options of grouped products with packed weights, of four and of eight bits. */
typedef struct kaio_matmul_w4_grouped_options {
  uint32_t size; /* sizeof(kaio_matmul_w4_grouped_options) */
  int32_t reserved_4; /* 0 */
  const DLTensor* bias; /* (groups, n); f16 or bf16; the element type of x */
  const char* variant; /* the kernel to run, as ..._choice names it; NULL: the best one */
  /* (rows); i32; row r of out is of row rows[r] of x; an index that is no row of x counts as a row of
   * zeros */
  const DLTensor* rows;
  /* kaio_matmul_activation: not none: even columns of the weights are gates, odd ones their values, and
   * out is (rows, n / 2) */
  int32_t gate;
  float alpha; /* default 1; the gate's factor: silu is x / (1 + exp(-alpha x)); above 0 */
  float limit; /* a gate is at most limit, its value is from -limit to limit; 0: none */
  float up_offset; /* added to a gate's value */
} kaio_matmul_w4_grouped_options;
static inline kaio_matmul_w4_grouped_options kaio_matmul_w4_grouped_options_default(void) {
  kaio_matmul_w4_grouped_options it;
  it.size = sizeof(kaio_matmul_w4_grouped_options);
  it.reserved_4 = 0;
  it.bias = NULL;
  it.variant = NULL;
  it.rows = NULL;
  it.gate = 0;
  it.alpha = 1.0f;
  it.limit = 0.0f;
  it.up_offset = 0.0f;
  return it;
}

/* The bytes of packed weights of this shape. The memory may be NULL. */
KAIO_API kaio_status kaio_w4_packed_bytes(const kaio_w4_weights* weights, uint64_t* bytes);

/* The bytes of packed weights of this shape. The memory may be NULL. */
KAIO_API kaio_status kaio_w8_packed_bytes(const kaio_w8_weights* weights, uint64_t* bytes);

/* out = x W^T + bias with weights of four bits.
 * Sums are f32. Neighbours along a row of x and of out are adjacent. Fastest if rows of x begin at
 * multiples of 16 bytes. Equal calls give equal bits.
 *   x        (m, k); f16 or bf16
 *   weights  n outputs, k inputs
 *   out      writes (m, n); f16, bf16 or f32; the element type of x, or f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_w4(void* stream, const DLTensor* x, const kaio_w4_weights* weights,
                                    const DLTensor* out, const kaio_matmul_w4_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_w4; memory is not read. */
KAIO_API kaio_status kaio_matmul_w4_warmup(const DLTensor* x, const kaio_w4_weights* weights,
                                           const DLTensor* out, const kaio_matmul_w4_options* options);

/* The bytes of workspace that the call takes; 0 if it needs none. For kaio_matmul_w4; memory is not read. */
KAIO_API kaio_status kaio_matmul_w4_workspace_bytes(const DLTensor* x, const kaio_w4_weights* weights,
                                                    const DLTensor* out,
                                                    const kaio_matmul_w4_options* options, uint64_t* bytes);

/* The kernel that the call runs. For kaio_matmul_w4; memory is not read. */
KAIO_API kaio_status kaio_matmul_w4_choice(const DLTensor* x, const kaio_w4_weights* weights,
                                           const DLTensor* out, const kaio_matmul_w4_options* options,
                                           kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits for
 * the device. For kaio_matmul_w4; memory is not read. */
KAIO_API kaio_status kaio_tune_matmul_w4(const DLTensor* x, const kaio_w4_weights* weights,
                                         const DLTensor* out, const kaio_matmul_w4_options* options,
                                         const kaio_tune_options* how, kaio_tune_report* report);

/* out = x W^T + bias with weights of eight bits.
 * As kaio_matmul_w4 in all else.
 *   x        (m, k); f16 or bf16
 *   weights  n outputs, k inputs
 *   out      writes (m, n); f16, bf16 or f32; the element type of x, or f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_w8(void* stream, const DLTensor* x, const kaio_w8_weights* weights,
                                    const DLTensor* out, const kaio_matmul_w4_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_w8; memory is not read. */
KAIO_API kaio_status kaio_matmul_w8_warmup(const DLTensor* x, const kaio_w8_weights* weights,
                                           const DLTensor* out, const kaio_matmul_w4_options* options);

/* The bytes of workspace that the call takes; 0 if it needs none. For kaio_matmul_w8; memory is not read. */
KAIO_API kaio_status kaio_matmul_w8_workspace_bytes(const DLTensor* x, const kaio_w8_weights* weights,
                                                    const DLTensor* out,
                                                    const kaio_matmul_w4_options* options, uint64_t* bytes);

/* The kernel that the call runs. For kaio_matmul_w8; memory is not read. */
KAIO_API kaio_status kaio_matmul_w8_choice(const DLTensor* x, const kaio_w8_weights* weights,
                                           const DLTensor* out, const kaio_matmul_w4_options* options,
                                           kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits for
 * the device. For kaio_matmul_w8; memory is not read. */
KAIO_API kaio_status kaio_tune_matmul_w8(const DLTensor* x, const kaio_w8_weights* weights,
                                         const DLTensor* out, const kaio_matmul_w4_options* options,
                                         const kaio_tune_options* how, kaio_tune_report* report);

/* out[r, :] = x[r, :] W[g]^T + bias[g, :] where offsets[g] <= r < offsets[g + 1]; weights of four bits.
 * For mixtures of experts.
 * With a gate, out[r, j] = gate(min(y[2 j], limit)) * (clamp(y[2 j + 1], -limit, limit) + up_offset),
 * where y is the product of row r. gpt-oss has silu, alpha 1.702, limit 7 and up_offset 1.
 * The offsets are read on the device alone. Rows of no group are not written. Sums are f32. Neighbours
 * along a row of x and of out are adjacent. Fastest if rows of x begin at multiples of 16 bytes. Equal
 * calls give equal bits.
 *   x        (rows, k); f16 or bf16
 *   weights  the shape of a group's weights; memory has kaio_w4_packed_bytes for each group, one after the
 *            other
 *   offsets  (groups + 1); i32; not decreasing
 *   out      writes (rows, n) or (rows, n / 2); f16, bf16 or f32; the element type of x, or f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_w4_grouped(void* stream, const DLTensor* x, const kaio_w4_weights* weights,
                                            const DLTensor* offsets, const DLTensor* out,
                                            const kaio_matmul_w4_grouped_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_w4_grouped; memory is not read. */
KAIO_API kaio_status kaio_matmul_w4_grouped_warmup(const DLTensor* x, const kaio_w4_weights* weights,
                                                   const DLTensor* offsets, const DLTensor* out,
                                                   const kaio_matmul_w4_grouped_options* options);

/* The kernel that the call runs. For kaio_matmul_w4_grouped; memory is not read. */
KAIO_API kaio_status kaio_matmul_w4_grouped_choice(const DLTensor* x, const kaio_w4_weights* weights,
                                                   const DLTensor* offsets, const DLTensor* out,
                                                   const kaio_matmul_w4_grouped_options* options,
                                                   kaio_kernel_choice* choice);

/* out[r, :] = x[r, :] W[g]^T + bias[g, :] where offsets[g] <= r < offsets[g + 1]; weights of eight bits.
 * For mixtures of experts.
 * As kaio_matmul_w4_grouped in all else.
 *   x        (rows, k); f16 or bf16
 *   weights  the shape of a group's weights; memory has kaio_w8_packed_bytes for each group, one after the
 *            other
 *   offsets  (groups + 1); i32; not decreasing
 *   out      writes (rows, n) or (rows, n / 2); f16, bf16 or f32; the element type of x, or f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_w8_grouped(void* stream, const DLTensor* x, const kaio_w8_weights* weights,
                                            const DLTensor* offsets, const DLTensor* out,
                                            const kaio_matmul_w4_grouped_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_w8_grouped; memory is not read. */
KAIO_API kaio_status kaio_matmul_w8_grouped_warmup(const DLTensor* x, const kaio_w8_weights* weights,
                                                   const DLTensor* offsets, const DLTensor* out,
                                                   const kaio_matmul_w4_grouped_options* options);

/* The kernel that the call runs. For kaio_matmul_w8_grouped; memory is not read. */
KAIO_API kaio_status kaio_matmul_w8_grouped_choice(const DLTensor* x, const kaio_w8_weights* weights,
                                                   const DLTensor* offsets, const DLTensor* out,
                                                   const kaio_matmul_w4_grouped_options* options,
                                                   kaio_kernel_choice* choice);

/* out = W, as a matrix, in the order of k of the file.
 * Each weight is number * scale in f32, plus the offset, times the factor of its column, and rounded once
 * to the type of out.
 *   out      writes (n, k); f32, f16 or bf16; any strides */
KAIO_API kaio_status kaio_dequantise_w4(void* stream, const kaio_w4_weights* weights, const DLTensor* out);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_dequantise_w4; memory is not read. */
KAIO_API kaio_status kaio_dequantise_w4_warmup(const kaio_w4_weights* weights, const DLTensor* out);

/* out = W, as a matrix, in the order of k of the file.
 * As kaio_dequantise_w4 in all else.
 *   out      writes (n, k); f32, f16 or bf16; any strides */
KAIO_API kaio_status kaio_dequantise_w8(void* stream, const kaio_w8_weights* weights, const DLTensor* out);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_dequantise_w8; memory is not read. */
KAIO_API kaio_status kaio_dequantise_w8_warmup(const kaio_w8_weights* weights, const DLTensor* out);

#ifdef __cplusplus
}
#endif

#endif
