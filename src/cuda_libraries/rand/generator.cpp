// cuRAND's host interface. Every pseudo-random generator is Philox-4x32-10: sequences are those of this library, not cuRAND's.
// Source of the interface: cuRAND documentation 13.0, "Host API Overview".

#include "cuda_libraries/driver.hpp"
#include "cuda_libraries/rand/kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>

namespace kaio::cuda_libraries {
namespace {

enum curandStatus_t : int {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
};

constexpr int version = 10400;
constexpr int first_pseudo = 100, last_pseudo = 161;  // curandRngType_t: those from 200 on are quasi-random

enum kind : unsigned { words32, words64, uniform32, uniform64, normal32, normal64, kinds };

struct generator {
  u64 seed = 0;
  u64 offset = 0;  // elements that were generated
  void* stream = nullptr;
  loaded_kernel kernels[kinds];
};

template <class T, class Kernel, class... More>
curandStatus_t fill(generator* g, kind which, T* to, std::size_t count, const Kernel& kernel, More... more) {
  if (g == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (count != 0 && to == nullptr) return CURAND_STATUS_LAUNCH_FAILURE;
  constexpr std::size_t most = std::size_t{1} << 30;  // elements of a launch
  std::string text;
  for (const std::string_view segment : kernel.ptx()) text += segment;
  for (std::size_t at = 0; at < count; at += most) {
    u32 n = static_cast<u32>(std::min(most, count - at));
    T* from = to + at;
    void* parameters[] = {&from, &n, &g->seed, &g->offset, &more...};
    if (!g->kernels[which].launch(text.c_str(), std::string(kernel.name()).c_str(), (n + 255) / 256, 256,
                                  g->stream, parameters))
      return CURAND_STATUS_LAUNCH_FAILURE;
    g->offset += n;
  }
  return CURAND_STATUS_SUCCESS;
}

template <class T>
curandStatus_t fill_normal(generator* g, kind which, T* to, std::size_t count, T mean, T deviation,
                           bool exponential) {
  // As cuRAND, which makes them by twos.
  if (count % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return fill(g, which, to, count, normal_numbers<T>, mean, deviation, u32{exponential});
}

}  // namespace

#define KAIO_EXPORTED extern "C" __attribute__((visibility("default")))

KAIO_EXPORTED curandStatus_t curandCreateGenerator(generator** g, int type) {
  if (type > last_pseudo)
    std::fputs("kaio: curandCreateGenerator: quasi-random generators are not in the emulator's cuRAND\n",
               stderr);
  if (g == nullptr || type < first_pseudo || type > last_pseudo) return CURAND_STATUS_TYPE_ERROR;
  *g = new (std::nothrow) generator;
  return *g == nullptr ? CURAND_STATUS_ALLOCATION_FAILED : CURAND_STATUS_SUCCESS;
}
KAIO_EXPORTED curandStatus_t curandCreateGeneratorHost(generator**, int) {
  std::fputs("kaio: curandCreateGeneratorHost: generators on the host are not in the emulator's cuRAND\n",
             stderr);
  return CURAND_STATUS_TYPE_ERROR;
}
KAIO_EXPORTED curandStatus_t curandDestroyGenerator(generator* g) {
  if (g == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  delete g;
  return CURAND_STATUS_SUCCESS;
}
KAIO_EXPORTED curandStatus_t curandGetVersion(int* number) {
  if (number == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *number = version;
  return CURAND_STATUS_SUCCESS;
}
KAIO_EXPORTED curandStatus_t curandGetProperty(int property, int* value) {
  if (value == nullptr || property < 0 || property > 2) return CURAND_STATUS_OUT_OF_RANGE;
  *value = property == 0 ? version / 1000 : property == 1 ? version / 100 % 10 : version % 100;
  return CURAND_STATUS_SUCCESS;
}

namespace {

template <class Member, class Value>
curandStatus_t set(generator* g, Member member, Value value) {
  if (g == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  g->*member = value;
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

KAIO_EXPORTED curandStatus_t curandSetStream(generator* g, void* stream) {
  return set(g, &generator::stream, stream);
}
KAIO_EXPORTED curandStatus_t curandSetGeneratorOffset(generator* g, unsigned long long offset) {
  return set(g, &generator::offset, offset);
}
// A new seed begins its sequence.
KAIO_EXPORTED curandStatus_t curandSetPseudoRandomGeneratorSeed(generator* g, unsigned long long seed) {
  set(g, &generator::offset, u64{0});
  return set(g, &generator::seed, seed);
}
KAIO_EXPORTED curandStatus_t curandSetGeneratorOrdering(generator* g, int ordering) {
  if (g == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return ordering >= 100 && ordering <= 104 ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}
KAIO_EXPORTED curandStatus_t curandGenerateSeeds(generator* g) {
  return g == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}

KAIO_EXPORTED curandStatus_t curandGenerate(generator* g, u32* to, std::size_t count) {
  return fill(g, words32, to, count, random_words<u32>);
}
KAIO_EXPORTED curandStatus_t curandGenerateLongLong(generator* g, u64* to, std::size_t count) {
  return fill(g, words64, to, count, random_words<u64>);
}
KAIO_EXPORTED curandStatus_t curandGenerateUniform(generator* g, f32* to, std::size_t count) {
  return fill(g, uniform32, to, count, uniform_numbers<f32>);
}
KAIO_EXPORTED curandStatus_t curandGenerateUniformDouble(generator* g, f64* to, std::size_t count) {
  return fill(g, uniform64, to, count, uniform_numbers<f64>);
}
KAIO_EXPORTED curandStatus_t curandGenerateNormal(generator* g, f32* to, std::size_t count, f32 mean,
                                                  f32 deviation) {
  return fill_normal(g, normal32, to, count, mean, deviation, false);
}
KAIO_EXPORTED curandStatus_t curandGenerateNormalDouble(generator* g, f64* to, std::size_t count, f64 mean,
                                                        f64 deviation) {
  return fill_normal(g, normal64, to, count, mean, deviation, false);
}
KAIO_EXPORTED curandStatus_t curandGenerateLogNormal(generator* g, f32* to, std::size_t count, f32 mean,
                                                     f32 deviation) {
  return fill_normal(g, normal32, to, count, mean, deviation, true);
}
KAIO_EXPORTED curandStatus_t curandGenerateLogNormalDouble(generator* g, f64* to, std::size_t count, f64 mean,
                                                           f64 deviation) {
  return fill_normal(g, normal64, to, count, mean, deviation, true);
}

}  // namespace kaio::cuda_libraries
