/* What the programs of this folder share: checks, and tensors on the device under test. */
#ifndef KAIO_TESTS_C_SUPPORT_H
#define KAIO_TESTS_C_SUPPORT_H

#include <kaio/c/kaio.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      ++failures; \
      fprintf(stderr, "%s:%d: failed: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, kaio_last_error()); \
    } \
  } while (0)
#define SUCCEEDS(call) CHECK((call) == KAIO_OK)
/* The call is refused, and the message has both texts. */
#define REFUSED(call, one, other) \
  do { \
    CHECK((call) == KAIO_INVALID_ARGUMENT); \
    CHECK(strncmp(kaio_last_error(), "kaio: ", 6) == 0); \
    CHECK(strstr(kaio_last_error(), one) != NULL); \
    CHECK(strstr(kaio_last_error(), other) != NULL); \
  } while (0)

#define MOST_ELEMENTS 65536

/* A tensor of f32 with its own memory on the device. */
typedef struct {
  int64_t shape[3], strides[3];
  DLTensor tensor;
} owned;

static DLDataType type_of(int code, int bits) {
  DLDataType type;
  type.code = (uint8_t)code;
  type.bits = (uint8_t)bits;
  type.lanes = 1;
  return type;
}

static int64_t elements_of(const DLTensor* t) {
  int64_t count = 1;
  int d;
  for (d = 0; d < t->ndim; ++d) count *= t->shape[d];
  return count;
}

/* Row by row; a negative extent ends the shape. */
static void make(owned* it, DLDevice device, DLDataType type, int64_t a, int64_t b, int64_t c) {
  int d;
  it->shape[0] = a;
  it->shape[1] = b;
  it->shape[2] = c;
  it->tensor.device = device;
  it->tensor.dtype = type;
  it->tensor.ndim = b < 0 ? 1 : c < 0 ? 2 : 3;
  it->tensor.shape = it->shape;
  it->tensor.strides = NULL;
  it->tensor.byte_offset = 0;
  for (d = 2; d >= 0; --d) it->strides[d] = 1;
  for (d = it->tensor.ndim - 2; d >= 0; --d) it->strides[d] = it->strides[d + 1] * it->shape[d + 1];
  SUCCEEDS(kaio_allocate(device, (uint64_t)elements_of(&it->tensor) * (type.bits / 8u), &it->tensor.data));
}

static void release(owned* it) {
  SUCCEEDS(kaio_free(it->tensor.device, it->tensor.data));
  it->tensor.data = NULL;
}

/* Numbers of a few bits, so that sums are exact. Returns them. */
static void fill(owned* it, float* host, unsigned seed) {
  const int64_t count = elements_of(&it->tensor);
  int64_t i;
  for (i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    host[i] = (float)((int)(seed >> 24 & 15u) - 8) / 4.0f;
  }
  SUCCEEDS(kaio_copy_to_device(it->tensor.device, NULL, it->tensor.data, host, (uint64_t)count * sizeof(float)));
  SUCCEEDS(kaio_stream_synchronize(it->tensor.device, NULL));
}

static void fetch(const owned* it, void* host) {
  const uint64_t bytes = (uint64_t)elements_of(&it->tensor) * (it->tensor.dtype.bits / 8u);
  SUCCEEDS(kaio_device_synchronize(it->tensor.device));
  SUCCEEDS(kaio_copy_to_host(it->tensor.device, NULL, host, it->tensor.data, bytes));
  SUCCEEDS(kaio_stream_synchronize(it->tensor.device, NULL));
}

/* A difference of two f32 sums that is too large; NaN is one. */
static int differ(double computed, double expected) {
  const double most = 1e-5 * (fabs(expected) + 1.0);
  return !(fabs(computed - expected) <= most);
}

static int finish(void) {
  if (failures == 0) puts("right");
  return failures == 0 ? 0 : 1;
}

#endif
