/* Norms. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/norm.json. */
#ifndef KAIO_C_NORM_H
#define KAIO_C_NORM_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_norm_casting: Where a number of 16 bits is rounded before the weight multiplies it. */
enum {
  KAIO_NORM_CASTING_GEMMA = 0, /* nowhere: all in f32, rounded once */
  KAIO_NORM_CASTING_LLAMA = 1 /* the normalised number is rounded, and its product with the weight again */
};

/* Options of rms_norm. Tensors have the extents and the element type of x; a stride of 0 repeats a row. */
typedef struct kaio_rms_norm_options {
  uint32_t size; /* sizeof(kaio_rms_norm_options) */
  float epsilon; /* default 1e-6 */
  float weight_offset; /* added to the weight: 1 for Gemma */
  int32_t reserved_12; /* 0 */
  const DLTensor* residual; /* as x; f32, f16 or bf16; added to x */
  /* as x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself */
  const DLTensor* residual_out;
  int32_t casting; /* kaio_norm_casting: where numbers of 16 bits are rounded */
  int32_t reserved_36; /* 0 */
  const DLTensor* gate; /* as x; f32, f16 or bf16; multiplies x first */
  const DLTensor* scale; /* as x; f32, f16 or bf16; 1 + it multiplies the norm */
  const DLTensor* shift; /* as x; f32, f16 or bf16; is added to that product */
  /* as x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here */
  const DLTensor* y_out;
} kaio_rms_norm_options;
static inline kaio_rms_norm_options kaio_rms_norm_options_default(void) {
  kaio_rms_norm_options it;
  it.size = sizeof(kaio_rms_norm_options);
  it.epsilon = 1e-6f;
  it.weight_offset = 0.0f;
  it.reserved_12 = 0;
  it.residual = NULL;
  it.residual_out = NULL;
  it.casting = 0;
  it.reserved_36 = 0;
  it.gate = NULL;
  it.scale = NULL;
  it.shift = NULL;
  it.y_out = NULL;
  return it;
}

/* Options of layer_norm. Tensors have the extents and the element type of x; a stride of 0 repeats a row. */
typedef struct kaio_layer_norm_options {
  uint32_t size; /* sizeof(kaio_layer_norm_options) */
  float epsilon; /* default 1e-5 */
  float weight_offset; /* added to the weight */
  int32_t reserved_12; /* 0 */
  const DLTensor* residual; /* as x; f32, f16 or bf16; added to x */
  /* as x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself */
  const DLTensor* residual_out;
  int32_t casting; /* kaio_norm_casting: where numbers of 16 bits are rounded */
  int32_t reserved_36; /* 0 */
  const DLTensor* gate; /* as x; f32, f16 or bf16; multiplies x first */
  const DLTensor* scale; /* as x; f32, f16 or bf16; 1 + it multiplies the norm */
  const DLTensor* shift; /* as x; f32, f16 or bf16; is added to that product */
  /* as x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here */
  const DLTensor* y_out;
} kaio_layer_norm_options;
static inline kaio_layer_norm_options kaio_layer_norm_options_default(void) {
  kaio_layer_norm_options it;
  it.size = sizeof(kaio_layer_norm_options);
  it.epsilon = 1e-5f;
  it.weight_offset = 0.0f;
  it.reserved_12 = 0;
  it.residual = NULL;
  it.residual_out = NULL;
  it.casting = 0;
  it.reserved_36 = 0;
  it.gate = NULL;
  it.scale = NULL;
  it.shift = NULL;
  it.y_out = NULL;
  return it;
}

/* out = h / rms(h) * (weight_offset + weight) along the last dimension, with h = x * gate + residual.
 * rms(h) = sqrt(mean of h^2 + epsilon), in f32. Rows have any strides, their elements are neighbours.
 *   x        (..., size); f32, f16 or bf16
 *   weight   (size); f32, f16 or bf16; elements of x, or f32
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
 *   weight   (size); f32, f16 or bf16; elements of x, or f32
 *   codes    writes as x; i8 or e4m3
 *   scales   writes (...), one for each row, or (..., ceil(size / 128)), one for each 128 neighbours of a
 *            row; f32; gets the scales; NULL: `scale` is the scale of all rows
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

/* out = (h - mean) / sqrt(variance + epsilon) * weight + bias along the last dimension, with h = x * gate
 * + residual.
 * The variance is the mean square of h - mean, in f32. Rows have any strides, their elements are
 * neighbours.
 *   x        (..., size); f32, f16 or bf16
 *   weight   (size); f32, f16 or bf16; elements of x, or f32; NULL: none
 *   bias     (size); f32, f16 or bf16; elements of the weight; NULL: none
 *   out      writes as x; elements of x; may be x itself
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_layer_norm(void* stream, const DLTensor* x, const DLTensor* weight,
                                     const DLTensor* bias, const DLTensor* out,
                                     const kaio_layer_norm_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_layer_norm; memory is not read. */
KAIO_API kaio_status kaio_layer_norm_warmup(const DLTensor* x, const DLTensor* weight, const DLTensor* bias,
                                            const DLTensor* out, const kaio_layer_norm_options* options);

/* layer_norm into codes: out = codes * scale.
 *   x        (..., size); f32, f16 or bf16
 *   weight   (size); f32, f16 or bf16; elements of x, or f32; NULL: none
 *   bias     (size); f32, f16 or bf16; elements of the weight; NULL: none
 *   codes    writes as x; i8 or e4m3
 *   scales   writes (...), one for each row, or (..., ceil(size / 128)), one for each 128 neighbours of a
 *            row; f32; gets the scales; NULL: `scale` is the scale of all rows
 *   scale    above 0 and finite; not read if scales are given
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_layer_norm_codes(void* stream, const DLTensor* x, const DLTensor* weight,
                                           const DLTensor* bias, const DLTensor* codes,
                                           const DLTensor* scales, float scale,
                                           const kaio_layer_norm_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_layer_norm_codes; memory is not read. */
KAIO_API kaio_status kaio_layer_norm_codes_warmup(const DLTensor* x, const DLTensor* weight,
                                                  const DLTensor* bias, const DLTensor* codes,
                                                  const DLTensor* scales, float scale,
                                                  const kaio_layer_norm_options* options);

#ifdef __cplusplus
}
#endif

#endif
