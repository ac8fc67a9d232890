/* Projections of a layer: Q, K and V, gate and up. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/projections.json. */
#ifndef KAIO_C_PROJECTIONS_H
#define KAIO_C_PROJECTIONS_H

#include <kaio/c/base.h>
#include <kaio/c/cache.h>
#include <kaio/c/packed_weights.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is
 * given by its strides. */
typedef struct kaio_projection_weight {
  uint32_t size; /* sizeof(kaio_projection_weight) */
  int32_t reserved_4; /* 0 */
  /* (n, k); f32, f16, bf16, i8, e4m3 or e5m2; the element type of x; i8, e4m3 and e5m2 with scales */
  const DLTensor* matrix;
  const DLTensor* scale; /* (n) or (1); f32; scales of a matrix of 8 bits; i8 needs them */
  const DLTensor* blocks; /* (ceil(n / 128), ceil(k / 128)); f32; scales of e4m3 and e5m2, with x_groups */
  const kaio_w4_weights* w4; /* for x of f16 or bf16 */
  const kaio_w8_weights* w8; /* for x of f16 or bf16 */
} kaio_projection_weight;
static inline kaio_projection_weight kaio_projection_weight_default(void) {
  kaio_projection_weight it;
  it.size = sizeof(kaio_projection_weight);
  it.reserved_4 = 0;
  it.matrix = NULL;
  it.scale = NULL;
  it.blocks = NULL;
  it.w4 = NULL;
  it.w8 = NULL;
  return it;
}

/* The weights of Q, K and V: either `all`, with the outputs of Q first, then K's, then V's; or q, k and v. */
typedef struct kaio_qkv_weights {
  uint32_t size; /* sizeof(kaio_qkv_weights) */
  int32_t reserved_4; /* 0 */
  const kaio_projection_weight* all;
  const kaio_projection_weight* q;
  const kaio_projection_weight* k;
  const kaio_projection_weight* v;
} kaio_qkv_weights;
static inline kaio_qkv_weights kaio_qkv_weights_default(void) {
  kaio_qkv_weights it;
  it.size = sizeof(kaio_qkv_weights);
  it.reserved_4 = 0;
  it.all = NULL;
  it.q = NULL;
  it.k = NULL;
  it.v = NULL;
  return it;
}

/* The weights of gate and up: either `both`, with the outputs of the gate first; or gate and up. */
typedef struct kaio_gate_up_weights {
  uint32_t size; /* sizeof(kaio_gate_up_weights) */
  int32_t reserved_4; /* 0 */
  const kaio_projection_weight* both;
  const kaio_projection_weight* gate;
  const kaio_projection_weight* up;
} kaio_gate_up_weights;
static inline kaio_gate_up_weights kaio_gate_up_weights_default(void) {
  kaio_gate_up_weights it;
  it.size = sizeof(kaio_gate_up_weights);
  it.reserved_4 = 0;
  it.both = NULL;
  it.gate = NULL;
  it.up = NULL;
  return it;
}

/* Where the heads go: q, and either k and v, or a cache. */
typedef struct kaio_qkv_outputs {
  uint32_t size; /* sizeof(kaio_qkv_outputs) */
  int32_t reserved_4; /* 0 */
  const DLTensor* q; /* (tokens, heads, size) or (batches, tokens, heads, size); f16 or bf16; needed */
  const DLTensor* k; /* as q, with heads of its own; elements of q */
  const DLTensor* v; /* as k; the size may differ; elements of q */
  const kaio_kv_cache* cache; /* appended to, as kaio_append_kv does */
} kaio_qkv_outputs;
static inline kaio_qkv_outputs kaio_qkv_outputs_default(void) {
  kaio_qkv_outputs it;
  it.size = sizeof(kaio_qkv_outputs);
  it.reserved_4 = 0;
  it.q = NULL;
  it.k = NULL;
  it.v = NULL;
  it.cache = NULL;
  return it;
}

/* RMS norm of x before the product: h = x + residual; x' = h / rms(h) * (weight_offset + weight). */
typedef struct kaio_x_norm {
  uint32_t size; /* sizeof(kaio_x_norm) */
  float epsilon; /* default 1e-6 */
  float weight_offset; /* 1 for Gemma */
  int32_t reserved_12; /* 0 */
  const DLTensor* weight; /* needed; (k); f32, f16 or bf16; elements of x */
  const DLTensor* residual; /* as x; elements of weight; added to x */
  const DLTensor* residual_out; /* as x; elements of weight; gets h; may be the residual itself */
} kaio_x_norm;
static inline kaio_x_norm kaio_x_norm_default(void) {
  kaio_x_norm it;
  it.size = sizeof(kaio_x_norm);
  it.epsilon = 1e-6f;
  it.weight_offset = 0.0f;
  it.reserved_12 = 0;
  it.weight = NULL;
  it.residual = NULL;
  it.residual_out = NULL;
  return it;
}

/* Rotates Q and K by the positions of their tokens, as kaio_rotary does. Without positions, a token is at
 * the number of its key less the left padding of its sequence; without a cache, at its number in the
 * sequence plus the offset. */
typedef struct kaio_qkv_rotary {
  uint32_t size; /* sizeof(kaio_qkv_rotary) */
  /* 1: pairs (0, 1), (2, 3), ..., as in GPT-J; 0: (0, P), (1, P + 1), ..., as in Llama */
  int32_t interleaved;
  const DLTensor* cos; /* needed; (positions, pairs); f32, f16 or bf16 */
  const DLTensor* sin; /* needed; as cos; elements of cos */
  const DLTensor* positions; /* (tokens) or (batches, tokens); i32 or i64 */
  const DLTensor* offsets; /* (sequences); i32; only without a cache */
} kaio_qkv_rotary;
static inline kaio_qkv_rotary kaio_qkv_rotary_default(void) {
  kaio_qkv_rotary it;
  it.size = sizeof(kaio_qkv_rotary);
  it.interleaved = 0;
  it.cos = NULL;
  it.sin = NULL;
  it.positions = NULL;
  it.offsets = NULL;
  return it;
}

/* Options of qkv_project. Biases and norms have the element type of q. */
typedef struct kaio_qkv_project_options {
  uint32_t size; /* sizeof(kaio_qkv_project_options) */
  float epsilon; /* default 1e-6; added to the mean square in q_norm and k_norm */
  float norm_offset; /* added to the weights of q_norm and k_norm: 1 for Gemma */
  float q_scale; /* default 1; multiplies Q at the end */
  int32_t constant; /* kaio_constant_inputs: weights */
  uint32_t splits; /* parts of K in kernels for few rows: 1, 2 or 4; 0: automatic */
  int32_t exact_weights; /* 1: packed weights are not rounded to the type of x */
  int32_t reserved_28; /* 0 */
  const DLTensor* q_bias; /* (heads * size); f16 or bf16 */
  const DLTensor* k_bias; /* (heads * size); f16 or bf16 */
  const DLTensor* v_bias; /* (heads * size); f16 or bf16 */
  const DLTensor* q_norm; /* (size); f16 or bf16; weight of the RMS norm of each head */
  const DLTensor* k_norm; /* (size); f16 or bf16; weight of the RMS norm of each head */
  const kaio_x_norm* x_norm; /* NULL: x is multiplied as it is */
  const kaio_qkv_rotary* rotary; /* NULL: no rotation */
  /* (sequences + 1); i32; for packed sequences: sequence b has tokens cu_seqlens[b] to before cu_seqlens[b
   * + 1] */
  const DLTensor* cu_seqlens;
  /* (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each
   * token, over all pages; below 0: skipped */
  const DLTensor* slots;
  /* (1), (heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits; NULL: 1 */
  const DLTensor* k_scale;
  const DLTensor* v_scale; /* as k_scale; f32 */
  /* (pages, rows, heads); f32; gets computed scales, one for each row of a head */
  const DLTensor* k_scale_out;
  const DLTensor* v_scale_out; /* (pages, rows, heads); f32 */
  const DLTensor* x_scale; /* (rows) or (1); f32; scales of x of 8 bits */
  /* (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks */
  const DLTensor* x_groups;
  const DLTensor* workspace; /* kaio_qkv_project_workspace_bytes, at a multiple of 16 bytes */
  /* the kernel to run, as kaio_qkv_project_choice names it; "separate": a product, and then the heads;
   * NULL: the best one */
  const char* variant;
} kaio_qkv_project_options;
static inline kaio_qkv_project_options kaio_qkv_project_options_default(void) {
  kaio_qkv_project_options it;
  it.size = sizeof(kaio_qkv_project_options);
  it.epsilon = 1e-6f;
  it.norm_offset = 0.0f;
  it.q_scale = 1.0f;
  it.constant = 0;
  it.splits = 0;
  it.exact_weights = 0;
  it.reserved_28 = 0;
  it.q_bias = NULL;
  it.k_bias = NULL;
  it.v_bias = NULL;
  it.q_norm = NULL;
  it.k_norm = NULL;
  it.x_norm = NULL;
  it.rotary = NULL;
  it.cu_seqlens = NULL;
  it.slots = NULL;
  it.k_scale = NULL;
  it.v_scale = NULL;
  it.k_scale_out = NULL;
  it.v_scale_out = NULL;
  it.x_scale = NULL;
  it.x_groups = NULL;
  it.workspace = NULL;
  it.variant = NULL;
  return it;
}

/* Options of gate_up_project. Biases have the element type of out. */
typedef struct kaio_gate_up_project_options {
  uint32_t size; /* sizeof(kaio_gate_up_project_options) */
  int32_t activation; /* default 4; kaio_matmul_activation */
  int32_t constant; /* kaio_constant_inputs: weights */
  int32_t exact_weights; /* 1: packed weights are not rounded to the type of x */
  const DLTensor* gate_bias; /* (f); f32, f16 or bf16 */
  const DLTensor* up_bias; /* (f); f32, f16 or bf16 */
  const kaio_x_norm* x_norm; /* NULL: x is multiplied as it is */
  const DLTensor* x_scale; /* (rows) or (1); f32; scales of x of 8 bits */
  /* (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks */
  const DLTensor* x_groups;
  const DLTensor* workspace; /* kaio_gate_up_project_workspace_bytes, at a multiple of 16 bytes */
  /* the kernel to run, as kaio_gate_up_project_choice names it; "separate": products, and then the kernel
   * that combines them; NULL: the best one */
  const char* variant;
} kaio_gate_up_project_options;
static inline kaio_gate_up_project_options kaio_gate_up_project_options_default(void) {
  kaio_gate_up_project_options it;
  it.size = sizeof(kaio_gate_up_project_options);
  it.activation = 4;
  it.constant = 0;
  it.exact_weights = 0;
  it.gate_bias = NULL;
  it.up_bias = NULL;
  it.x_norm = NULL;
  it.x_scale = NULL;
  it.x_groups = NULL;
  it.workspace = NULL;
  it.variant = NULL;
  return it;
}

/* Queries, keys and values of hidden states: norm, product, bias, norms of heads, rotation, and the append
 * to a cache.
 * Each step is in f32, and rounded to the element type of the outputs. Neighbours along k are adjacent.
 * Outputs, cache and workspace share no memory with anything else. Equal calls give equal bits.
 *   x        (tokens, k) or (batches, tokens, k); f16, bf16, i8, e4m3 or e5m2; the element type of q; or 8
 *            bits, with such weights
 *   weights  one, or three
 *   outputs  where the heads go
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_qkv_project(void* stream, const DLTensor* x, const kaio_qkv_weights* weights,
                                      const kaio_qkv_outputs* outputs,
                                      const kaio_qkv_project_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_qkv_project; memory is not read. */
KAIO_API kaio_status kaio_qkv_project_warmup(const DLTensor* x, const kaio_qkv_weights* weights,
                                             const kaio_qkv_outputs* outputs,
                                             const kaio_qkv_project_options* options);

/* The bytes of workspace that the call takes; 0 if it needs none. For kaio_qkv_project; memory is not
 * read. */
KAIO_API kaio_status kaio_qkv_project_workspace_bytes(const DLTensor* x, const kaio_qkv_weights* weights,
                                                      const kaio_qkv_outputs* outputs,
                                                      const kaio_qkv_project_options* options,
                                                      uint64_t* bytes);

/* The kernel that the call runs. For kaio_qkv_project; memory is not read. */
KAIO_API kaio_status kaio_qkv_project_choice(const DLTensor* x, const kaio_qkv_weights* weights,
                                             const kaio_qkv_outputs* outputs,
                                             const kaio_qkv_project_options* options,
                                             kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits for
 * the device. For kaio_qkv_project; memory is not read. */
KAIO_API kaio_status kaio_tune_qkv_project(const DLTensor* x, const kaio_qkv_weights* weights,
                                           const kaio_qkv_outputs* outputs,
                                           const kaio_qkv_project_options* options,
                                           const kaio_tune_options* how, kaio_tune_report* report);

/* out = activation(x Wg^T + gate_bias) * (x Wu^T + up_bias), the first half of a gated feed-forward block.
 * Products are rounded once to the element type of out, and the result once more. Neighbours along the
 * last dimension are adjacent, and the batches of x follow each other. Equal calls give equal bits.
 *   x        (rows, k) or (batches, rows, k); f32, f16, bf16, i8, e4m3 or e5m2
 *   weights  one of (2 f, k), or two of (f, k)
 *   out      writes (rows, f) or (batches, rows, f); f32, f16 or bf16
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_gate_up_project(void* stream, const DLTensor* x,
                                          const kaio_gate_up_weights* weights, const DLTensor* out,
                                          const kaio_gate_up_project_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_gate_up_project; memory is not read. */
KAIO_API kaio_status kaio_gate_up_project_warmup(const DLTensor* x, const kaio_gate_up_weights* weights,
                                                 const DLTensor* out,
                                                 const kaio_gate_up_project_options* options);

/* The bytes of workspace that the call takes; 0 if it needs none. For kaio_gate_up_project; memory is not
 * read. */
KAIO_API kaio_status kaio_gate_up_project_workspace_bytes(const DLTensor* x,
                                                          const kaio_gate_up_weights* weights,
                                                          const DLTensor* out,
                                                          const kaio_gate_up_project_options* options,
                                                          uint64_t* bytes);

/* The kernel that the call runs. For kaio_gate_up_project; memory is not read. */
KAIO_API kaio_status kaio_gate_up_project_choice(const DLTensor* x, const kaio_gate_up_weights* weights,
                                                 const DLTensor* out,
                                                 const kaio_gate_up_project_options* options,
                                                 kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits for
 * the device. For kaio_gate_up_project; memory is not read. */
KAIO_API kaio_status kaio_tune_gate_up_project(const DLTensor* x, const kaio_gate_up_weights* weights,
                                               const DLTensor* out,
                                               const kaio_gate_up_project_options* options,
                                               const kaio_tune_options* how, kaio_tune_report* report);

#ifdef __cplusplus
}
#endif

#endif
