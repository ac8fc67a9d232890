/* Products of numbers of 8 bits. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/matmul_8bit.json. */
#ifndef KAIO_C_MATMUL_8BIT_H
#define KAIO_C_MATMUL_8BIT_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C = activation(scale_a[m] * scale_b[n] * (A * B) * alpha + bias) + residual. Scales that are NULL are 1. */
typedef struct kaio_matmul_int8_options {
  uint32_t size; /* sizeof(kaio_matmul_int8_options) */
  float alpha; /* default 1 */
  float out_scale; /* default 1; c of i8 is the result / out_scale; above 0 and finite */
  int32_t activation; /* kaio_matmul_activation */
  int32_t constant; /* kaio_constant_inputs: a, b */
  int32_t bias_of_rows; /* 1: bias has a number for each row of C */
  const DLTensor* scale_a; /* (m), (1) or (batch, m); f32, f16 or bf16; scales of the rows of A */
  const DLTensor* scale_b; /* (n), (1) or (batch, n); f32, f16 or bf16; scales of the columns of B */
  /* (m), (1) or (batch, m); i32; zero points of the rows of A; they need column_sums */
  const DLTensor* zero_a;
  /* (n) or (batch, n); i32; the sums of B's columns, from kaio_int8_column_sums; with zero_a */
  const DLTensor* column_sums;
  const DLTensor* bias; /* (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16 */
  const DLTensor* residual; /* (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself */
  const char* variant; /* the kernel to run, as kaio_matmul_int8_choice names it; NULL: the best one */
} kaio_matmul_int8_options;
static inline kaio_matmul_int8_options kaio_matmul_int8_options_default(void) {
  kaio_matmul_int8_options it;
  it.size = sizeof(kaio_matmul_int8_options);
  it.alpha = 1.0f;
  it.out_scale = 1.0f;
  it.activation = 0;
  it.constant = 0;
  it.bias_of_rows = 0;
  it.scale_a = NULL;
  it.scale_b = NULL;
  it.zero_a = NULL;
  it.column_sums = NULL;
  it.bias = NULL;
  it.residual = NULL;
  it.variant = NULL;
  return it;
}

/* C = activation(scale_a[m] * scale_b[n] * (A * B) * alpha + bias) + residual. Scales that are NULL are 1. */
typedef struct kaio_matmul_fp8_options {
  uint32_t size; /* sizeof(kaio_matmul_fp8_options) */
  float alpha; /* default 1 */
  float out_scale; /* default 1; c of e4m3 is the result / out_scale; above 0 and finite */
  int32_t activation; /* kaio_matmul_activation */
  int32_t constant; /* kaio_constant_inputs: a, b */
  int32_t bias_of_rows; /* 1: bias has a number for each row of C */
  const DLTensor* scale_a; /* (m), (1) or (batch, m); f32, f16 or bf16; scales of the rows of A */
  const DLTensor* scale_b; /* (n), (1) or (batch, n); f32, f16 or bf16; scales of the columns of B */
  /* (m, ceil(k / 128)) or (batch, m, ceil(k / 128)); f32; scales of 128 neighbours of a row of A; with
   * blocks_b */
  const DLTensor* groups_a;
  /* (ceil(k / 128), ceil(n / 128)), or with the batch first; f32; scales of blocks of 128 x 128 of B; with
   * groups_a */
  const DLTensor* blocks_b;
  const DLTensor* bias; /* (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16 */
  const DLTensor* residual; /* (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself */
  const char* variant; /* the kernel to run, as kaio_matmul_fp8_choice names it; NULL: the best one */
} kaio_matmul_fp8_options;
static inline kaio_matmul_fp8_options kaio_matmul_fp8_options_default(void) {
  kaio_matmul_fp8_options it;
  it.size = sizeof(kaio_matmul_fp8_options);
  it.alpha = 1.0f;
  it.out_scale = 1.0f;
  it.activation = 0;
  it.constant = 0;
  it.bias_of_rows = 0;
  it.scale_a = NULL;
  it.scale_b = NULL;
  it.groups_a = NULL;
  it.blocks_b = NULL;
  it.bias = NULL;
  it.residual = NULL;
  it.variant = NULL;
  return it;
}

/* c[r, :] = scale_a[r] * scale_b[g][n] * (A * B[g]) + bias[g][n]. Scales that are NULL are 1. */
typedef struct kaio_matmul_int8_grouped_options {
  uint32_t size; /* sizeof(kaio_matmul_int8_grouped_options) */
  int32_t reserved_4; /* 0 */
  const DLTensor* scale_a; /* (rows of A) or (1); f32, f16 or bf16; scales of the rows of A */
  const DLTensor* scale_b; /* (groups, n) or (groups, 1); f32, f16 or bf16; scales of the columns of each B */
  const DLTensor* bias; /* (groups, n); f32, f16 or bf16 */
  /* (rows); i32; row r of c is of row rows[r] of A; an index that is no row of A counts as a row of zeros */
  const DLTensor* rows;
  /* kaio_matmul_activation: not none: columns 8 i to 8 i + 3 of B are gates, the next four their values,
   * and c is (rows, n / 2) */
  int32_t gate;
  int32_t reserved_44; /* 0 */
  const DLTensor* zero_a; /* (rows of A) or (1); i32; zero points of the rows of A; with column_sums */
  const DLTensor* column_sums; /* (groups, n); i32; the sums of the columns of each B; with zero_a */
  float alpha; /* default 1; the gate's factor: silu is x / (1 + exp(-alpha x)); above 0 */
  float limit; /* a gate is at most limit, its value is from -limit to limit; 0: none */
  float up_offset; /* added to a gate's value */
  int32_t reserved_76; /* 0 */
} kaio_matmul_int8_grouped_options;
static inline kaio_matmul_int8_grouped_options kaio_matmul_int8_grouped_options_default(void) {
  kaio_matmul_int8_grouped_options it;
  it.size = sizeof(kaio_matmul_int8_grouped_options);
  it.reserved_4 = 0;
  it.scale_a = NULL;
  it.scale_b = NULL;
  it.bias = NULL;
  it.rows = NULL;
  it.gate = 0;
  it.reserved_44 = 0;
  it.zero_a = NULL;
  it.column_sums = NULL;
  it.alpha = 1.0f;
  it.limit = 0.0f;
  it.up_offset = 0.0f;
  it.reserved_76 = 0;
  return it;
}

/* c[r, :] = scale_a[r] * scale_b[g][n] * (A * B[g]) + bias[g][n]. Scales that are NULL are 1. */
typedef struct kaio_matmul_fp8_grouped_options {
  uint32_t size; /* sizeof(kaio_matmul_fp8_grouped_options) */
  int32_t reserved_4; /* 0 */
  const DLTensor* scale_a; /* (rows of A) or (1); f32, f16 or bf16; scales of the rows of A */
  const DLTensor* scale_b; /* (groups, n) or (groups, 1); f32, f16 or bf16; scales of the columns of each B */
  /* (rows of A, ceil(k / 128)); f32; scales of 128 neighbours of a row of A; with blocks_b */
  const DLTensor* groups_a;
  /* (groups, ceil(k / 128), ceil(n / 128)); f32; scales of blocks of 128 x 128 of each B; with groups_a */
  const DLTensor* blocks_b;
  const DLTensor* bias; /* (groups, n); f32, f16 or bf16 */
  /* (rows); i32; row r of c is of row rows[r] of A; an index that is no row of A counts as a row of zeros */
  const DLTensor* rows;
  /* kaio_matmul_activation: not none: columns 8 i to 8 i + 3 of B are gates, the next four their values,
   * and c is (rows, n / 2) */
  int32_t gate;
  float alpha; /* default 1; the gate's factor: silu is x / (1 + exp(-alpha x)); above 0 */
  float limit; /* a gate is at most limit, its value is from -limit to limit; 0: none */
  float up_offset; /* added to a gate's value */
} kaio_matmul_fp8_grouped_options;
static inline kaio_matmul_fp8_grouped_options kaio_matmul_fp8_grouped_options_default(void) {
  kaio_matmul_fp8_grouped_options it;
  it.size = sizeof(kaio_matmul_fp8_grouped_options);
  it.reserved_4 = 0;
  it.scale_a = NULL;
  it.scale_b = NULL;
  it.groups_a = NULL;
  it.blocks_b = NULL;
  it.bias = NULL;
  it.rows = NULL;
  it.gate = 0;
  it.alpha = 1.0f;
  it.limit = 0.0f;
  it.up_offset = 0.0f;
  return it;
}

/* C = activation(scale_a[m] * scale_b[n] * (A * B - zero_a[m] * column_sums[n]) * alpha + bias) +
 * residual.
 * Sums are exact in i32. Each product after them is rounded to f32, and the result once to the type of C.
 * If C is i32, it gets the sums: there are no scales, alpha, bias, activation and residual then.
 * Rows of A and of C are contiguous, and the columns or the rows of B. Weights stored (n, k) are the fast
 * way: give them with the strides (1, k).
 *   a        (m, k) or (batch, m, k); i8
 *   b        (k, n) or (batch, k, n); i8
 *   c        writes (m, n) or (batch, m, n); f32, f16, bf16, i8 or i32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_int8(void* stream, const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                      const kaio_matmul_int8_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_int8; memory is not read. */
KAIO_API kaio_status kaio_matmul_int8_warmup(const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                             const kaio_matmul_int8_options* options);

/* The kernel that the call runs. For kaio_matmul_int8; memory is not read. */
KAIO_API kaio_status kaio_matmul_int8_choice(const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                             const kaio_matmul_int8_options* options,
                                             kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits for
 * the device. For kaio_matmul_int8; memory is not read. */
KAIO_API kaio_status kaio_tune_matmul_int8(const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                           const kaio_matmul_int8_options* options,
                                           const kaio_tune_options* how, kaio_tune_report* report);

/* c[r, :] = scale_a[r] * scale_b[g] * (a[r, :] * b[g]) + bias[g] where offsets[g] <= r < offsets[g + 1].
 * For mixtures of experts.
 * With a gate, c[r, 4 i + j] = gate(min(y[8 i + j], limit)) * (clamp(y[8 i + 4 + j], -limit, limit) +
 * up_offset), where y is the product of row r. n / 2 is a multiple of 4; with blocks_b it is one of 64,
 * and the blocks are those of weights with all gates first.
 * The offsets are read on the device alone. Rows of no group are not written. Numbers are those of
 * kaio_matmul_int8. Fastest if neighbours of a and b are along k, in lines at multiples of 16 bytes. Equal
 * calls give equal bits.
 *   a        (rows, k); i8
 *   b        (groups, k, n); i8; any strides: weights (groups, n, k) with the last two exchanged
 *   offsets  (groups + 1); i32; not decreasing
 *   c        writes (rows, n) or (rows, n / 2); f32, f16, bf16 or i32; i32 has the sums, without scales,
 *            bias or gate
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_int8_grouped(void* stream, const DLTensor* a, const DLTensor* b,
                                              const DLTensor* offsets, const DLTensor* c,
                                              const kaio_matmul_int8_grouped_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_int8_grouped; memory is not read. */
KAIO_API kaio_status kaio_matmul_int8_grouped_warmup(const DLTensor* a, const DLTensor* b,
                                                     const DLTensor* offsets, const DLTensor* c,
                                                     const kaio_matmul_int8_grouped_options* options);

/* c[r, :] = scale_a[r] * scale_b[g] * (a[r, :] * b[g]) + bias[g] where offsets[g] <= r < offsets[g + 1].
 * For mixtures of experts.
 * With a gate, c[r, 4 i + j] = gate(min(y[8 i + j], limit)) * (clamp(y[8 i + 4 + j], -limit, limit) +
 * up_offset), where y is the product of row r. n / 2 is a multiple of 4; with blocks_b it is one of 64,
 * and the blocks are those of weights with all gates first.
 * The offsets are read on the device alone. Rows of no group are not written. Numbers are those of
 * kaio_matmul_fp8. Fastest if neighbours of a and b are along k, in lines at multiples of 16 bytes. Equal
 * calls give equal bits.
 *   a        (rows, k); e4m3 or e5m2
 *   b        (groups, k, n); e4m3 or e5m2; any strides: weights (groups, n, k) with the last two exchanged
 *   offsets  (groups + 1); i32; not decreasing
 *   c        writes (rows, n) or (rows, n / 2); f32, f16 or bf16
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_fp8_grouped(void* stream, const DLTensor* a, const DLTensor* b,
                                             const DLTensor* offsets, const DLTensor* c,
                                             const kaio_matmul_fp8_grouped_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_fp8_grouped; memory is not read. */
KAIO_API kaio_status kaio_matmul_fp8_grouped_warmup(const DLTensor* a, const DLTensor* b,
                                                    const DLTensor* offsets, const DLTensor* c,
                                                    const kaio_matmul_fp8_grouped_options* options);

/* sums[n] = sum over k of B[k][n], exact: column_sums of products with zero_a, once for each weight.
 *   b     (k, n); i8; any strides
 *   sums  writes (n); i32 */
KAIO_API kaio_status kaio_int8_column_sums(void* stream, const DLTensor* b, const DLTensor* sums);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_int8_column_sums; memory is not read. */
KAIO_API kaio_status kaio_int8_column_sums_warmup(const DLTensor* b, const DLTensor* sums);

/* Rounds x to codes of i8: x = codes * scale, or (codes - zero_points[row]) * scales[row].
 * Without scales, `scale` serves all rows. With scales, each row gets max |x| / 127; with zero_points too,
 * its range / 255. Rows of x and of codes are contiguous.
 *   x            (rows, columns); f32, f16 or bf16
 *   codes        writes as x; i8
 *   scales       writes (rows); f32; NULL: `scale` is the scale of all rows
 *   zero_points  writes (rows); i32; NULL: symmetric; needs scales
 *   scale        above 0 and finite; not read if scales are given */
KAIO_API kaio_status kaio_quantise_int8(void* stream, const DLTensor* x, const DLTensor* codes,
                                        const DLTensor* scales, const DLTensor* zero_points, float scale);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_quantise_int8; memory is not read. */
KAIO_API kaio_status kaio_quantise_int8_warmup(const DLTensor* x, const DLTensor* codes,
                                               const DLTensor* scales, const DLTensor* zero_points,
                                               float scale);

/* C = activation(scale_a[m] * scale_b[n] * (A * B) * alpha + bias) + residual for 8-bit floats.
 * With groups_a and blocks_b, each sum over 128 of K is multiplied by its two scales first. Each product
 * and quotient after the sums is rounded to f32, and the result once to the type of C.
 * The fast kernels take A and B of one type along K: weights stored (n, k), given with the strides (1, k).
 *   a        (m, k) or (batch, m, k); e4m3 or e5m2
 *   b        (k, n) or (batch, k, n); e4m3 or e5m2
 *   c        writes (m, n) or (batch, m, n); f32, f16, bf16 or e4m3
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_fp8(void* stream, const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                     const kaio_matmul_fp8_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_fp8; memory is not read. */
KAIO_API kaio_status kaio_matmul_fp8_warmup(const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                            const kaio_matmul_fp8_options* options);

/* The kernel that the call runs. For kaio_matmul_fp8; memory is not read. */
KAIO_API kaio_status kaio_matmul_fp8_choice(const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                            const kaio_matmul_fp8_options* options,
                                            kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits for
 * the device. For kaio_matmul_fp8; memory is not read. */
KAIO_API kaio_status kaio_tune_matmul_fp8(const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                          const kaio_matmul_fp8_options* options,
                                          const kaio_tune_options* how, kaio_tune_report* report);

/* Rounds x to codes of e4m3: x = codes * scale.
 * Without scales, `scale` serves all numbers. Else a scale is max |x| / 448 of its row, or of 128
 * neighbours of a row. Rows of x and of codes are contiguous.
 *   x       (rows, columns); f32, f16 or bf16
 *   codes   writes as x; e4m3
 *   scales  writes (rows) or (rows, ceil(columns / 128)); f32; NULL: `scale` is the scale of all numbers
 *   scale   above 0 and finite; not read if scales are given */
KAIO_API kaio_status kaio_quantise_fp8(void* stream, const DLTensor* x, const DLTensor* codes,
                                       const DLTensor* scales, float scale);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_quantise_fp8; memory is not read. */
KAIO_API kaio_status kaio_quantise_fp8_warmup(const DLTensor* x, const DLTensor* codes,
                                              const DLTensor* scales, float scale);

/* Rounds w to codes of e4m3 with a scale for each block of 128 x 128, max |w| / 448.
 *   w       (rows, columns); f32, f16 or bf16
 *   codes   writes as w; e4m3
 *   blocks  writes (ceil(rows / 128), ceil(columns / 128)); f32 */
KAIO_API kaio_status kaio_quantise_fp8_blocks(void* stream, const DLTensor* w, const DLTensor* codes,
                                              const DLTensor* blocks);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_quantise_fp8_blocks; memory is not read. */
KAIO_API kaio_status kaio_quantise_fp8_blocks_warmup(const DLTensor* w, const DLTensor* codes,
                                                     const DLTensor* blocks);

#ifdef __cplusplus
}
#endif

#endif
