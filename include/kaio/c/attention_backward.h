/* Gradients of attention. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/attention_backward.json. */
#ifndef KAIO_C_ATTENTION_BACKWARD_H
#define KAIO_C_ATTENTION_BACKWARD_H

#include <kaio/c/base.h>
#include <kaio/c/attention.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of the gradients of an attention. */
typedef struct kaio_attention_backward_options {
  uint32_t size; /* sizeof(kaio_attention_backward_options) */
  int32_t reserved_4; /* 0 */
  /* the options of the attention that is differentiated, without blocks and variant; its lse is not
   * written; NULL: all defaults */
  const kaio_attention_options* forward;
  const DLTensor* dlse; /* as lse; f32; the gradient of lse */
  const DLTensor* dbias; /* as bias; f32, f16 or bf16; f32, or elements of q; summed along extents of 1 */
  const DLTensor* dsinks; /* (heads); f32, f16 or bf16 */
  const DLTensor* workspace; /* needed: kaio_attention_backward_workspace_bytes, at a multiple of 16 bytes */
} kaio_attention_backward_options;
static inline kaio_attention_backward_options kaio_attention_backward_options_default(void) {
  kaio_attention_backward_options it;
  it.size = sizeof(kaio_attention_backward_options);
  it.reserved_4 = 0;
  it.forward = NULL;
  it.dlse = NULL;
  it.dbias = NULL;
  it.dsinks = NULL;
  it.workspace = NULL;
  return it;
}

/* The gradients of an attention: dq, dk and dv, and those of a bias and of sinks.
 * out and lse are those that the attention wrote with these options. Gradients share memory with no other
 * argument. Equal calls give equal bits.
 *   dout     (B, Sq, Hq, Dv); elements of q
 *   q        (B, Sq, Hq, D); f32, f16 or bf16
 *   k        (B, Sk, Hkv, D); elements of q
 *   v        (B, Sk, Hkv, Dv); elements of q
 *   out      (B, Sq, Hq, Dv); f32, f16 or bf16
 *   lse      (B, Hq, Sq); f32
 *   dq       writes as q; elements of q; NULL: not computed
 *   dk       writes as k; elements of q; NULL: not computed
 *   dv       writes as v; elements of q; NULL: not computed */
KAIO_API kaio_status kaio_attention_backward(void* stream, const DLTensor* dout, const DLTensor* q,
                                             const DLTensor* k, const DLTensor* v, const DLTensor* out,
                                             const DLTensor* lse, const DLTensor* dq, const DLTensor* dk,
                                             const DLTensor* dv,
                                             const kaio_attention_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_attention_backward; memory is not read. */
KAIO_API kaio_status kaio_attention_backward_warmup(const DLTensor* dout, const DLTensor* q,
                                                    const DLTensor* k, const DLTensor* v, const DLTensor* out,
                                                    const DLTensor* lse, const DLTensor* dq,
                                                    const DLTensor* dk, const DLTensor* dv,
                                                    const kaio_attention_backward_options* options);

/* The bytes of workspace that the call takes, whatever its options are. For kaio_attention_backward;
 * memory is not read. */
KAIO_API kaio_status kaio_attention_backward_workspace_bytes(const DLTensor* q, const DLTensor* k,
                                                             const DLTensor* v, uint64_t* bytes);

/* The kernel that computes dk and dv. For kaio_attention_backward; memory is not read. */
KAIO_API kaio_status kaio_attention_backward_choice(const DLTensor* dout, const DLTensor* q,
                                                    const DLTensor* k, const DLTensor* v, const DLTensor* out,
                                                    const DLTensor* lse, const DLTensor* dq,
                                                    const DLTensor* dk, const DLTensor* dv,
                                                    const kaio_attention_backward_options* options,
                                                    kaio_kernel_choice* choice);

/* The gradients of kaio_attention_varlen.
 * Rows of no sequence, and those beyond used_q and used_k, are not written.
 *   dout       (rows, Hq, Dv); elements of q
 *   q          (rows, Hq, D); f32, f16 or bf16
 *   k          (rows of k, Hkv, D); elements of q
 *   v          (rows of k, Hkv, Dv); elements of q
 *   out        (rows, Hq, Dv); f32, f16 or bf16
 *   lse        (Hq, rows); f32
 *   dq         writes as q; elements of q; NULL: not computed
 *   dk         writes as k; elements of q; NULL: not computed
 *   dv         writes as v; elements of q; NULL: not computed */
KAIO_API kaio_status kaio_attention_backward_varlen(void* stream, const DLTensor* dout, const DLTensor* q,
                                                    const DLTensor* k, const DLTensor* v, const DLTensor* out,
                                                    const DLTensor* lse, const DLTensor* dq,
                                                    const DLTensor* dk, const DLTensor* dv,
                                                    const kaio_attention_sequences* sequences,
                                                    const kaio_attention_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_attention_backward_varlen; memory is not read. */
KAIO_API kaio_status kaio_attention_backward_varlen_warmup(const DLTensor* dout, const DLTensor* q,
                                                           const DLTensor* k, const DLTensor* v,
                                                           const DLTensor* out, const DLTensor* lse,
                                                           const DLTensor* dq, const DLTensor* dk,
                                                           const DLTensor* dv,
                                                           const kaio_attention_sequences* sequences,
                                                           const kaio_attention_backward_options* options);

/* The bytes of workspace that the call takes, whatever its options are. For
 * kaio_attention_backward_varlen; memory is not read. */
KAIO_API kaio_status kaio_attention_backward_varlen_workspace_bytes(const DLTensor* q, const DLTensor* k,
                                                                    const DLTensor* v,
                                                                    const kaio_attention_sequences* sequences,
                                                                    uint64_t* bytes);

/* The kernel that computes dk and dv. For kaio_attention_backward_varlen; memory is not read. */
KAIO_API kaio_status kaio_attention_backward_varlen_choice(const DLTensor* dout, const DLTensor* q,
                                                           const DLTensor* k, const DLTensor* v,
                                                           const DLTensor* out, const DLTensor* lse,
                                                           const DLTensor* dq, const DLTensor* dk,
                                                           const DLTensor* dv,
                                                           const kaio_attention_sequences* sequences,
                                                           const kaio_attention_backward_options* options,
                                                           kaio_kernel_choice* choice);

#ifdef __cplusplus
}
#endif

#endif
