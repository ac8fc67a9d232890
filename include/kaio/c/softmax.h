/* Softmax. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/softmax.json. */
#ifndef KAIO_C_SOFTMAX_H
#define KAIO_C_SOFTMAX_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of softmax and log_softmax. */
typedef struct kaio_softmax_options {
  uint32_t size; /* sizeof(kaio_softmax_options) */
  float scale; /* default 1; x is multiplied by it; finite */
  const DLTensor* lse; /* (...), one for each row; f32; gets the logarithms of the sums of exponentials */
} kaio_softmax_options;
static inline kaio_softmax_options kaio_softmax_options_default(void) {
  kaio_softmax_options it;
  it.size = sizeof(kaio_softmax_options);
  it.scale = 1.0f;
  it.lse = NULL;
  return it;
}

/* Options of the gradients of softmax and log_softmax. */
typedef struct kaio_softmax_backward_options {
  uint32_t size; /* sizeof(kaio_softmax_backward_options) */
  float scale; /* default 1; that of the forward call */
} kaio_softmax_backward_options;
static inline kaio_softmax_backward_options kaio_softmax_backward_options_default(void) {
  kaio_softmax_backward_options it;
  it.size = sizeof(kaio_softmax_backward_options);
  it.scale = 1.0f;
  return it;
}

/* y = e^v / sum of e^v along the last dimension, with v = scale * x.
 * In f32, rounded once. A row of -infinity becomes 0. Rows have any strides, their elements are
 * neighbours.
 *   x        (..., size); f32, f16 or bf16
 *   y        writes as x; elements of x; may be x itself
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_softmax(void* stream, const DLTensor* x, const DLTensor* y,
                                  const kaio_softmax_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_softmax; memory is not read. */
KAIO_API kaio_status kaio_softmax_warmup(const DLTensor* x, const DLTensor* y,
                                         const kaio_softmax_options* options);

/* y = v - log(sum of e^v) along the last dimension, with v = scale * x.
 * In f32, rounded once. A row of -infinity stays as it is.
 *   x        (..., size); f32, f16 or bf16
 *   y        writes as x; elements of x; may be x itself
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_log_softmax(void* stream, const DLTensor* x, const DLTensor* y,
                                      const kaio_softmax_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_log_softmax; memory is not read. */
KAIO_API kaio_status kaio_log_softmax_warmup(const DLTensor* x, const DLTensor* y,
                                             const kaio_softmax_options* options);

/* dx = scale * y * (dy - sum of y * dy), the gradient of softmax.
 *   y        (..., size); f32, f16 or bf16; the output of softmax
 *   dy       as y; elements of y
 *   dx       writes as y; elements of y; may be y or dy itself
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_softmax_backward(void* stream, const DLTensor* y, const DLTensor* dy,
                                           const DLTensor* dx, const kaio_softmax_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_softmax_backward; memory is not read. */
KAIO_API kaio_status kaio_softmax_backward_warmup(const DLTensor* y, const DLTensor* dy, const DLTensor* dx,
                                                  const kaio_softmax_backward_options* options);

/* dx = scale * (dy - e^y * sum of dy), the gradient of log_softmax.
 *   y        (..., size); f32, f16 or bf16; the output of log_softmax
 *   dy       as y; elements of y
 *   dx       writes as y; elements of y; may be y or dy itself
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_log_softmax_backward(void* stream, const DLTensor* y, const DLTensor* dy,
                                               const DLTensor* dx,
                                               const kaio_softmax_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_log_softmax_backward; memory is not read. */
KAIO_API kaio_status kaio_log_softmax_backward_warmup(const DLTensor* y, const DLTensor* dy,
                                                      const DLTensor* dx,
                                                      const kaio_softmax_backward_options* options);

#ifdef __cplusplus
}
#endif

#endif
