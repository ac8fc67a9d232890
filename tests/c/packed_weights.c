/* Products with packed weights from C, and the formats of files: blocks, what is quantised, and what is read again. */
#include "packed.h"

static float x[n * k], y[n * k];

/* Blocks of GGUF: quantised, dequantised, and packed for products. */
static void blocks(void) {
  owned input, packed, rows;
  int64_t shape[2], strides[2];
  uint64_t size = 0;
  int32_t format = -1, operation = -1;
  kaio_w4_weights w4 = kaio_w4_weights_default();
  kaio_w8_weights w8 = kaio_w8_weights_default();
  kaio_q8_0_w8 q8_0 = kaio_q8_0_w8_default();
  DLTensor as_rows;
  int i;
  int64_t far = 0;
  make(&input, device, f32_type(), n, k, -1);
  fill(&input, x, 11);
  SUCCEEDS(kaio_block_format_named("Q4_0", &format));
  CHECK(format == KAIO_BLOCK_FORMAT_Q4_0);
  REFUSED(kaio_block_format_named("Q9", &format), "'Q9'", "formats");
  REFUSED(kaio_block_format_named(NULL, &format), "argument name", "NULL");
  SUCCEEDS(kaio_block_operation_of(KAIO_BLOCK_FORMAT_Q2_K, &operation));
  CHECK(operation == KAIO_BLOCK_OPERATION_NONE);
  SUCCEEDS(kaio_block_operation_of(KAIO_BLOCK_FORMAT_Q6_K, &operation));
  CHECK(operation == KAIO_BLOCK_OPERATION_MATMUL_W8);
  SUCCEEDS(kaio_block_bytes(KAIO_BLOCK_FORMAT_Q4_K, 4096, &size));
  CHECK(size == 16 * 144);
  REFUSED(kaio_block_bytes(14, 4096, &size), "argument format is 14", "named constants");
  REFUSED(kaio_block_bytes(KAIO_BLOCK_FORMAT_Q4_K, 4095, &size), "4095", "blocks");

  SUCCEEDS(kaio_block_bytes(KAIO_BLOCK_FORMAT_Q4_0, n * k, &size));
  with(&packed, u8_type(), (int64_t)size, -1, -1, NULL);
  SUCCEEDS(kaio_quantise_blocks(NULL, &input.tensor, KAIO_BLOCK_FORMAT_Q4_0, &packed.tensor));
  SUCCEEDS(kaio_dequantise_blocks(NULL, KAIO_BLOCK_FORMAT_Q4_0, &packed.tensor, &matrix.tensor));
  fetch(&matrix, expected);
  for (i = 0; i < n * k; ++i) far += fabs(expected[i] - x[i]) > 0.26; /* absmax 2 / 8, and its rounding */
  CHECK(far == 0);
  SUCCEEDS(kaio_w4_weights_of_blocks(KAIO_BLOCK_FORMAT_Q4_0, n, k, &w4));
  CHECK(w4.n == n && w4.k == k && w4.group == 32 && w4.memory == NULL);
  REFUSED(kaio_w8_weights_of_blocks(KAIO_BLOCK_FORMAT_Q4_0, n, k, &w8), "w8_shape_of", "Q4_0");
  room_w4(&w4);
  SUCCEEDS(kaio_repack_blocks_w4_warmup(KAIO_BLOCK_FORMAT_Q4_0, &packed.tensor, &w4));
  SUCCEEDS(kaio_repack_blocks_w4(NULL, KAIO_BLOCK_FORMAT_Q4_0, &packed.tensor, &w4));
  check_w4(&w4);
  REFUSED(kaio_quantise_blocks(NULL, &input.tensor, KAIO_BLOCK_FORMAT_Q6_K, &packed.tensor), "quantise_weights", "Q6_K");
  release(&packed);

  SUCCEEDS(kaio_block_bytes(KAIO_BLOCK_FORMAT_Q8_0, n * k, &size));
  with(&packed, u8_type(), (int64_t)size, -1, -1, NULL);
  SUCCEEDS(kaio_quantise_blocks(NULL, &input.tensor, KAIO_BLOCK_FORMAT_Q8_0, &packed.tensor));
  SUCCEEDS(kaio_dequantise_blocks(NULL, KAIO_BLOCK_FORMAT_Q8_0, &packed.tensor, &matrix.tensor));
  fetch(&matrix, expected);
  for (i = 0; i < n * k; ++i) far += fabs(expected[i] - x[i]) > 0.01;
  CHECK(far == 0);
  SUCCEEDS(kaio_w8_weights_of_blocks(KAIO_BLOCK_FORMAT_Q8_0, n, k, &w8));
  room_w8(&w8);
  SUCCEEDS(kaio_repack_blocks_w8(NULL, KAIO_BLOCK_FORMAT_Q8_0, &packed.tensor, &w8));
  check_w8(&w8);
  rows = packed;
  as_rows = matrix_of(&rows, shape, strides, n, k / 32 * 34, k / 32 * 34, 1);
  q8_0.blocks = &as_rows;
  w8 = weights_w8(32);
  room_w8(&w8);
  SUCCEEDS(kaio_repack_q8_0_w8(NULL, &q8_0, &w8));
  check_w8(&w8);
  packed.shape[0] -= 2;
  REFUSED(kaio_dequantise_blocks(NULL, KAIO_BLOCK_FORMAT_Q8_0, &packed.tensor, &matrix.tensor), "dequantise", "bytes");
  release(&packed);
  release(&input);
}

/* The other formats that are written: what is written is read again. */
static void quantised(void) {
  owned input, codes, scales, global, zeros;
  kaio_bnb_4bit_output bnb = kaio_bnb_4bit_output_default();
  kaio_bnb_4bit bnb_source = kaio_bnb_4bit_default();
  kaio_mxfp4_output mx = kaio_mxfp4_output_default();
  kaio_mxfp4_tensors mx_source = kaio_mxfp4_tensors_default();
  kaio_nvfp4_output nv = kaio_nvfp4_output_default();
  kaio_nvfp4_tensors nv_source = kaio_nvfp4_tensors_default();
  kaio_w4_output w4 = kaio_w4_output_default();
  kaio_compressed_tensors_w4 w4_source = kaio_compressed_tensors_w4_default();
  kaio_w4_weights w = weights_w4(1);
  int64_t i, far = 0;
  make(&input, device, f32_type(), n, k, -1);
  fill(&input, x, 12);
  with(&codes, u8_type(), n * k / 2, -1, -1, NULL);
  with(&scales, f32_type(), n * k / 64, -1, -1, NULL);
  bnb.weight = bnb_source.weight = &codes.tensor;
  bnb.absmax = bnb_source.absmax = &scales.tensor;
  SUCCEEDS(kaio_quantise_bnb_4bit(NULL, &input.tensor, &bnb));
  SUCCEEDS(kaio_dequantise_bnb_4bit(NULL, &bnb_source, &matrix.tensor));
  fetch(&matrix, got);
  for (i = 0; i < n * k; ++i) far += fabs(got[i] - x[i]) > 0.31;
  CHECK(far == 0);
  bnb.blocksize = 48;
  REFUSED(kaio_quantise_bnb_4bit(NULL, &input.tensor, &bnb), "quantise_weights", "blocksize is 48");
  REFUSED(kaio_quantise_bnb_4bit(NULL, &input.tensor, NULL), "argument to", "NULL");
  release(&codes);
  release(&scales);

  with(&codes, u8_type(), n, k / 2, -1, NULL);
  with(&scales, u8_type(), n, k / 32, -1, NULL);
  mx.packed = mx_source.packed = &codes.tensor;
  mx.scales = mx_source.scales = &scales.tensor;
  SUCCEEDS(kaio_quantise_mxfp4(NULL, &input.tensor, &mx));
  SUCCEEDS(kaio_dequantise_mxfp4(NULL, &mx_source, &matrix.tensor));
  fetch(&matrix, got);
  for (i = 0; i < n * k; ++i) far += fabs(got[i] - x[i]) > 0.51;
  CHECK(far == 0);
  release(&scales);

  with(&scales, e4m3_type(), n, k / 16, -1, NULL);
  with(&global, f32_type(), 1, -1, -1, NULL);
  nv.packed = nv_source.packed = &codes.tensor;
  nv.scales = nv_source.scales = &scales.tensor;
  nv.global = nv_source.global = &global.tensor;
  SUCCEEDS(kaio_quantise_nvfp4(NULL, &input.tensor, &nv));
  fetch(&global, got);
  CHECK(got[0] == 2.0f / 2688.0f);
  SUCCEEDS(kaio_dequantise_nvfp4(NULL, &nv_source, &matrix.tensor));
  fetch(&matrix, got);
  for (i = 0; i < n * k; ++i) far += fabs(got[i] - x[i]) > 0.36;
  CHECK(far == 0);
  release(&codes);
  release(&scales);
  release(&global);

  with(&codes, i32_type(), n, k / 8, -1, NULL);
  with(&scales, f16_type(), n, groups, -1, NULL);
  with(&zeros, i32_type(), n / 8, groups, -1, NULL);
  w4.weight_packed = w4_source.weight_packed = &codes.tensor;
  w4.weight_scale = w4_source.weight_scale = &scales.tensor;
  w4.weight_zero_point = w4_source.weight_zero_point = &zeros.tensor;
  w4.group = group;
  SUCCEEDS(kaio_quantise_w4_warmup(&input.tensor, &w4));
  SUCCEEDS(kaio_quantise_w4(NULL, &input.tensor, &w4));
  room_w4(&w);
  SUCCEEDS(kaio_repack_compressed_tensors_w4(NULL, &w4_source, &w));
  SUCCEEDS(kaio_dequantise_w4(NULL, &w, &matrix.tensor));
  fetch(&matrix, got);
  for (i = 0; i < n * k; ++i) far += fabs(got[i] - x[i]) > 0.26;
  CHECK(far == 0);
  release(&memory);
  w4.group = 24;
  REFUSED(kaio_quantise_w4(NULL, &input.tensor, &w4), "quantise_weights", "groups of 24");
  release(&codes);
  release(&scales);
  release(&zeros);
  release(&input);
}

static void products(void) {
  enum { m = 3 };
  owned packed, scales, input, out, bias, workspace, of_columns, integers, ends;
  static int8_t codes[n * k];
  float bias_of[n], columns[n];
  uint64_t size = 0;
  kaio_int4_w4 source = kaio_int4_w4_default();
  kaio_int8_w8 source_8 = kaio_int8_w8_default();
  kaio_w4_weights w = weights_w4(0);
  kaio_w8_weights w8 = weights_w8(-1);
  kaio_matmul_w4_options options = kaio_matmul_w4_options_default();
  const int32_t offsets[2] = {1, m}; /* one group, of all rows but the first */
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  kaio_tune_options how = kaio_tune_options_default();
  kaio_tune_report report = kaio_tune_report_default();
  int64_t row, column, i, wrong = 0;
  how.repetitions = 1;
  how.remember = how.use_files = 0;
  words_along_k(&packed, 1, 8);
  scales_as(&scales, 1);
  source.packed = &packed.tensor;
  source.scales = &scales.tensor;
  room_w4(&w);
  SUCCEEDS(kaio_repack_int4_w4(NULL, &source, &w));
  make(&input, device, f16_type(), m, k, -1);
  fill_half(&input, x, 13);
  make(&bias, device, f16_type(), n, -1, -1);
  fill_half(&bias, bias_of, 14);
  with(&out, f32_type(), m, n, -1, NULL);
  options.bias = &bias.tensor;
  options.constant = KAIO_CONSTANT_INPUTS_WEIGHTS;
  options.exact_weights = 1;
  SUCCEEDS(kaio_matmul_w4_workspace_bytes(&input.tensor, &w, &out.tensor, &options, &size));
  with(&workspace, u8_type(), (int64_t)size + 16, -1, -1, NULL);
  options.workspace = &workspace.tensor;
  SUCCEEDS(kaio_matmul_w4_choice(&input.tensor, &w, &out.tensor, &options, &choice));
  CHECK(choice.name[0] != '\0');
  SUCCEEDS(kaio_matmul_w4_warmup(&input.tensor, &w, &out.tensor, &options));
  SUCCEEDS(kaio_matmul_w4(NULL, &input.tensor, &w, &out.tensor, &options));
  fetch(&out, y);
  expect(0, 8);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column) {
      double sum = bias_of[column];
      for (i = 0; i < k; ++i) sum += (double)x[row * k + i] * expected[column * k + i];
      wrong += differ(y[row * n + column], sum);
    }
  CHECK(wrong == 0);
  with(&ends, i32_type(), 2, -1, -1, offsets);
  SUCCEEDS(kaio_matmul_w4_grouped_choice(&input.tensor, &w, &ends.tensor, &out.tensor, NULL, &choice));
  CHECK(strstr(choice.name, "grouped") != NULL);
  SUCCEEDS(kaio_matmul_w4_grouped_warmup(&input.tensor, &w, &ends.tensor, &out.tensor, NULL));
  SUCCEEDS(kaio_matmul_w4_grouped(NULL, &input.tensor, &w, &ends.tensor, &out.tensor, NULL));
  fetch(&out, y);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column) {
      double sum = row == 0 ? bias_of[column] : 0; /* the first row stays as it was */
      for (i = 0; i < k; ++i) sum += (double)x[row * k + i] * expected[column * k + i];
      wrong += differ(y[row * n + column], sum);
    }
  CHECK(wrong == 0);
  REFUSED(kaio_matmul_w4_grouped(NULL, &input.tensor, &w, &bias.tensor, &out.tensor, NULL), "argument offsets", "i32");
  SUCCEEDS(kaio_tune_matmul_w4(&input.tensor, &w, &out.tensor, NULL, &how, &report));
  CHECK(report.variant[0] != '\0' && report.saved == 0);
  out.tensor.dtype = type_of(kDLBfloat, 16);
  REFUSED(kaio_matmul_w4(NULL, &input.tensor, &w, &out.tensor, NULL), "argument out", "element type of x");
  out.tensor.dtype = f32_type();
  w.memory = NULL;
  REFUSED(kaio_matmul_w4(NULL, &input.tensor, &w, &out.tensor, NULL), "matmul_w4", "weights");
  REFUSED(kaio_matmul_w4(NULL, &input.tensor, NULL, &out.tensor, NULL), "argument weights", "NULL");
  release(&memory);

  for (i = 0; i < n * k; ++i) codes[i] = (int8_t)(i * 11 % 255 - 127);
  for (i = 0; i < n; ++i) columns[i] = (float)(i % 3 + 1) / 64.0f;
  with(&integers, i8_type(), n, k, -1, codes);
  with(&of_columns, f32_type(), n, -1, -1, columns);
  source_8.weight = &integers.tensor;
  source_8.scales = &of_columns.tensor;
  room_w8(&w8);
  SUCCEEDS(kaio_repack_int8_w8(NULL, &source_8, &w8));
  SUCCEEDS(kaio_matmul_w8_workspace_bytes(&input.tensor, &w8, &out.tensor, NULL, &size));
  SUCCEEDS(kaio_matmul_w8_choice(&input.tensor, &w8, &out.tensor, NULL, &choice));
  SUCCEEDS(kaio_matmul_w8_warmup(&input.tensor, &w8, &out.tensor, NULL));
  SUCCEEDS(kaio_matmul_w8(NULL, &input.tensor, &w8, &out.tensor, NULL));
  fetch(&out, y);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column) {
      double sum = 0;
      for (i = 0; i < k; ++i) sum += (double)x[row * k + i] * codes[column * k + i] * columns[column];
      wrong += differ(y[row * n + column], sum);
    }
  CHECK(wrong == 0);
  SUCCEEDS(kaio_matmul_w8_grouped_choice(&input.tensor, &w8, &ends.tensor, &out.tensor, NULL, &choice));
  SUCCEEDS(kaio_matmul_w8_grouped_warmup(&input.tensor, &w8, &ends.tensor, &out.tensor, NULL));
  SUCCEEDS(kaio_matmul_w8_grouped(NULL, &input.tensor, &w8, &ends.tensor, &out.tensor, NULL));
  fetch(&out, y);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column) {
      double sum = 0;
      for (i = 0; i < k; ++i) sum += (double)x[row * k + i] * codes[column * k + i] * columns[column];
      wrong += differ(y[row * n + column], sum);
    }
  CHECK(wrong == 0);
  report = kaio_tune_report_default();
  SUCCEEDS(kaio_tune_matmul_w8(&input.tensor, &w8, &out.tensor, NULL, &how, &report));
  CHECK(report.variant[0] != '\0' && report.saved == 0);
  options.splits = 1000;
  REFUSED(kaio_matmul_w8(NULL, &input.tensor, &w8, &out.tensor, &options), "matmul_w8", "1000 splits");
  release(&memory);
  release(&integers);
  release(&ends);
  release(&of_columns);
  release(&packed);
  release(&scales);
  release(&input);
  release(&out);
  release(&bias);
  release(&workspace);
}

int main(void) {
  if (!open_device()) return 1;
  begin();
  blocks();
  quantised();
  products();
  release(&matrix);
  return finish();
}
