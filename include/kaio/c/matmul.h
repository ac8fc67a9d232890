/* Products of matrices. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/matmul.json. */
#ifndef KAIO_C_MATMUL_H
#define KAIO_C_MATMUL_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_matmul_activation: The activation function of a product. */
enum {
  KAIO_MATMUL_ACTIVATION_NONE = 0,
  KAIO_MATMUL_ACTIVATION_RELU = 1,
  KAIO_MATMUL_ACTIVATION_GELU = 2, /* by erf */
  KAIO_MATMUL_ACTIVATION_GELU_TANH = 3,
  KAIO_MATMUL_ACTIVATION_SILU = 4
};

/* kaio_matmul_precision: How products of f32 are computed. */
enum {
  KAIO_MATMUL_PRECISION_IEEE = 0, /* multiply-adds in f32 */
  KAIO_MATMUL_PRECISION_TF32 = 1, /* tensor cores, inputs rounded to 11 significant bits */
  KAIO_MATMUL_PRECISION_TF32X3 = 2 /* three products of such numbers: about 22 significant bits */
};

/* C = activation(alpha * A * B + beta * C + bias) + residual. */
typedef struct kaio_matmul_options {
  uint32_t size; /* sizeof(kaio_matmul_options) */
  float alpha; /* default 1; 0: A and B are not read */
  float beta; /* 0: C is not read */
  int32_t activation; /* kaio_matmul_activation */
  int32_t precision; /* kaio_matmul_precision: for operands of f32 */
  int32_t constant; /* kaio_constant_inputs: a, b */
  int32_t bias_of_rows; /* 1: bias has a number for each row of C */
  int32_t reserved_28; /* 0 */
  const DLTensor* bias; /* (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16 */
  const DLTensor* residual; /* (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself */
  const DLTensor* workspace; /* kaio_matmul_workspace_bytes; without it, K is not split */
  const char* variant; /* the kernel to run, as kaio_matmul_choice names it; NULL: the best one */
} kaio_matmul_options;
static inline kaio_matmul_options kaio_matmul_options_default(void) {
  kaio_matmul_options it;
  it.size = sizeof(kaio_matmul_options);
  it.alpha = 1.0f;
  it.beta = 0.0f;
  it.activation = 0;
  it.precision = 0;
  it.constant = 0;
  it.bias_of_rows = 0;
  it.reserved_28 = 0;
  it.bias = NULL;
  it.residual = NULL;
  it.workspace = NULL;
  it.variant = NULL;
  return it;
}

/* Options of the gradients of a product. */
typedef struct kaio_matmul_backward_options {
  uint32_t size; /* sizeof(kaio_matmul_backward_options) */
  float alpha; /* default 1; alpha of the product that is differentiated */
  int32_t accumulate; /* 1: adds to da and db */
  int32_t precision; /* kaio_matmul_precision: for operands of f32 */
  /* kaio_matmul_backward_workspace_bytes, at a multiple of 16 bytes; more of it lets K be split */
  const DLTensor* workspace;
} kaio_matmul_backward_options;
static inline kaio_matmul_backward_options kaio_matmul_backward_options_default(void) {
  kaio_matmul_backward_options it;
  it.size = sizeof(kaio_matmul_backward_options);
  it.alpha = 1.0f;
  it.accumulate = 0;
  it.precision = 0;
  it.workspace = NULL;
  return it;
}

/* Options of matmul_grouped. */
typedef struct kaio_matmul_grouped_options {
  uint32_t size; /* sizeof(kaio_matmul_grouped_options) */
  int32_t reserved_4; /* 0 */
  /* (rows); i32; row r of c is of row rows[r] of a; an index that is no row of a counts as a row of zeros */
  const DLTensor* rows;
  const DLTensor* bias; /* (groups, n); f32; added to the sums */
} kaio_matmul_grouped_options;
static inline kaio_matmul_grouped_options kaio_matmul_grouped_options_default(void) {
  kaio_matmul_grouped_options it;
  it.size = sizeof(kaio_matmul_grouped_options);
  it.reserved_4 = 0;
  it.rows = NULL;
  it.bias = NULL;
  return it;
}

/* Options of matmul_grouped_backward. */
typedef struct kaio_matmul_grouped_backward_options {
  uint32_t size; /* sizeof(kaio_matmul_grouped_backward_options) */
  int32_t accumulate; /* 1: adds to db */
} kaio_matmul_grouped_backward_options;
static inline kaio_matmul_grouped_backward_options kaio_matmul_grouped_backward_options_default(void) {
  kaio_matmul_grouped_backward_options it;
  it.size = sizeof(kaio_matmul_grouped_backward_options);
  it.accumulate = 0;
  return it;
}

/* Options of gate_up_grouped. gpt-oss has alpha 1.702, limit 7 and up_offset 1. */
typedef struct kaio_gate_up_grouped_options {
  uint32_t size; /* sizeof(kaio_gate_up_grouped_options) */
  int32_t activation; /* default 4; kaio_matmul_activation: not none */
  /* (rows); i32; row r of y is of row rows[r] of x; an index that is no row of x counts as a row of zeros */
  const DLTensor* rows;
  const DLTensor* gate_bias; /* (groups, n); f32 */
  const DLTensor* up_bias; /* (groups, n); f32 */
  float alpha; /* default 1; silu is x / (1 + exp(-alpha x)); above 0 */
  float limit; /* the gate is at most limit, up is from -limit to limit; 0: none */
  float up_offset; /* added to up */
  int32_t reserved_44; /* 0 */
} kaio_gate_up_grouped_options;
static inline kaio_gate_up_grouped_options kaio_gate_up_grouped_options_default(void) {
  kaio_gate_up_grouped_options it;
  it.size = sizeof(kaio_gate_up_grouped_options);
  it.activation = 4;
  it.rows = NULL;
  it.gate_bias = NULL;
  it.up_bias = NULL;
  it.alpha = 1.0f;
  it.limit = 0.0f;
  it.up_offset = 0.0f;
  it.reserved_44 = 0;
  return it;
}

/* C = activation(alpha * A * B + beta * C + bias) + residual.
 * Sums are f32, and are rounded once. Equal calls give equal bits. An operand without a batch, or with a
 * batch of stride 0 or extent 1, is used for every product of the batch.
 * In A, in B and in C one of the last two strides is 1. So each may be transposed, or a part of a larger
 * matrix.
 *   a        (m, k) or (batch, m, k); f32, f16, bf16, e4m3 or e5m2
 *   b        (k, n) or (batch, k, n); elements of a
 *   c        writes (m, n) or (batch, m, n); f32, f16 or bf16
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul(void* stream, const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                 const kaio_matmul_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul; memory is not read. */
KAIO_API kaio_status kaio_matmul_warmup(const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                        const kaio_matmul_options* options);

/* The bytes of workspace that make the call as fast as it can be; 0 if it needs none. For kaio_matmul;
 * memory is not read. */
KAIO_API kaio_status kaio_matmul_workspace_bytes(const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                                 const kaio_matmul_options* options, uint64_t* bytes);

/* The kernel that the call runs. For kaio_matmul; memory is not read. */
KAIO_API kaio_status kaio_matmul_choice(const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                        const kaio_matmul_options* options, kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits for
 * the device. For kaio_matmul; memory is not read. */
KAIO_API kaio_status kaio_tune_matmul(const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                      const kaio_matmul_options* options, const kaio_tune_options* how,
                                      kaio_tune_report* report);

/* C[i] = activation(alpha * A[i] * B[i] + beta * C[i] + bias) + residual for matrices anywhere in memory.
 * Each product has a shape of its own. Outputs share memory with nothing. Bias and residual are used by
 * every product. Products that are equally far apart in memory become one launch.
 *   a        (m, k) each; f32, f16, bf16, e4m3 or e5m2
 *   b        (k, n) each; elements of a
 *   c        writes (m, n) each; f32, f16 or bf16
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_batch(void* stream, size_t count, const DLTensor* a, const DLTensor* b,
                                       const DLTensor* c, const kaio_matmul_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_batch; memory is not read. */
KAIO_API kaio_status kaio_matmul_batch_warmup(size_t count, const DLTensor* a, const DLTensor* b,
                                              const DLTensor* c, const kaio_matmul_options* options);

/* The gradients of C = alpha * A * B: dA = alpha * dC * B^T and dB = alpha * A^T * dC.
 * dc has the element type of A and B, or is f32 with operands of 16 bits. In the second case it is rounded
 * to their type once, into the workspace.
 *   dc       (m, n) or (batch, m, n); f32, f16 or bf16
 *   a        (m, k) or (batch, m, k); f32, f16 or bf16
 *   b        (k, n) or (batch, k, n); elements of a
 *   da       writes as a; f32, f16 or bf16; NULL: not computed
 *   db       writes as b; f32, f16 or bf16; NULL: not computed
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_backward(void* stream, const DLTensor* dc, const DLTensor* a,
                                          const DLTensor* b, const DLTensor* da, const DLTensor* db,
                                          const kaio_matmul_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_backward; memory is not read. */
KAIO_API kaio_status kaio_matmul_backward_warmup(const DLTensor* dc, const DLTensor* a, const DLTensor* b,
                                                 const DLTensor* da, const DLTensor* db,
                                                 const kaio_matmul_backward_options* options);

/* The bytes of workspace; 0 if dc has the element type of a. For kaio_matmul_backward; memory is not read. */
KAIO_API kaio_status kaio_matmul_backward_workspace_bytes(const DLTensor* dc, const DLTensor* a,
                                                          uint64_t* bytes);

/* c[r, :] = a[r, :] * b[g] for the group g with offsets[g] <= r < offsets[g + 1]: the experts of a
 * mixture.
 * The offsets are read on the device alone. Rows of no group are not written. Sums are f32, and are
 * rounded once. Equal calls give equal bits.
 *   a        (rows, k); f16 or bf16; with options.rows it has any number of rows
 *   b        (groups, k, n); elements of a; any strides: weights (groups, n, k) with the last two
 *            exchanged
 *   offsets  (groups + 1); i32; not decreasing
 *   c        writes (rows, n); f32, f16 or bf16; the type of a, or f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_grouped(void* stream, const DLTensor* a, const DLTensor* b,
                                         const DLTensor* offsets, const DLTensor* c,
                                         const kaio_matmul_grouped_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_grouped; memory is not read. */
KAIO_API kaio_status kaio_matmul_grouped_warmup(const DLTensor* a, const DLTensor* b, const DLTensor* offsets,
                                                const DLTensor* c, const kaio_matmul_grouped_options* options);

/* The gradients of matmul_grouped: da[r, :] = dc[r, :] * b[g]^T, db[g] = a[rows of g, :]^T * dc[rows of g,
 * :].
 * A group without rows has a db of zeros. Rows of no group have no da. Sums are f32, and are rounded once.
 * Equal calls give equal bits.
 *   dc       (rows, n); f16 or bf16
 *   a        (rows, k); elements of dc; gathered, if the product gathered its rows
 *   b        (groups, k, n); elements of dc; any strides
 *   offsets  (groups + 1); i32; not decreasing
 *   da       writes (rows, k); f32, f16 or bf16; the type of dc, or f32; NULL: not computed
 *   db       writes (groups, k, n); f32, f16 or bf16; the type of dc, or f32; any strides; NULL: not
 *            computed
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_matmul_grouped_backward(void* stream, const DLTensor* dc, const DLTensor* a,
                                                  const DLTensor* b, const DLTensor* offsets,
                                                  const DLTensor* da, const DLTensor* db,
                                                  const kaio_matmul_grouped_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_matmul_grouped_backward; memory is not read. */
KAIO_API kaio_status kaio_matmul_grouped_backward_warmup(const DLTensor* dc, const DLTensor* a,
                                                         const DLTensor* b, const DLTensor* offsets,
                                                         const DLTensor* da, const DLTensor* db,
                                                         const kaio_matmul_grouped_backward_options* options);

/* y[r, :] = activation(min(g, limit)) * (clamp(u, -limit, limit) + up_offset) with g = x[r, :] * gate[e],
 * u = x[r, :] * up[e] for the group e with offsets[e] <= r < offsets[e + 1].
 * The offsets are read on the device alone. Rows of no group are not written. Sums are f32; results are
 * rounded once. Gate and up may be parts of one tensor.
 *   x        (rows, k); f16 or bf16
 *   gate     (groups, k, n); elements of x; any strides: weights (groups, n, k) with the last two
 *            exchanged
 *   up       (groups, k, n); elements of x
 *   offsets  (groups + 1); i32; not decreasing
 *   y        writes (rows, n); f32, f16 or bf16; the type of x, or f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_gate_up_grouped(void* stream, const DLTensor* x, const DLTensor* gate,
                                          const DLTensor* up, const DLTensor* offsets, const DLTensor* y,
                                          const kaio_gate_up_grouped_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_gate_up_grouped; memory is not read. */
KAIO_API kaio_status kaio_gate_up_grouped_warmup(const DLTensor* x, const DLTensor* gate, const DLTensor* up,
                                                 const DLTensor* offsets, const DLTensor* y,
                                                 const kaio_gate_up_grouped_options* options);

#ifdef __cplusplus
}
#endif

#endif
