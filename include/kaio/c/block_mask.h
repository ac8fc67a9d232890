/* Block masks. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/block_mask.json. */
#ifndef KAIO_C_BLOCK_MASK_H
#define KAIO_C_BLOCK_MASK_H

#include <kaio/c/base.h>
#include <kaio/c/attention.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a block mask is written: Qb = ceil(queries / block_queries), Kb = ceil(keys / block_keys). The
 * last dimension may have more room. Each pair of tensors may be left out; without the full ones, full
 * blocks are listed as partial. */
typedef struct kaio_block_mask_output {
  uint32_t size; /* sizeof(kaio_block_mask_output) */
  int32_t reserved_4; /* 0 */
  int64_t block_queries; /* default 128; queries of a block */
  int64_t block_keys; /* default 128; keys of a block */
  const DLTensor* kv_num_blocks; /* (B', H', Qb); i32; how many blocks of keys the mask keeps in part */
  const DLTensor* kv_indices; /* (B', H', Qb, Kb); i32; which blocks */
  const DLTensor* full_kv_num_blocks; /* (B', H', Qb); i32; how many it keeps as a whole */
  const DLTensor* full_kv_indices; /* (B', H', Qb, Kb); i32; which blocks */
  /* (B', H', Kb); i32; how many blocks of queries visit a block of keys, in part */
  const DLTensor* q_num_blocks;
  const DLTensor* q_indices; /* (B', H', Kb, Qb); i32; which blocks */
  const DLTensor* full_q_num_blocks; /* (B', H', Kb); i32; how many as a whole */
  const DLTensor* full_q_indices; /* (B', H', Kb, Qb); i32; which blocks */
} kaio_block_mask_output;
static inline kaio_block_mask_output kaio_block_mask_output_default(void) {
  kaio_block_mask_output it;
  it.size = sizeof(kaio_block_mask_output);
  it.reserved_4 = 0;
  it.block_queries = 128;
  it.block_keys = 128;
  it.kv_num_blocks = NULL;
  it.kv_indices = NULL;
  it.full_kv_num_blocks = NULL;
  it.full_kv_indices = NULL;
  it.q_num_blocks = NULL;
  it.q_indices = NULL;
  it.full_q_num_blocks = NULL;
  it.full_q_indices = NULL;
  return it;
}

/* The mask: queries and keys of a head, and which keys a query attends to, as in kaio_attention_options. */
typedef struct kaio_block_mask_options {
  uint32_t size; /* sizeof(kaio_block_mask_options) */
  int32_t causal; /* kaio_causal_alignment */
  int64_t queries; /* per head, as the attention will have them */
  int64_t keys; /* per head */
  int64_t window_left; /* default -1; keys before a query's own one that it attends to; -1: all */
  int64_t window_right; /* default -1; keys after its own one; -1: all; causal makes it 0 */
} kaio_block_mask_options;
static inline kaio_block_mask_options kaio_block_mask_options_default(void) {
  kaio_block_mask_options it;
  it.size = sizeof(kaio_block_mask_options);
  it.causal = 0;
  it.queries = 0;
  it.keys = 0;
  it.window_left = -1;
  it.window_right = -1;
  return it;
}

/* Makes the block mask of a causal mask or a window on the device.
 * Lists are in order. Numbers after a count are not written. Masks of other kinds are made by the caller,
 * or in C++ by make_block_mask. */
KAIO_API kaio_status kaio_make_block_mask(void* stream, DLDevice device, const kaio_block_mask_output* output,
                                          const kaio_block_mask_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_make_block_mask; memory is not read. */
KAIO_API kaio_status kaio_make_block_mask_warmup(DLDevice device, const kaio_block_mask_output* output,
                                                 const kaio_block_mask_options* options);

#ifdef __cplusplus
}
#endif

#endif
