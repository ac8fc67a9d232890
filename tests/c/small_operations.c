/* Norms, softmax, losses, activations, copies, reductions, embeddings, sampling and experts through the C interface. */
#include "tensors.h"

enum { ROWS = 3, SIZE = 40, COUNT = ROWS * SIZE };

static DLDataType f32, f16, i8, u8, i32, u32, i64;
static float x_of[COUNT], y_of[COUNT], z_of[COUNT], got[4 * COUNT];
static double expected[4 * COUNT];

static double silu(double x) { return x / (1 + exp(-x)); }
static double silu_slope(double x) {
  const double s = 1 / (1 + exp(-x));
  return s * (1 + x * (1 - s));
}

static void layer_norms(void) {
  static signed char codes_of[COUNT];
  float scales_of[ROWS];
  shaped x, weight, bias, residual, out, codes, scales;
  kaio_layer_norm_options options = kaio_layer_norm_options_default();
  int64_t row, i, wrong = 0;
  SHAPED(&x, f32, ROWS, SIZE);
  SHAPED(&residual, f32, ROWS, SIZE);
  SHAPED(&out, f32, ROWS, SIZE);
  SHAPED(&weight, f32, SIZE);
  SHAPED(&bias, f32, SIZE);
  SHAPED(&codes, i8, ROWS, SIZE);
  SHAPED(&scales, f32, ROWS);
  randomise(&x, x_of, 1);
  randomise(&residual, y_of, 2);
  randomise(&weight, z_of, 3);
  randomise(&bias, z_of + SIZE, 4);
  for (row = 0; row < ROWS; ++row) {
    double mean = 0, variance = 0;
    for (i = 0; i < SIZE; ++i) mean += (x_of[row * SIZE + i] + y_of[row * SIZE + i]) / SIZE;
    for (i = 0; i < SIZE; ++i) variance += pow(x_of[row * SIZE + i] + y_of[row * SIZE + i] - mean, 2) / SIZE;
    for (i = 0; i < SIZE; ++i)
      expected[row * SIZE + i] =
          (x_of[row * SIZE + i] + y_of[row * SIZE + i] - mean) / sqrt(variance + 1e-5) * z_of[i] + z_of[SIZE + i];
  }
  options.residual = &residual.tensor;
  SUCCEEDS(kaio_layer_norm_warmup(&x.tensor, &weight.tensor, &bias.tensor, &out.tensor, &options));
  SUCCEEDS(kaio_layer_norm(NULL, &x.tensor, &weight.tensor, &bias.tensor, &out.tensor, &options));
  receive(&out, got);
  CHECK(far_off(got, expected, COUNT, 1e-5) == 0);
  options.y_out = &out.tensor;
  SUCCEEDS(kaio_layer_norm_codes(NULL, &x.tensor, &weight.tensor, &bias.tensor, &codes.tensor, &scales.tensor, 0, &options));
  receive(&codes, codes_of);
  receive(&scales, scales_of);
  receive(&out, got);
  CHECK(far_off(got, expected, COUNT, 1e-5) == 0);
  for (i = 0; i < COUNT; ++i)
    wrong += !(fabs(codes_of[i] * scales_of[i / SIZE] - expected[i]) <= 0.51 * scales_of[i / SIZE]);
  CHECK(wrong == 0);
  SUCCEEDS(kaio_layer_norm(NULL, &x.tensor, NULL, NULL, &out.tensor, NULL));
  REFUSED(kaio_layer_norm(NULL, &x.tensor, &weight.tensor, &bias.tensor, &codes.tensor, NULL), "argument out", "f32, f16 or bf16");
  REFUSED(kaio_layer_norm_codes(NULL, &x.tensor, NULL, NULL, &codes.tensor, NULL, 0, NULL), "layer_norm", "scale");
  drop(&x);
  drop(&residual);
  drop(&out);
  drop(&weight);
  drop(&bias);
  drop(&codes);
  drop(&scales);
}

/* rms_norm with a weight of f32 and x of f16, and modulated. */
static void modulated(void) {
  shaped x, weight, scale, shift, out;
  kaio_rms_norm_options options = kaio_rms_norm_options_default();
  int64_t row, i;
  SHAPED(&x, f32, ROWS, SIZE);
  SHAPED(&scale, f32, ROWS, SIZE);
  SHAPED(&shift, f32, ROWS, SIZE);
  SHAPED(&out, f32, ROWS, SIZE);
  SHAPED(&weight, f32, SIZE);
  randomise(&x, x_of, 5);
  randomise(&scale, y_of, 6);
  randomise(&shift, z_of, 7);
  for (i = 0; i < SIZE; ++i) got[i] = 1.0f;
  send(&weight, got);
  for (row = 0; row < ROWS; ++row) {
    double squares = 0;
    for (i = 0; i < SIZE; ++i) squares += (double)x_of[row * SIZE + i] * x_of[row * SIZE + i] / SIZE;
    for (i = row * SIZE; i < (row + 1) * SIZE; ++i) expected[i] = x_of[i] / sqrt(squares + 1e-6) * (1.0 + y_of[i]) + z_of[i];
  }
  options.scale = &scale.tensor;
  options.shift = &shift.tensor;
  SUCCEEDS(kaio_rms_norm(NULL, &x.tensor, &weight.tensor, &out.tensor, &options));
  receive(&out, got);
  CHECK(far_off(got, expected, COUNT, 1e-5) == 0);
  options.casting = 9;
  REFUSED(kaio_rms_norm(NULL, &x.tensor, &weight.tensor, &out.tensor, &options), "casting", "9");
  x.tensor.dtype = out.tensor.dtype = f16;
  SUCCEEDS(kaio_rms_norm(NULL, &x.tensor, &weight.tensor, &out.tensor, NULL));
  drop(&x);
  drop(&scale);
  drop(&shift);
  drop(&out);
  drop(&weight);
}

static void activations(void) {
  shaped x, y, z, out, other;
  kaio_gated_options options = kaio_gated_options_default();
  int64_t i;
  SHAPED(&x, f32, ROWS, SIZE);
  SHAPED(&y, f32, ROWS, SIZE);
  SHAPED(&z, f32, ROWS, SIZE);
  SHAPED(&out, f32, ROWS, SIZE);
  SHAPED(&other, f32, ROWS, SIZE);
  randomise(&x, x_of, 8);
  randomise(&y, y_of, 9);
  randomise(&z, z_of, 10);
  SUCCEEDS(kaio_activate(NULL, KAIO_ACTIVATION_SILU, &x.tensor, &out.tensor));
  receive(&out, got);
  for (i = 0; i < COUNT; ++i) expected[i] = silu(x_of[i]);
  CHECK(far_off(got, expected, COUNT, 1e-5) == 0);
  SUCCEEDS(kaio_activate_backward(NULL, KAIO_ACTIVATION_SILU, &y.tensor, &x.tensor, &out.tensor));
  receive(&out, got);
  for (i = 0; i < COUNT; ++i) expected[i] = y_of[i] * silu_slope(x_of[i]);
  CHECK(far_off(got, expected, COUNT, 1e-5) == 0);
  options.up_offset = 1;
  SUCCEEDS(kaio_gated(NULL, KAIO_ACTIVATION_SILU, &x.tensor, &y.tensor, &out.tensor, &options));
  receive(&out, got);
  for (i = 0; i < COUNT; ++i) expected[i] = silu(x_of[i]) * (y_of[i] + 1.0);
  CHECK(far_off(got, expected, COUNT, 1e-5) == 0);
  SUCCEEDS(kaio_gated_backward(NULL, KAIO_ACTIVATION_SILU, &z.tensor, &x.tensor, &y.tensor, &out.tensor, &other.tensor, NULL));
  receive(&out, got);
  for (i = 0; i < COUNT; ++i) expected[i] = (double)z_of[i] * y_of[i] * silu_slope(x_of[i]);
  CHECK(far_off(got, expected, COUNT, 1e-5) == 0);
  receive(&other, got);
  for (i = 0; i < COUNT; ++i) expected[i] = z_of[i] * silu(x_of[i]);
  CHECK(far_off(got, expected, COUNT, 1e-5) == 0);
  REFUSED(kaio_activate(NULL, 17, &x.tensor, &out.tensor), "argument kind is 17", "named constants");
  y.shape[1] = SIZE - 1;
  REFUSED(kaio_gated(NULL, KAIO_ACTIVATION_GELU, &x.tensor, &y.tensor, &out.tensor, NULL), "gated", "argument up");
  REFUSED(kaio_activate_backward(NULL, KAIO_ACTIVATION_RELU, &y.tensor, &x.tensor, &out.tensor), "activate_backward", "argument dy");
  REFUSED(kaio_gated_backward(NULL, KAIO_ACTIVATION_RELU, &z.tensor, &x.tensor, &y.tensor, &out.tensor, &other.tensor, NULL),
          "gated_backward", "argument up");
  drop(&x);
  drop(&y);
  drop(&z);
  drop(&out);
  drop(&other);
}

static void copies(void) {
  const int64_t across[2] = {1, ROWS};
  int16_t words_of[COUNT], back[COUNT];
  static signed char codes_of[COUNT];
  const float scales_of[ROWS] = {1, 0.5f, 0.25f};
  shaped words, turned, codes, scales, out;
  int64_t i, wrong = 0;
  for (i = 0; i < COUNT; ++i) words_of[i] = (int16_t)(i - 50);
  for (i = 0; i < COUNT; ++i) codes_of[i] = (signed char)(i - 60);
  SHAPED(&words, type_of(kDLInt, 16), ROWS, SIZE);
  SHAPED(&turned, type_of(kDLInt, 16), ROWS, SIZE);
  SHAPED(&codes, i8, ROWS, SIZE);
  SHAPED(&scales, f32, ROWS, 1);
  SHAPED(&out, f32, ROWS, SIZE);
  send(&words, words_of);
  turned.tensor.strides = (int64_t*)across;
  SUCCEEDS(kaio_copy_tensor(NULL, &turned.tensor, &words.tensor));
  receive(&turned, back);
  for (i = 0; i < COUNT; ++i) wrong += back[i % SIZE * ROWS + i / SIZE] != words_of[i];
  CHECK(wrong == 0);
  REFUSED(kaio_copy_tensor(NULL, &out.tensor, &words.tensor), "to and from", "element types");
  send(&codes, codes_of);
  send(&scales, scales_of);
  SUCCEEDS(kaio_int8_dequant(NULL, &codes.tensor, 0.5f, &out.tensor));
  receive(&out, got);
  for (i = 0; i < COUNT; ++i) expected[i] = codes_of[i] * 0.5;
  CHECK(far_off(got, expected, COUNT, 0) == 0);
  SUCCEEDS(kaio_int8_dequant_groups(NULL, &codes.tensor, &scales.tensor, &out.tensor));
  receive(&out, got);
  for (i = 0; i < COUNT; ++i) expected[i] = codes_of[i] * scales_of[i / SIZE];
  CHECK(far_off(got, expected, COUNT, 0) == 0);
  REFUSED(kaio_int8_dequant(NULL, &codes.tensor, (float)INFINITY, &out.tensor), "int8_dequant", "scale");
  REFUSED(kaio_int8_dequant_groups(NULL, &out.tensor, &scales.tensor, &out.tensor), "argument codes", "i8");
  drop(&words);
  drop(&turned);
  drop(&codes);
  drop(&scales);
  drop(&out);
}

static void reductions(void) {
  static int64_t numbers[COUNT], sums[COUNT];
  static unsigned char bytes[COUNT];
  uint32_t counts_of[4], outside_of[3];
  shaped x, out, many, scanned, letters, counts, outside, memory;
  kaio_reduce_options options = kaio_reduce_options_default();
  kaio_scan_options exclusive = kaio_scan_options_default();
  kaio_histogram_options bins = kaio_histogram_options_default();
  uint64_t needed = 1;
  int64_t i, wrong = 0;
  SHAPED(&x, f32, ROWS, SIZE);
  SHAPED(&out, f32, SIZE);
  SHAPED(&many, i64, ROWS, SIZE);
  SHAPED(&scanned, i64, ROWS, SIZE);
  SHAPED(&letters, u8, ROWS, SIZE);
  SHAPED(&counts, u32, 4);
  SHAPED(&outside, u32, 3);
  randomise(&x, x_of, 11);
  options.axis = 0;
  SUCCEEDS(kaio_reduce_workspace_bytes(KAIO_REDUCTION_SUM, &x.tensor, &out.tensor, &options, &needed));
  SHAPED(&memory, u8, (int64_t)needed + 16);
  options.workspace = &memory.tensor;
  SUCCEEDS(kaio_reduce(NULL, KAIO_REDUCTION_SUM, &x.tensor, &out.tensor, &options));
  receive(&out, got);
  for (i = 0; i < SIZE; ++i) expected[i] = (double)x_of[i] + x_of[SIZE + i] + x_of[2 * SIZE + i];
  CHECK(far_off(got, expected, SIZE, 1e-6) == 0);
  out.shape[0] = 1;
  options.all = 1;
  SUCCEEDS(kaio_reduce_workspace_bytes(KAIO_REDUCTION_MAX, &x.tensor, &out.tensor, &options, &needed));
  CHECK((int64_t)needed <= elements_of(&memory.tensor));
  SUCCEEDS(kaio_reduce(NULL, KAIO_REDUCTION_MAX, &x.tensor, &out.tensor, &options));
  receive(&out, got);
  for (i = 0; i < COUNT; ++i) wrong += x_of[i] > got[0];
  CHECK(wrong == 0);
  options.all = 0;
  options.axis = 2;
  REFUSED(kaio_reduce(NULL, KAIO_REDUCTION_MAX, &x.tensor, &out.tensor, &options), "reduce", "axis");

  for (i = 0; i < COUNT; ++i) numbers[i] = ((int64_t)1 << 40) + i;
  send(&many, numbers);
  exclusive.exclusive = 1;
  SUCCEEDS(kaio_scan_workspace_bytes(&many.tensor, &scanned.tensor, NULL, &needed));
  CHECK(needed == 0);
  SUCCEEDS(kaio_scan(NULL, &many.tensor, &scanned.tensor, &exclusive));
  receive(&scanned, sums);
  for (i = 0; i < COUNT; ++i) wrong += sums[i] != (i % SIZE == 0 ? 0 : sums[i - 1] + numbers[i - 1]);
  CHECK(wrong == 0);
  REFUSED(kaio_scan(NULL, &many.tensor, &x.tensor, NULL), "argument out", "i64");

  for (i = 0; i < COUNT; ++i) bytes[i] = (unsigned char)(i % 8);
  send(&letters, bytes);
  bins.first = 1;
  bins.outside = &outside.tensor;
  SUCCEEDS(kaio_histogram(NULL, &letters.tensor, &counts.tensor, &bins));
  receive(&counts, counts_of);
  receive(&outside, outside_of);
  for (i = 0; i < 4; ++i) wrong += counts_of[i] != COUNT / 8;
  CHECK(wrong == 0 && outside_of[0] == COUNT / 8 && outside_of[1] == 3 * (COUNT / 8) && outside_of[2] == 0);
  bins.low = bins.high = 1;
  REFUSED(kaio_histogram(NULL, &x.tensor, &counts.tensor, &bins), "histogram", "low");
  drop(&x);
  drop(&out);
  drop(&many);
  drop(&scanned);
  drop(&letters);
  drop(&counts);
  drop(&outside);
  drop(&memory);
}

static void embeddings(void) {
  const int32_t tokens[4] = {2, 0, 2, 7};
  uint32_t errors_of = 5;
  shaped indices, weight, out, dweight, errors, memory;
  kaio_embedding_options options = kaio_embedding_options_default();
  kaio_embedding_backward_options backward = kaio_embedding_backward_options_default();
  uint64_t needed = 0;
  int64_t i, v, row;
  NUMBERS(&indices, 2, 0, 2, 7);
  SHAPED(&weight, f32, ROWS, SIZE);
  SHAPED(&out, f32, 4, SIZE);
  SHAPED(&dweight, f32, ROWS, SIZE);
  SHAPED(&errors, u32, 1);
  randomise(&weight, x_of, 12);
  send(&errors, &errors_of);
  options.errors = &errors.tensor;
  SUCCEEDS(kaio_embedding(NULL, &indices.tensor, &weight.tensor, &out.tensor, &options));
  receive(&out, got);
  receive(&errors, &errors_of);
  for (row = 0; row < 4; ++row)
    for (i = 0; i < SIZE; ++i) expected[row * SIZE + i] = tokens[row] < ROWS ? x_of[tokens[row] * SIZE + i] : 0;
  CHECK(far_off(got, expected, 4 * SIZE, 0) == 0 && errors_of == 6);
  SUCCEEDS(kaio_embedding_backward_workspace_bytes(&indices.tensor, &dweight.tensor, &needed));
  SHAPED(&memory, u8, (int64_t)needed);
  backward.workspace = &memory.tensor;
  SUCCEEDS(kaio_embedding_backward(NULL, &out.tensor, &indices.tensor, &dweight.tensor, &backward));
  receive(&dweight, got);
  for (v = 0; v < ROWS; ++v)
    for (i = 0; i < SIZE; ++i) expected[v * SIZE + i] = x_of[v * SIZE + i] * (v == 2 ? 2 : v == 0);
  CHECK(far_off(got, expected, COUNT, 1e-6) == 0);
  REFUSED(kaio_embedding(NULL, &weight.tensor, &weight.tensor, &out.tensor, NULL), "argument indices", "i32 or i64");
  REFUSED(kaio_embedding_backward(NULL, &out.tensor, &indices.tensor, &dweight.tensor, NULL), "embedding_backward", "workspace");
  drop(&indices);
  drop(&weight);
  drop(&out);
  drop(&dweight);
  drop(&errors);
  drop(&memory);
}

static void sampling(void) {
  const int64_t seeds[ROWS] = {1, 2, 3}, zeros[ROWS] = {0, 0, 0};
  int64_t offsets_of[ROWS], largest[2 * ROWS];
  int32_t first[ROWS], second[ROWS];
  shaped logits, tokens, seed, offset, values, indices, logprobs;
  kaio_sample_options options = kaio_sample_options_default();
  int64_t row, i, wrong = 0;
  SHAPED(&logits, f32, ROWS, SIZE);
  SHAPED(&tokens, i32, ROWS);
  SHAPED(&seed, i64, ROWS);
  SHAPED(&offset, type_of(kDLUInt, 64), ROWS);
  SHAPED(&values, f32, ROWS, 2);
  SHAPED(&indices, i64, ROWS, 2);
  SHAPED(&logprobs, f32, ROWS);
  randomise(&logits, x_of, 13);
  send(&seed, seeds);
  send(&offset, zeros);
  SUCCEEDS(kaio_top_k(NULL, &logits.tensor, &values.tensor, &indices.tensor));
  receive(&values, got);
  receive(&indices, largest);
  for (row = 0; row < ROWS; ++row) {
    for (i = 0; i < SIZE; ++i) wrong += x_of[row * SIZE + i] > got[2 * row];
    for (i = 2 * row; i < 2 * row + 2; ++i) wrong += x_of[row * SIZE + largest[i]] != got[i];
    wrong += got[2 * row] < got[2 * row + 1];
  }
  CHECK(wrong == 0);
  options.temperature = 0;
  SUCCEEDS(kaio_sample(NULL, &logits.tensor, &tokens.tensor, &options));
  receive(&tokens, first);
  for (row = 0; row < ROWS; ++row) wrong += first[row] != largest[2 * row];
  options.temperature = 1;
  options.top_k = 2;
  options.seed = &seed.tensor;
  options.offset = options.offset_out = &offset.tensor;
  options.logprobs = &logprobs.tensor;
  SUCCEEDS(kaio_sample(NULL, &logits.tensor, &tokens.tensor, &options));
  receive(&tokens, first);
  receive(&offset, offsets_of);
  send(&offset, zeros);
  SUCCEEDS(kaio_sample(NULL, &logits.tensor, &tokens.tensor, &options));
  receive(&tokens, second);
  for (row = 0; row < ROWS; ++row) {
    wrong += first[row] != second[row] || offsets_of[row] != 1;
    wrong += first[row] != largest[2 * row] && first[row] != largest[2 * row + 1];
  }
  CHECK(wrong == 0);
  receive(&logprobs, got);
  for (row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (i = 0; i < SIZE; ++i) sum += exp(x_of[row * SIZE + i]);
    expected[row] = x_of[row * SIZE + second[row]] - log(sum);
  }
  CHECK(far_off(got, expected, ROWS, 1e-5) == 0);
  options.top_p = 2;
  REFUSED(kaio_sample(NULL, &logits.tensor, &tokens.tensor, &options), "sample", "top_p");
  CHECK(kaio_sample(NULL, &logits.tensor, &tokens.tensor, NULL) == KAIO_INVALID_ARGUMENT);
  values.shape[1] = 1;
  REFUSED(kaio_top_k(NULL, &logits.tensor, &values.tensor, &indices.tensor), "top_k", "argument indices");
  drop(&logits);
  drop(&tokens);
  drop(&seed);
  drop(&offset);
  drop(&values);
  drop(&indices);
  drop(&logprobs);
}

static void norm_gradients(void) {
  shaped x, weight, dy, dx, dweight, memory;
  kaio_rms_norm_backward_options options = kaio_rms_norm_backward_options_default();
  double of_weight[SIZE] = {0};
  uint64_t needed = 0;
  int64_t row, i;
  SHAPED(&x, f32, ROWS, SIZE);
  SHAPED(&dy, f32, ROWS, SIZE);
  SHAPED(&dx, f32, ROWS, SIZE);
  SHAPED(&weight, f32, SIZE);
  SHAPED(&dweight, f32, SIZE);
  randomise(&x, x_of, 14);
  randomise(&dy, y_of, 15);
  randomise(&weight, z_of, 16);
  for (row = 0; row < ROWS; ++row) {
    double squares = 0, product = 0, inverse;
    for (i = 0; i < SIZE; ++i) squares += (double)x_of[row * SIZE + i] * x_of[row * SIZE + i] / SIZE;
    inverse = 1 / sqrt(squares + 1e-6);
    for (i = 0; i < SIZE; ++i) product += (double)y_of[row * SIZE + i] * z_of[i] * x_of[row * SIZE + i] * inverse / SIZE;
    for (i = 0; i < SIZE; ++i) {
      const double y = x_of[row * SIZE + i] * inverse, g = y_of[row * SIZE + i];
      expected[row * SIZE + i] = inverse * (g * z_of[i] - y * product);
      of_weight[i] += g * y;
    }
  }
  SUCCEEDS(kaio_rms_norm_backward_workspace_bytes(&x.tensor, &needed));
  SHAPED(&memory, u8, (int64_t)needed);
  options.workspace = &memory.tensor;
  SUCCEEDS(kaio_rms_norm_backward(NULL, &x.tensor, &weight.tensor, &dy.tensor, &dx.tensor, &dweight.tensor, &options));
  receive(&dx, got);
  CHECK(far_off(got, expected, COUNT, 1e-5) == 0);
  receive(&dweight, got);
  CHECK(far_off(got, of_weight, SIZE, 1e-5) == 0);
  REFUSED(kaio_rms_norm_backward(NULL, &x.tensor, &weight.tensor, &dy.tensor, &dx.tensor, &dweight.tensor, NULL),
          "rms_norm_backward", "workspace");
  drop(&x);
  drop(&weight);
  drop(&dy);
  drop(&dx);
  drop(&dweight);
  drop(&memory);
}

static void losses(void) {
  const int64_t targets_of[ROWS] = {3, -100, SIZE - 1};
  double sums[ROWS], loss_of = 0;
  shaped x, y, sum_of_row, targets, loss, total, memory;
  kaio_softmax_options options = kaio_softmax_options_default();
  kaio_cross_entropy_options terms = kaio_cross_entropy_options_default();
  uint64_t needed = 0;
  int64_t row, i;
  SHAPED(&x, f32, ROWS, SIZE);
  SHAPED(&y, f32, ROWS, SIZE);
  SHAPED(&sum_of_row, f32, ROWS);
  SHAPED(&targets, i64, ROWS);
  SHAPED(&loss, f32, 1);
  SHAPED(&total, f32, 1);
  randomise(&x, x_of, 17);
  send(&targets, targets_of);
  for (row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (i = row * SIZE; i < (row + 1) * SIZE; ++i) sum += exp(x_of[i]);
    for (i = row * SIZE; i < (row + 1) * SIZE; ++i) expected[i] = exp(x_of[i]) / sum;
    sums[row] = log(sum);
    if (targets_of[row] >= 0) loss_of += (sums[row] - x_of[row * SIZE + targets_of[row]]) / 2;
  }
  options.lse = &sum_of_row.tensor;
  SUCCEEDS(kaio_softmax(NULL, &x.tensor, &y.tensor, &options));
  receive(&y, got);
  CHECK(far_off(got, expected, COUNT, 1e-5) == 0);
  receive(&sum_of_row, got);
  CHECK(far_off(got, sums, ROWS, 1e-5) == 0);
  SUCCEEDS(kaio_cross_entropy_workspace_bytes(&x.tensor, &needed));
  SHAPED(&memory, u8, (int64_t)needed);
  terms.workspace = &memory.tensor;
  terms.total_weight = &total.tensor;
  SUCCEEDS(kaio_cross_entropy(NULL, &x.tensor, &targets.tensor, &loss.tensor, &terms));
  receive(&loss, got);
  CHECK(far_off(got, &loss_of, 1, 1e-5) == 0);
  receive(&total, got);
  CHECK(got[0] == 2);
  options.scale = (float)INFINITY;
  REFUSED(kaio_softmax(NULL, &x.tensor, &y.tensor, &options), "softmax", "scale");
  terms.reduction = 9;
  REFUSED(kaio_cross_entropy(NULL, &x.tensor, &targets.tensor, &loss.tensor, &terms), "reduction", "9");
  drop(&x);
  drop(&y);
  drop(&sum_of_row);
  drop(&targets);
  drop(&loss);
  drop(&total);
  drop(&memory);
}

/* A layer of CLASSES outputs: the loss and the gradients of its weight and bias. */
static void linear_loss(void) {
  enum { CLASSES = 5 };
  const int64_t targets_of[ROWS] = {3, -100, 0};
  const float one[1] = {1};
  float weight_of[CLASSES * SIZE];
  double dweight_of[CLASSES * SIZE], dbias_of[CLASSES], loss_of = 0;
  shaped x, weight, targets, loss, lse, total, dloss, dweight, dbias, memory, more;
  kaio_linear_cross_entropy_options options = kaio_linear_cross_entropy_options_default();
  kaio_linear_cross_entropy_backward_options backward = kaio_linear_cross_entropy_backward_options_default();
  uint64_t needed = 0;
  int64_t row, k, i;
  SHAPED(&x, f32, ROWS, SIZE);
  SHAPED(&weight, f32, CLASSES, SIZE);
  SHAPED(&targets, i64, ROWS);
  SHAPED(&loss, f32, 1);
  SHAPED(&lse, f32, ROWS);
  SHAPED(&total, f32, 1);
  SHAPED(&dloss, f32, 1);
  SHAPED(&dweight, f32, CLASSES, SIZE);
  SHAPED(&dbias, f32, CLASSES);
  randomise(&x, x_of, 23);
  randomise(&weight, weight_of, 24);
  send(&targets, targets_of);
  send(&dloss, one);
  memset(dweight_of, 0, sizeof dweight_of);
  memset(dbias_of, 0, sizeof dbias_of);
  for (row = 0; row < ROWS; ++row) {
    double logits[CLASSES], sum = 0;
    if (targets_of[row] < 0) continue;
    for (k = 0; k < CLASSES; ++k) {
      logits[k] = 0;
      for (i = 0; i < SIZE; ++i) logits[k] += (double)x_of[row * SIZE + i] * weight_of[k * SIZE + i];
      sum += exp(logits[k]);
    }
    loss_of += (log(sum) - logits[targets_of[row]]) / 2;
    for (k = 0; k < CLASSES; ++k) {
      const double g = (exp(logits[k]) / sum - (k == targets_of[row] ? 1 : 0)) / 2;
      dbias_of[k] += g;
      for (i = 0; i < SIZE; ++i) dweight_of[k * SIZE + i] += g * x_of[row * SIZE + i];
    }
  }
  SUCCEEDS(kaio_linear_cross_entropy_workspace_bytes(&x.tensor, &weight.tensor, &needed));
  SHAPED(&memory, u8, (int64_t)needed);
  options.workspace = &memory.tensor;
  options.lse = &lse.tensor;
  options.total_weight = &total.tensor;
  SUCCEEDS(kaio_linear_cross_entropy(NULL, &x.tensor, &weight.tensor, &targets.tensor, &loss.tensor, &options));
  receive(&loss, got);
  CHECK(far_off(got, &loss_of, 1, 1e-5) == 0);
  SUCCEEDS(kaio_linear_cross_entropy_backward_workspace_bytes(&x.tensor, &weight.tensor, &needed));
  SHAPED(&more, u8, (int64_t)needed);
  backward.workspace = &more.tensor;
  backward.total_weight = &total.tensor;
  backward.dbias = &dbias.tensor;
  SUCCEEDS(kaio_linear_cross_entropy_backward(NULL, &x.tensor, &weight.tensor, &targets.tensor, &lse.tensor,
                                              &dloss.tensor, NULL, &dweight.tensor, &backward));
  receive(&dweight, got);
  CHECK(far_off(got, dweight_of, CLASSES * SIZE, 1e-5) == 0);
  receive(&dbias, got);
  CHECK(far_off(got, dbias_of, CLASSES, 1e-5) == 0);
  options.logit_scale = (float)INFINITY;
  REFUSED(kaio_linear_cross_entropy(NULL, &x.tensor, &weight.tensor, &targets.tensor, &loss.tensor, &options),
          "linear_cross_entropy", "logit_scale");
  drop(&x);
  drop(&weight);
  drop(&targets);
  drop(&loss);
  drop(&lse);
  drop(&total);
  drop(&dloss);
  drop(&dweight);
  drop(&dbias);
  drop(&memory);
  drop(&more);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* A mixture of experts: the router, the sorted choices, and the sum of outputs. */
static void experts(void) {
  enum { TOKENS = 4, EXPERTS = 6, K = 2, CHOICES = TOKENS * K, DEPTH = 16, COLUMNS = 8 };
  float logits_of[TOKENS * EXPERTS], outputs_of[CHOICES * SIZE], weights_of[CHOICES];
  int32_t indices_of[CHOICES], offsets_of[EXPERTS + 1], tokens_of[CHOICES], positions_of[CHOICES], counts_of[EXPERTS];
  uint16_t ones[CHOICES * DEPTH], numbers[EXPERTS * DEPTH * COLUMNS];
  shaped logits, bias, indices, weights, offsets, counts, tokens, positions, y, out, rows, matrices, products;
  kaio_topk_router_options router = kaio_topk_router_options_default();
  kaio_sort_by_expert_options order = kaio_sort_by_expert_options_default();
  kaio_gate_up_grouped_options gate_up = kaio_gate_up_grouped_options_default();
  kaio_combine_experts_options sums = kaio_combine_experts_options_default();
  const float bias_of[EXPERTS] = {0, 0, 0, 0, 0, 2}; /* the last expert is always the first choice */
  uint64_t needed = 1;
  int64_t token, j, i, wrong = 0;
  SHAPED(&logits, f32, TOKENS, EXPERTS);
  SHAPED(&bias, f32, EXPERTS);
  SHAPED(&indices, i32, TOKENS, K);
  SHAPED(&weights, f32, TOKENS, K);
  SHAPED(&offsets, i32, EXPERTS + 1);
  SHAPED(&counts, i32, EXPERTS);
  SHAPED(&tokens, i32, CHOICES);
  SHAPED(&positions, i32, TOKENS, K);
  SHAPED(&y, f32, CHOICES, SIZE);
  SHAPED(&out, f32, TOKENS, SIZE);
  randomise(&logits, logits_of, 1);
  randomise(&y, outputs_of, 2);
  send(&bias, bias_of);

  CHECK(router.groups == 1 && router.kept_groups == 1 && router.group_by_best_two == 1 && router.factor == 1);
  router.score = KAIO_ROUTER_SCORE_SIGMOID;
  router.bias = &bias.tensor;
  router.renormalise = 1;
  router.factor = 3;
  SUCCEEDS(kaio_topk_router_warmup(&logits.tensor, &indices.tensor, &weights.tensor, &router));
  SUCCEEDS(kaio_topk_router(NULL, &logits.tensor, &indices.tensor, &weights.tensor, &router));
  receive(&indices, indices_of);
  receive(&weights, weights_of);
  for (token = 0; token < TOKENS; ++token) {
    const float* own = logits_of + token * EXPERTS;
    int64_t second = 0;
    double first_score, second_score;
    for (i = 1; i < EXPERTS - 1; ++i)
      if (own[i] > own[second]) second = i;
    wrong += indices_of[token * K] != EXPERTS - 1 || indices_of[token * K + 1] != second;
    first_score = sigmoid(own[EXPERTS - 1]);
    second_score = sigmoid(own[second]);
    wrong += !(fabs(weights_of[token * K] - 3 * first_score / (first_score + second_score)) < 1e-5);
    wrong += !(fabs(weights_of[token * K + 1] - 3 * second_score / (first_score + second_score)) < 1e-5);
  }
  CHECK(wrong == 0);

  SUCCEEDS(kaio_sort_by_expert_workspace_bytes(&indices.tensor, &offsets.tensor, &needed));
  CHECK(needed == 0);
  order.counts = &counts.tensor;
  order.tokens = &tokens.tensor;
  order.positions = &positions.tensor;
  SUCCEEDS(kaio_sort_by_expert(NULL, &indices.tensor, &offsets.tensor, &order));
  receive(&offsets, offsets_of);
  receive(&counts, counts_of);
  receive(&tokens, tokens_of);
  receive(&positions, positions_of);
  CHECK(offsets_of[0] == 0 && offsets_of[EXPERTS] == CHOICES && counts_of[EXPERTS - 1] == TOKENS);
  for (i = 0; i < CHOICES; ++i) {
    const int32_t expert = indices_of[i], place = positions_of[i];
    wrong += place < offsets_of[expert] || place >= offsets_of[expert] + counts_of[expert];
    wrong += place < 0 || place >= CHOICES || tokens_of[place] != i / K;
  }
  CHECK(wrong == 0);

  /* Rows of ones, of which expert e makes DEPTH * (1 + e % 2). */
  for (i = 0; i < CHOICES * DEPTH; ++i) ones[i] = 0x3c00;
  for (i = 0; i < EXPERTS * DEPTH * COLUMNS; ++i) numbers[i] = i / (DEPTH * COLUMNS) % 2 == 0 ? 0x3c00 : 0x4000;
  SHAPED(&rows, f16, CHOICES, DEPTH);
  SHAPED(&matrices, f16, EXPERTS, DEPTH, COLUMNS);
  SHAPED(&products, f32, CHOICES, COLUMNS);
  send(&rows, ones);
  send(&matrices, numbers);
  SUCCEEDS(kaio_matmul_grouped_warmup(&rows.tensor, &matrices.tensor, &offsets.tensor, &products.tensor, NULL));
  SUCCEEDS(kaio_matmul_grouped(NULL, &rows.tensor, &matrices.tensor, &offsets.tensor, &products.tensor, NULL));
  receive(&products, got);
  for (i = 0; i < CHOICES; ++i)
    for (j = 0; j < COLUMNS; ++j)
      wrong += got[positions_of[i] * COLUMNS + j] != DEPTH * (float)(1 + indices_of[i] % 2);
  CHECK(wrong == 0);
  REFUSED(kaio_matmul_grouped(NULL, &rows.tensor, &matrices.tensor, &counts.tensor, &products.tensor, NULL),
          "matmul_grouped", "offsets");
  /* relu(g) * u, of rows by their tokens. */
  gate_up.activation = KAIO_MATMUL_ACTIVATION_RELU;
  gate_up.rows = &tokens.tensor;
  SUCCEEDS(kaio_gate_up_grouped(NULL, &rows.tensor, &matrices.tensor, &matrices.tensor, &offsets.tensor,
                                &products.tensor, &gate_up));
  receive(&products, got);
  for (i = 0; i < CHOICES; ++i)
    for (j = 0; j < COLUMNS; ++j) {
      const float sum = DEPTH * (float)(1 + indices_of[i] % 2);
      wrong += got[positions_of[i] * COLUMNS + j] != sum * sum;
    }
  CHECK(wrong == 0);
  drop(&rows);
  drop(&matrices);
  drop(&products);

  memset(expected, 0, sizeof expected);
  for (token = 0; token < TOKENS; ++token)
    for (i = 0; i < SIZE; ++i)
      for (j = 0; j < K; ++j)
        expected[token * SIZE + i] +=
            (double)weights_of[token * K + j] * outputs_of[positions_of[token * K + j] * SIZE + i];
  SUCCEEDS(kaio_combine_experts(NULL, &y.tensor, &weights.tensor, &positions.tensor, &out.tensor, NULL));
  receive(&out, got);
  CHECK(far_off(got, expected, TOKENS * SIZE, 1e-5) == 0);
  sums.accumulate = 1;
  SUCCEEDS(kaio_combine_experts(NULL, &y.tensor, &weights.tensor, &positions.tensor, &out.tensor, &sums));
  for (i = 0; i < TOKENS * SIZE; ++i) expected[i] *= 2;
  receive(&out, got);
  CHECK(far_off(got, expected, TOKENS * SIZE, 1e-5) == 0);

  router.groups = 4;
  REFUSED(kaio_topk_router(NULL, &logits.tensor, &indices.tensor, &weights.tensor, &router), "topk_router", "groups is 4");
  order.counts = &tokens.tensor;
  REFUSED(kaio_sort_by_expert(NULL, &indices.tensor, &offsets.tensor, &order), "sort_by_expert", "counts");
  out.tensor.dtype = f16;
  REFUSED(kaio_combine_experts(NULL, &y.tensor, &weights.tensor, &positions.tensor, &out.tensor, NULL), "combine_experts",
          "argument out");
  drop(&logits);
  drop(&bias);
  drop(&indices);
  drop(&weights);
  drop(&offsets);
  drop(&counts);
  drop(&tokens);
  drop(&positions);
  drop(&y);
  drop(&out);
}

int main(void) {
  f32 = type_of(kDLFloat, 32);
  f16 = type_of(kDLFloat, 16);
  i8 = type_of(kDLInt, 8);
  u8 = type_of(kDLUInt, 8);
  i32 = type_of(kDLInt, 32);
  u32 = type_of(kDLUInt, 32);
  i64 = type_of(kDLInt, 64);
  if (kaio_device_open(NULL, &device) != KAIO_OK) {
    fprintf(stderr, "%s\n", kaio_last_error());
    return 1;
  }
  layer_norms();
  modulated();
  norm_gradients();
  losses();
  linear_loss();
  activations();
  copies();
  reductions();
  embeddings();
  sampling();
  experts();
  return finish();
}
