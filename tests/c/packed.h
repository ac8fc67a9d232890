/* Known weights of four bits, and packed weights made of them, for the programs of this folder. */
#ifndef KAIO_TESTS_C_PACKED_H
#define KAIO_TESTS_C_PACKED_H

#include "tensors.h"

enum { n = 64, k = 128, group = 32, groups = k / group };

static unsigned q[n][k];            /* codes of four bits */
static unsigned zero_of[groups][n]; /* zero points */
static float scale_of[groups][n];   /* powers of two */
static uint32_t words[n * k], zero_words[n * k];
static uint16_t halves[n * k];
static float expected[n * k], got[n * k];

static void make_codes(void) {
  unsigned seed = 7;
  int i, j;
  for (i = 0; i < n; ++i)
    for (j = 0; j < k; ++j) q[i][j] = next_bits(&seed, 4);
  for (i = 0; i < groups; ++i)
    for (j = 0; j < n; ++j) {
      zero_of[i][j] = next_bits(&seed, 4);
      scale_of[i][j] = 1.0f / (float)(1u << next_bits(&seed, 2));
    }
}

/* W = scale * (q - zero), with zero points of groups, or one for all. */
static void expect(int has_zeros, unsigned zero) {
  int i, j;
  for (i = 0; i < n; ++i)
    for (j = 0; j < k; ++j)
      expected[i * k + j] = scale_of[j / group][i] * ((float)q[i][j] - (float)(has_zeros ? zero_of[j / group][i] : zero));
}
static void expect_all(float value) {
  int i;
  for (i = 0; i < n * k; ++i) expected[i] = value;
}

static int64_t wrong_weights(void) {
  int64_t i, wrong = 0;
  for (i = 0; i < n * k; ++i) wrong += differ(got[i], expected[i]);
  return wrong;
}

static owned memory, matrix;

/* Memory for packed weights of a shape, which is n by k. */
static kaio_w4_weights weights_w4(int zero_points) {
  kaio_w4_weights w = kaio_w4_weights_default();
  w.n = n;
  w.k = k;
  w.group = group;
  w.zero_points = zero_points;
  return w;
}
static void room_w4(kaio_w4_weights* w) {
  uint64_t size = 0;
  w->memory = NULL;
  SUCCEEDS(kaio_w4_packed_bytes(w, &size));
  CHECK(size > 0);
  with(&memory, u8_type(), (int64_t)size, -1, -1, NULL);
  w->memory = &memory.tensor;
}
static void check_w4(const kaio_w4_weights* w) {
  SUCCEEDS(kaio_dequantise_w4(NULL, w, &matrix.tensor));
  fetch(&matrix, got);
  CHECK(wrong_weights() == 0);
  release(&memory);
}
static kaio_w8_weights weights_w8(int64_t of_group) {
  kaio_w8_weights w = kaio_w8_weights_default();
  w.n = n;
  w.k = k;
  w.group = of_group;
  return w;
}
static void room_w8(kaio_w8_weights* w) {
  uint64_t size = 0;
  w->memory = NULL;
  SUCCEEDS(kaio_w8_packed_bytes(w, &size));
  with(&memory, u8_type(), (int64_t)size, -1, -1, NULL);
  w->memory = &memory.tensor;
}
static void check_w8(const kaio_w8_weights* w) {
  SUCCEEDS(kaio_dequantise_w8(NULL, w, &matrix.tensor));
  fetch(&matrix, got);
  CHECK(wrong_weights() == 0);
  release(&memory);
}

/* Halves (groups, n), or (n, groups). */
static void scales_as(owned* to, int group_first) {
  int g, i;
  for (g = 0; g < groups; ++g)
    for (i = 0; i < n; ++i) halves[group_first ? g * n + i : i * groups + g] = half_of(scale_of[g][i]);
  with(to, f16_type(), group_first ? groups : n, group_first ? n : groups, -1, halves);
}
/* Words of eight codes along k: (n, k / 8), or (k / 8, n). */
static void words_along_k(owned* to, int n_first, unsigned flip) {
  int i, j, b;
  for (i = 0; i < n; ++i)
    for (j = 0; j < k / 8; ++j) {
      uint32_t word = 0;
      for (b = 0; b < 8; ++b) word |= (uint32_t)(q[i][8 * j + b] ^ flip) << 4 * b;
      words[n_first ? i * (k / 8) + j : j * n + i] = word;
    }
  with(to, i32_type(), n_first ? n : k / 8, n_first ? k / 8 : n, -1, words);
}
/* Words of eight zero points along n, in the order of `order`: (groups, n / 8), or (n / 8, groups). */
static void zeros_along_n(owned* to, int group_first, const int* order) {
  int g, i, b;
  for (g = 0; g < groups; ++g)
    for (i = 0; i < n / 8; ++i) {
      uint32_t word = 0;
      for (b = 0; b < 8; ++b) word |= (uint32_t)zero_of[g][8 * i + order[b]] << 4 * b;
      zero_words[group_first ? g * (n / 8) + i : i * groups + g] = word;
    }
  with(to, i32_type(), group_first ? groups : n / 8, group_first ? n / 8 : groups, -1, zero_words);
}
static const int in_order[8] = {0, 1, 2, 3, 4, 5, 6, 7}, of_awq[8] = {0, 2, 4, 6, 1, 3, 5, 7};

static void begin(void) {
  make_codes();
  make(&matrix, device, f32_type(), n, k, -1);
}

#endif
