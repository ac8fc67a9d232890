/* Caches of keys and values, rotary embedding. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/cache.json. */
#ifndef KAIO_C_CACHE_H
#define KAIO_C_CACHE_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_rotary_scaling_kind: How frequencies change for sequences longer than a model was trained on:
 * rope_type of a config.json. */
enum {
  KAIO_ROTARY_SCALING_KIND_NONE = 0,
  KAIO_ROTARY_SCALING_KIND_LINEAR = 1,
  KAIO_ROTARY_SCALING_KIND_DYNAMIC = 2,
  KAIO_ROTARY_SCALING_KIND_YARN = 3,
  KAIO_ROTARY_SCALING_KIND_LONGROPE = 4,
  KAIO_ROTARY_SCALING_KIND_LLAMA3 = 5,
  KAIO_ROTARY_SCALING_KIND_PROPORTIONAL = 6
};

/* A cache of keys and values: contiguous without table and indptr, or in pages. Key j of sequence b is row
 * j % rows of page table[b][j / rows], or of page indices[indptr[b] + j / rows]. All of it is in device
 * memory, and is read when a call runs. */
typedef struct kaio_kv_cache {
  uint32_t size; /* sizeof(kaio_kv_cache) */
  int32_t reserved_4; /* 0 */
  /* needed; (pages or batches, rows, heads, size); f32, f16, bf16, e4m3, e5m2 or i8; the last stride is 1 */
  const DLTensor* k;
  const DLTensor* v; /* needed; as k; the size may differ; elements of k */
  const DLTensor* table; /* (sequences, most pages of one); i32; page numbers */
  const DLTensor* indptr; /* (sequences + 1); i32; in place of table, with indices */
  const DLTensor* indices; /* (pages of all sequences); i32; page numbers */
  const DLTensor* lengths; /* (sequences); i32; keys of each; NULL: all rows */
  /* (sequences); i32; with indptr, in place of lengths: rows of the last page */
  const DLTensor* last_page_len;
  const DLTensor* batch_index; /* (sequences); i32; contiguous: the batch of each; NULL: its own number */
  /* (sequences); i32; keys before this one do not exist, but their positions count */
  const DLTensor* left_padding;
} kaio_kv_cache;
static inline kaio_kv_cache kaio_kv_cache_default(void) {
  kaio_kv_cache it;
  it.size = sizeof(kaio_kv_cache);
  it.reserved_4 = 0;
  it.k = NULL;
  it.v = NULL;
  it.table = NULL;
  it.indptr = NULL;
  it.indices = NULL;
  it.lengths = NULL;
  it.last_page_len = NULL;
  it.batch_index = NULL;
  it.left_padding = NULL;
  return it;
}

/* The rotation of new keys, and of queries, in the launch that appends. */
typedef struct kaio_append_rotary {
  uint32_t size; /* sizeof(kaio_append_rotary) */
  /* 1: pairs (0, 1), (2, 3), ..., as in GPT-J; 0: (0, P), (1, P + 1), ..., as in Llama */
  int32_t interleaved;
  int32_t q_at_first; /* 1: all queries of a sequence are rotated as the first new token */
  int32_t reserved_12; /* 0 */
  const DLTensor* cos; /* needed; (positions, pairs); f32, f16 or bf16 */
  const DLTensor* sin; /* needed; as cos; elements of cos */
  /* (tokens) or (batches, tokens); i32 or i64; NULL: the number of the token's key, less left_padding */
  const DLTensor* positions;
  const DLTensor* q; /* as k, with heads of its own; f32, f16 or bf16; elements of k */
  const DLTensor* q_out; /* as q; elements of q; may be q itself */
} kaio_append_rotary;
static inline kaio_append_rotary kaio_append_rotary_default(void) {
  kaio_append_rotary it;
  it.size = sizeof(kaio_append_rotary);
  it.interleaved = 0;
  it.q_at_first = 0;
  it.reserved_12 = 0;
  it.cos = NULL;
  it.sin = NULL;
  it.positions = NULL;
  it.q = NULL;
  it.q_out = NULL;
  return it;
}

/* Options of append_kv and append_kv_varlen. */
typedef struct kaio_append_kv_options {
  uint32_t size; /* sizeof(kaio_append_kv_options) */
  int32_t constant; /* kaio_constant_inputs: indices */
  /* (sequences + 1); i32; append_kv_varlen: sequence b has new tokens cu_seqlens[b] to before cu_seqlens[b
   * + 1] */
  const DLTensor* cu_seqlens;
  /* (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each
   * token, over all pages; below 0: skipped */
  const DLTensor* slots;
  const kaio_append_rotary* rotary; /* NULL: no rotation */
  /* (1), (heads), (sequences, heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits;
   * NULL: 1 */
  const DLTensor* k_scale;
  const DLTensor* v_scale; /* as k_scale; f32 */
  /* (pages, rows, heads); f32; gets computed scales, one for each row of a head */
  const DLTensor* k_scale_out;
  const DLTensor* v_scale_out; /* (pages, rows, heads); f32 */
} kaio_append_kv_options;
static inline kaio_append_kv_options kaio_append_kv_options_default(void) {
  kaio_append_kv_options it;
  it.size = sizeof(kaio_append_kv_options);
  it.constant = 0;
  it.cu_seqlens = NULL;
  it.slots = NULL;
  it.rotary = NULL;
  it.k_scale = NULL;
  it.v_scale = NULL;
  it.k_scale_out = NULL;
  it.v_scale_out = NULL;
  return it;
}

/* Options of gather_kv and gather_kv_varlen. */
typedef struct kaio_gather_kv_options {
  uint32_t size; /* sizeof(kaio_gather_kv_options) */
  int32_t reserved_4; /* 0 */
  /* (sequences + 1); i32; gather_kv_varlen: sequence b goes to rows cu_seqlens[b] to before cu_seqlens[b +
   * 1] */
  const DLTensor* cu_seqlens;
  /* (1), (heads) or (pages, rows, heads); f32; scales of a cache of 8 bits that is read as f32, f16 or
   * bf16; NULL: 1 */
  const DLTensor* k_scale;
  const DLTensor* v_scale; /* as k_scale; f32 */
} kaio_gather_kv_options;
static inline kaio_gather_kv_options kaio_gather_kv_options_default(void) {
  kaio_gather_kv_options it;
  it.size = sizeof(kaio_gather_kv_options);
  it.reserved_4 = 0;
  it.cu_seqlens = NULL;
  it.k_scale = NULL;
  it.v_scale = NULL;
  return it;
}

/* Options of rotary and rotary_varlen. */
typedef struct kaio_rotary_options {
  uint32_t size; /* sizeof(kaio_rotary_options) */
  /* 1: pairs (0, 1), (2, 3), ..., as in GPT-J; 0: (0, P), (1, P + 1), ..., as in Llama */
  int32_t interleaved;
  int32_t inverse; /* 1: rotates by the negative angles */
  int32_t reserved_12; /* 0 */
  /* (tokens) or (batches, tokens); i32 or i64; NULL: token i of a sequence is at position i */
  const DLTensor* positions;
  const DLTensor* offsets; /* (sequences); i32; added to the positions 0, 1, ...; not with positions */
  const DLTensor* cu_seqlens; /* (sequences + 1); i32; for rotary_varlen */
} kaio_rotary_options;
static inline kaio_rotary_options kaio_rotary_options_default(void) {
  kaio_rotary_options it;
  it.size = sizeof(kaio_rotary_options);
  it.interleaved = 0;
  it.inverse = 0;
  it.reserved_12 = 0;
  it.positions = NULL;
  it.offsets = NULL;
  it.cu_seqlens = NULL;
  return it;
}

/* Parameters of a kind of scaling, as rope_parameters of a config.json has them. Those of other kinds are
 * not read. */
typedef struct kaio_rotary_scaling {
  uint32_t size; /* sizeof(kaio_rotary_scaling) */
  int32_t kind; /* kaio_rotary_scaling_kind */
  int32_t truncate; /* default 1; yarn: 1: the ramp begins and ends at whole pairs */
  int32_t reserved_12; /* 0 */
  double factor; /* default 1 */
  double low_frequency; /* default 1; llama3: low_freq_factor */
  double high_frequency; /* default 4; llama3: high_freq_factor */
  double original_length; /* original_max_position_embeddings; dynamic: max_position_embeddings */
  double beta_fast; /* default 32; yarn */
  double beta_slow; /* default 1; yarn */
  double attention_factor; /* yarn, longrope: the factor of cos and sin; 0: computed */
  double mscale; /* yarn */
  double mscale_all_dim; /* yarn */
  double length; /* dynamic: the longest sequence that the table is for */
  double rotated; /* default 1; proportional: partial_rotary_factor */
  const double* pair_factors; /* longrope: short_factor or long_factor, host memory */
  uint64_t pair_factor_count; /* one for each pair */
} kaio_rotary_scaling;
static inline kaio_rotary_scaling kaio_rotary_scaling_default(void) {
  kaio_rotary_scaling it;
  it.size = sizeof(kaio_rotary_scaling);
  it.kind = 0;
  it.truncate = 1;
  it.reserved_12 = 0;
  it.factor = 1.0;
  it.low_frequency = 1.0;
  it.high_frequency = 4.0;
  it.original_length = 0.0;
  it.beta_fast = 32.0;
  it.beta_slow = 1.0;
  it.attention_factor = 0.0;
  it.mscale = 0.0;
  it.mscale_all_dim = 0.0;
  it.length = 0.0;
  it.rotated = 1.0;
  it.pair_factors = NULL;
  it.pair_factor_count = 0;
  return it;
}

/* Which position turns a pair, for tokens with several positions: mrope_section of a config.json. */
typedef struct kaio_rotary_sections {
  uint32_t size; /* sizeof(kaio_rotary_sections) */
  int32_t interleaved; /* 1: sections alternate, as in Qwen3-VL */
  const uint32_t* pairs; /* the pairs of each section, host memory */
  uint64_t pair_count; /* the number of sections */
} kaio_rotary_sections;
static inline kaio_rotary_sections kaio_rotary_sections_default(void) {
  kaio_rotary_sections it;
  it.size = sizeof(kaio_rotary_sections);
  it.interleaved = 0;
  it.pairs = NULL;
  it.pair_count = 0;
  return it;
}

/* Options of rotary_table. */
typedef struct kaio_rotary_table_options {
  uint32_t size; /* sizeof(kaio_rotary_table_options) */
  int32_t reserved_4; /* 0 */
  double base; /* default 10000; rope_theta */
  int64_t first_position; /* the position of row 0 */
  /* (rows), or (A, rows) with sections; i32 or i64; the position of each row, in place of first_position
   * and those after it */
  const DLTensor* positions;
  const kaio_rotary_scaling* scaling; /* NULL: none */
  const kaio_rotary_sections* sections; /* NULL: tokens have one position */
} kaio_rotary_table_options;
static inline kaio_rotary_table_options kaio_rotary_table_options_default(void) {
  kaio_rotary_table_options it;
  it.size = sizeof(kaio_rotary_table_options);
  it.reserved_4 = 0;
  it.base = 10000.0;
  it.first_position = 0;
  it.positions = NULL;
  it.scaling = NULL;
  it.sections = NULL;
  return it;
}

/* Writes new keys and values into a cache, rotated by position and quantised to 8 bits on the way if
 * wanted.
 * Token i of sequence b becomes key lengths[b] + i; lengths are not changed. last_page_len counts the new
 * tokens already. Tokens without a place in the cache are not written.
 *   k        (B, S, Hkv, D); f32, f16 or bf16
 *   v        (B, S, Hkv, Dv); elements of k
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_append_kv(void* stream, const DLTensor* k, const DLTensor* v,
                                    const kaio_kv_cache* cache, const kaio_append_kv_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_append_kv; memory is not read. */
KAIO_API kaio_status kaio_append_kv_warmup(const DLTensor* k, const DLTensor* v, const kaio_kv_cache* cache,
                                           const kaio_append_kv_options* options);

/* append_kv for the new tokens of all sequences, which follow each other, by options.cu_seqlens or
 * options.slots.
 *   k        (tokens, Hkv, D); f32, f16 or bf16
 *   v        (tokens, Hkv, Dv); elements of k */
KAIO_API kaio_status kaio_append_kv_varlen(void* stream, const DLTensor* k, const DLTensor* v,
                                           const kaio_kv_cache* cache, const kaio_append_kv_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_append_kv_varlen; memory is not read. */
KAIO_API kaio_status kaio_append_kv_varlen_warmup(const DLTensor* k, const DLTensor* v,
                                                  const kaio_kv_cache* cache,
                                                  const kaio_append_kv_options* options);

/* Gathers the rows of sequences out of a cache.
 * Key i of sequence b goes to (b, i). Rows beyond a sequence's length, in its left padding and without a
 * page are not written.
 *   k        writes (B, S, Hkv, D); f32, f16, bf16, e4m3, e5m2 or i8; elements of the cache; of a cache of
 *            8 bits also f32, f16 or bf16
 *   v        writes (B, S, Hkv, Dv); elements of k
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_gather_kv(void* stream, const kaio_kv_cache* cache, const DLTensor* k,
                                    const DLTensor* v, const kaio_gather_kv_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_gather_kv; memory is not read. */
KAIO_API kaio_status kaio_gather_kv_warmup(const kaio_kv_cache* cache, const DLTensor* k, const DLTensor* v,
                                           const kaio_gather_kv_options* options);

/* gather_kv into rows that follow each other, by options.cu_seqlens.
 *   k        writes (rows, Hkv, D); f32, f16, bf16, e4m3, e5m2 or i8; elements of the cache; of a cache of
 *            8 bits also f32, f16 or bf16
 *   v        writes (rows, Hkv, Dv); elements of k */
KAIO_API kaio_status kaio_gather_kv_varlen(void* stream, const kaio_kv_cache* cache, const DLTensor* k,
                                           const DLTensor* v, const kaio_gather_kv_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_gather_kv_varlen; memory is not read. */
KAIO_API kaio_status kaio_gather_kv_varlen_warmup(const kaio_kv_cache* cache, const DLTensor* k,
                                                  const DLTensor* v, const kaio_gather_kv_options* options);

/* Copies pages within a cache, for a sequence that forks.
 * Pairs with a number that no page has are skipped. No page may be written twice, or read by one pair and
 * written by another.
 *   pages  writes (pages, rows, heads, size) or (layers, pages, rows, heads, size); f32, f16, bf16, e4m3,
 *          e5m2, i8, u8, e8m0, i16, u16, i32 or u32
 *   pairs  (copies, 2); i32; the page that is read, the page that is written */
KAIO_API kaio_status kaio_copy_pages(void* stream, const DLTensor* pages, const DLTensor* pairs);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_copy_pages; memory is not read. */
KAIO_API kaio_status kaio_copy_pages_warmup(const DLTensor* pages, const DLTensor* pairs);

/* Rotary position embedding: turns each pair of elements of a head by the angle of its position.
 * y0 = x0 cos - x1 sin, y1 = x1 cos + x0 sin, in f32, rounded once. Elements 0 to 2 P - 1 of each head are
 * rotated, the rest is copied.
 *   x        (B, S, H, D); f32, f16 or bf16
 *   out      writes as x; elements of x; may be x itself
 *   cos      (positions, P); f32, f16 or bf16; 2 P <= D <= 512
 *   sin      as cos; elements of cos
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_rotary(void* stream, const DLTensor* x, const DLTensor* out, const DLTensor* cos,
                                 const DLTensor* sin, const kaio_rotary_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_rotary; memory is not read. */
KAIO_API kaio_status kaio_rotary_warmup(const DLTensor* x, const DLTensor* out, const DLTensor* cos,
                                        const DLTensor* sin, const kaio_rotary_options* options);

/* rotary for the tokens of all sequences, by options.cu_seqlens or options.positions.
 *   x        (tokens, H, D); f32, f16 or bf16
 *   out      writes as x; elements of x; may be x itself
 *   cos      (positions, P); f32, f16 or bf16; 2 P <= D <= 512
 *   sin      as cos; elements of cos */
KAIO_API kaio_status kaio_rotary_varlen(void* stream, const DLTensor* x, const DLTensor* out,
                                        const DLTensor* cos, const DLTensor* sin,
                                        const kaio_rotary_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_rotary_varlen; memory is not read. */
KAIO_API kaio_status kaio_rotary_varlen_warmup(const DLTensor* x, const DLTensor* out, const DLTensor* cos,
                                               const DLTensor* sin, const kaio_rotary_options* options);

/* The tables of rotary: cos and sin of position * frequency, computed in double precision and rounded
 * once.
 * The frequency of pair i of P is base^(-i / P), changed by scaling.
 *   cos      writes (positions, P); f32, f16 or bf16
 *   sin      writes as cos; elements of cos
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_rotary_table(void* stream, const DLTensor* cos, const DLTensor* sin,
                                       const kaio_rotary_table_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_rotary_table; memory is not read. */
KAIO_API kaio_status kaio_rotary_table_warmup(const DLTensor* cos, const DLTensor* sin,
                                              const kaio_rotary_table_options* options);

#ifdef __cplusplus
}
#endif

#endif
