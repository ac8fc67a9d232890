/* Projections of a layer from C: Q, K and V into tensors and into a cache, gate and up, with every kind of weights. Results are
 * compared with sums in double precision. */
#include "tensors.h"

enum { tokens = 3, k = 64, size = 16, q_heads = 2, k_heads = 1, nq = q_heads * size, nk = k_heads * size, n = nq + 2 * nk, pairs = 8 };

static float x[MOST_ELEMENTS], w[MOST_ELEMENTS], got[MOST_ELEMENTS], products[tokens * n];

/* products = x W^T, for the first `columns` rows of W */
static void multiply(int columns) {
  int row, column, i;
  for (row = 0; row < tokens; ++row)
    for (column = 0; column < columns; ++column) {
      double sum = 0;
      for (i = 0; i < k; ++i) sum += (double)x[row * k + i] * w[column * k + i];
      products[row * columns + column] = (float)sum;
    }
}
/* A difference that is more than the rounding to f16. */
static int far(float computed, double wanted) { return !(fabs(computed - wanted) <= 2e-3 * fabs(wanted) + 1e-2); }

static int64_t wrong_heads(const owned* heads, int first, int count) {
  int64_t wrong = 0;
  int row, i;
  fetch_half(heads, got);
  for (row = 0; row < tokens; ++row)
    for (i = 0; i < count; ++i) wrong += far(got[row * count + i], products[row * n + first + i]);
  return wrong;
}

static void into_tensors(void) {
  owned input, weight, of_q, of_k, of_v, workspace;
  uint64_t bytes = 0;
  DLTensor part[3];
  int64_t shape[3][2];
  kaio_projection_weight all = kaio_projection_weight_default(), one[3];
  kaio_qkv_weights weights = kaio_qkv_weights_default();
  kaio_qkv_outputs outputs = kaio_qkv_outputs_default();
  kaio_qkv_project_options options = kaio_qkv_project_options_default();
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  kaio_tune_options how = kaio_tune_options_default();
  kaio_tune_report report = kaio_tune_report_default();
  int i;
  make(&input, device, f16_type(), tokens, k, -1);
  make(&weight, device, f16_type(), n, k, -1);
  fill_half(&input, x, 1);
  fill_half(&weight, w, 2);
  multiply(n);
  make(&of_q, device, f16_type(), tokens, q_heads, size);
  make(&of_k, device, f16_type(), tokens, k_heads, size);
  make(&of_v, device, f16_type(), tokens, k_heads, size);
  all.matrix = &weight.tensor;
  weights.all = &all;
  outputs.q = &of_q.tensor;
  outputs.k = &of_k.tensor;
  outputs.v = &of_v.tensor;
  SUCCEEDS(kaio_qkv_project_workspace_bytes(&input.tensor, &weights, &outputs, NULL, &bytes));
  with(&workspace, u8_type(), (int64_t)bytes + 16, -1, -1, NULL);
  options.workspace = &workspace.tensor;
  options.constant = KAIO_CONSTANT_INPUTS_WEIGHTS;
  SUCCEEDS(kaio_qkv_project_choice(&input.tensor, &weights, &outputs, &options, &choice));
  CHECK(choice.name[0] != '\0');
  SUCCEEDS(kaio_qkv_project_warmup(&input.tensor, &weights, &outputs, &options));
  SUCCEEDS(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options));
  CHECK(wrong_heads(&of_q, 0, nq) == 0);
  CHECK(wrong_heads(&of_k, nq, nk) == 0);
  CHECK(wrong_heads(&of_v, nq + nk, nk) == 0);

  /* three weights, and Q scaled */
  for (i = 0; i < 3; ++i) {
    part[i] = weight.tensor;
    shape[i][0] = i == 0 ? nq : nk;
    shape[i][1] = k;
    part[i].shape = shape[i];
    part[i].byte_offset = (uint64_t)(i == 0 ? 0 : i == 1 ? nq : nq + nk) * k * 2;
    one[i] = kaio_projection_weight_default();
    one[i].matrix = &part[i];
  }
  weights.q = &one[0];
  weights.k = &one[1];
  REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "argument weights", "one weight or three");
  weights.all = NULL;
  REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "argument weights", "one weight or three");
  weights.v = &one[2];
  options.q_scale = 0.5f;
  SUCCEEDS(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options));
  fetch_half(&of_q, got);
  for (i = 0; i < tokens * nq; ++i) CHECK(!far(got[i], 0.5 * products[i / nq * n + i % nq]));
  CHECK(wrong_heads(&of_v, nq + nk, nk) == 0);
  shape[1][0] = nk - 1;
  REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "qkv_project", "weights.k");
  shape[1][0] = nk;

  one[1].scale = &of_k.tensor;
  REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "argument weights.k.scale", "it takes f32");
  one[1].matrix = NULL;
  REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "argument weights.k", "exactly one");
  outputs.v = NULL;
  weights.q = weights.k = weights.v = NULL;
  weights.all = &all;
  REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "argument outputs", "or the cache");
  outputs.v = &of_v.tensor;
  of_v.tensor.dtype = type_of(kDLBfloat, 16);
  REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "argument v", "cast");
  of_v.tensor.dtype = f16_type();
  options.variant = "no_such_kernel";
  REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "qkv_project", "no_such_kernel");
  how.repetitions = 1;
  how.remember = how.use_files = 0;
  options.variant = NULL;
  SUCCEEDS(kaio_tune_qkv_project(&input.tensor, &weights, &outputs, &options, &how, &report));
  CHECK(report.variant[0] != '\0' && report.saved == 0);
  release(&input);
  release(&weight);
  release(&of_q);
  release(&of_k);
  release(&of_v);
  release(&workspace);
}

/* A norm of x, a norm of the heads of K, a rotation, and a cache that has one key and gets two. */
static void into_a_cache(void) {
  enum { rows = 4 };
  owned input, weight, of_q, norm, head_norm, cos_of, sin_of, workspace, keys, values, lengths;
  DLTensor all_keys, all_values;
  int64_t shape[4];
  const int32_t length[1] = {1};
  static float ones[k], turn[8 * pairs], table[8 * pairs];
  static uint16_t halves[k];
  uint64_t bytes = 0;
  kaio_projection_weight all = kaio_projection_weight_default();
  kaio_qkv_weights weights = kaio_qkv_weights_default();
  kaio_qkv_outputs outputs = kaio_qkv_outputs_default();
  kaio_kv_cache cache = kaio_kv_cache_default();
  kaio_x_norm x_norm = kaio_x_norm_default();
  kaio_qkv_rotary rotary = kaio_qkv_rotary_default();
  kaio_qkv_project_options options = kaio_qkv_project_options_default();
  int row, i, wrong = 0;
  make(&input, device, f16_type(), 1, 2, k);
  make(&weight, device, f16_type(), n, k, -1);
  fill_half(&input, x, 3);
  fill_half(&weight, w, 4);
  for (i = 0; i < k; ++i) halves[i] = half_of(ones[i] = 2);
  with(&norm, f16_type(), k, -1, -1, halves);
  for (i = 0; i < size; ++i) halves[i] = half_of(1);
  with(&head_norm, f16_type(), size, -1, -1, halves);
  for (i = 0; i < 8 * pairs; ++i) {
    turn[i] = (float)cos(0.25 * (i / pairs));
    table[i] = (float)sin(0.25 * (i / pairs));
  }
  with(&cos_of, f32_type(), 8, pairs, -1, turn);
  with(&sin_of, f32_type(), 8, pairs, -1, table);
  make(&of_q, device, f16_type(), 2, q_heads, size);
  make(&keys, device, f16_type(), rows, k_heads, size);
  make(&values, device, f16_type(), rows, k_heads, size);
  with(&lengths, i32_type(), 1, -1, -1, length);
  all.matrix = &weight.tensor;
  weights.all = &all;
  all_keys = keys.tensor;
  all_values = values.tensor;
  shape[0] = 1;
  shape[1] = rows;
  shape[2] = k_heads;
  shape[3] = size;
  all_keys.shape = all_values.shape = shape;
  all_keys.ndim = all_values.ndim = 4;
  cache.k = &all_keys;
  cache.v = &all_values;
  cache.lengths = &lengths.tensor;
  {
    DLTensor heads = of_q.tensor;
    int64_t of_heads[4];
    of_heads[0] = 1;
    of_heads[1] = 2;
    of_heads[2] = q_heads;
    of_heads[3] = size;
    heads.ndim = 4;
    heads.shape = of_heads;
    outputs.q = &heads;
    outputs.cache = &cache;
    x_norm.weight = &norm.tensor;
    rotary.cos = &cos_of.tensor;
    rotary.sin = &sin_of.tensor;
    options.x_norm = &x_norm;
    options.rotary = &rotary;
    options.k_norm = &head_norm.tensor;
    SUCCEEDS(kaio_qkv_project_workspace_bytes(&input.tensor, &weights, &outputs, &options, &bytes));
    with(&workspace, u8_type(), (int64_t)bytes + 16, -1, -1, NULL);
    options.workspace = &workspace.tensor;
    SUCCEEDS(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options));
    for (row = 0; row < 2; ++row) {
      double squares = 0;
      for (i = 0; i < k; ++i) squares += (double)x[row * k + i] * x[row * k + i];
      for (i = 0; i < k; ++i) x[row * k + i] = float_of(half_of((float)(x[row * k + i] / sqrt(squares / k + 1e-6) * 2)));
    }
    multiply(n);
    fetch_half(&values, got);
    for (row = 0; row < 2; ++row)
      for (i = 0; i < nk; ++i) wrong += fabs(got[(row + 1) * nk + i] - products[row * n + nq + nk + i]) > 0.05;
    fetch_half(&keys, got);
    for (row = 0; row < 2; ++row) {
      const float* const y = products + row * n + nq;
      double squares = 0, angle = 0.25 * (row + 1);
      for (i = 0; i < size; ++i) squares += (double)y[i] * y[i];
      squares = sqrt(squares / size + 1e-6);
      for (i = 0; i < pairs; ++i) {
        const double first = y[i] / squares, second = y[i + pairs] / squares;
        wrong += fabs(got[(row + 1) * nk + i] - (first * cos(angle) - second * sin(angle))) > 0.02;
        wrong += fabs(got[(row + 1) * nk + i + pairs] - (second * cos(angle) + first * sin(angle))) > 0.02;
      }
    }
    CHECK(wrong == 0);
    x_norm.weight = &cos_of.tensor;
    REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "argument x_norm.weight", "dimensions");
    x_norm.weight = NULL;
    REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "argument x_norm.weight", "NULL");
    options.x_norm = NULL;
    all_keys.dtype = type_of(kDLBfloat, 16);
    all_values.dtype = type_of(kDLBfloat, 16);
    REFUSED(kaio_qkv_project(NULL, &input.tensor, &weights, &outputs, &options), "argument cache.k", "8 bits");
  }
  release(&input);
  release(&weight);
  release(&of_q);
  release(&norm);
  release(&head_norm);
  release(&cos_of);
  release(&sin_of);
  release(&workspace);
  release(&keys);
  release(&values);
  release(&lengths);
}

static double gated(double gate, double up) { return gate / (1 + exp(-gate)) * up; }

/* out = silu(x Wg^T) * (x Wu^T), of `products` with 32 columns. */
static int64_t wrong_gated(const owned* out, double scale) {
  int64_t wrong = 0;
  int row, i;
  fetch(out, got);
  for (row = 0; row < tokens; ++row)
    for (i = 0; i < 16; ++i) {
      const double wanted = gated(scale * products[row * 32 + i], scale * products[row * 32 + 16 + i]);
      wrong += fabs(got[row * 16 + i] - wanted) > 1e-3 * fabs(wanted) + 1e-3;
    }
  return wrong;
}

static void gate_and_up(void) {
  enum { f = 16 };
  static int8_t codes[MOST_ELEMENTS];
  owned input, weight, out, workspace, codes_of, x_codes, x_scale, w_scale, packed_4, scales_4, memory_4, memory_8, half_x;
  static uint32_t words[2 * f * k / 8];
  static uint16_t ones[2 * f * 2];
  const float half = 0.5f, quarter = 0.25f;
  uint64_t bytes = 0;
  DLTensor part[2];
  int64_t shape[2][2];
  kaio_projection_weight both = kaio_projection_weight_default(), one[2];
  kaio_gate_up_weights weights = kaio_gate_up_weights_default();
  kaio_gate_up_project_options options = kaio_gate_up_project_options_default();
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  kaio_tune_options how = kaio_tune_options_default();
  kaio_tune_report report = kaio_tune_report_default();
  kaio_w4_weights w4 = kaio_w4_weights_default();
  kaio_w8_weights w8 = kaio_w8_weights_default();
  kaio_int4_w4 from_4 = kaio_int4_w4_default();
  kaio_int8_w8 from_8 = kaio_int8_w8_default();
  int i;
  make(&input, device, f32_type(), tokens, k, -1);
  make(&weight, device, f32_type(), 2 * f, k, -1);
  fill(&input, x, 5);
  fill(&weight, w, 6);
  for (i = 0; i < 2 * f * k; ++i) codes[i] = (int8_t)(w[i] * 4); /* -8 to 7 */
  multiply(2 * f);
  with(&out, f32_type(), tokens, f, -1, NULL);
  both.matrix = &weight.tensor;
  weights.both = &both;
  SUCCEEDS(kaio_gate_up_project_workspace_bytes(&input.tensor, &weights, &out.tensor, NULL, &bytes));
  with(&workspace, u8_type(), (int64_t)bytes + 65536, -1, -1, NULL);
  options.workspace = &workspace.tensor;
  SUCCEEDS(kaio_gate_up_project_choice(&input.tensor, &weights, &out.tensor, &options, &choice));
  CHECK(choice.name[0] != '\0');
  SUCCEEDS(kaio_gate_up_project_warmup(&input.tensor, &weights, &out.tensor, &options));
  SUCCEEDS(kaio_gate_up_project(NULL, &input.tensor, &weights, &out.tensor, &options));
  CHECK(wrong_gated(&out, 1) == 0);
  how.repetitions = 1;
  how.remember = how.use_files = 0;
  SUCCEEDS(kaio_tune_gate_up_project(&input.tensor, &weights, &out.tensor, &options, &how, &report));
  CHECK(report.variant[0] != '\0' && report.saved == 0);

  for (i = 0; i < 2; ++i) {
    part[i] = weight.tensor;
    shape[i][0] = f;
    shape[i][1] = k;
    part[i].shape = shape[i];
    part[i].byte_offset = (uint64_t)i * f * k * 4;
    one[i] = kaio_projection_weight_default();
    one[i].matrix = &part[i];
  }
  weights.both = NULL;
  weights.gate = &one[0];
  REFUSED(kaio_gate_up_project(NULL, &input.tensor, &weights, &out.tensor, &options), "argument weights", "one weight or two");
  weights.up = &one[1];
  SUCCEEDS(kaio_gate_up_project(NULL, &input.tensor, &weights, &out.tensor, &options));
  CHECK(wrong_gated(&out, 1) == 0);
  weights = kaio_gate_up_weights_default();
  weights.both = &both;

  /* i8 with scales: x and W are codes / 4 */
  with(&codes_of, i8_type(), 2 * f, k, -1, codes);
  for (i = 0; i < tokens * k; ++i) codes[i] = (int8_t)(x[i] * 4);
  with(&x_codes, i8_type(), tokens, k, -1, codes);
  with(&x_scale, f32_type(), 1, -1, -1, &quarter);
  with(&w_scale, f32_type(), 1, -1, -1, &half);
  both.matrix = &codes_of.tensor;
  options.x_scale = &x_scale.tensor;
  REFUSED(kaio_gate_up_project(NULL, &x_codes.tensor, &weights, &out.tensor, &options), "argument weights.scale", "NULL");
  both.scale = &w_scale.tensor;
  SUCCEEDS(kaio_gate_up_project(NULL, &x_codes.tensor, &weights, &out.tensor, &options));
  CHECK(wrong_gated(&out, 2) == 0);
  both.matrix = &weight.tensor;
  REFUSED(kaio_gate_up_project(NULL, &input.tensor, &weights, &out.tensor, &options), "argument weights", "only matrices of i8");
  options.x_scale = NULL;

  /* packed: four bits with the scale 0.25, eight bits with the scale 0.5 */
  make(&half_x, device, f16_type(), tokens, k, -1);
  fill_half(&half_x, x, 5);
  multiply(2 * f);
  memset(words, 0, sizeof words);
  for (i = 0; i < 2 * f * k; ++i) words[i / 8] |= ((uint32_t)(int32_t)(w[i] * 4) & 15u) << 4 * (i % 8);
  for (i = 0; i < 2 * f; ++i) ones[i] = half_of(0.25f);
  with(&packed_4, i32_type(), 2 * f, k / 8, -1, words);
  with(&scales_4, f16_type(), 1, 2 * f, -1, ones);
  w4.n = w8.n = 2 * f;
  w4.k = w8.k = k;
  w4.group = -1;
  SUCCEEDS(kaio_w4_packed_bytes(&w4, &bytes));
  with(&memory_4, u8_type(), (int64_t)bytes, -1, -1, NULL);
  w4.memory = &memory_4.tensor;
  from_4.packed = &packed_4.tensor;
  from_4.scales = &scales_4.tensor;
  SUCCEEDS(kaio_repack_int4_w4(NULL, &from_4, &w4));
  both = kaio_projection_weight_default();
  both.w4 = &w4;
  SUCCEEDS(kaio_gate_up_project(NULL, &half_x.tensor, &weights, &out.tensor, &options));
  CHECK(wrong_gated(&out, 1) == 0);
  SUCCEEDS(kaio_w8_packed_bytes(&w8, &bytes));
  with(&memory_8, u8_type(), (int64_t)bytes, -1, -1, NULL);
  w8.memory = &memory_8.tensor;
  from_8.weight = &codes_of.tensor;
  from_8.scales = &w_scale.tensor;
  w_scale.tensor.ndim = 1;
  SUCCEEDS(kaio_repack_int8_w8(NULL, &from_8, &w8));
  both.w8 = &w8;
  REFUSED(kaio_gate_up_project(NULL, &half_x.tensor, &weights, &out.tensor, &options), "argument weights", "exactly one");
  both.w4 = NULL;
  SUCCEEDS(kaio_gate_up_project(NULL, &half_x.tensor, &weights, &out.tensor, &options));
  CHECK(wrong_gated(&out, 2) == 0);
  both.scale = &w_scale.tensor;
  REFUSED(kaio_gate_up_project(NULL, &half_x.tensor, &weights, &out.tensor, &options), "argument weights", "scales inside");
  both.scale = NULL;
  out.shape[1] = f - 1;
  REFUSED(kaio_gate_up_project(NULL, &half_x.tensor, &weights, &out.tensor, &options), "gate_up_project", "weights");
  release(&input);
  release(&weight);
  release(&out);
  release(&workspace);
  release(&codes_of);
  release(&x_codes);
  release(&x_scale);
  release(&w_scale);
  release(&packed_4);
  release(&scales_4);
  release(&memory_4);
  release(&memory_8);
  release(&half_x);
}

int main(void) {
  if (!open_device()) return 1;
  into_tensors();
  into_a_cache();
  gate_and_up();
  return finish();
}
