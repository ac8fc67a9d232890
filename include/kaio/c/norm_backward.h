/* Gradients of norms. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/norm_backward.json. */
#ifndef KAIO_C_NORM_BACKWARD_H
#define KAIO_C_NORM_BACKWARD_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of rms_norm_backward. */
typedef struct kaio_rms_norm_backward_options {
  uint32_t size; /* sizeof(kaio_rms_norm_backward_options) */
  float epsilon; /* default 1e-6 */
  float weight_offset; /* added to the weight: 1 for Gemma */
  int32_t reserved_12; /* 0 */
  const DLTensor* dh; /* as x; f32, f16 or bf16; added to dx; may be dx itself */
  /* needed for dweight and dbias: kaio_rms_norm_backward_workspace_bytes, at a multiple of 16 bytes */
  const DLTensor* workspace;
} kaio_rms_norm_backward_options;
static inline kaio_rms_norm_backward_options kaio_rms_norm_backward_options_default(void) {
  kaio_rms_norm_backward_options it;
  it.size = sizeof(kaio_rms_norm_backward_options);
  it.epsilon = 1e-6f;
  it.weight_offset = 0.0f;
  it.reserved_12 = 0;
  it.dh = NULL;
  it.workspace = NULL;
  return it;
}

/* Options of layer_norm_backward. */
typedef struct kaio_layer_norm_backward_options {
  uint32_t size; /* sizeof(kaio_layer_norm_backward_options) */
  float epsilon; /* default 1e-5 */
  float weight_offset; /* added to the weight: 1 for Gemma */
  int32_t reserved_12; /* 0 */
  const DLTensor* dh; /* as x; f32, f16 or bf16; added to dx; may be dx itself */
  /* needed for dweight and dbias: kaio_layer_norm_backward_workspace_bytes, at a multiple of 16 bytes */
  const DLTensor* workspace;
} kaio_layer_norm_backward_options;
static inline kaio_layer_norm_backward_options kaio_layer_norm_backward_options_default(void) {
  kaio_layer_norm_backward_options it;
  it.size = sizeof(kaio_layer_norm_backward_options);
  it.epsilon = 1e-5f;
  it.weight_offset = 0.0f;
  it.reserved_12 = 0;
  it.dh = NULL;
  it.workspace = NULL;
  return it;
}

/* The gradients of rms_norm: dx, and dweight if it is given.
 * x is what was normed: the sum, if a residual was added. Equal calls give equal bits. Outputs share
 * memory with no other argument, except dx with dh.
 *   x        (..., size); f32, f16 or bf16
 *   weight   (size); f32, f16 or bf16; f32, or elements of x; NULL: a factor of 1
 *   dy       as x; elements of x
 *   dx       writes as x; elements of x
 *   dweight  writes (size); f32, f16 or bf16; f32, or elements of x; NULL: not computed
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_rms_norm_backward(void* stream, const DLTensor* x, const DLTensor* weight,
                                            const DLTensor* dy, const DLTensor* dx, const DLTensor* dweight,
                                            const kaio_rms_norm_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_rms_norm_backward; memory is not read. */
KAIO_API kaio_status kaio_rms_norm_backward_warmup(const DLTensor* x, const DLTensor* weight,
                                                   const DLTensor* dy, const DLTensor* dx,
                                                   const DLTensor* dweight,
                                                   const kaio_rms_norm_backward_options* options);

/* The bytes of workspace that a call takes, whatever its options are. For kaio_rms_norm_backward; memory
 * is not read. */
KAIO_API kaio_status kaio_rms_norm_backward_workspace_bytes(const DLTensor* x, uint64_t* bytes);

/* The gradients of layer_norm: dx, and dweight and dbias if they are given.
 * As rms_norm_backward.
 *   x        (..., size); f32, f16 or bf16
 *   weight   (size); f32, f16 or bf16; f32, or elements of x; NULL: a factor of 1
 *   dy       as x; elements of x
 *   dx       writes as x; elements of x
 *   dweight  writes (size); f32, f16 or bf16; f32, or elements of x; NULL: not computed
 *   dbias    writes (size); f32, f16 or bf16; f32, or elements of x; NULL: not computed
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_layer_norm_backward(void* stream, const DLTensor* x, const DLTensor* weight,
                                              const DLTensor* dy, const DLTensor* dx, const DLTensor* dweight,
                                              const DLTensor* dbias,
                                              const kaio_layer_norm_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_layer_norm_backward; memory is not read. */
KAIO_API kaio_status kaio_layer_norm_backward_warmup(const DLTensor* x, const DLTensor* weight,
                                                     const DLTensor* dy, const DLTensor* dx,
                                                     const DLTensor* dweight, const DLTensor* dbias,
                                                     const kaio_layer_norm_backward_options* options);

/* The bytes of workspace that a call takes, whatever its options are. For kaio_layer_norm_backward; memory
 * is not read. */
KAIO_API kaio_status kaio_layer_norm_backward_workspace_bytes(const DLTensor* x, uint64_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
