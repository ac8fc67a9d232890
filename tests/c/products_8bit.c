/* Products of i8 and of 8-bit floats, and quantising for them, from C. Results are compared with sums of the host. */
#include "tensors.h"

static float x[MOST_ELEMENTS], got[MOST_ELEMENTS], scale_a[64], scale_b[64];
static int8_t a_codes[MOST_ELEMENTS], b_codes[MOST_ELEMENTS];
static uint8_t a_bytes[MOST_ELEMENTS], b_bytes[MOST_ELEMENTS];
static int32_t sums[MOST_ELEMENTS];

enum { m = 5, n = 16, k = 48 };

static void codes(int8_t* to, int64_t count, unsigned seed) {
  int64_t i;
  for (i = 0; i < count; ++i) to[i] = (int8_t)((int)next_bits(&seed, 8) - 128);
}

/* sum over k of a[row][k] * b[column][k] */
static int32_t sum_of(int64_t row, int64_t column) {
  int32_t sum = 0;
  int64_t i;
  for (i = 0; i < k; ++i) sum += a_codes[row * k + i] * b_codes[column * k + i];
  return sum;
}

/* B as the matrix of one group: (1, k, n). */
static DLTensor one_group(const owned* b, int64_t* shape, int64_t* strides) {
  DLTensor group = b->tensor;
  shape[0] = 1;
  shape[1] = k;
  shape[2] = n;
  strides[0] = (int64_t)n * k;
  strides[1] = 1;
  strides[2] = k;
  group.ndim = 3;
  group.shape = shape;
  group.strides = strides;
  return group;
}
static const int32_t ends_of_group[2] = {0, m};

static void integers(void) {
  owned a, b, c, c32, of_rows, of_columns, zeros, column_sums, residual, bias, ends, to;
  DLTensor b_columns, group;
  int64_t group_shape[3], group_strides[3];
  int64_t shape[2], strides[2], row, column, wrong = 0;
  int32_t zero_points[m];
  kaio_matmul_int8_options options = kaio_matmul_int8_options_default();
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  codes(a_codes, m * k, 1);
  codes(b_codes, n * k, 2);
  with(&a, i8_type(), m, k, -1, a_codes);
  with(&b, i8_type(), n, k, -1, b_codes);
  with(&c, f32_type(), m, n, -1, NULL);
  with(&c32, i32_type(), m, n, -1, NULL);
  b_columns = matrix_of(&b, shape, strides, k, n, 1, k);

  SUCCEEDS(kaio_matmul_int8_warmup(&a.tensor, &b_columns, &c32.tensor, NULL));
  SUCCEEDS(kaio_matmul_int8(NULL, &a.tensor, &b_columns, &c32.tensor, NULL));
  fetch(&c32, sums);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column) wrong += sums[row * n + column] != sum_of(row, column);
  CHECK(wrong == 0);

  with(&ends, i32_type(), 2, -1, -1, ends_of_group);
  group = one_group(&b, group_shape, group_strides);
  with(&to, i32_type(), m, n, -1, NULL);
  SUCCEEDS(kaio_matmul_int8_grouped_warmup(&a.tensor, &group, &ends.tensor, &to.tensor, NULL));
  SUCCEEDS(kaio_matmul_int8_grouped(NULL, &a.tensor, &group, &ends.tensor, &to.tensor, NULL));
  fetch(&to, sums);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column) wrong += sums[row * n + column] != sum_of(row, column);
  CHECK(wrong == 0);
  REFUSED(kaio_matmul_int8_grouped(NULL, &a.tensor, &group, &a.tensor, &c32.tensor, NULL), "argument offsets", "i32");
  release(&ends);
  release(&to);

  for (row = 0; row < m; ++row) {
    scale_a[row] = (float)(row + 1) / 64.0f;
    zero_points[row] = (int32_t)row - 2;
  }
  for (column = 0; column < n; ++column) scale_b[column] = (float)(column + 1) / 128.0f;
  with(&of_rows, f32_type(), m, -1, -1, scale_a);
  with(&of_columns, f32_type(), n, -1, -1, scale_b);
  with(&zeros, i32_type(), m, -1, -1, zero_points);
  with(&column_sums, i32_type(), n, -1, -1, NULL);
  with(&bias, f32_type(), n, -1, -1, scale_b);
  with(&residual, f32_type(), m, n, -1, NULL);
  fill(&residual, x, 3);
  SUCCEEDS(kaio_int8_column_sums(NULL, &b_columns, &column_sums.tensor));
  options.alpha = 0.5f;
  options.activation = KAIO_MATMUL_ACTIVATION_RELU;
  options.constant = KAIO_CONSTANT_INPUTS_B;
  options.scale_a = &of_rows.tensor;
  options.scale_b = &of_columns.tensor;
  options.zero_a = &zeros.tensor;
  options.column_sums = &column_sums.tensor;
  options.bias = &bias.tensor;
  options.residual = &residual.tensor;
  SUCCEEDS(kaio_matmul_int8_choice(&a.tensor, &b_columns, &c.tensor, &options, &choice));
  CHECK(choice.name[0] != '\0');
  options.variant = choice.name;
  SUCCEEDS(kaio_matmul_int8(NULL, &a.tensor, &b_columns, &c.tensor, &options));
  fetch(&c, got);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column) {
      int32_t total = 0;
      int64_t i;
      double y;
      for (i = 0; i < k; ++i) total += b_codes[column * k + i];
      y = (double)(sum_of(row, column) - zero_points[row] * total) * scale_a[row] * scale_b[column] * 0.5 + scale_b[column];
      wrong += differ(got[row * n + column], (y > 0 ? y : 0) + x[row * n + column]);
    }
  CHECK(wrong == 0);

  options = kaio_matmul_int8_options_default();
  options.zero_a = &zeros.tensor;
  REFUSED(kaio_matmul_int8(NULL, &a.tensor, &b_columns, &c.tensor, &options), "matmul_int8", "column_sums");
  options = kaio_matmul_int8_options_default();
  options.scale_a = &zeros.tensor;
  REFUSED(kaio_matmul_int8(NULL, &a.tensor, &b_columns, &c.tensor, &options), "argument scale_a", "f32, f16 or bf16");
  REFUSED(kaio_matmul_int8(NULL, &c.tensor, &b_columns, &c.tensor, NULL), "argument a", "it takes i8");
  REFUSED(kaio_int8_column_sums(NULL, &b_columns, &zeros.tensor), "int8_column_sums", "sums");
  release(&a);
  release(&b);
  release(&c);
  release(&c32);
  release(&of_rows);
  release(&of_columns);
  release(&zeros);
  release(&column_sums);
  release(&bias);
  release(&residual);
}

static void quantised_integers(void) {
  owned input, to, scales, zeros;
  int8_t made[m * k];
  float of_row[m];
  int32_t zero[m];
  int64_t i, wrong = 0;
  with(&input, f32_type(), m, k, -1, NULL);
  fill(&input, x, 4);
  with(&to, i8_type(), m, k, -1, NULL);
  with(&scales, f32_type(), m, -1, -1, NULL);
  with(&zeros, i32_type(), m, -1, -1, NULL);
  SUCCEEDS(kaio_quantise_int8(NULL, &input.tensor, &to.tensor, NULL, NULL, 0.25f));
  fetch(&to, made);
  for (i = 0; i < m * k; ++i) wrong += made[i] * 0.25f != x[i];
  SUCCEEDS(kaio_quantise_int8(NULL, &input.tensor, &to.tensor, &scales.tensor, NULL, 0));
  fetch(&to, made);
  fetch(&scales, of_row);
  for (i = 0; i < m * k; ++i) wrong += fabs(made[i] * of_row[i / k] - x[i]) > 0.51 * of_row[i / k];
  SUCCEEDS(kaio_quantise_int8_warmup(&input.tensor, &to.tensor, &scales.tensor, &zeros.tensor, 0));
  SUCCEEDS(kaio_quantise_int8(NULL, &input.tensor, &to.tensor, &scales.tensor, &zeros.tensor, 0));
  fetch(&to, made);
  fetch(&scales, of_row);
  fetch(&zeros, zero);
  for (i = 0; i < m * k; ++i) wrong += fabs((float)(made[i] - zero[i / k]) * of_row[i / k] - x[i]) > 1.01 * of_row[i / k];
  CHECK(wrong == 0);
  REFUSED(kaio_quantise_int8(NULL, &input.tensor, &to.tensor, NULL, &zeros.tensor, 1), "quantise_int8", "scales");
  REFUSED(kaio_quantise_int8(NULL, &input.tensor, &to.tensor, NULL, NULL, 0), "quantise_int8", "scale");
  REFUSED(kaio_quantise_int8(NULL, &input.tensor, &input.tensor, NULL, NULL, 1), "argument codes", "it takes i8");
  release(&input);
  release(&to);
  release(&scales);
  release(&zeros);
}

static double product_8bit(int64_t row, int64_t column, int64_t first, int64_t last) {
  double sum = 0;
  int64_t i;
  for (i = first; i < last; ++i) sum += (double)of_e4m3(a_bytes[row * k + i]) * of_e4m3(b_bytes[column * k + i]);
  return sum;
}

static void floats(void) {
  owned a, b, c, of_rows, of_columns, groups, blocks, input, scales, block_scales, ends, group_blocks, to;
  DLTensor b_columns, group;
  int64_t group_shape[3], group_strides[3];
  int64_t shape[2], strides[2], row, column, i, wrong = 0;
  float of_row[m], one = 0.5f, group_scales[m];
  kaio_matmul_fp8_options options = kaio_matmul_fp8_options_default();
  kaio_matmul_fp8_grouped_options of_groups = kaio_matmul_fp8_grouped_options_default();
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  with(&input, f32_type(), m, k, -1, NULL);
  fill(&input, x, 5);
  with(&a, e4m3_type(), m, k, -1, NULL);
  with(&scales, f32_type(), m, -1, -1, NULL);
  SUCCEEDS(kaio_quantise_fp8(NULL, &input.tensor, &a.tensor, &scales.tensor, 0));
  fetch(&a, a_bytes);
  fetch(&scales, of_row);
  for (i = 0; i < m * k; ++i) wrong += fabs(of_e4m3(a_bytes[i]) * of_row[i / k] - x[i]) > 0.07 * fabs(x[i]);
  SUCCEEDS(kaio_quantise_fp8(NULL, &input.tensor, &a.tensor, NULL, 1));
  fetch(&a, a_bytes);
  for (i = 0; i < m * k; ++i) wrong += of_e4m3(a_bytes[i]) != x[i];
  CHECK(wrong == 0);
  release(&input);

  with(&input, f32_type(), n, k, -1, NULL);
  fill(&input, x, 6);
  with(&b, e4m3_type(), n, k, -1, NULL);
  with(&block_scales, f32_type(), 1, 1, -1, NULL);
  SUCCEEDS(kaio_quantise_fp8_blocks(NULL, &input.tensor, &b.tensor, &block_scales.tensor));
  fetch(&b, b_bytes);
  fetch(&block_scales, got);
  CHECK(got[0] == 2.0f / 448.0f);
  for (i = 0; i < n * k; ++i) wrong += fabs(of_e4m3(b_bytes[i]) * got[0] - x[i]) > 0.07 * fabs(x[i]);
  CHECK(wrong == 0);
  with(&c, f32_type(), m, n, -1, NULL);
  b_columns = matrix_of(&b, shape, strides, k, n, 1, k);
  SUCCEEDS(kaio_matmul_fp8(NULL, &a.tensor, &b_columns, &c.tensor, NULL));
  fetch(&c, got);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column) wrong += fabs(got[row * n + column] - product_8bit(row, column, 0, k)) > 0.5;
  CHECK(wrong == 0);

  with(&of_rows, f32_type(), m, -1, -1, scale_a);
  with(&of_columns, f32_type(), 1, -1, -1, &one);
  options.scale_a = &of_rows.tensor;
  options.scale_b = &of_columns.tensor;
  SUCCEEDS(kaio_matmul_fp8_choice(&a.tensor, &b_columns, &c.tensor, &options, &choice));
  CHECK(choice.name[0] != '\0');
  SUCCEEDS(kaio_matmul_fp8_warmup(&a.tensor, &b_columns, &c.tensor, &options));
  SUCCEEDS(kaio_matmul_fp8(NULL, &a.tensor, &b_columns, &c.tensor, &options));
  fetch(&c, got);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column)
      wrong += fabs(got[row * n + column] - product_8bit(row, column, 0, k) * scale_a[row] * 0.5) > 0.05;
  CHECK(wrong == 0);

  for (row = 0; row < m; ++row) group_scales[row] = (float)(row + 1) / 32.0f;
  with(&groups, f32_type(), m, 1, -1, group_scales);
  with(&blocks, f32_type(), 1, 1, -1, &one);
  options = kaio_matmul_fp8_options_default();
  options.groups_a = &groups.tensor;
  REFUSED(kaio_matmul_fp8(NULL, &a.tensor, &b_columns, &c.tensor, &options), "matmul_fp8", "blocks_b");
  options.blocks_b = &blocks.tensor;
  SUCCEEDS(kaio_matmul_fp8(NULL, &a.tensor, &b_columns, &c.tensor, &options));
  fetch(&c, got);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column)
      wrong += fabs(got[row * n + column] - product_8bit(row, column, 0, k) * group_scales[row] * 0.5) > 0.1;
  CHECK(wrong == 0);
  with(&ends, i32_type(), 2, -1, -1, ends_of_group);
  with(&group_blocks, f32_type(), 1, 1, 1, &one);
  group = one_group(&b, group_shape, group_strides);
  of_groups.groups_a = &groups.tensor;
  REFUSED(kaio_matmul_fp8_grouped(NULL, &a.tensor, &group, &ends.tensor, &c.tensor, &of_groups), "matmul_fp8_grouped",
          "blocks_b");
  of_groups.blocks_b = &group_blocks.tensor;
  with(&to, f32_type(), m, n, -1, NULL);
  SUCCEEDS(kaio_matmul_fp8_grouped_warmup(&a.tensor, &group, &ends.tensor, &to.tensor, &of_groups));
  SUCCEEDS(kaio_matmul_fp8_grouped(NULL, &a.tensor, &group, &ends.tensor, &to.tensor, &of_groups));
  fetch(&to, got);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column)
      wrong += fabs(got[row * n + column] - product_8bit(row, column, 0, k) * group_scales[row] * 0.5) > 0.1;
  CHECK(wrong == 0);
  release(&ends);
  release(&group_blocks);
  release(&to);
  REFUSED(kaio_quantise_fp8(NULL, &input.tensor, &c.tensor, NULL, 1), "argument codes", "it takes e4m3");
  REFUSED(kaio_quantise_fp8_blocks(NULL, &input.tensor, &b.tensor, NULL), "argument blocks", "NULL");
  release(&a);
  release(&b);
  release(&c);
  release(&of_rows);
  release(&of_columns);
  release(&groups);
  release(&blocks);
  release(&input);
  release(&scales);
  release(&block_scales);
}

/* Tuning measures on memory of its own. */
static void tuning(void) {
  owned a, b, c;
  kaio_tune_options how = kaio_tune_options_default();
  kaio_tune_report report = kaio_tune_report_default();
  how.repetitions = 1;
  how.remember = how.use_files = 0;
  with(&a, i8_type(), 2, 16, -1, NULL);
  with(&b, i8_type(), 16, 16, -1, NULL);
  with(&c, i32_type(), 2, 16, -1, NULL);
  SUCCEEDS(kaio_tune_matmul_int8(&a.tensor, &b.tensor, &c.tensor, NULL, &how, &report));
  CHECK(report.variant[0] != '\0' && report.seconds > 0 && report.saved == 0);
  a.tensor.dtype = b.tensor.dtype = e4m3_type();
  c.tensor.dtype = f32_type();
  report = kaio_tune_report_default();
  SUCCEEDS(kaio_tune_matmul_fp8(&a.tensor, &b.tensor, &c.tensor, NULL, &how, &report));
  CHECK(report.variant[0] != '\0' && report.seconds > 0 && report.saved == 0);
  release(&a);
  release(&b);
  release(&c);
}

int main(void) {
  if (!open_device()) return 1;
  integers();
  quantised_integers();
  floats();
  tuning();
  return finish();
}
