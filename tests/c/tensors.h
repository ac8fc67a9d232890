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

#endif
