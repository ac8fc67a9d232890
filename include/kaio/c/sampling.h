/* Sampling and mixtures of experts. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/sampling.json. */
#ifndef KAIO_C_SAMPLING_H
#define KAIO_C_SAMPLING_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_router_score: How topk_router makes scores of logits. */
enum {
  KAIO_ROUTER_SCORE_SOFTMAX = 0,
  KAIO_ROUTER_SCORE_SIGMOID = 1
};

/* Options of sample. A tensor of rows comes before the number for all rows. */
typedef struct kaio_sample_options {
  uint32_t size; /* sizeof(kaio_sample_options) */
  int32_t reserved_4; /* 0 */
  const DLTensor* seed; /* (rows); i64 or u64; needed, unless `temperature` is 0 for all rows */
  const DLTensor* offset; /* (rows); i64 or u64; with seed; two draws differ if their offsets do */
  const DLTensor* offset_out; /* (rows); i64 or u64; gets offset + 1; may be offset itself */
  float temperature; /* default 1; 0: the largest logit */
  int32_t top_k; /* 0 or below, or the vocabulary or more: all tokens */
  float top_p; /* default 1; 0 to 1; 1: all tokens */
  float min_p; /* 0 to 1; 0: all tokens */
  const DLTensor* temperatures; /* (rows); f32 */
  const DLTensor* top_ks; /* (rows); i32 */
  const DLTensor* top_ps; /* (rows); f32 */
  const DLTensor* min_ps; /* (rows); f32 */
  /* (rows); f32; gets the log-probability of the token in softmax(logits / temperature) */
  const DLTensor* logprobs;
  const DLTensor* lse; /* (rows); f32; gets log(sum of exp(logits / temperature)) */
  /* (1); i32; the number of rows with NaN, or without a logit above -inf, is added */
  const DLTensor* invalid_rows;
} kaio_sample_options;
static inline kaio_sample_options kaio_sample_options_default(void) {
  kaio_sample_options it;
  it.size = sizeof(kaio_sample_options);
  it.reserved_4 = 0;
  it.seed = NULL;
  it.offset = NULL;
  it.offset_out = NULL;
  it.temperature = 1.0f;
  it.top_k = 0;
  it.top_p = 1.0f;
  it.min_p = 0.0f;
  it.temperatures = NULL;
  it.top_ks = NULL;
  it.top_ps = NULL;
  it.min_ps = NULL;
  it.logprobs = NULL;
  it.lse = NULL;
  it.invalid_rows = NULL;
  return it;
}

/* Options of topk_router. Experts are in `groups` groups of neighbours; only those of the `kept_groups`
 * best groups are chosen. */
typedef struct kaio_topk_router_options {
  uint32_t size; /* sizeof(kaio_topk_router_options) */
  int32_t score; /* kaio_router_score */
  const DLTensor* bias; /* (experts); f32; added to scores to choose, not to weights */
  int32_t groups; /* default 1; 1 to 32, of equal size */
  int32_t kept_groups; /* default 1; 1 to groups */
  /* default 1; 1: a group's score is the sum of its best two scores with bias; 0: its best one */
  int32_t group_by_best_two;
  int32_t renormalise; /* 1: divides a token's weights by their sum */
  float factor; /* default 1; multiplies the weights; finite */
  int32_t reserved_36; /* 0 */
} kaio_topk_router_options;
static inline kaio_topk_router_options kaio_topk_router_options_default(void) {
  kaio_topk_router_options it;
  it.size = sizeof(kaio_topk_router_options);
  it.score = 0;
  it.bias = NULL;
  it.groups = 1;
  it.kept_groups = 1;
  it.group_by_best_two = 1;
  it.renormalise = 0;
  it.factor = 1.0f;
  it.reserved_36 = 0;
  return it;
}

/* Options of sort_by_expert. */
typedef struct kaio_sort_by_expert_options {
  uint32_t size; /* sizeof(kaio_sort_by_expert_options) */
  int32_t reserved_4; /* 0 */
  const DLTensor* counts; /* (experts); i32; rows of each expert */
  /* (tokens * k); i32; the token of each sorted row; -1 after the last expert's rows */
  const DLTensor* tokens;
  const DLTensor* positions; /* (tokens, k); i32; the sorted row of each choice; -1 if it is left out */
  const DLTensor* workspace; /* kaio_sort_by_expert_workspace_bytes, at a multiple of 16 bytes */
} kaio_sort_by_expert_options;
static inline kaio_sort_by_expert_options kaio_sort_by_expert_options_default(void) {
  kaio_sort_by_expert_options it;
  it.size = sizeof(kaio_sort_by_expert_options);
  it.reserved_4 = 0;
  it.counts = NULL;
  it.tokens = NULL;
  it.positions = NULL;
  it.workspace = NULL;
  return it;
}

/* Options of combine_experts. */
typedef struct kaio_combine_experts_options {
  uint32_t size; /* sizeof(kaio_combine_experts_options) */
  int32_t accumulate; /* 1: adds to out */
} kaio_combine_experts_options;
static inline kaio_combine_experts_options kaio_combine_experts_options_default(void) {
  kaio_combine_experts_options it;
  it.size = sizeof(kaio_combine_experts_options);
  it.accumulate = 0;
  return it;
}

/* Draws a token for each row of logits: temperature, top-k, top-p, min-p.
 * The draw is Philox-4x32-10 of (seed[row], offset[row]). A token does not depend on other rows.
 *   logits   (rows, vocabulary); f32, f16 or bf16
 *   tokens   writes (rows); i32 or i64 */
KAIO_API kaio_status kaio_sample(void* stream, const DLTensor* logits, const DLTensor* tokens,
                                 const kaio_sample_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_sample; memory is not read. */
KAIO_API kaio_status kaio_sample_warmup(const DLTensor* logits, const DLTensor* tokens,
                                        const kaio_sample_options* options);

/* The k largest elements of each row and their indices, the largest first; of equal ones the lower index
 * first.
 * k is the last extent of values and indices, at most 1024. NaN counts as -inf.
 *   x        (rows, size); f32, f16 or bf16
 *   values   writes (rows, k); elements of x
 *   indices  writes (rows, k); i32 or i64 */
KAIO_API kaio_status kaio_top_k(void* stream, const DLTensor* x, const DLTensor* values,
                                const DLTensor* indices);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_top_k; memory is not read. */
KAIO_API kaio_status kaio_top_k_warmup(const DLTensor* x, const DLTensor* values, const DLTensor* indices);

/* Chooses the k experts of each token with the largest score + bias, and returns their scores as weights.
 * k is the last extent of indices and weights, 1 to 32. The largest is first; of equal ones the lower
 * index.
 *   logits   (tokens, experts); f32, f16 or bf16
 *   indices  writes (tokens, k); i32
 *   weights  writes (tokens, k); f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_topk_router(void* stream, const DLTensor* logits, const DLTensor* indices,
                                      const DLTensor* weights, const kaio_topk_router_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_topk_router; memory is not read. */
KAIO_API kaio_status kaio_topk_router_warmup(const DLTensor* logits, const DLTensor* indices,
                                             const DLTensor* weights, const kaio_topk_router_options* options);

/* Sorts the choices of tokens by expert, and by token within an expert.
 * The rows of expert e are offsets[e] to offsets[e + 1] - 1. An index that is no expert is left out.
 *   indices  (tokens, k); i32
 *   offsets  writes (experts + 1); i32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_sort_by_expert(void* stream, const DLTensor* indices, const DLTensor* offsets,
                                         const kaio_sort_by_expert_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_sort_by_expert; memory is not read. */
KAIO_API kaio_status kaio_sort_by_expert_warmup(const DLTensor* indices, const DLTensor* offsets,
                                                const kaio_sort_by_expert_options* options);

/* The bytes of workspace that the call needs: 0 for at most 2048 choices. For kaio_sort_by_expert; memory
 * is not read. */
KAIO_API kaio_status kaio_sort_by_expert_workspace_bytes(const DLTensor* indices, const DLTensor* offsets,
                                                         uint64_t* bytes);

/* out[token, :] = the sum of weights[token, j] * y[positions[token, j], :] over all j.
 * Sums are f32, in the order of j, and are rounded once. A position that is no row of y adds nothing.
 *   y          (rows, size); f32, f16 or bf16
 *   weights    (tokens, k); f32
 *   positions  (tokens, k); i32
 *   out        writes (tokens, size); f32, f16 or bf16; the type of y, or f32
 *   options    NULL: all defaults */
KAIO_API kaio_status kaio_combine_experts(void* stream, const DLTensor* y, const DLTensor* weights,
                                          const DLTensor* positions, const DLTensor* out,
                                          const kaio_combine_experts_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_combine_experts; memory is not read. */
KAIO_API kaio_status kaio_combine_experts_warmup(const DLTensor* y, const DLTensor* weights,
                                                 const DLTensor* positions, const DLTensor* out,
                                                 const kaio_combine_experts_options* options);

#ifdef __cplusplus
}
#endif

#endif
