/* Caches through the C interface: attention over them, appending, gathering, pages, and rotary embedding. */
#include "reference.h"
#include "tensors.h"

enum { B = 2, SQ = 2, HQ = 4, HKV = 2, D = 8, ROWS = 12, PAIRS = 4 };

static DLDataType f32, f16, u8, i8, i32;
static float q_of[4096], k_of[4096], v_of[4096], w_of[4096], got[4096];
static double expected[4096], second[4096];
static const int32_t lengths_of[B] = {5, 9};

/* The angle of a pair at a position. */
static double angle_of(double position, double base, int64_t pair) {
  return position * pow(base, -(double)pair / (double)PAIRS);
}

/* Expected results of the contiguous cache k_of, v_of: the queries of sequence b are its last keys. */
static void attend_all(void) {
  int64_t b;
  for (b = 0; b < B; ++b) {
    attention_problem p;
    memset(&p, 0, sizeof p);
    p.queries = SQ;
    p.keys = lengths_of[b];
    p.heads = HQ;
    p.kv_heads = HKV;
    p.size = p.value_size = D;
    p.window_left = -1;
    p.bottom_right = 1;
    p.q = q_of + b * SQ * HQ * D;
    p.k = k_of + b * ROWS * HKV * D;
    p.v = v_of + b * ROWS * HKV * D;
    attend(&p, expected + b * SQ * HQ * D, second + b * HQ * SQ);
  }
}

static void decode(void) {
  uint64_t bytes = 0;
  int64_t i, b, h;
  shaped q, k, v, out, lse, lengths, memory, table, pages_k, pages_v, cu_q, packed_lse, indptr, indices, last;
  kaio_kv_cache cache = kaio_kv_cache_default(), paged = kaio_kv_cache_default();
  kaio_attention_decode_options options = kaio_attention_decode_options_default();
  kaio_attention_sequences sequences = kaio_attention_sequences_default();
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  kaio_tune_options how = kaio_tune_options_default();
  kaio_tune_report report = kaio_tune_report_default();
  SHAPED(&q, f32, B, SQ, HQ, D);
  SHAPED(&k, f32, B, ROWS, HKV, D);
  SHAPED(&v, f32, B, ROWS, HKV, D);
  SHAPED(&out, f32, B, SQ, HQ, D);
  SHAPED(&lse, f32, B, HQ, SQ);
  NUMBERS(&lengths, 5, 9);
  randomise(&q, q_of, 1);
  randomise(&k, k_of, 2);
  randomise(&v, v_of, 3);
  attend_all();
  cache.k = &k.tensor;
  cache.v = &v.tensor;
  cache.lengths = &lengths.tensor;
  options.causal = KAIO_CAUSAL_ALIGNMENT_BOTTOM_RIGHT;
  options.lse = &lse.tensor;
  options.splits = 2;
  options.combining = KAIO_ATTENTION_COMBINING_SECOND_KERNEL;
  SUCCEEDS(kaio_attention_decode_workspace_bytes(&q.tensor, &cache, &options, &bytes));
  CHECK(bytes > 0);
  SHAPED(&memory, u8, (int64_t)bytes);
  options.workspace = &memory.tensor;
  SUCCEEDS(kaio_attention_decode_warmup(&q.tensor, &cache, &out.tensor, &options));
  SUCCEEDS(kaio_attention_decode_choice(&q.tensor, &cache, &out.tensor, &options, &choice));
  CHECK(choice.name[0] != '\0' && choice.splits == 2);
  SUCCEEDS(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, &options));
  receive(&out, got);
  CHECK(far_off(got, expected, B * SQ * HQ * D, 1e-5) == 0);
  receive(&lse, got);
  CHECK(far_off(got, second, B * HQ * SQ, 1e-5) == 0);
  options.workspace = NULL;
  REFUSED(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, &options), "attention_decode", "workspace");
  options.splits = 1;
  options.combining = KAIO_ATTENTION_COMBINING_AUTOMATIC;
  SUCCEEDS(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, &options));
  receive(&out, got);
  CHECK(far_off(got, expected, B * SQ * HQ * D, 1e-5) == 0);

  /* pages of 4 rows: page i of sequence b is number 1 + b + 2 i, by a table and by lists */
  SHAPED(&pages_k, f32, 8, 4, HKV, D);
  SHAPED(&pages_v, f32, 8, 4, HKV, D);
  SHAPED(&table, i32, B, 3);
  {
    const int32_t table_of[6] = {1, 3, 5, 2, 4, 6};
    send(&table, table_of);
    for (h = 0; h < 2; ++h) {
      for (i = 0; i < 6; ++i)
        memcpy(w_of + table_of[i] * 4 * HKV * D, (h == 0 ? k_of : v_of) + i * 4 * HKV * D, 4 * HKV * D * sizeof(float));
      send(h == 0 ? &pages_k : &pages_v, w_of);
    }
  }
  paged.k = &pages_k.tensor;
  paged.v = &pages_v.tensor;
  paged.table = &table.tensor;
  paged.lengths = &lengths.tensor;
  SUCCEEDS(kaio_attention_decode(NULL, &q.tensor, &paged, &out.tensor, &options));
  receive(&out, got);
  CHECK(far_off(got, expected, B * SQ * HQ * D, 1e-5) == 0);
  NUMBERS(&indptr, 0, 2, 5);
  NUMBERS(&indices, 1, 3, 2, 4, 6);
  NUMBERS(&last, 1, 1);
  paged.table = paged.lengths = NULL;
  paged.indptr = &indptr.tensor;
  paged.indices = &indices.tensor;
  paged.last_page_len = &last.tensor;
  options.max_length = 12;
  SUCCEEDS(kaio_attention_decode(NULL, &q.tensor, &paged, &out.tensor, &options));
  receive(&out, got);
  CHECK(far_off(got, expected, B * SQ * HQ * D, 1e-5) == 0);

  /* the same queries, as rows of sequences */
  {
    int64_t q_shape[3] = {B * SQ, HQ, D};
    DLTensor rows = q.tensor, out_rows = out.tensor;
    rows.ndim = out_rows.ndim = 3;
    rows.shape = out_rows.shape = q_shape;
    NUMBERS(&cu_q, 0, 2, 4);
    SHAPED(&packed_lse, f32, HQ, B * SQ);
    sequences.cu_q = &cu_q.tensor;
    sequences.max_q = 2;
    options.lse = &packed_lse.tensor;
    options.max_length = 0;
    SUCCEEDS(kaio_attention_decode_varlen_workspace_bytes(&rows, &cache, &sequences, &options, &bytes));
    SUCCEEDS(kaio_attention_decode_varlen_warmup(&rows, &cache, &out_rows, &sequences, &options));
    SUCCEEDS(kaio_attention_decode_varlen_choice(&rows, &cache, &out_rows, &sequences, &options, &choice));
    SUCCEEDS(kaio_attention_decode_varlen(NULL, &rows, &cache, &out_rows, &sequences, &options));
    receive(&out, got);
    CHECK(far_off(got, expected, B * SQ * HQ * D, 1e-5) == 0);
    receive(&packed_lse, got);
    for (b = 0; b < B; ++b)
      for (h = 0; h < HQ; ++h)
        for (i = 0; i < SQ; ++i) CHECK(!differ(got[h * B * SQ + b * SQ + i], second[(b * HQ + h) * SQ + i]));
    how.repetitions = 1;
    how.remember = how.use_files = 0;
    options.splits = 0;
    SUCCEEDS(kaio_tune_attention_decode_varlen(&rows, &cache, &out_rows, &sequences, &options, &how, &report));
    CHECK(report.variant[0] != '\0');
    REFUSED(kaio_attention_decode_varlen(NULL, &rows, &cache, &out_rows, NULL, NULL), "argument sequences", "NULL");
  }
  options.lse = NULL;
  SUCCEEDS(kaio_tune_attention_decode(&q.tensor, &cache, &out.tensor, &options, &how, &report));
  CHECK(report.variant[0] != '\0');

  REFUSED(kaio_attention_decode(NULL, &q.tensor, NULL, &out.tensor, NULL), "argument cache", "NULL");
  cache.v = NULL;
  REFUSED(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, NULL), "argument cache.v", "NULL");
  cache.v = &lengths.tensor;
  REFUSED(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, NULL), "argument cache.v has elements of i32", "f32");
  cache.v = &v.tensor;
  cache.lengths = &lse.tensor;
  REFUSED(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, NULL), "argument cache.lengths has elements of f32",
          "i32");
  cache.lengths = &lengths.tensor;
  cache.size = 0;
  REFUSED(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, NULL), "argument cache has size 0", "sizeof");
  cache.size = sizeof cache;
  options.causal = KAIO_CAUSAL_ALIGNMENT_TOP_LEFT;
  REFUSED(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, &options), "attention_decode", "top_left");
  drop(&q);
  drop(&k);
  drop(&v);
  drop(&out);
  drop(&lse);
  drop(&lengths);
  drop(&memory);
  drop(&table);
  drop(&pages_k);
  drop(&pages_v);
  drop(&cu_q);
  drop(&packed_lse);
  drop(&indptr);
  drop(&indices);
  drop(&last);
}

/* A step appends keys, rotated, to a cache that is recorded with it, and is replayed after the lengths have grown. */
static void step(void) {
  kaio_stream* stream = NULL;
  kaio_capture* capture = NULL;
  kaio_graph* graph = NULL;
  uint64_t bytes = 0;
  int64_t round, b, h, i, d;
  shaped q, k, v, new_k, new_v, out, lengths, cos_of, sin_of, memory;
  kaio_kv_cache cache = kaio_kv_cache_default();
  kaio_append_rotary rotary = kaio_append_rotary_default();
  kaio_attention_append append = kaio_attention_append_default();
  kaio_attention_decode_options options = kaio_attention_decode_options_default();
  int32_t now[B] = {0, 0};
  static float rotated[B * HQ * D], new_k_of[B * HKV * D], new_v_of[B * HKV * D];
  SHAPED(&q, f32, B, 1, HQ, D);
  SHAPED(&k, f32, B, ROWS, HKV, D);
  SHAPED(&v, f32, B, ROWS, HKV, D);
  SHAPED(&new_k, f32, B, 1, HKV, D);
  SHAPED(&new_v, f32, B, 1, HKV, D);
  SHAPED(&out, f32, B, 1, HQ, D);
  SHAPED(&cos_of, f32, ROWS, PAIRS);
  SHAPED(&sin_of, f32, ROWS, PAIRS);
  SHAPED(&memory, u8, 1 << 20);
  NUMBERS(&lengths, 0, 0);
  SUCCEEDS(kaio_rotary_table(NULL, &cos_of.tensor, &sin_of.tensor, NULL));
  cache.k = &k.tensor;
  cache.v = &v.tensor;
  cache.lengths = &lengths.tensor;
  rotary.cos = &cos_of.tensor;
  rotary.sin = &sin_of.tensor;
  append.k = &new_k.tensor;
  append.v = &new_v.tensor;
  append.rotary = &rotary;
  options.append = &append;
  options.causal = KAIO_CAUSAL_ALIGNMENT_BOTTOM_RIGHT;
  options.workspace = &memory.tensor;
  SUCCEEDS(kaio_attention_decode_workspace_bytes(&q.tensor, &cache, &options, &bytes));
  CHECK(bytes > 0 && bytes <= 1 << 20);
  SUCCEEDS(kaio_stream_create(device, &stream));
  SUCCEEDS(kaio_attention_decode_warmup(&q.tensor, &cache, &out.tensor, &options));
  SUCCEEDS(kaio_capture_begin(device, kaio_stream_handle(stream), &capture));
  SUCCEEDS(kaio_attention_decode(kaio_stream_handle(stream), &q.tensor, &cache, &out.tensor, &options));
  SUCCEEDS(kaio_capture_end(capture, &graph));
  memset(k_of, 0, sizeof k_of);
  memset(v_of, 0, sizeof v_of);
  for (round = 0; round < 3; ++round) {
    randomise(&q, q_of, 100u + (unsigned)round);
    randomise(&new_k, new_k_of, 200u + (unsigned)round);
    randomise(&new_v, new_v_of, 300u + (unsigned)round);
    for (b = 0; b < B; ++b) now[b] = (int32_t)(round + 2 * b);
    send(&lengths, now);
    SUCCEEDS(kaio_graph_launch(graph, kaio_stream_handle(stream)));
    SUCCEEDS(kaio_stream_synchronize(device, kaio_stream_handle(stream)));
    for (b = 0; b < B; ++b) {
      attention_problem p;
      memset(&p, 0, sizeof p);
      for (h = 0; h < HQ + HKV; ++h)
        for (d = 0; d < PAIRS; ++d) {
          const double angle = angle_of(now[b], 10000, d);
          const float* from = h < HQ ? q_of + (b * HQ + h) * D : new_k_of + (b * HKV + h - HQ) * D;
          float* to = h < HQ ? rotated + (b * HQ + h) * D : k_of + ((b * ROWS + now[b]) * HKV + h - HQ) * D;
          to[d] = (float)(from[d] * cos(angle) - from[d + PAIRS] * sin(angle));
          to[d + PAIRS] = (float)(from[d + PAIRS] * cos(angle) + from[d] * sin(angle));
        }
      for (i = 0; i < HKV * D; ++i) v_of[(b * ROWS + now[b]) * HKV * D + i] = new_v_of[b * HKV * D + i];
      p.queries = 1;
      p.keys = now[b] + 1;
      p.heads = HQ;
      p.kv_heads = HKV;
      p.size = p.value_size = D;
      p.window_left = -1;
      p.q = rotated + b * HQ * D;
      p.k = k_of + b * ROWS * HKV * D;
      p.v = v_of + b * ROWS * HKV * D;
      attend(&p, expected + b * HQ * D, NULL);
    }
    receive(&out, got);
    CHECK(far_off(got, expected, B * HQ * D, 1e-5) == 0);
  }
  append.v = NULL;
  REFUSED(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, &options), "argument append.v", "NULL");
  append.v = &new_v.tensor;
  rotary.q_out = &out.tensor;
  REFUSED(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, &options), "rotary.q_out", "rotary.q");
  SUCCEEDS(kaio_graph_destroy(graph));
  SUCCEEDS(kaio_stream_destroy(stream));
  drop(&q);
  drop(&k);
  drop(&v);
  drop(&new_k);
  drop(&new_v);
  drop(&out);
  drop(&lengths);
  drop(&cos_of);
  drop(&sin_of);
  drop(&memory);
}

static void appending(void) {
  enum { TOKENS = 3 };
  static signed char codes[B * ROWS * HKV * D];
  static float scales[B * ROWS * HKV];
  int64_t b, i, j, wrong = 0;
  shaped k, v, cache_k, cache_v, codes_k, codes_v, k_scales, v_scales, lengths, back_k, back_v, cu, slots, half, other_half;
  kaio_kv_cache cache = kaio_kv_cache_default(), of_codes = kaio_kv_cache_default();
  kaio_append_kv_options options = kaio_append_kv_options_default();
  kaio_gather_kv_options gather = kaio_gather_kv_options_default();
  SHAPED(&k, f32, B, TOKENS, HKV, D);
  SHAPED(&v, f32, B, TOKENS, HKV, D);
  SHAPED(&cache_k, f32, B, ROWS, HKV, D);
  SHAPED(&cache_v, f32, B, ROWS, HKV, D);
  SHAPED(&codes_k, i8, B, ROWS, HKV, D);
  SHAPED(&codes_v, i8, B, ROWS, HKV, D);
  SHAPED(&k_scales, f32, B, ROWS, HKV);
  SHAPED(&v_scales, f32, B, ROWS, HKV);
  SHAPED(&back_k, f32, B, ROWS, HKV, D);
  SHAPED(&back_v, f32, B, ROWS, HKV, D);
  SHAPED(&half, f16, B, ROWS, HKV, D);
  SHAPED(&other_half, f16, B, ROWS, HKV, D);
  NUMBERS(&lengths, 2, 7);
  randomise(&k, k_of, 61);
  randomise(&v, v_of, 62);
  cache.k = &cache_k.tensor;
  cache.v = &cache_v.tensor;
  cache.lengths = &lengths.tensor;
  SUCCEEDS(kaio_append_kv_warmup(&k.tensor, &v.tensor, &cache, NULL));
  SUCCEEDS(kaio_append_kv(NULL, &k.tensor, &v.tensor, &cache, NULL));
  receive(&cache_k, got);
  for (b = 0; b < B; ++b)
    for (i = 0; i < ROWS; ++i)
      for (j = 0; j < HKV * D; ++j) {
        const int64_t token = i - (b == 0 ? 2 : 7);
        const float is = token >= 0 && token < TOKENS ? k_of[(b * TOKENS + token) * HKV * D + j] : 0;
        wrong += got[(b * ROWS + i) * HKV * D + j] != is;
      }
  CHECK(wrong == 0);

  /* into codes, and out of them */
  of_codes.k = &codes_k.tensor;
  of_codes.v = &codes_v.tensor;
  of_codes.lengths = &lengths.tensor;
  options.k_scale_out = &k_scales.tensor;
  options.v_scale_out = &v_scales.tensor;
  SUCCEEDS(kaio_append_kv(NULL, &k.tensor, &v.tensor, &of_codes, &options));
  receive(&codes_k, codes);
  receive(&k_scales, scales);
  for (b = 0; b < B; ++b)
    for (i = 0; i < TOKENS; ++i)
      for (j = 0; j < HKV * D; ++j) {
        const int64_t row = b * ROWS + i + (b == 0 ? 2 : 7);
        const float scale = scales[row * HKV + j / D];
        wrong += !(scale > 0) || fabs(codes[row * HKV * D + j] * scale - k_of[(b * TOKENS + i) * HKV * D + j]) > 0.51 * scale;
      }
  CHECK(wrong == 0);
  {
    const int32_t grown[B] = {5, 10};
    send(&lengths, grown);
  }
  gather.k_scale = &k_scales.tensor;
  gather.v_scale = &v_scales.tensor;
  SUCCEEDS(kaio_gather_kv_warmup(&of_codes, &back_k.tensor, &back_v.tensor, &gather));
  SUCCEEDS(kaio_gather_kv(NULL, &of_codes, &back_k.tensor, &back_v.tensor, &gather));
  receive(&back_v, got);
  for (b = 0; b < B; ++b)
    for (i = 0; i < TOKENS * HKV * D; ++i)
      wrong += fabs(got[(b * ROWS + (b == 0 ? 2 : 7)) * HKV * D + i] - v_of[b * TOKENS * HKV * D + i]) > 0.005;
  CHECK(wrong == 0);
  SUCCEEDS(kaio_gather_kv(NULL, &cache, &back_k.tensor, &back_v.tensor, NULL));
  receive(&back_k, got);
  CHECK(memcmp(got + 2 * HKV * D, k_of, TOKENS * HKV * D * sizeof(float)) == 0);
  /* attention over the codes is near that over the numbers */
  {
    shaped q, out;
    kaio_attention_decode_options attention = kaio_attention_decode_options_default();
    SHAPED(&q, f32, B, 1, HQ, D);
    SHAPED(&out, f32, B, 1, HQ, D);
    randomise(&q, q_of, 63);
    attention.splits = 1;
    SUCCEEDS(kaio_attention_decode(NULL, &q.tensor, &cache, &out.tensor, &attention));
    receive(&out, got);
    for (i = 0; i < B * HQ * D; ++i) expected[i] = got[i];
    attention.k_scale = &k_scales.tensor;
    attention.v_scale = &v_scales.tensor;
    SUCCEEDS(kaio_attention_decode(NULL, &q.tensor, &of_codes, &out.tensor, &attention));
    receive(&out, got);
    CHECK(far_off(got, expected, B * HQ * D, 0.01) == 0);
    attention.k_scale = &half.tensor;
    REFUSED(kaio_attention_decode(NULL, &q.tensor, &of_codes, &out.tensor, &attention), "argument k_scale has elements of f16",
            "f32");
    drop(&q);
    drop(&out);
  }
  REFUSED(kaio_gather_kv(NULL, &cache, &half.tensor, &other_half.tensor, NULL), "gather_kv", "another element type");
  REFUSED(kaio_gather_kv(NULL, &cache, &back_k.tensor, &half.tensor, NULL), "argument v has elements of f16", "k of f32");
  REFUSED(kaio_gather_kv(NULL, &cache, &back_k.tensor, &back_v.tensor, &gather), "k_scale", "no scales");

  /* packed: 4 tokens of the first sequence, 2 of the second, by their places and by slots */
  {
    int64_t shape[3] = {B * TOKENS, HKV, D}, back_shape[3] = {15, HKV, D};
    DLTensor rows_k = k.tensor, rows_v = v.tensor, to_k = back_k.tensor, to_v = back_v.tensor;
    const int32_t none[B] = {0, 0};
    rows_k.ndim = rows_v.ndim = to_k.ndim = to_v.ndim = 3;
    rows_k.shape = rows_v.shape = shape;
    to_k.shape = to_v.shape = back_shape;
    NUMBERS(&cu, 0, 4, 6);
    NUMBERS(&slots, 0, 1, 2, -1, ROWS, ROWS + 5);
    send(&lengths, none);
    options = kaio_append_kv_options_default();
    options.cu_seqlens = &cu.tensor;
    SUCCEEDS(kaio_append_kv_varlen_warmup(&rows_k, &rows_v, &cache, &options));
    SUCCEEDS(kaio_append_kv_varlen(NULL, &rows_k, &rows_v, &cache, &options));
    receive(&cache_k, got);
    CHECK(memcmp(got, k_of, 4 * HKV * D * sizeof(float)) == 0);
    CHECK(memcmp(got + ROWS * HKV * D, k_of + 4 * HKV * D, 2 * HKV * D * sizeof(float)) == 0);
    options.cu_seqlens = NULL;
    REFUSED(kaio_append_kv_varlen(NULL, &rows_k, &rows_v, &cache, &options), "append_kv_varlen", "slots");
    options.slots = &slots.tensor;
    SUCCEEDS(kaio_append_kv_varlen(NULL, &rows_k, &rows_v, &cache, &options));
    receive(&cache_v, got);
    CHECK(memcmp(got + (ROWS + 5) * HKV * D, v_of + 5 * HKV * D, HKV * D * sizeof(float)) == 0);
    {
      const int32_t both[B] = {4, 2};
      send(&lengths, both);
    }
    gather = kaio_gather_kv_options_default();
    gather.cu_seqlens = &cu.tensor;
    SUCCEEDS(kaio_gather_kv_varlen_warmup(&cache, &to_k, &to_v, &gather));
    SUCCEEDS(kaio_gather_kv_varlen(NULL, &cache, &to_k, &to_v, &gather));
    receive(&back_k, got);
    CHECK(memcmp(got, k_of, 6 * HKV * D * sizeof(float)) == 0);
    REFUSED(kaio_gather_kv_varlen(NULL, &cache, &to_k, &to_v, NULL), "argument options", "NULL");
  }
  REFUSED(kaio_append_kv(NULL, &k.tensor, &v.tensor, NULL, NULL), "append_kv: argument cache", "NULL");
  cache.lengths = NULL;
  REFUSED(kaio_append_kv(NULL, &k.tensor, &v.tensor, &cache, NULL), "append_kv", "cache.lengths");
  drop(&k);
  drop(&v);
  drop(&cache_k);
  drop(&cache_v);
  drop(&codes_k);
  drop(&codes_v);
  drop(&k_scales);
  drop(&v_scales);
  drop(&lengths);
  drop(&back_k);
  drop(&back_v);
  drop(&cu);
  drop(&slots);
  drop(&half);
  drop(&other_half);
}

static void pages(void) {
  const int32_t pairs_of[4] = {0, 3, 1, 99}; /* no page has number 99 */
  shaped all, pairs;
  const int64_t page = 2 * HKV * D;
  SHAPED(&all, f32, 2, 4, 2, HKV, D);
  SHAPED(&pairs, i32, 2, 2);
  randomise(&all, k_of, 71);
  send(&pairs, pairs_of);
  SUCCEEDS(kaio_copy_pages_warmup(&all.tensor, &pairs.tensor));
  SUCCEEDS(kaio_copy_pages(NULL, &all.tensor, &pairs.tensor));
  receive(&all, got);
  CHECK(memcmp(got, k_of, 3 * (size_t)page * sizeof(float)) == 0);
  CHECK(memcmp(got + 3 * page, k_of, (size_t)page * sizeof(float)) == 0);
  CHECK(memcmp(got + 7 * page, k_of + 4 * page, (size_t)page * sizeof(float)) == 0);
  REFUSED(kaio_copy_pages(NULL, &all.tensor, &all.tensor), "copy_pages: argument pairs has elements of f32", "i32");
  pairs.shape[1] = 1;
  REFUSED(kaio_copy_pages(NULL, &all.tensor, &pairs.tensor), "copy_pages: argument pairs", "2");
  pairs.shape[0] = -1;
  REFUSED(kaio_copy_pages(NULL, &all.tensor, &pairs.tensor), "copy_pages: argument pairs", "extents are 0 or more");
  drop(&all);
  drop(&pairs);
}

static void rotations(void) {
  const double factors[PAIRS] = {1, 2, 4, 8};
  const uint32_t sections_of[2] = {2, 2};
  int64_t b, i, h, d, wrong = 0;
  shaped x, out, cos_of, sin_of, offsets, positions;
  kaio_rotary_options options = kaio_rotary_options_default();
  kaio_rotary_table_options table = kaio_rotary_table_options_default();
  kaio_rotary_scaling scaling = kaio_rotary_scaling_default();
  kaio_rotary_sections sections = kaio_rotary_sections_default();
  SHAPED(&x, f32, B, 3, HQ, D);
  SHAPED(&out, f32, B, 3, HQ, D);
  SHAPED(&cos_of, f32, 16, PAIRS);
  SHAPED(&sin_of, f32, 16, PAIRS);
  SHAPED(&positions, i32, 2, 16);
  NUMBERS(&offsets, 4, 9);
  randomise(&x, q_of, 81);

  table.base = 500;
  table.first_position = 3;
  scaling.kind = KAIO_ROTARY_SCALING_KIND_LONGROPE;
  scaling.factor = 1;
  scaling.original_length = 64;
  scaling.pair_factors = factors;
  scaling.pair_factor_count = PAIRS;
  table.scaling = &scaling;
  SUCCEEDS(kaio_rotary_table_warmup(&cos_of.tensor, &sin_of.tensor, &table));
  SUCCEEDS(kaio_rotary_table(NULL, &cos_of.tensor, &sin_of.tensor, &table));
  receive(&cos_of, got);
  for (i = 0; i < 16; ++i)
    for (d = 0; d < PAIRS; ++d)
      wrong += differ(got[i * PAIRS + d], cos(angle_of((double)(i + 3), 500, d) / factors[d]));
  CHECK(wrong == 0);
  scaling.pair_factor_count = 3;
  REFUSED(kaio_rotary_table(NULL, &cos_of.tensor, &sin_of.tensor, &table), "rotary_table", "3");
  scaling.pair_factors = NULL;
  REFUSED(kaio_rotary_table(NULL, &cos_of.tensor, &sin_of.tensor, &table), "argument scaling.pair_factors", "NULL");
  scaling.kind = 7;
  REFUSED(kaio_rotary_table(NULL, &cos_of.tensor, &sin_of.tensor, &table), "argument scaling.kind is 7", "named constants");

  table = kaio_rotary_table_options_default();
  for (i = 0; i < 32; ++i) ((int32_t*)(void*)w_of)[i] = (int32_t)(i < 16 ? i : 3 * i);
  send(&positions, w_of);
  sections.pairs = sections_of;
  sections.pair_count = 2;
  table.positions = &positions.tensor;
  table.sections = &sections;
  SUCCEEDS(kaio_rotary_table(NULL, &cos_of.tensor, &sin_of.tensor, &table));
  receive(&sin_of, got);
  for (i = 0; i < 16; ++i)
    for (d = 0; d < PAIRS; ++d)
      wrong += differ(got[i * PAIRS + d], sin(angle_of((double)(d < 2 ? i : 3 * (i + 16)), 10000, d)));
  CHECK(wrong == 0);

  SUCCEEDS(kaio_rotary_table(NULL, &cos_of.tensor, &sin_of.tensor, NULL));
  options.offsets = &offsets.tensor;
  SUCCEEDS(kaio_rotary_warmup(&x.tensor, &out.tensor, &cos_of.tensor, &sin_of.tensor, &options));
  SUCCEEDS(kaio_rotary(NULL, &x.tensor, &out.tensor, &cos_of.tensor, &sin_of.tensor, &options));
  receive(&out, got);
  for (b = 0; b < B; ++b)
    for (i = 0; i < 3; ++i)
      for (h = 0; h < HQ; ++h)
        for (d = 0; d < PAIRS; ++d) {
          const double angle = angle_of((double)(i + (b == 0 ? 4 : 9)), 10000, d);
          const int64_t at = ((b * 3 + i) * HQ + h) * D + d;
          wrong += differ(got[at], q_of[at] * cos(angle) - q_of[at + PAIRS] * sin(angle));
          wrong += differ(got[at + PAIRS], q_of[at + PAIRS] * cos(angle) + q_of[at] * sin(angle));
        }
  CHECK(wrong == 0);
  options.inverse = 1;
  SUCCEEDS(kaio_rotary(NULL, &out.tensor, &out.tensor, &cos_of.tensor, &sin_of.tensor, &options));
  receive(&out, got);
  for (i = 0; i < B * 3 * HQ * D; ++i) wrong += differ(got[i], q_of[i]);
  CHECK(wrong == 0);

  /* the same tokens in a row */
  {
    int64_t shape[3] = {B * 3, HQ, D};
    shaped cu;
    DLTensor rows = x.tensor, out_rows = out.tensor;
    rows.ndim = out_rows.ndim = 3;
    rows.shape = out_rows.shape = shape;
    NUMBERS(&cu, 0, 2, 6);
    options = kaio_rotary_options_default();
    REFUSED(kaio_rotary_varlen(NULL, &rows, &out_rows, &cos_of.tensor, &sin_of.tensor, &options), "rotary_varlen",
            "cu_seqlens");
    options.cu_seqlens = &cu.tensor;
    options.interleaved = 1;
    SUCCEEDS(kaio_rotary_varlen_warmup(&rows, &out_rows, &cos_of.tensor, &sin_of.tensor, &options));
    SUCCEEDS(kaio_rotary_varlen(NULL, &rows, &out_rows, &cos_of.tensor, &sin_of.tensor, &options));
    receive(&out, got);
    for (i = 0; i < 6; ++i)
      for (h = 0; h < HQ; ++h)
        for (d = 0; d < PAIRS; ++d) {
          const double angle = angle_of((double)(i < 2 ? i : i - 2), 10000, d);
          const int64_t at = (i * HQ + h) * D + 2 * d;
          wrong += differ(got[at], q_of[at] * cos(angle) - q_of[at + 1] * sin(angle));
        }
    CHECK(wrong == 0);
    drop(&cu);
  }
  REFUSED(kaio_rotary(NULL, &x.tensor, NULL, &cos_of.tensor, &sin_of.tensor, NULL), "rotary: argument out", "NULL");
  REFUSED(kaio_rotary(NULL, &x.tensor, &out.tensor, &cos_of.tensor, &offsets.tensor, NULL), "argument sin", "f32");
  options = kaio_rotary_options_default();
  options.interleaved = 2;
  REFUSED(kaio_rotary(NULL, &x.tensor, &out.tensor, &cos_of.tensor, &sin_of.tensor, &options), "argument interleaved is 2",
          "0 or 1");
  drop(&x);
  drop(&out);
  drop(&cos_of);
  drop(&sin_of);
  drop(&offsets);
  drop(&positions);
}

int main(void) {
  f32 = type_of(kDLFloat, 32);
  f16 = type_of(kDLFloat, 16);
  u8 = type_of(kDLUInt, 8);
  i8 = type_of(kDLInt, 8);
  i32 = type_of(kDLInt, 32);
  if (kaio_device_open(NULL, &device) != KAIO_OK) {
    fprintf(stderr, "%s\n", kaio_last_error());
    return 1;
  }
  decode();
  step();
  appending();
  pages();
  rotations();
  return finish();
}
