/* Norms. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/norm.json. */
#ifndef KAIO_C_NORM_H
#define KAIO_C_NORM_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of rms_norm. Tensors have the extents and the element type of x. */
typedef struct kaio_rms_norm_options {
  uint32_t size; /* sizeof(kaio_rms_norm_options) */
  float epsilon; /* default 1e-6 */
  float weight_offset; /* added to the weight: 1 for Gemma */
  int32_t reserved_12; /* 0 */
  const DLTensor* residual; /* as x; f32, f16 or bf16; added to x */
  const DLTensor* residual_out; /* as x; f32, f16 or bf16; gets x + residual; may be the residual itself */
} kaio_rms_norm_options;
static inline kaio_rms_norm_options kaio_rms_norm_options_default(void) {
  kaio_rms_norm_options it;
  it.size = sizeof(kaio_rms_norm_options);
  it.epsilon = 1e-6f;
  it.weight_offset = 0.0f;
  it.reserved_12 = 0;
  it.residual = NULL;
  it.residual_out = NULL;
  return it;
}

/* out = h / rms(h) * (weight_offset + weight) along the last dimension, with h = x + residual.
 * rms(h) = sqrt(mean of h^2 + epsilon), in f32. Rows have any strides, their elements are neighbours.
 *   x        (..., size); f32, f16 or bf16
 *   weight   (size); elements of x
 *   out      writes as x; elements of x; may be x itself
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_rms_norm(void* stream, const DLTensor* x, const DLTensor* weight,
                                   const DLTensor* out, const kaio_rms_norm_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_rms_norm; memory is not read. */
KAIO_API kaio_status kaio_rms_norm_warmup(const DLTensor* x, const DLTensor* weight, const DLTensor* out,
                                          const kaio_rms_norm_options* options);

/* rms_norm into codes: out = codes * scale.
 *   x        (..., size); f32, f16 or bf16
 *   weight   (size); elements of x
 *   codes    writes as x; i8 or e4m3
 *   scales   writes (...), one for each row; f32; gets the scales; NULL: `scale` is the scale of all rows
 *   scale    above 0 and finite; not read if scales are given
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_rms_norm_codes(void* stream, const DLTensor* x, const DLTensor* weight,
                                         const DLTensor* codes, const DLTensor* scales, float scale,
                                         const kaio_rms_norm_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_rms_norm_codes; memory is not read. */
KAIO_API kaio_status kaio_rms_norm_codes_warmup(const DLTensor* x, const DLTensor* weight,
                                                const DLTensor* codes, const DLTensor* scales, float scale,
                                                const kaio_rms_norm_options* options);

#ifdef __cplusplus
}
#endif

#endif
