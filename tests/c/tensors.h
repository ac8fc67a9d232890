/* Tensors of up to five dimensions, and their numbers on the host. */
#ifndef KAIO_TESTS_C_TENSORS_H
#define KAIO_TESTS_C_TENSORS_H

#include "support.h"

static DLDevice device;

typedef struct {
  int64_t shape[5];
  DLTensor tensor;
} shaped;

/* SHAPED(&q, f32, 2, 5, 4, 8): zeros, row by row. */
#define SHAPED(it, type, ...) \
  make_shaped(it, type, (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static void make_shaped(shaped* it, DLDataType type, int32_t ndim, const int64_t* shape) {
  int32_t d;
  it->tensor.device = device;
  it->tensor.dtype = type;
  it->tensor.ndim = ndim;
  it->tensor.shape = it->shape;
  it->tensor.strides = NULL;
  it->tensor.byte_offset = 0;
  for (d = 0; d < ndim; ++d) it->shape[d] = shape[d];
  SUCCEEDS(kaio_allocate(device, (uint64_t)elements_of(&it->tensor) * (type.bits / 8u), &it->tensor.data));
}

static uint64_t bytes_of(const DLTensor* t) { return (uint64_t)elements_of(t) * (t->dtype.bits / 8u); }

static void send(const shaped* it, const void* host) {
  SUCCEEDS(kaio_copy_to_device(device, NULL, it->tensor.data, host, bytes_of(&it->tensor)));
  SUCCEEDS(kaio_stream_synchronize(device, NULL));
}

static void receive(const shaped* it, void* host) {
  SUCCEEDS(kaio_device_synchronize(device));
  SUCCEEDS(kaio_copy_to_host(device, NULL, host, it->tensor.data, bytes_of(&it->tensor)));
  SUCCEEDS(kaio_stream_synchronize(device, NULL));
}

/* Numbers from -1 to 1. */
static void randomise(shaped* it, float* host, unsigned seed) {
  const int64_t count = elements_of(&it->tensor);
  int64_t i;
  for (i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    host[i] = (float)((int)(seed >> 16 & 255u) - 128) / 128.0f;
  }
  send(it, host);
}

static void drop(shaped* it) {
  SUCCEEDS(kaio_free(device, it->tensor.data));
  it->tensor.data = NULL;
}

/* i32 numbers on the device: NUMBERS(&lengths, 5, 9). */
#define NUMBERS(it, ...) \
  make_numbers(it, (int64_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), (int32_t[]){__VA_ARGS__})

static void make_numbers(shaped* it, int64_t count, const int32_t* numbers) {
  SHAPED(it, type_of(kDLInt, 32), count);
  send(it, numbers);
}

/* The number of results that are further than `most` from the expected ones, or are NaN. */
static int64_t far_off(const float* got, const double* expected, int64_t count, double most) {
  int64_t i, wrong = 0;
  for (i = 0; i < count; ++i) wrong += !(fabs(got[i] - expected[i]) <= most * (1 + fabs(expected[i])));
  return wrong;
}

/* Tensors with given contents, and numbers of 16 and 8 bits. */

static DLDataType f32_type(void) { return type_of(kDLFloat, 32); }
static DLDataType f16_type(void) { return type_of(kDLFloat, 16); }
static DLDataType i8_type(void) { return type_of(kDLInt, 8); }
static DLDataType i32_type(void) { return type_of(kDLInt, 32); }
static DLDataType u8_type(void) { return type_of(kDLUInt, 8); }
static DLDataType e4m3_type(void) { return type_of(kDLFloat8_e4m3fn, 8); }

/* A tensor with the contents of `host`; NULL: zeros. */
static void with(owned* it, DLDataType type, int64_t a, int64_t b, int64_t c, const void* host) {
  make(it, device, type, a, b, c);
  if (host == NULL) return;
  SUCCEEDS(kaio_copy_to_device(device, NULL, it->tensor.data, host, (uint64_t)elements_of(&it->tensor) * (type.bits / 8u)));
  SUCCEEDS(kaio_stream_synchronize(device, NULL));
}

/* The f16 of a number that f16 has, normal or 0. */
static uint16_t half_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) == 0) return (uint16_t)(bits >> 16);
  return (uint16_t)((bits >> 16 & 0x8000u) | (((bits >> 23 & 255u) - 112u) << 10) | (bits >> 13 & 1023u));
}
static float float_of(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const double value = exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
  return (float)(half >> 15 ? -value : value);
}
/* The value of an e4m3 that is no NaN. */
static float of_e4m3(uint8_t code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double value = exponent == 0 ? ldexp(mantissa, -9) : ldexp(8 + mantissa, exponent - 10);
  return (float)(code >> 7 ? -value : value);
}

/* The next of a row of numbers below 2^bits. */
static unsigned next_bits(unsigned* seed, unsigned bits) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> (32 - bits);
}

static void fill_half(owned* it, float* host, unsigned seed) {
  static uint16_t halves[MOST_ELEMENTS];
  const int64_t count = elements_of(&it->tensor);
  int64_t i;
  for (i = 0; i < count; ++i) {
    host[i] = (float)((int)next_bits(&seed, 4) - 8) / 4.0f;
    halves[i] = half_of(host[i]);
  }
  SUCCEEDS(kaio_copy_to_device(device, NULL, it->tensor.data, halves, (uint64_t)count * 2));
  SUCCEEDS(kaio_stream_synchronize(device, NULL));
}

static void fetch_half(const owned* it, float* host) {
  static uint16_t halves[MOST_ELEMENTS];
  const int64_t count = elements_of(&it->tensor);
  int64_t i;
  fetch(it, halves);
  for (i = 0; i < count; ++i) host[i] = float_of(halves[i]);
}

/* The same memory as a matrix of other extents and strides. */
static DLTensor matrix_of(const owned* it, int64_t* shape, int64_t* strides, int64_t rows, int64_t columns, int64_t row, int64_t column) {
  DLTensor view = it->tensor;
  shape[0] = rows;
  shape[1] = columns;
  strides[0] = row;
  strides[1] = column;
  view.ndim = 2;
  view.shape = shape;
  view.strides = strides;
  return view;
}

static int open_device(void) {
  if (kaio_device_open(NULL, &device) == KAIO_OK) return 1;
  fprintf(stderr, "%s\n", kaio_last_error());
  return 0;
}

#endif
