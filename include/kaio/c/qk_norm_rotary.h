/* Norms and rotation of heads. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/qk_norm_rotary.json. */
#ifndef KAIO_C_QK_NORM_ROTARY_H
#define KAIO_C_QK_NORM_ROTARY_H

#include <kaio/c/base.h>
#include <kaio/c/cache.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of qk_norm_rotary. */
typedef struct kaio_qk_norm_rotary_options {
  uint32_t size; /* sizeof(kaio_qk_norm_rotary_options) */
  int32_t reserved_4; /* 0 */
  const DLTensor* q_norm; /* (D); f32, f16 or bf16; f32, or elements of q; NULL: Q is not normed */
  const DLTensor* k_norm; /* (D); f32, f16 or bf16; f32, or elements of q; NULL: K is not normed */
  float epsilon; /* default 1e-6 */
  float weight_offset; /* added to the weights: 1 for Gemma */
  const DLTensor* cos; /* (positions, P); f32, f16 or bf16; 2 P <= D; NULL: nothing is rotated */
  const DLTensor* sin; /* as cos; f32, f16 or bf16 */
  const kaio_rotary_options* rotary; /* NULL: all defaults */
} kaio_qk_norm_rotary_options;
static inline kaio_qk_norm_rotary_options kaio_qk_norm_rotary_options_default(void) {
  kaio_qk_norm_rotary_options it;
  it.size = sizeof(kaio_qk_norm_rotary_options);
  it.reserved_4 = 0;
  it.q_norm = NULL;
  it.k_norm = NULL;
  it.epsilon = 1e-6f;
  it.weight_offset = 0.0f;
  it.cos = NULL;
  it.sin = NULL;
  it.rotary = NULL;
  return it;
}

/* The norm of each head of Q and K, and then its rotation by the token's position.
 * h = x / rms(x) * (weight_offset + norm) in f32, rounded; then as rotary. Tensors of three dimensions
 * need rotary.cu_seqlens or rotary.positions.
 *   q        (B, S, Hq, D) or (tokens, Hq, D); f32, f16 or bf16; D <= 512
 *   k        as q, with heads of its own; elements of q; NULL: there is none
 *   q_out    writes as q; elements of q; may be q itself
 *   k_out    writes as k; elements of q; may be k itself */
KAIO_API kaio_status kaio_qk_norm_rotary(void* stream, const DLTensor* q, const DLTensor* k,
                                         const DLTensor* q_out, const DLTensor* k_out,
                                         const kaio_qk_norm_rotary_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_qk_norm_rotary; memory is not read. */
KAIO_API kaio_status kaio_qk_norm_rotary_warmup(const DLTensor* q, const DLTensor* k, const DLTensor* q_out,
                                                const DLTensor* k_out,
                                                const kaio_qk_norm_rotary_options* options);

#ifdef __cplusplus
}
#endif

#endif
