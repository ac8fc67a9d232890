/* Repacking weights from C, from every source. A source is made of known numbers, and what dequantising gives is compared with
 * them. */
#include "packed.h"

static uint8_t bytes[2 * n * k];

static void from_gptq(void) {
  owned qweight, qzeros, scales, g_idx;
  static int32_t index[k];
  kaio_w4_weights w = weights_w4(1);
  kaio_gptq_w4 source = kaio_gptq_w4_default();
  int i, j;
  words_along_k(&qweight, 0, 0);
  zeros_along_n(&qzeros, 1, in_order);
  scales_as(&scales, 1);
  source.qweight = &qweight.tensor;
  source.qzeros = &qzeros.tensor;
  source.scales = &scales.tensor;
  source.v2 = 1;
  room_w4(&w);
  SUCCEEDS(kaio_repack_gptq_w4_warmup(&source, &w));
  SUCCEEDS(kaio_repack_gptq_w4(NULL, &source, &w));
  expect(1, 0);
  check_w4(&w);

  for (j = 0; j < k; ++j) index[j] = j % groups; /* act-order */
  with(&g_idx, i32_type(), k, -1, -1, index);
  source.g_idx = &g_idx.tensor;
  w = weights_w4(1);
  w.act_order = 1;
  room_w4(&w);
  SUCCEEDS(kaio_repack_gptq_w4(NULL, &source, &w));
  for (i = 0; i < n; ++i)
    for (j = 0; j < k; ++j)
      expected[i * k + j] = scale_of[j % groups][i] * ((float)q[i][j] - (float)zero_of[j % groups][i]);
  check_w4(&w);

  w = weights_w4(0);
  room_w4(&w);
  REFUSED(kaio_repack_gptq_w4(NULL, &source, &w), "repack", "qzeros");
  source.qzeros = source.g_idx = NULL;
  SUCCEEDS(kaio_repack_gptq_w4(NULL, &source, &w));
  expect(0, 8);
  check_w4(&w);
  source.qweight = NULL;
  w.memory = NULL;
  REFUSED(kaio_repack_gptq_w4(NULL, &source, &w), "argument qweight", "NULL");
  source.qweight = &scales.tensor;
  REFUSED(kaio_repack_gptq_w4(NULL, &source, &w), "argument qweight", "it takes i32 or u32");
  source.qweight = &qweight.tensor;
  REFUSED(kaio_repack_gptq_w4(NULL, &source, &w), "repack", "weights");
  source.bits = 5;
  w = weights_w4(0);
  room_w4(&w);
  REFUSED(kaio_repack_gptq_w4(NULL, &source, &w), "repack", "bits");
  release(&memory);
  release(&qweight);
  release(&qzeros);
  release(&scales);
  release(&g_idx);
}

static void from_awq(void) {
  owned qweight, qzeros, scales;
  kaio_w4_weights w = weights_w4(1);
  kaio_awq_w4 source = kaio_awq_w4_default();
  kaio_awq_gemv_w4 gemv = kaio_awq_gemv_w4_default();
  kaio_awq_gemv_fast_w4 fast = kaio_awq_gemv_fast_w4_default();
  int i, j, g, b;
  for (j = 0; j < k; ++j)
    for (i = 0; i < n / 8; ++i) {
      words[j * (n / 8) + i] = 0;
      for (b = 0; b < 8; ++b) words[j * (n / 8) + i] |= (uint32_t)q[8 * i + of_awq[b]][j] << 4 * b;
    }
  with(&qweight, i32_type(), k, n / 8, -1, words);
  zeros_along_n(&qzeros, 1, of_awq);
  scales_as(&scales, 1);
  source.qweight = &qweight.tensor;
  source.qzeros = &qzeros.tensor;
  source.scales = &scales.tensor;
  room_w4(&w);
  SUCCEEDS(kaio_repack_awq_w4(NULL, &source, &w));
  expect(1, 0);
  check_w4(&w);
  release(&qweight);
  release(&qzeros);
  release(&scales);

  /* gemv: words along k, zero points along the groups, which are padded to 32 */
  words_along_k(&qweight, 1, 0);
  memset(zero_words, 0, sizeof zero_words);
  memset(halves, 0, sizeof halves);
  for (i = 0; i < n; ++i)
    for (g = 0; g < groups; ++g) {
      zero_words[i * 4] |= (uint32_t)zero_of[g][i] << 4 * g;
      halves[i * 32 + g] = half_of(scale_of[g][i]);
    }
  with(&qzeros, i32_type(), n, 4, -1, zero_words);
  with(&scales, f16_type(), n, 32, -1, halves);
  gemv.qweight = &qweight.tensor;
  gemv.qzeros = &qzeros.tensor;
  gemv.scales = &scales.tensor;
  w = weights_w4(1);
  room_w4(&w);
  SUCCEEDS(kaio_repack_awq_gemv_w4(NULL, &gemv, &w));
  check_w4(&w);
  release(&qweight);
  release(&qzeros);
  release(&scales);

  /* gemv_fast: all codes 5, scales 0.5, offsets -1 */
  for (i = 0; i < n * k / 4; ++i) halves[i] = 0x5555;
  with(&qweight, type_of(kDLInt, 16), n / 4, k, -1, halves);
  for (i = 0; i < 32 * n; ++i) halves[i] = half_of(0.5f);
  with(&scales, f16_type(), 32, n, -1, halves);
  for (i = 0; i < 32 * n; ++i) halves[i] = half_of(-1);
  with(&qzeros, f16_type(), 32, n, -1, halves);
  fast.qweight = &qweight.tensor;
  fast.scales = &scales.tensor;
  fast.qzeros = &qzeros.tensor;
  w = weights_w4(0);
  w.scales = KAIO_W4_SCALE_TYPE_F32;
  w.offsets = 1;
  w.zero = 0;
  room_w4(&w);
  SUCCEEDS(kaio_repack_awq_gemv_fast_w4(NULL, &fast, &w));
  expect_all(1.5f);
  check_w4(&w);
  w.zero = 300;
  REFUSED(kaio_repack_awq_gemv_fast_w4(NULL, &fast, &w), "argument zero is 300", "0 to 255");
  release(&qweight);
  release(&qzeros);
  release(&scales);
}

static void from_words(void) {
  owned packed, zeros, scales;
  kaio_w4_weights w = weights_w4(1);
  kaio_compressed_tensors_w4 compressed = kaio_compressed_tensors_w4_default();
  kaio_int4_w4 plain = kaio_int4_w4_default();
  kaio_torchao_int4_w4 torchao = kaio_torchao_int4_w4_default();
  int i, j;
  words_along_k(&packed, 1, 0);
  zeros_along_n(&zeros, 0, in_order);
  scales_as(&scales, 0);
  compressed.weight_packed = &packed.tensor;
  compressed.weight_zero_point = &zeros.tensor;
  compressed.weight_scale = &scales.tensor;
  room_w4(&w);
  SUCCEEDS(kaio_repack_compressed_tensors_w4(NULL, &compressed, &w));
  expect(1, 0);
  check_w4(&w);
  release(&packed);
  release(&zeros);
  release(&scales);

  words_along_k(&packed, 1, 8); /* two's complement */
  scales_as(&scales, 1);
  plain.packed = &packed.tensor;
  plain.scales = &scales.tensor;
  w = weights_w4(0);
  room_w4(&w);
  SUCCEEDS(kaio_repack_int4_w4(NULL, &plain, &w));
  expect(0, 8);
  check_w4(&w);

  for (i = 0; i < groups * n; ++i) halves[i] = half_of(0.25f);
  with(&zeros, f16_type(), groups, n, -1, halves);
  torchao.qdata = &packed.tensor;
  torchao.scale = &scales.tensor;
  torchao.zero_point = &zeros.tensor;
  w = weights_w4(0);
  w.scales = KAIO_W4_SCALE_TYPE_F32;
  w.offsets = 1;
  room_w4(&w);
  SUCCEEDS(kaio_repack_torchao_int4_w4(NULL, &torchao, &w));
  for (i = 0; i < n; ++i)
    for (j = 0; j < k; ++j) expected[i * k + j] += 0.25f;
  check_w4(&w);
  zeros.tensor.dtype = type_of(kDLBfloat, 16);
  REFUSED(kaio_repack_torchao_int4_w4(NULL, &torchao, &w), "argument zero_point has elements of bf16", "cast");
  release(&packed);
  release(&zeros);
  release(&scales);
}

/* Layouts for other kernels, with equal numbers everywhere. */
static void from_kernels(void) {
  owned packed, scales, four;
  int64_t shape[4];
  kaio_w4_weights w = weights_w4(0);
  kaio_marlin_w4 marlin = kaio_marlin_w4_default();
  kaio_tinygemm_w4 tinygemm = kaio_tinygemm_w4_default();
  int i;
  memset(words, 0xbb, sizeof words);
  for (i = 0; i < groups * n; ++i) halves[i] = half_of(0.5f);
  with(&packed, i32_type(), k / 16, 2 * n, -1, words);
  with(&scales, f16_type(), groups, n, -1, halves);
  marlin.b = &packed.tensor;
  marlin.scales = &scales.tensor;
  room_w4(&w);
  SUCCEEDS(kaio_repack_marlin_w4(NULL, &marlin, &w));
  expect_all(1.5f);
  check_w4(&w);
  release(&scales);

  for (i = 0; i < 2 * groups * n; ++i) halves[i] = i % 2 == 0 ? 0x3f00 : 0x4000; /* bf16: 0.5, 2 */
  with(&scales, type_of(kDLBfloat, 16), groups, n, 2, halves);
  four = packed; /* (n / 8, k / 64, 32, 2): inner_k_tiles is 4 */
  shape[0] = n / 8;
  shape[1] = k / 64;
  shape[2] = 32;
  shape[3] = 2;
  four.tensor.ndim = 4;
  four.tensor.shape = shape;
  tinygemm.packed = &four.tensor;
  tinygemm.scales_and_zeros = &scales.tensor;
  w = weights_w4(0);
  w.scales = KAIO_W4_SCALE_TYPE_F32;
  w.offsets = 1;
  room_w4(&w);
  SUCCEEDS(kaio_repack_tinygemm_w4(NULL, &tinygemm, &w));
  expect_all(3.5f);
  check_w4(&w);
  release(&packed);
  release(&scales);
}

static const float nf4[16] = {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
                              -0.18477343022823334f, -0.09105003625154495f, 0.0f, 0.07958029955625534f, 0.16093020141124725f,
                              0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f,
                              0.7229568362236023f, 1.0f};
static const float e2m1[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6};

/* Bytes of two codes, (n, k / 2). */
static void bytes_along_k(owned* to, int high_first) {
  int i, j;
  for (i = 0; i < n; ++i)
    for (j = 0; j < k / 2; ++j) {
      const unsigned even = q[i][2 * j], odd = q[i][2 * j + 1];
      bytes[i * (k / 2) + j] = (uint8_t)(high_first ? even << 4 | odd : odd << 4 | even);
    }
  with(to, u8_type(), n, k / 2, -1, bytes);
}
static void expect_table(const float* table, int of_group, const float* scales) {
  int i, j;
  for (i = 0; i < n; ++i)
    for (j = 0; j < k; ++j) expected[i * k + j] = table[q[i][j]] * scales[i * (k / of_group) + j / of_group];
}

static void from_bytes(void) {
  static float scales[n * k / 16], map[256];
  static uint8_t codes[n * k / 16];
  owned weight, of_groups, table, nested, line;
  const float factor = 0.5f;
  kaio_w4_weights w = weights_w4(0);
  kaio_bitsandbytes_w4 bnb = kaio_bitsandbytes_w4_default();
  kaio_bnb_4bit flat = kaio_bnb_4bit_default();
  kaio_bnb_nested flat_nested = kaio_bnb_nested_default();
  kaio_mxfp4_w4 mx = kaio_mxfp4_w4_default();
  kaio_mxfp4_tensors mx_tensors = kaio_mxfp4_tensors_default();
  kaio_nvfp4_w4 nv = kaio_nvfp4_w4_default();
  kaio_nvfp4_tensors nv_tensors = kaio_nvfp4_tensors_default();
  int64_t flat_shape = n * k / 2;
  int i;
  /* nf4, with absmax */
  for (i = 0; i < n * k / 64; ++i) scales[i] = (float)(i % 7 + 1) / 8.0f;
  bytes_along_k(&weight, 1);
  with(&of_groups, f32_type(), n, k / 64, -1, scales);
  bnb.weight = &weight.tensor;
  bnb.absmax = &of_groups.tensor;
  w.codes = KAIO_W4_CODES_NF4;
  w.scales = KAIO_W4_SCALE_TYPE_F32;
  w.group = 64;
  room_w4(&w);
  SUCCEEDS(kaio_repack_bitsandbytes_w4(NULL, &bnb, &w));
  expect_table(nf4, 64, scales);
  check_w4(&w);
  line = weight;
  line.tensor.ndim = 1;
  line.tensor.shape = &flat_shape;
  flat.weight = &line.tensor;
  REFUSED(kaio_dequantise_bnb_4bit(NULL, &flat, &matrix.tensor), "dequantise", "absmax");
  release(&of_groups);
  with(&of_groups, f32_type(), n * k / 64, -1, -1, scales);
  flat.absmax = &of_groups.tensor;
  SUCCEEDS(kaio_dequantise_bnb_4bit(NULL, &flat, &matrix.tensor));
  fetch(&matrix, got);
  CHECK(wrong_weights() == 0);
  release(&of_groups);

  /* absmax in codes of 8 bits */
  for (i = 0; i < 256; ++i) map[i] = (float)i / 256.0f;
  for (i = 0; i < n * k / 64; ++i) {
    codes[i] = (uint8_t)(i * 5);
    scales[i] = map[codes[i]] * 2.0f + 0.5f;
  }
  with(&of_groups, u8_type(), n, k / 64, -1, codes);
  with(&table, f32_type(), 256, -1, -1, map);
  map[0] = 2;
  with(&nested, f32_type(), 1, -1, -1, map);
  bnb.absmax = NULL;
  bnb.absmax_codes = &of_groups.tensor;
  bnb.nested_quant_map = &table.tensor;
  bnb.nested_absmax = &nested.tensor;
  bnb.nested_offset = 0.5f;
  room_w4(&w);
  SUCCEEDS(kaio_repack_bitsandbytes_w4(NULL, &bnb, &w));
  expect_table(nf4, 64, scales);
  check_w4(&w);
  flat.absmax = NULL;
  flat.nested = &flat_nested;
  REFUSED(kaio_dequantise_bnb_4bit(NULL, &flat, &matrix.tensor), "argument nested.absmax", "NULL");
  of_groups.tensor.ndim = 1;
  of_groups.shape[0] = n * k / 64;
  flat_nested.absmax = &of_groups.tensor;
  flat_nested.nested_absmax = &nested.tensor;
  flat_nested.nested_quant_map = &table.tensor;
  flat_nested.offset = 0.5f;
  SUCCEEDS(kaio_dequantise_bnb_4bit(NULL, &flat, &matrix.tensor));
  fetch(&matrix, got);
  CHECK(wrong_weights() == 0);
  release(&weight);
  release(&of_groups);
  release(&table);
  release(&nested);

  /* MXFP4 */
  bytes_along_k(&weight, 0);
  for (i = 0; i < n * k / 32; ++i) {
    codes[i] = (uint8_t)(125 + i % 4);
    scales[i] = (float)ldexp(1, i % 4 - 2);
  }
  with(&of_groups, u8_type(), n, k / 32, -1, codes);
  mx.blocks = &weight.tensor;
  mx.scales = &of_groups.tensor;
  w.codes = KAIO_W4_CODES_E2M1;
  w.scales = KAIO_W4_SCALE_TYPE_E8M0;
  w.group = 32;
  room_w4(&w);
  SUCCEEDS(kaio_repack_mxfp4_w4(NULL, &mx, &w));
  expect_table(e2m1, 32, scales);
  check_w4(&w);
  mx_tensors.packed = &weight.tensor;
  mx_tensors.scales = &of_groups.tensor;
  SUCCEEDS(kaio_dequantise_mxfp4(NULL, &mx_tensors, &matrix.tensor));
  fetch(&matrix, got);
  CHECK(wrong_weights() == 0);
  release(&of_groups);

  /* NVFP4 with a tensor scale that divides */
  for (i = 0; i < n * k / 16; ++i) {
    codes[i] = (uint8_t)(0x30 + i % 16);
    scales[i] = of_e4m3(codes[i]) / factor;
  }
  with(&of_groups, e4m3_type(), n, k / 16, -1, codes);
  with(&nested, f32_type(), 1, -1, -1, &factor);
  nv.weight = &weight.tensor;
  nv.scales = &of_groups.tensor;
  nv.tensor_scale = &nested.tensor;
  nv.divides = 1;
  w.scales = KAIO_W4_SCALE_TYPE_E4M3;
  w.group = 16;
  w.factors = 1;
  room_w4(&w);
  SUCCEEDS(kaio_repack_nvfp4_w4(NULL, &nv, &w));
  expect_table(e2m1, 16, scales);
  check_w4(&w);
  nv_tensors.packed = &weight.tensor;
  nv_tensors.scales = &of_groups.tensor;
  nv_tensors.global = &nested.tensor;
  nv_tensors.divide = 1;
  SUCCEEDS(kaio_dequantise_nvfp4(NULL, &nv_tensors, &matrix.tensor));
  fetch(&matrix, got);
  CHECK(wrong_weights() == 0);
  w.codes = 7;
  REFUSED(kaio_repack_nvfp4_w4(NULL, &nv, &w), "argument codes is 7", "named constants");
  release(&weight);
  release(&of_groups);
  release(&nested);
}

static void eight_bits(void) {
  static int8_t integers[n * k];
  static float of_columns[n];
  owned weight, scales, zeros;
  kaio_w8_weights w = weights_w8(-1);
  kaio_int8_w8 int8 = kaio_int8_w8_default();
  kaio_llm_int8_w8 llm = kaio_llm_int8_w8_default();
  kaio_bnb_int8 bnb = kaio_bnb_int8_default();
  kaio_gptq_w8 gptq = kaio_gptq_w8_default();
  kaio_compressed_tensors_w8 compressed = kaio_compressed_tensors_w8_default();
  kaio_e4m3_w8 e4m3 = kaio_e4m3_w8_default();
  kaio_scaled_bytes scaled = kaio_scaled_bytes_default();
  kaio_marlin_w8 marlin = kaio_marlin_w8_default();
  unsigned seed = 9;
  int i, j, b;
  for (i = 0; i < n * k; ++i) integers[i] = (int8_t)((int)next_bits(&seed, 8) - 128);
  for (i = 0; i < n; ++i) of_columns[i] = (float)(i % 5 + 1) / 4.0f;
  for (i = 0; i < n * k; ++i) expected[i] = (float)integers[i] * of_columns[i / k];
  with(&weight, i8_type(), n, k, -1, integers);
  with(&scales, f32_type(), n, -1, -1, of_columns); /* a vector */
  int8.weight = &weight.tensor;
  int8.scales = &scales.tensor;
  room_w8(&w);
  SUCCEEDS(kaio_repack_int8_w8(NULL, &int8, &w));
  check_w8(&w);
  zeros = weight;
  for (i = 0; i < n; ++i) integers[i] = 3;
  with(&zeros, i8_type(), n, 1, -1, integers);
  int8.zero_points = &zeros.tensor;
  w = weights_w8(-1);
  w.zero_points = 1;
  room_w8(&w);
  SUCCEEDS(kaio_repack_int8_w8(NULL, &int8, &w));
  for (i = 0; i < n * k; ++i) expected[i] -= 3 * of_columns[i / k];
  check_w8(&w);
  for (i = 0; i < n * k; ++i) expected[i] += 3 * of_columns[i / k];
  release(&zeros);
  release(&scales);
  for (i = 0; i < n; ++i) of_columns[i] *= 127;
  with(&scales, f32_type(), n, -1, -1, of_columns);
  for (i = 0; i < n; ++i) of_columns[i] /= 127;
  llm.weight = bnb.weight = &weight.tensor;
  llm.scb = bnb.SCB = &scales.tensor;
  w = weights_w8(-1);
  room_w8(&w);
  SUCCEEDS(kaio_repack_llm_int8_w8(NULL, &llm, &w));
  check_w8(&w);
  SUCCEEDS(kaio_dequantise_bnb_int8(NULL, &bnb, &matrix.tensor));
  fetch(&matrix, got);
  CHECK(wrong_weights() == 0);
  w.codes = KAIO_W8_CODES_E4M3;
  room_w8(&w);
  REFUSED(kaio_repack_llm_int8_w8(NULL, &llm, &w), "repack", "codes");
  release(&memory);
  release(&weight);
  release(&scales);

  /* words of four codes: GPTQ (k / 4, n), compressed-tensors (n, k / 4) */
  scales_as(&scales, 1);
  for (i = 0; i < n; ++i)
    for (j = 0; j < k; ++j) expected[i * k + j] = ((float)(q[i][j] * 16 + 5) - 128) * scale_of[j / group][i];
  for (i = 0; i < n; ++i)
    for (j = 0; j < k / 4; ++j) {
      uint32_t word = 0;
      for (b = 0; b < 4; ++b) word |= (uint32_t)(q[i][4 * j + b] * 16 + 5) << 8 * b;
      words[j * n + i] = word;
      zero_words[i * (k / 4) + j] = word;
    }
  with(&weight, type_of(kDLUInt, 32), k / 4, n, -1, words);
  gptq.qweight = &weight.tensor;
  gptq.scales = &scales.tensor;
  w = weights_w8(group);
  room_w8(&w);
  SUCCEEDS(kaio_repack_gptq_w8(NULL, &gptq, &w));
  check_w8(&w);
  release(&weight);
  release(&scales);
  scales_as(&scales, 0);
  with(&weight, i32_type(), n, k / 4, -1, zero_words);
  compressed.weight_packed = &weight.tensor;
  compressed.weight_scale = &scales.tensor;
  room_w8(&w);
  SUCCEEDS(kaio_repack_compressed_tensors_w8(NULL, &compressed, &w));
  check_w8(&w);
  release(&weight);
  release(&scales);

  /* 8-bit floats with a scale for each column */
  for (i = 0; i < n * k; ++i) {
    bytes[i] = (uint8_t)(i * 37 % 120 + i % 2 * 128);
    expected[i] = of_e4m3(bytes[i]) * of_columns[i / k];
  }
  with(&weight, e4m3_type(), n, k, -1, bytes);
  with(&scales, f32_type(), n, 1, -1, of_columns);
  e4m3.weight = scaled.weight = &weight.tensor;
  e4m3.scales = scaled.scale = &scales.tensor;
  w = weights_w8(-1);
  w.codes = KAIO_W8_CODES_E4M3;
  room_w8(&w);
  SUCCEEDS(kaio_repack_e4m3_w8(NULL, &e4m3, &w));
  check_w8(&w);
  SUCCEEDS(kaio_dequantise_scaled_bytes(NULL, &scaled, &matrix.tensor));
  fetch(&matrix, got);
  CHECK(wrong_weights() == 0);
  scaled.block_rows = 0;
  scales.shape[0] = 3;
  REFUSED(kaio_dequantise_scaled_bytes(NULL, &scaled, &matrix.tensor), "dequantise", "block_rows");
  release(&weight);
  release(&scales);

  memset(words, 0x90, sizeof words); /* 144 - 128 */
  for (i = 0; i < n; ++i) halves[i] = half_of(0.5f);
  with(&weight, i32_type(), k / 16, 4 * n, -1, words);
  with(&scales, f16_type(), 1, n, -1, halves);
  marlin.b = &weight.tensor;
  marlin.scales = &scales.tensor;
  w = weights_w8(-1);
  room_w8(&w);
  SUCCEEDS(kaio_repack_marlin_w8(NULL, &marlin, &w));
  expect_all(8);
  check_w8(&w);
  release(&weight);
  release(&scales);
}

int main(void) {
  if (!open_device()) return 1;
  begin();
  from_gptq();
  from_awq();
  from_words();
  from_kernels();
  from_bytes();
  eight_bits();
  release(&matrix);
  return finish();
}
