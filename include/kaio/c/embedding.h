/* Embeddings. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/embedding.json. */
#ifndef KAIO_C_EMBEDDING_H
#define KAIO_C_EMBEDDING_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of embedding. */
typedef struct kaio_embedding_options {
  uint32_t size; /* sizeof(kaio_embedding_options) */
  int32_t reserved_4; /* 0 */
  const DLTensor* errors; /* (1); u32; the number of indices outside of the vocabulary is added to it */
} kaio_embedding_options;
static inline kaio_embedding_options kaio_embedding_options_default(void) {
  kaio_embedding_options it;
  it.size = sizeof(kaio_embedding_options);
  it.reserved_4 = 0;
  it.errors = NULL;
  return it;
}

/* Options of embedding_backward. */
typedef struct kaio_embedding_backward_options {
  uint32_t size; /* sizeof(kaio_embedding_backward_options) */
  int32_t reserved_4; /* 0 */
  int64_t padding_index; /* default -1; tokens with this index are left out; below 0: none */
  int32_t accumulate; /* 1: adds to dweight; rows without tokens are then not written */
  int32_t reserved_20; /* 0 */
  const DLTensor* workspace; /* kaio_embedding_backward_workspace_bytes, at a multiple of 16 bytes */
} kaio_embedding_backward_options;
static inline kaio_embedding_backward_options kaio_embedding_backward_options_default(void) {
  kaio_embedding_backward_options it;
  it.size = sizeof(kaio_embedding_backward_options);
  it.reserved_4 = 0;
  it.padding_index = -1;
  it.accumulate = 0;
  it.reserved_20 = 0;
  it.workspace = NULL;
  return it;
}

/* out[i, :] = weight[indices[i], :].
 * An index that is negative, or not below the vocabulary, gives a row of zeros.
 *   indices  (...); i32 or i64
 *   weight   (vocabulary, size); f32, f16 or bf16
 *   out      writes (..., size); elements of weight
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_embedding(void* stream, const DLTensor* indices, const DLTensor* weight,
                                    const DLTensor* out, const kaio_embedding_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_embedding; memory is not read. */
KAIO_API kaio_status kaio_embedding_warmup(const DLTensor* indices, const DLTensor* weight,
                                           const DLTensor* out, const kaio_embedding_options* options);

/* dweight[v, :] = the sum of dout[i, :] over all i with indices[i] = v.
 * Sums are f32, in increasing order of i, and are rounded once. Equal calls give equal bits.
 *   dout     (..., size); f32, f16 or bf16
 *   indices  (...); i32 or i64
 *   dweight  writes (vocabulary, size); f32, f16 or bf16; the type of dout, or f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_embedding_backward(void* stream, const DLTensor* dout, const DLTensor* indices,
                                             const DLTensor* dweight,
                                             const kaio_embedding_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_embedding_backward; memory is not read. */
KAIO_API kaio_status kaio_embedding_backward_warmup(const DLTensor* dout, const DLTensor* indices,
                                                    const DLTensor* dweight,
                                                    const kaio_embedding_backward_options* options);

/* The bytes of workspace that the call needs. For kaio_embedding_backward; memory is not read. */
KAIO_API kaio_status kaio_embedding_backward_workspace_bytes(const DLTensor* indices, const DLTensor* dweight,
                                                             uint64_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
