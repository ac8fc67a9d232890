/* Attention over a cache. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/attention_decode.json. */
#ifndef KAIO_C_ATTENTION_DECODE_H
#define KAIO_C_ATTENTION_DECODE_H

#include <kaio/c/base.h>
#include <kaio/c/attention.h>
#include <kaio/c/cache.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_attention_combining: How the splits of a sequence's keys are added up. */
enum {
  KAIO_ATTENTION_COMBINING_AUTOMATIC = 0, /* whichever is faster */
  KAIO_ATTENTION_COMBINING_SECOND_KERNEL = 1, /* through the workspace */
  KAIO_ATTENTION_COMBINING_CLUSTER = 2 /* in a cluster of up to 16 blocks: sm_90, up to 16 rows of a tile */
};

/* New keys and values that a call appends to the cache before it reads it, as kaio_append_kv does. The
 * cache is then written. */
typedef struct kaio_attention_append {
  uint32_t size; /* sizeof(kaio_attention_append) */
  int32_t reserved_4; /* 0 */
  /* needed; (batches, tokens, heads, size); f32, f16 or bf16; (tokens, heads, size) for
   * attention_decode_varlen, or with cu_k */
  const DLTensor* k;
  const DLTensor* v; /* needed; likewise; elements of k */
  /* (sequences + 1); i32; sequence b has new rows cu_k[b] to before cu_k[b + 1]; NULL: those of its
   * queries */
  const DLTensor* cu_k;
  const kaio_append_rotary* rotary; /* rotates the new keys and the queries of the call; leave its q out */
  /* (pages, rows, heads); f32; gets computed scales of a cache of 8 bits, in place of k_scale */
  const DLTensor* k_scale_out;
  const DLTensor* v_scale_out; /* (pages, rows, heads); f32 */
} kaio_attention_append;
static inline kaio_attention_append kaio_attention_append_default(void) {
  kaio_attention_append it;
  it.size = sizeof(kaio_attention_append);
  it.reserved_4 = 0;
  it.k = NULL;
  it.v = NULL;
  it.cu_k = NULL;
  it.rotary = NULL;
  it.k_scale_out = NULL;
  it.v_scale_out = NULL;
  return it;
}

/* Options of attention over a cache. */
typedef struct kaio_attention_decode_options {
  uint32_t size; /* sizeof(kaio_attention_decode_options) */
  float scale; /* the factor of q . k; 0: 1 / sqrt(head size of q), with qv of both head sizes together */
  float softcap; /* above 0: the score x becomes softcap * tanh(x / softcap) */
  int32_t causal; /* kaio_causal_alignment: none or bottom_right */
  uint32_t splits; /* parts of the keys, 1 to 256; 0: chosen */
  int32_t combining; /* kaio_attention_combining */
  int32_t batch_invariant; /* 1: the bits of a sequence do not depend on the other sequences of the call */
  int32_t constant; /* kaio_constant_inputs: indices */
  int64_t window_left; /* default -1; keys before a query's own one that it attends to; -1: all */
  int64_t window_right; /* default -1; keys after its own one; -1: all; causal makes it 0 */
  int64_t max_length; /* the most keys of a sequence, by which work is divided; 0: the room of the cache */
  /* (B, Sq, Hq, Dv); f32, f16 or bf16; queries that are multiplied with values: the score is scale * (q .
   * k + qv . v) */
  const DLTensor* qv;
  /* (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key| */
  const DLTensor* alibi;
  /* (1), (heads), (sequences, heads) or (pages, rows, heads); f32; scales of a cache of 8 bits; NULL: 1 */
  const DLTensor* k_scale;
  const DLTensor* v_scale; /* as k_scale; f32 */
  const DLTensor* sinks; /* (heads); f32, f16 or bf16; the score of an extra key without a value */
  /* (batches, heads, queries); (heads, rows) for attention_decode_varlen; f32; gets ln of the sum of
   * exp(x); -inf without a key */
  const DLTensor* lse;
  /* new keys and values; NULL: none. Lengths of the cache are those before, last_page_len those after */
  const kaio_attention_append* append;
  const DLTensor* workspace; /* kaio_attention_decode_workspace_bytes, at a multiple of 16 bytes */
  const char* variant; /* the kernel to run, as kaio_attention_decode_choice names it; NULL: the best one */
} kaio_attention_decode_options;
static inline kaio_attention_decode_options kaio_attention_decode_options_default(void) {
  kaio_attention_decode_options it;
  it.size = sizeof(kaio_attention_decode_options);
  it.scale = 0.0f;
  it.softcap = 0.0f;
  it.causal = 0;
  it.splits = 0;
  it.combining = 0;
  it.batch_invariant = 0;
  it.constant = 0;
  it.window_left = -1;
  it.window_right = -1;
  it.max_length = 0;
  it.qv = NULL;
  it.alibi = NULL;
  it.k_scale = NULL;
  it.v_scale = NULL;
  it.sinks = NULL;
  it.lse = NULL;
  it.append = NULL;
  it.workspace = NULL;
  it.variant = NULL;
  return it;
}

/* Attention of few queries over a cache of keys and values: decode steps, speculative steps, chunks of a
 * prompt.
 * n queries are the last n keys of a sequence. Lengths and tables are read when the kernels run: a
 * captured call may be replayed with others. Made for Sq from 1 to 128; D and Dv are up to 512.
 * For multi-head latent attention, cache.v is the first elements of the rows of cache.k.
 *   q        (B, Sq, Hq, D); f32, f16 or bf16
 *   out      writes (B, Sq, Hq, Dv); f32, f16 or bf16; elements of q, or f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_attention_decode(void* stream, const DLTensor* q, const kaio_kv_cache* cache,
                                           const DLTensor* out, const kaio_attention_decode_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_attention_decode; memory is not read. */
KAIO_API kaio_status kaio_attention_decode_warmup(const DLTensor* q, const kaio_kv_cache* cache,
                                                  const DLTensor* out,
                                                  const kaio_attention_decode_options* options);

/* The bytes of workspace that the call takes; 0 if no second kernel runs. For kaio_attention_decode;
 * memory is not read. */
KAIO_API kaio_status kaio_attention_decode_workspace_bytes(const DLTensor* q, const kaio_kv_cache* cache,
                                                           const kaio_attention_decode_options* options,
                                                           uint64_t* bytes);

/* The kernel that the call runs, and the number of splits of its keys. For kaio_attention_decode; memory
 * is not read. */
KAIO_API kaio_status kaio_attention_decode_choice(const DLTensor* q, const kaio_kv_cache* cache,
                                                  const DLTensor* out,
                                                  const kaio_attention_decode_options* options,
                                                  kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, with several numbers of splits, and remembers the fastest.
 * Waits for the device. For kaio_attention_decode; memory is not read. */
KAIO_API kaio_status kaio_tune_attention_decode(const DLTensor* q, const kaio_kv_cache* cache,
                                                const DLTensor* out,
                                                const kaio_attention_decode_options* options,
                                                const kaio_tune_options* how, kaio_tune_report* report);

/* attention_decode for sequences with different numbers of queries, which follow each other along the rows
 * of q.
 * sequences has cu_q and max_q alone. Rows of no sequence are not written.
 *   q          (rows, Hq, D); f32, f16 or bf16
 *   out        writes (rows, Hq, Dv); f32, f16 or bf16; elements of q, or f32
 *   options    NULL: all defaults */
KAIO_API kaio_status kaio_attention_decode_varlen(void* stream, const DLTensor* q, const kaio_kv_cache* cache,
                                                  const DLTensor* out,
                                                  const kaio_attention_sequences* sequences,
                                                  const kaio_attention_decode_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_attention_decode_varlen; memory is not read. */
KAIO_API kaio_status kaio_attention_decode_varlen_warmup(const DLTensor* q, const kaio_kv_cache* cache,
                                                         const DLTensor* out,
                                                         const kaio_attention_sequences* sequences,
                                                         const kaio_attention_decode_options* options);

/* The bytes of workspace that the call takes; 0 if no second kernel runs. For
 * kaio_attention_decode_varlen; memory is not read. */
KAIO_API kaio_status kaio_attention_decode_varlen_workspace_bytes(const DLTensor* q,
                                                                  const kaio_kv_cache* cache,
                                                                  const kaio_attention_sequences* sequences,
                                                                  const kaio_attention_decode_options* options,
                                                                  uint64_t* bytes);

/* The kernel that the call runs, and the number of splits of its keys. For kaio_attention_decode_varlen;
 * memory is not read. */
KAIO_API kaio_status kaio_attention_decode_varlen_choice(const DLTensor* q, const kaio_kv_cache* cache,
                                                         const DLTensor* out,
                                                         const kaio_attention_sequences* sequences,
                                                         const kaio_attention_decode_options* options,
                                                         kaio_kernel_choice* choice);

/* Measures every kernel that can run the call, as if all sequences had equally many queries. Waits for the
 * device. For kaio_attention_decode_varlen; memory is not read. */
KAIO_API kaio_status kaio_tune_attention_decode_varlen(const DLTensor* q, const kaio_kv_cache* cache,
                                                       const DLTensor* out,
                                                       const kaio_attention_sequences* sequences,
                                                       const kaio_attention_decode_options* options,
                                                       const kaio_tune_options* how, kaio_tune_report* report);

#ifdef __cplusplus
}
#endif

#endif
