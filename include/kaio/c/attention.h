/* Attention. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/attention.json. */
#ifndef KAIO_C_ATTENTION_H
#define KAIO_C_ATTENTION_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_causal_alignment: Whether a query attends to no later keys, and where its own key is. With as many
 * keys as queries, both alignments agree. */
enum {
  KAIO_CAUSAL_ALIGNMENT_NONE = 0,
  KAIO_CAUSAL_ALIGNMENT_TOP_LEFT = 1, /* key <= query: torch's is_causal */
  KAIO_CAUSAL_ALIGNMENT_BOTTOM_RIGHT = 2 /* key <= query + keys - queries: FlashAttention's */
};

/* kaio_attention_precision: How products of f32 are computed. */
enum {
  KAIO_ATTENTION_PRECISION_IEEE = 0, /* multiply-adds in f32 */
  KAIO_ATTENTION_PRECISION_TF32 = 1 /* tensor cores, inputs rounded to 11 significant bits; exact if no kernel does it */
};

/* The blocks of keys that each block of queries visits, as FlexAttention's BlockMask. B' is the batches of
 * q or 1, H' its heads or 1, Qb = ceil(queries / block_queries). Kb is any room. */
typedef struct kaio_block_mask {
  uint32_t size; /* sizeof(kaio_block_mask) */
  int32_t reserved_4; /* 0 */
  int64_t block_queries; /* default 128; queries of a block; multiples of 128 are fastest */
  int64_t block_keys; /* default 128; keys of a block */
  const DLTensor* kv_num_blocks; /* (B', H', Qb); i32; how many blocks of keys are visited with the mask */
  const DLTensor* kv_indices; /* (B', H', Qb, Kb); i32; which blocks */
  /* (B', H', Qb); i32; how many blocks of keys are kept as a whole; NULL: none */
  const DLTensor* full_kv_num_blocks;
  const DLTensor* full_kv_indices; /* (B', H', Qb, Kb); i32; which blocks */
} kaio_block_mask;
static inline kaio_block_mask kaio_block_mask_default(void) {
  kaio_block_mask it;
  it.size = sizeof(kaio_block_mask);
  it.reserved_4 = 0;
  it.block_queries = 128;
  it.block_keys = 128;
  it.kv_num_blocks = NULL;
  it.kv_indices = NULL;
  it.full_kv_num_blocks = NULL;
  it.full_kv_indices = NULL;
  return it;
}

/* Options of attention. The scores are scale * q . k, softcap, less ALiBi, plus the bias, in this order. */
typedef struct kaio_attention_options {
  uint32_t size; /* sizeof(kaio_attention_options) */
  float scale; /* the factor of q . k; 0: 1 / sqrt(head size of q) */
  float softcap; /* above 0: the score x becomes softcap * tanh(x / softcap) */
  int32_t causal; /* kaio_causal_alignment */
  int32_t precision; /* kaio_attention_precision: for operands of f32 */
  int32_t batch_invariant; /* 1: the bits of a sequence do not depend on the other sequences of the call */
  int64_t window_left; /* default -1; keys before a query's own one that it attends to; -1: all */
  int64_t window_right; /* default -1; keys after its own one; -1: all; causal makes it 0 */
  /* (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key| */
  const DLTensor* alibi;
  /* (batches, heads, queries, keys) or the last of these; f32, f16 or bf16; added; an extent of 1 serves
   * all; f32, or elements of q; not for attention_varlen */
  const DLTensor* bias;
  const DLTensor* keep; /* as bias; bool or u8; 0 masks the key; not for attention_varlen */
  const DLTensor* sinks; /* (heads); f32, f16 or bf16; the score of an extra key without a value */
  /* (batches, heads, queries); (heads, rows) for attention_varlen; f32; gets ln of the sum of exp(x); -inf
   * without a key */
  const DLTensor* lse;
  const kaio_block_mask* blocks; /* the blocks of keys that are visited; NULL: all */
  const char* variant; /* the kernel to run, as kaio_attention_choice names it; NULL: the best one */
} kaio_attention_options;
static inline kaio_attention_options kaio_attention_options_default(void) {
  kaio_attention_options it;
  it.size = sizeof(kaio_attention_options);
  it.scale = 0.0f;
  it.softcap = 0.0f;
  it.causal = 0;
  it.precision = 0;
  it.batch_invariant = 0;
  it.window_left = -1;
  it.window_right = -1;
  it.alibi = NULL;
  it.bias = NULL;
  it.keep = NULL;
  it.sinks = NULL;
  it.lse = NULL;
  it.blocks = NULL;
  it.variant = NULL;
  return it;
}

/* Sequences that follow each other along the rows of a tensor. Sequence b has rows cu_q[b] to before
 * cu_q[b + 1] of q. The device reads these numbers when the call runs. */
typedef struct kaio_attention_sequences {
  uint32_t size; /* sizeof(kaio_attention_sequences) */
  int32_t reserved_4; /* 0 */
  const DLTensor* cu_q; /* needed; (sequences + 1); i32; from 0 on, never decreasing */
  const DLTensor* cu_k; /* (sequences + 1); i32; likewise, of k and v; not for a cache */
  int64_t max_q; /* at least the rows of q of the longest sequence */
  int64_t max_k; /* for gradients: at least the rows of k of the longest sequence; 0: all rows */
  const DLTensor* used_q; /* (sequences); i32; the used rows of each; NULL: all */
  const DLTensor* used_k; /* (sequences); i32; likewise, of k and v */
} kaio_attention_sequences;
static inline kaio_attention_sequences kaio_attention_sequences_default(void) {
  kaio_attention_sequences it;
  it.size = sizeof(kaio_attention_sequences);
  it.reserved_4 = 0;
  it.cu_q = NULL;
  it.cu_k = NULL;
  it.max_q = 0;
  it.max_k = 0;
  it.used_q = NULL;
  it.used_k = NULL;
  return it;
}

/* out = softmax(mask(scale * Q K^T)) V for every head, without the matrix of scores in memory.
 * The last stride of each tensor is 1, others are free. A tensor in the order of torch, (batches, heads,
 * sequence, size), is passed with strides. Hq is a multiple of Hkv. D and Dv are 1 to 512.
 * A query that attends to no key gets zeros. Equal calls give equal bits.
 *   q        (B, Sq, Hq, D); f32, f16 or bf16
 *   k        (B, Sk, Hkv, D); elements of q
 *   v        (B, Sk, Hkv, Dv); elements of q
 *   out      writes (B, Sq, Hq, Dv); f32, f16 or bf16; elements of q, or f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_attention(void* stream, const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                    const DLTensor* out, const kaio_attention_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_attention; memory is not read. */
KAIO_API kaio_status kaio_attention_warmup(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                           const DLTensor* out, const kaio_attention_options* options);

/* The kernel that the call runs. For kaio_attention; memory is not read. */
KAIO_API kaio_status kaio_attention_choice(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                           const DLTensor* out, const kaio_attention_options* options,
                                           kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits for
 * the device. For kaio_attention; memory is not read. */
KAIO_API kaio_status kaio_tune_attention(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                         const DLTensor* out, const kaio_attention_options* options,
                                         const kaio_tune_options* how, kaio_tune_report* report);

/* attention over sequences of different lengths in one tensor.
 * Masks and windows are aligned in each sequence by its own lengths. Rows of no sequence, and those beyond
 * used_q, are not written. A captured call may be replayed with other lengths.
 *   q          (rows, Hq, D); f32, f16 or bf16
 *   k          (rows of k, Hkv, D); elements of q
 *   v          (rows of k, Hkv, Dv); elements of q
 *   out        writes (rows, Hq, Dv); f32, f16 or bf16; elements of q, or f32
 *   options    NULL: all defaults */
KAIO_API kaio_status kaio_attention_varlen(void* stream, const DLTensor* q, const DLTensor* k,
                                           const DLTensor* v, const DLTensor* out,
                                           const kaio_attention_sequences* sequences,
                                           const kaio_attention_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_attention_varlen; memory is not read. */
KAIO_API kaio_status kaio_attention_varlen_warmup(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                                  const DLTensor* out,
                                                  const kaio_attention_sequences* sequences,
                                                  const kaio_attention_options* options);

/* The kernel that the call runs. For kaio_attention_varlen; memory is not read. */
KAIO_API kaio_status kaio_attention_varlen_choice(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                                  const DLTensor* out,
                                                  const kaio_attention_sequences* sequences,
                                                  const kaio_attention_options* options,
                                                  kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, as if all sequences had equally many rows. Waits for the
 * device. For kaio_attention_varlen; memory is not read. */
KAIO_API kaio_status kaio_tune_attention_varlen(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                                const DLTensor* out,
                                                const kaio_attention_sequences* sequences,
                                                const kaio_attention_options* options,
                                                const kaio_tune_options* how, kaio_tune_report* report);

/* Joins two attentions of the same queries over different keys into the attention over all of them.
 * A result whose lse is -inf had no keys, and counts for nothing. Sinks belong to one of the two. out may
 * be out_a or out_b itself, lse likewise.
 *   out_a  (B, S, H, D) or (rows, H, D); f32, f16 or bf16
 *   lse_a  (B, H, S) or (H, rows); f32
 *   out_b  as out_a; f32, f16 or bf16
 *   lse_b  as lse_a; f32
 *   out    writes as out_a; f32, f16 or bf16
 *   lse    writes as lse_a; f32; NULL: not written */
KAIO_API kaio_status kaio_merge_states(void* stream, const DLTensor* out_a, const DLTensor* lse_a,
                                       const DLTensor* out_b, const DLTensor* lse_b, const DLTensor* out,
                                       const DLTensor* lse);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_merge_states; memory is not read. */
KAIO_API kaio_status kaio_merge_states_warmup(const DLTensor* out_a, const DLTensor* lse_a,
                                              const DLTensor* out_b, const DLTensor* lse_b,
                                              const DLTensor* out, const DLTensor* lse);

#ifdef __cplusplus
}
#endif

#endif
