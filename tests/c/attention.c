/* Attention through the C interface: forward, packed, in blocks, its gradients, and a recorded call. Results are compared
 * with sums in double precision. */
#include "reference.h"
#include "tensors.h"

enum { B = 2, SQ = 5, SK = 7, HQ = 4, HKV = 2, D = 8, DV = 6 };

static DLDataType f32, f16, u8, i32;
static float q_of[4096], k_of[4096], v_of[4096], w_of[4096], bias_of[4096], got[4096];
static double expected[4096], second[4096], third[4096];

/* The problem of the host's numbers from `batch` on. */
static attention_problem problem_of(int64_t batch) {
  attention_problem p;
  memset(&p, 0, sizeof p);
  p.queries = SQ;
  p.keys = SK;
  p.heads = HQ;
  p.kv_heads = HKV;
  p.size = D;
  p.value_size = DV;
  p.window_left = -1;
  p.q = q_of + batch * SQ * HQ * D;
  p.k = k_of + batch * SK * HKV * D;
  p.v = v_of + batch * SK * HKV * DV;
  return p;
}

static void forward(void) {
  const float alibi_of[HQ] = {0.5f, 0.25f, 0.125f, 0.0625f}, sinks_of[HQ] = {0.5f, -1, 0, 2};
  unsigned char keep_of[SQ * SK];
  int64_t b, i;
  shaped q, k, v, out, lse, bias, keep, alibi, sinks, half;
  DLTensor bad, turned;
  int64_t strides[4];
  kaio_attention_options options = kaio_attention_options_default();
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  kaio_tune_options how = kaio_tune_options_default();
  kaio_tune_report report = kaio_tune_report_default();
  SHAPED(&q, f32, B, SQ, HQ, D);
  SHAPED(&k, f32, B, SK, HKV, D);
  SHAPED(&v, f32, B, SK, HKV, DV);
  SHAPED(&out, f32, B, SQ, HQ, DV);
  SHAPED(&lse, f32, B, HQ, SQ);
  SHAPED(&bias, f32, HQ, SQ, SK);
  SHAPED(&keep, u8, SQ, SK);
  SHAPED(&alibi, f32, HQ);
  SHAPED(&sinks, f32, HQ);
  SHAPED(&half, f16, B, SK, HKV, D);
  randomise(&q, q_of, 1);
  randomise(&k, k_of, 2);
  randomise(&v, v_of, 3);
  randomise(&bias, bias_of, 4);
  for (i = 0; i < SQ * SK; ++i) keep_of[i] = i % 5 != 0;
  send(&keep, keep_of);
  send(&alibi, alibi_of);
  send(&sinks, sinks_of);

  SUCCEEDS(kaio_attention(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, NULL));
  receive(&out, got);
  for (b = 0; b < B; ++b) {
    const attention_problem p = problem_of(b);
    attend(&p, expected + b * SQ * HQ * DV, NULL);
  }
  CHECK(far_off(got, expected, B * SQ * HQ * DV, 1e-5) == 0);

  options.scale = 0.75f;
  options.softcap = 2;
  options.causal = KAIO_CAUSAL_ALIGNMENT_BOTTOM_RIGHT;
  options.window_left = 4;
  options.alibi = &alibi.tensor;
  options.bias = &bias.tensor;
  options.keep = &keep.tensor;
  options.sinks = &sinks.tensor;
  options.lse = &lse.tensor;
  SUCCEEDS(kaio_attention_warmup(&q.tensor, &k.tensor, &v.tensor, &out.tensor, &options));
  SUCCEEDS(kaio_attention(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &options));
  for (b = 0; b < B; ++b) {
    attention_problem p = problem_of(b);
    p.scale = 0.75;
    p.softcap = 2;
    p.bottom_right = 1;
    p.window_left = 4;
    p.alibi = alibi_of;
    p.bias = bias_of;
    p.keep = keep_of;
    p.sinks = sinks_of;
    attend(&p, expected + b * SQ * HQ * DV, second + b * HQ * SQ);
  }
  receive(&out, got);
  CHECK(far_off(got, expected, B * SQ * HQ * DV, 1e-5) == 0);
  receive(&lse, got);
  CHECK(far_off(got, second, B * HQ * SQ, 1e-5) == 0);

  /* k in the order (batches, heads, keys, size): the same numbers, elsewhere */
  {
    shaped other;
    int64_t j, h, d;
    SHAPED(&other, f32, B, HKV, SK, D);
    for (b = 0; b < B; ++b)
      for (h = 0; h < HKV; ++h)
        for (j = 0; j < SK; ++j)
          for (d = 0; d < D; ++d)
            w_of[((b * HKV + h) * SK + j) * D + d] = k_of[((b * SK + j) * HKV + h) * D + d];
    send(&other, w_of);
    turned = other.tensor;
    turned.shape = k.shape;
    strides[0] = HKV * SK * D;
    strides[1] = D;
    strides[2] = SK * D;
    strides[3] = 1;
    turned.strides = strides;
    SUCCEEDS(kaio_attention(NULL, &q.tensor, &turned, &v.tensor, &out.tensor, &options));
    receive(&out, got);
    CHECK(far_off(got, expected, B * SQ * HQ * DV, 1e-5) == 0);
    drop(&other);
  }

  SUCCEEDS(kaio_attention_choice(&q.tensor, &k.tensor, &v.tensor, &out.tensor, &options, &choice));
  CHECK(strncmp(choice.name, "attention", 9) == 0);
  options.variant = choice.name;
  SUCCEEDS(kaio_attention(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &options));
  options.variant = "no_such_kernel";
  REFUSED(kaio_attention(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &options), "attention", "no_such_kernel");
  how.repetitions = 1;
  how.remember = how.use_files = 0;
  SUCCEEDS(kaio_tune_attention(&q.tensor, &k.tensor, &v.tensor, &out.tensor, NULL, &how, &report));
  CHECK(report.variant[0] != '\0' && report.seconds > 0);

  bad = k.tensor;
  bad.ndim = 3;
  REFUSED(kaio_attention(NULL, &q.tensor, &bad, &v.tensor, &out.tensor, NULL), "argument k has 3 dimensions", "it has 4");
  REFUSED(kaio_attention(NULL, &q.tensor, &half.tensor, &v.tensor, &out.tensor, NULL), "argument k has elements of f16",
          "q of f32");
  REFUSED(kaio_attention(NULL, NULL, &k.tensor, &v.tensor, &out.tensor, NULL), "attention: argument q", "NULL");
  REFUSED(kaio_attention(NULL, &q.tensor, &v.tensor, &v.tensor, &out.tensor, NULL), "argument k", "the head size of q");
  REFUSED(kaio_attention(NULL, &q.tensor, &k.tensor, &v.tensor, &half.tensor, NULL), "arguments q and out",
          "different element types");
#define WITH(change, one, other) \
  options = kaio_attention_options_default(); \
  change; \
  REFUSED(kaio_attention(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &options), one, other)
  WITH(options.causal = 3, "argument causal is 3", "named constants");
  WITH(options.softcap = -1, "attention", "softcap that is negative");
  WITH(options.window_left = -2, "window", "-2");
  WITH(options.bias = &keep.tensor, "argument bias has elements of u8", "f32, f16 or bf16");
  WITH(options.keep = &bias.tensor, "argument keep has elements of f32", "u8");
  WITH(options.lse = &half.tensor, "argument lse has elements of f16", "f32");
  WITH(options.sinks = &lse.tensor, "argument sinks has 3 dimensions", "1");
  WITH((bad = lse.tensor, bad.data = NULL, options.lse = &bad), "argument lse", "address 0");
  drop(&q);
  drop(&k);
  drop(&v);
  drop(&out);
  drop(&lse);
  drop(&bias);
  drop(&keep);
  drop(&alibi);
  drop(&sinks);
  drop(&half);
}

/* Two sequences of 2 and 3 queries, 4 and 3 keys, and their gradients. */
static void packed(void) {
  const int64_t first_q[3] = {0, 2, 5}, first_k[3] = {0, 4, 7};
  int64_t b, i, h;
  uint64_t bytes = 0;
  shaped q, k, v, out, lse, cu_q, cu_k, dout, dq, dk, dv, memory;
  kaio_attention_options options = kaio_attention_options_default();
  kaio_attention_backward_options backward = kaio_attention_backward_options_default();
  kaio_attention_sequences sequences = kaio_attention_sequences_default();
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  kaio_tune_options how = kaio_tune_options_default();
  kaio_tune_report report = kaio_tune_report_default();
  SHAPED(&q, f32, 5, HQ, D);
  SHAPED(&k, f32, 7, HKV, D);
  SHAPED(&v, f32, 7, HKV, DV);
  SHAPED(&out, f32, 5, HQ, DV);
  SHAPED(&lse, f32, HQ, 5);
  SHAPED(&dout, f32, 5, HQ, DV);
  SHAPED(&dq, f32, 5, HQ, D);
  SHAPED(&dk, f32, 7, HKV, D);
  SHAPED(&dv, f32, 7, HKV, DV);
  NUMBERS(&cu_q, 0, 2, 5);
  NUMBERS(&cu_k, 0, 4, 7);
  randomise(&q, q_of, 11);
  randomise(&k, k_of, 12);
  randomise(&v, v_of, 13);
  randomise(&dout, w_of, 14);
  sequences.cu_q = &cu_q.tensor;
  sequences.cu_k = &cu_k.tensor;
  sequences.max_q = 3;
  options.causal = KAIO_CAUSAL_ALIGNMENT_BOTTOM_RIGHT;
  options.lse = &lse.tensor;
  SUCCEEDS(kaio_attention_varlen_warmup(&q.tensor, &k.tensor, &v.tensor, &out.tensor, &sequences, &options));
  SUCCEEDS(kaio_attention_varlen(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &sequences, &options));
  SUCCEEDS(kaio_attention_varlen_choice(&q.tensor, &k.tensor, &v.tensor, &out.tensor, &sequences, &options, &choice));
  CHECK(choice.name[0] != '\0');
  how.repetitions = 1;
  how.remember = how.use_files = 0;
  SUCCEEDS(kaio_tune_attention_varlen(&q.tensor, &k.tensor, &v.tensor, &out.tensor, &sequences, &options, &how, &report));
  CHECK(report.variant[0] != '\0');
  receive(&out, got);
  receive(&lse, bias_of);
  for (b = 0; b < 2; ++b) {
    attention_problem p = problem_of(0);
    p.queries = first_q[b + 1] - first_q[b];
    p.keys = first_k[b + 1] - first_k[b];
    p.q = q_of + first_q[b] * HQ * D;
    p.k = k_of + first_k[b] * HKV * D;
    p.v = v_of + first_k[b] * HKV * DV;
    p.bottom_right = 1;
    attend(&p, expected, second);
    CHECK(far_off(got + first_q[b] * HQ * DV, expected, p.queries * HQ * DV, 1e-5) == 0);
    for (h = 0; h < HQ; ++h)
      for (i = 0; i < p.queries; ++i)
        CHECK(!differ(bias_of[h * 5 + first_q[b] + i], second[h * p.queries + i]));
  }

  options.lse = NULL;
  backward.forward = &options;
  SUCCEEDS(kaio_attention_backward_varlen_workspace_bytes(&q.tensor, &k.tensor, &v.tensor, &sequences, &bytes));
  CHECK(bytes > 0);
  SHAPED(&memory, u8, (int64_t)bytes);
  backward.workspace = &memory.tensor;
  SUCCEEDS(kaio_attention_backward_varlen_warmup(&dout.tensor, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor,
                                                 &dq.tensor, &dk.tensor, &dv.tensor, &sequences, &backward));
  SUCCEEDS(kaio_attention_backward_varlen_choice(&dout.tensor, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor,
                                                 &dq.tensor, &dk.tensor, &dv.tensor, &sequences, &backward, &choice));
  CHECK(choice.name[0] != '\0');
  SUCCEEDS(kaio_attention_backward_varlen(NULL, &dout.tensor, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor,
                                          &dq.tensor, &dk.tensor, &dv.tensor, &sequences, &backward));
  for (b = 0; b < 2; ++b) {
    attention_problem p = problem_of(0);
    p.queries = first_q[b + 1] - first_q[b];
    p.keys = first_k[b + 1] - first_k[b];
    p.q = q_of + first_q[b] * HQ * D;
    p.k = k_of + first_k[b] * HKV * D;
    p.v = v_of + first_k[b] * HKV * DV;
    p.bottom_right = 1;
    attend_backward(&p, w_of + first_q[b] * HQ * DV, expected, second, third);
    receive(&dq, got);
    CHECK(far_off(got + first_q[b] * HQ * D, expected, p.queries * HQ * D, 1e-5) == 0);
    receive(&dk, got);
    CHECK(far_off(got + first_k[b] * HKV * D, second, p.keys * HKV * D, 1e-5) == 0);
    receive(&dv, got);
    CHECK(far_off(got + first_k[b] * HKV * DV, third, p.keys * HKV * DV, 1e-5) == 0);
  }

  REFUSED(kaio_attention_varlen(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, NULL, NULL), "argument sequences",
          "NULL");
  sequences.max_q = 0;
  REFUSED(kaio_attention_varlen(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &sequences, NULL), "attention_varlen",
          "max_q");
  sequences.cu_q = NULL;
  REFUSED(kaio_attention_varlen(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &sequences, NULL), "argument cu_q",
          "NULL");
  sequences.cu_q = &lse.tensor;
  REFUSED(kaio_attention_varlen(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &sequences, NULL),
          "argument cu_q has elements of f32", "i32");
  drop(&q);
  drop(&k);
  drop(&v);
  drop(&out);
  drop(&lse);
  drop(&cu_q);
  drop(&cu_k);
  drop(&dout);
  drop(&dq);
  drop(&dk);
  drop(&dv);
  drop(&memory);
}

static void gradients(void) {
  int64_t b, i;
  uint64_t bytes = 0;
  double sum = 0, of_bias = 0;
  shaped q, k, v, out, lse, bias, dbias, sinks, dsinks, dout, dq, dk, dv, memory;
  kaio_attention_options forward_options = kaio_attention_options_default();
  kaio_attention_backward_options options = kaio_attention_backward_options_default();
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  SHAPED(&q, f32, B, SQ, HQ, D);
  SHAPED(&k, f32, B, SK, HKV, D);
  SHAPED(&v, f32, B, SK, HKV, DV);
  SHAPED(&out, f32, B, SQ, HQ, DV);
  SHAPED(&lse, f32, B, HQ, SQ);
  SHAPED(&bias, f32, HQ, SQ, SK);
  SHAPED(&dbias, f32, HQ, SQ, SK);
  SHAPED(&sinks, f32, HQ);
  SHAPED(&dsinks, f32, HQ);
  SHAPED(&dout, f32, B, SQ, HQ, DV);
  SHAPED(&dq, f32, B, SQ, HQ, D);
  SHAPED(&dk, f32, B, SK, HKV, D);
  SHAPED(&dv, f32, B, SK, HKV, DV);
  randomise(&q, q_of, 21);
  randomise(&k, k_of, 22);
  randomise(&v, v_of, 23);
  randomise(&dout, w_of, 24);
  randomise(&bias, bias_of, 25);
  forward_options.bias = &bias.tensor;
  forward_options.sinks = &sinks.tensor; /* zeros */
  forward_options.lse = &lse.tensor;
  SUCCEEDS(kaio_attention(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &forward_options));
  SUCCEEDS(kaio_attention_backward_workspace_bytes(&q.tensor, &k.tensor, &v.tensor, &bytes));
  SHAPED(&memory, u8, (int64_t)bytes);
  options.forward = &forward_options;
  options.dbias = &dbias.tensor;
  options.dsinks = &dsinks.tensor;
  options.workspace = &memory.tensor;
  SUCCEEDS(kaio_attention_backward_warmup(&dout.tensor, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor,
                                          &dq.tensor, &dk.tensor, &dv.tensor, &options));
  SUCCEEDS(kaio_attention_backward_choice(&dout.tensor, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor,
                                          &dq.tensor, &dk.tensor, &dv.tensor, &options, &choice));
  CHECK(choice.name[0] != '\0');
  SUCCEEDS(kaio_attention_backward(NULL, &dout.tensor, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor,
                                   &dq.tensor, &dk.tensor, &dv.tensor, &options));
  {
    const float zeros[HQ] = {0, 0, 0, 0};
    for (b = 0; b < B; ++b) {
      attention_problem p = problem_of(b);
      p.bias = bias_of;
      p.sinks = zeros;
      attend_backward(&p, w_of + b * SQ * HQ * DV, expected, second, third);
      receive(&dq, got);
      CHECK(far_off(got + b * SQ * HQ * D, expected, SQ * HQ * D, 1e-5) == 0);
      receive(&dk, got);
      CHECK(far_off(got + b * SK * HKV * D, second, SK * HKV * D, 1e-5) == 0);
      receive(&dv, got);
      CHECK(far_off(got + b * SK * HKV * DV, third, SK * HKV * DV, 1e-5) == 0);
    }
  }
  /* a bias and a sink that grow alike change nothing */
  receive(&dbias, got);
  for (i = 0; i < HQ * SQ * SK; ++i) {
    of_bias += got[i];
    sum += fabs(got[i]);
  }
  receive(&dsinks, got);
  for (i = 0; i < HQ; ++i) of_bias += got[i];
  CHECK(sum > 0.1 && fabs(of_bias) < 1e-4);

  SUCCEEDS(kaio_attention_backward(NULL, &dout.tensor, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor, NULL,
                                   &dk.tensor, NULL, &options));
  receive(&dk, got);
  CHECK(far_off(got + SK * HKV * D, second, SK * HKV * D, 1e-5) == 0);
  REFUSED(kaio_attention_backward(NULL, &dout.tensor, &q.tensor, &k.tensor, &v.tensor, &out.tensor, NULL, &dq.tensor,
                                  &dk.tensor, &dv.tensor, &options),
          "attention_backward: argument lse", "NULL");
  REFUSED(kaio_attention_backward(NULL, &dout.tensor, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor, &dq.tensor,
                                  &dk.tensor, &dv.tensor, NULL),
          "argument options", "NULL");
  memory.shape[0] = 16;
  REFUSED(kaio_attention_backward(NULL, &dout.tensor, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor, &dq.tensor,
                                  &dk.tensor, &dv.tensor, &options),
          "attention_backward", "workspace");
  drop(&q);
  drop(&k);
  drop(&v);
  drop(&out);
  drop(&lse);
  drop(&bias);
  drop(&dbias);
  drop(&sinks);
  drop(&dsinks);
  drop(&dout);
  drop(&dq);
  drop(&dk);
  drop(&dv);
  drop(&memory);
}

/* A causal mask of 10 queries and keys in blocks of 4: lists, and the attention that visits them. */
static void blocks(void) {
  int32_t numbers[16];
  shaped q, k, v, out, counts, indices, full_counts, full_indices;
  kaio_block_mask_output output = kaio_block_mask_output_default();
  kaio_block_mask_options mask = kaio_block_mask_options_default();
  kaio_block_mask lists = kaio_block_mask_default();
  kaio_attention_options options = kaio_attention_options_default();
  attention_problem p = problem_of(0);
  SHAPED(&q, f32, 1, 10, HQ, D);
  SHAPED(&k, f32, 1, 10, HKV, D);
  SHAPED(&v, f32, 1, 10, HKV, DV);
  SHAPED(&out, f32, 1, 10, HQ, DV);
  SHAPED(&counts, i32, 1, 1, 3);
  SHAPED(&indices, i32, 1, 1, 3, 3);
  SHAPED(&full_counts, i32, 1, 1, 3);
  SHAPED(&full_indices, i32, 1, 1, 3, 3);
  randomise(&q, q_of, 31);
  randomise(&k, k_of, 32);
  randomise(&v, v_of, 33);
  output.block_queries = lists.block_queries = 4;
  output.block_keys = lists.block_keys = 4;
  output.kv_num_blocks = lists.kv_num_blocks = &counts.tensor;
  output.kv_indices = lists.kv_indices = &indices.tensor;
  output.full_kv_num_blocks = lists.full_kv_num_blocks = &full_counts.tensor;
  output.full_kv_indices = lists.full_kv_indices = &full_indices.tensor;
  mask.queries = mask.keys = 10;
  mask.causal = KAIO_CAUSAL_ALIGNMENT_TOP_LEFT;
  SUCCEEDS(kaio_make_block_mask_warmup(device, &output, &mask));
  SUCCEEDS(kaio_make_block_mask(NULL, device, &output, &mask));
  receive(&counts, numbers);
  CHECK(numbers[0] == 1 && numbers[1] == 1 && numbers[2] == 1);
  receive(&indices, numbers);
  CHECK(numbers[0] == 0 && numbers[3] == 1 && numbers[6] == 2);
  receive(&full_counts, numbers);
  CHECK(numbers[0] == 0 && numbers[1] == 1 && numbers[2] == 2);
  receive(&full_indices, numbers);
  CHECK(numbers[3] == 0 && numbers[6] == 0 && numbers[7] == 1);

  options.causal = KAIO_CAUSAL_ALIGNMENT_TOP_LEFT;
  options.blocks = &lists;
  SUCCEEDS(kaio_attention(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &options));
  p.queries = p.keys = 10;
  p.bottom_right = 1;
  attend(&p, expected, NULL);
  receive(&out, got);
  CHECK(far_off(got, expected, 10 * HQ * DV, 1e-5) == 0);

  lists.kv_num_blocks = NULL;
  REFUSED(kaio_attention(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &options), "blocks.kv_num_blocks",
          "blocks.kv_indices");
  lists.size = 20;
  REFUSED(kaio_attention(NULL, &q.tensor, &k.tensor, &v.tensor, &out.tensor, &options), "argument blocks has size 20",
          "sizeof");
  mask.keys = -1;
  REFUSED(kaio_make_block_mask(NULL, device, &output, &mask), "make_block_mask", "-1");
  REFUSED(kaio_make_block_mask(NULL, device, NULL, &mask), "make_block_mask: argument output", "NULL");
  output.kv_indices = &q.tensor;
  REFUSED(kaio_make_block_mask(NULL, device, &output, &mask), "argument kv_indices has elements of f32", "i32");
  drop(&q);
  drop(&k);
  drop(&v);
  drop(&out);
  drop(&counts);
  drop(&indices);
  drop(&full_counts);
  drop(&full_indices);
}

/* The attention over 7 keys is that over the first 4 merged with that over the other 3. */
static void merging(void) {
  int64_t i;
  shaped q, k, v, one, other, lse_one, lse_other, out, lse;
  DLTensor part_k, part_v;
  int64_t k_shape[4] = {1, 4, HKV, D}, v_shape[4] = {1, 4, HKV, DV};
  const attention_problem p = problem_of(0);
  kaio_attention_options options = kaio_attention_options_default();
  SHAPED(&q, f32, 1, SQ, HQ, D);
  SHAPED(&k, f32, 1, SK, HKV, D);
  SHAPED(&v, f32, 1, SK, HKV, DV);
  SHAPED(&one, f32, 1, SQ, HQ, DV);
  SHAPED(&other, f32, 1, SQ, HQ, DV);
  SHAPED(&out, f32, 1, SQ, HQ, DV);
  SHAPED(&lse_one, f32, 1, HQ, SQ);
  SHAPED(&lse_other, f32, 1, HQ, SQ);
  SHAPED(&lse, f32, 1, HQ, SQ);
  randomise(&q, q_of, 41);
  randomise(&k, k_of, 42);
  randomise(&v, v_of, 43);
  part_k = k.tensor;
  part_v = v.tensor;
  part_k.shape = k_shape;
  part_v.shape = v_shape;
  options.lse = &lse_one.tensor;
  SUCCEEDS(kaio_attention(NULL, &q.tensor, &part_k, &part_v, &one.tensor, &options));
  k_shape[1] = v_shape[1] = 3;
  part_k.byte_offset = 4 * HKV * D * sizeof(float);
  part_v.byte_offset = 4 * HKV * DV * sizeof(float);
  options.lse = &lse_other.tensor;
  SUCCEEDS(kaio_attention(NULL, &q.tensor, &part_k, &part_v, &other.tensor, &options));
  SUCCEEDS(kaio_merge_states_warmup(&one.tensor, &lse_one.tensor, &other.tensor, &lse_other.tensor, &out.tensor, NULL));
  SUCCEEDS(kaio_merge_states(NULL, &one.tensor, &lse_one.tensor, &other.tensor, &lse_other.tensor, &out.tensor,
                             &lse.tensor));
  attend(&p, expected, second);
  receive(&out, got);
  CHECK(far_off(got, expected, SQ * HQ * DV, 1e-5) == 0);
  receive(&lse, got);
  CHECK(far_off(got, second, HQ * SQ, 1e-5) == 0);
  SUCCEEDS(kaio_merge_states(NULL, &one.tensor, &lse_one.tensor, &other.tensor, &lse_other.tensor, &one.tensor, NULL));
  receive(&one, got);
  for (i = 0; i < SQ * HQ * DV; ++i) CHECK(!differ(got[i], expected[i]));
  REFUSED(kaio_merge_states(NULL, &one.tensor, &one.tensor, &other.tensor, &lse_other.tensor, &out.tensor, NULL),
          "merge_states: argument lse_a", "3");
  drop(&q);
  drop(&k);
  drop(&v);
  drop(&one);
  drop(&other);
  drop(&out);
  drop(&lse_one);
  drop(&lse_other);
  drop(&lse);
}

/* A call is recorded, and replayed with other numbers in its memory. */
static void replay(void) {
  kaio_stream* stream = NULL;
  kaio_capture* capture = NULL;
  kaio_graph* graph = NULL;
  shaped q, k, v, out;
  const attention_problem p = problem_of(0);
  SHAPED(&q, f32, 1, SQ, HQ, D);
  SHAPED(&k, f32, 1, SK, HKV, D);
  SHAPED(&v, f32, 1, SK, HKV, DV);
  SHAPED(&out, f32, 1, SQ, HQ, DV);
  SUCCEEDS(kaio_stream_create(device, &stream));
  SUCCEEDS(kaio_attention_warmup(&q.tensor, &k.tensor, &v.tensor, &out.tensor, NULL));
  SUCCEEDS(kaio_capture_begin(device, kaio_stream_handle(stream), &capture));
  SUCCEEDS(kaio_attention(kaio_stream_handle(stream), &q.tensor, &k.tensor, &v.tensor, &out.tensor, NULL));
  SUCCEEDS(kaio_capture_end(capture, &graph));
  randomise(&q, q_of, 51);
  randomise(&k, k_of, 52);
  randomise(&v, v_of, 53);
  SUCCEEDS(kaio_graph_launch(graph, kaio_stream_handle(stream)));
  attend(&p, expected, NULL);
  receive(&out, got);
  CHECK(far_off(got, expected, SQ * HQ * DV, 1e-5) == 0);
  SUCCEEDS(kaio_graph_destroy(graph));
  SUCCEEDS(kaio_stream_destroy(stream));
  drop(&q);
  drop(&k);
  drop(&v);
  drop(&out);
}

int main(void) {
  f32 = type_of(kDLFloat, 32);
  f16 = type_of(kDLFloat, 16);
  u8 = type_of(kDLUInt, 8);
  i32 = type_of(kDLInt, 32);
  if (kaio_device_open(NULL, &device) != KAIO_OK) {
    fprintf(stderr, "%s\n", kaio_last_error());
    return 1;
  }
  forward();
  packed();
  gradients();
  blocks();
  merging();
  replay();
  return finish();
}
