/* Sampling. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/sampling.json. */
#ifndef KAIO_C_SAMPLING_H
#define KAIO_C_SAMPLING_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif
