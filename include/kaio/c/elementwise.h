/* Activations and copies. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/elementwise.json. */
#ifndef KAIO_C_ELEMENTWISE_H
#define KAIO_C_ELEMENTWISE_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_activation: A function of one number. */
enum {
  KAIO_ACTIVATION_SILU = 0,
  KAIO_ACTIVATION_GELU = 1, /* by erf */
  KAIO_ACTIVATION_GELU_TANH = 2,
  KAIO_ACTIVATION_GELU_SIGMOID = 3, /* x / (1 + e^(-1.702 x)) */
  KAIO_ACTIVATION_RELU = 4,
  KAIO_ACTIVATION_RELU2 = 5 /* the square of relu */
};

/* Options of gates: y = f(min(gate, limit)) * (clamp(up, -limit, limit) + up_offset). */
typedef struct kaio_gated_options {
  uint32_t size; /* sizeof(kaio_gated_options) */
  float limit; /* above 0 and finite, 0: none; 7 for gpt-oss */
  float up_offset; /* finite; 1 for gpt-oss */
  int32_t reserved_12; /* 0 */
} kaio_gated_options;
static inline kaio_gated_options kaio_gated_options_default(void) {
  kaio_gated_options it;
  it.size = sizeof(kaio_gated_options);
  it.limit = 0.0f;
  it.up_offset = 0.0f;
  it.reserved_12 = 0;
  return it;
}

/* y = f(x).
 *   kind  kaio_activation
 *   x     (...); f32, f16 or bf16
 *   y     writes as x; elements of x; may be x itself */
KAIO_API kaio_status kaio_activate(void* stream, int32_t kind, const DLTensor* x, const DLTensor* y);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_activate; memory is not read. */
KAIO_API kaio_status kaio_activate_warmup(int32_t kind, const DLTensor* x, const DLTensor* y);

/* dx = dy * f'(x).
 *   kind  kaio_activation
 *   dy    as x; elements of x
 *   x     (...); f32, f16 or bf16
 *   dx    writes as x; elements of x; may be dy or x itself */
KAIO_API kaio_status kaio_activate_backward(void* stream, int32_t kind, const DLTensor* dy, const DLTensor* x,
                                            const DLTensor* dx);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_activate_backward; memory is not read. */
KAIO_API kaio_status kaio_activate_backward_warmup(int32_t kind, const DLTensor* dy, const DLTensor* x,
                                                   const DLTensor* dx);

/* y = f(gate) * up.
 * A packed tensor (..., 2 n) is two views of its halves, or of its even and odd elements.
 *   kind     kaio_activation
 *   gate     (...); f32, f16 or bf16
 *   up       as gate; elements of gate
 *   y        writes as gate; elements of gate; may be gate or up itself
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_gated(void* stream, int32_t kind, const DLTensor* gate, const DLTensor* up,
                                const DLTensor* y, const kaio_gated_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_gated; memory is not read. */
KAIO_API kaio_status kaio_gated_warmup(int32_t kind, const DLTensor* gate, const DLTensor* up,
                                       const DLTensor* y, const kaio_gated_options* options);

/* dgate = dy * up * f'(gate), dup = dy * f(gate).
 *   kind     kaio_activation
 *   dy       (...); f32, f16 or bf16
 *   gate     as dy; elements of dy
 *   up       as dy; elements of dy
 *   dgate    writes as dy; elements of dy; may be an input itself
 *   dup      writes as dy; elements of dy; may be an input itself
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_gated_backward(void* stream, int32_t kind, const DLTensor* dy, const DLTensor* gate,
                                         const DLTensor* up, const DLTensor* dgate, const DLTensor* dup,
                                         const kaio_gated_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_gated_backward; memory is not read. */
KAIO_API kaio_status kaio_gated_backward_warmup(int32_t kind, const DLTensor* dy, const DLTensor* gate,
                                                const DLTensor* up, const DLTensor* dgate,
                                                const DLTensor* dup, const kaio_gated_options* options);

/* Copies a tensor into another one of any strides; f32, f16 and bf16 are converted.
 *   to    writes (...); f32, f16, bf16, e4m3, e5m2, e8m0, bool, i8, u8, i16, u16, i32, u32, i64, u64 or
 *         f64
 *   from  as to, or broadcast to it; f32, f16, bf16, e4m3, e5m2, e8m0, bool, i8, u8, i16, u16, i32, u32,
 *         i64, u64 or f64; the type of to, or f32, f16 and bf16 into each other */
KAIO_API kaio_status kaio_copy_tensor(void* stream, const DLTensor* to, const DLTensor* from);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_copy_tensor; memory is not read. */
KAIO_API kaio_status kaio_copy_tensor_warmup(const DLTensor* to, const DLTensor* from);

/* x = codes * scale.
 *   codes  (...); i8
 *   scale  finite
 *   x      writes as codes; f32, f16 or bf16 */
KAIO_API kaio_status kaio_int8_dequant(void* stream, const DLTensor* codes, float scale, const DLTensor* x);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_int8_dequant; memory is not read. */
KAIO_API kaio_status kaio_int8_dequant_warmup(const DLTensor* codes, float scale, const DLTensor* x);

/* x[r, c] = codes[r, c] * scales[r, c / group].
 * A group has columns / groups columns, rounded up. Neighbours of a row are adjacent.
 *   codes   (rows, columns); i8
 *   scales  (rows or 1, groups); f32, f16 or bf16
 *   x       writes as codes; f32, f16 or bf16 */
KAIO_API kaio_status kaio_int8_dequant_groups(void* stream, const DLTensor* codes, const DLTensor* scales,
                                              const DLTensor* x);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_int8_dequant_groups; memory is not read. */
KAIO_API kaio_status kaio_int8_dequant_groups_warmup(const DLTensor* codes, const DLTensor* scales,
                                                     const DLTensor* x);

#ifdef __cplusplus
}
#endif

#endif
