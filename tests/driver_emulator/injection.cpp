// Failing chosen calls: by their number, by the name of the function, once or from then on.

#include <cstdlib>
#include <string>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

kaio_emulator_counters counted() {
  kaio_emulator_counters now;
  kaio_emulator_count(&now);
  return now;
}

}  // namespace

TEST_CASE("the call with a number fails, and does nothing") {
  const session s;
  kaio_emulator_reset();
  CHECK(counted().calls == 0);
  CUdeviceptr x = 0, y = 0;
  kaio_emulator_fail_call(1, 2, 0);
  MUST(cuMemAlloc_v2(&x, 64));
  REFUSED(cuMemAlloc_v2(&y, 64), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(y == 0);
  MUST(cuMemAlloc_v2(&y, 64));
  CHECK(counted().calls == 3);
  CHECK(counted().allocations == 2);
  const char* text = nullptr;
  MUST(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
  CHECK(counted().calls == 3);  // explaining is not counted
  kaio_emulator_fail_call(3, 700, 1);
  REFUSED(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  REFUSED(cuMemAlloc_v2(&x, 64), CUDA_ERROR_ILLEGAL_ADDRESS);
  REFUSED(cuMemFree_v2(x), CUDA_ERROR_ILLEGAL_ADDRESS);  // and it is freed
  REFUSED(cuMemFree_v2(y), CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(counted().allocations == 0);
  kaio_emulator_reset();
  MUST(cuCtxSynchronize());
}

TEST_CASE("a release that is made to fail takes place, also while a stream is captured") {
  const session s;
  CUdeviceptr x = 0;
  MUST(cuMemAlloc_v2(&x, 64));
  CUstream captured = nullptr;
  MUST(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
  MUST(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
  kaio_emulator_reset();
  REQUIRE(kaio_emulator_fail_function("cuMemFree_v2", 0, 999, 0) == 1);
  REFUSED(cuMemFree_v2(x), CUDA_ERROR_UNKNOWN);
  CHECK(counted().allocations == 0);
  CUgraph g = nullptr;
  MUST(cuStreamEndCapture(captured, &g));  // and the capture goes on
  MUST(cuGraphDestroy(g));
  MUST(cuStreamDestroy_v2(captured));
  kaio_emulator_reset();
}

TEST_CASE("an occurrence of one function fails") {
  const session s;
  kaio_emulator_reset();
  CUevent e[3] = {};
  REQUIRE(kaio_emulator_fail_function("cuEventCreate", 1, 999, 0) == 1);
  MUST(cuEventCreate(&e[0], 0));
  MUST(cuCtxSynchronize());
  REFUSED(cuEventCreate(&e[1], 0), CUDA_ERROR_UNKNOWN);
  MUST(cuEventCreate(&e[2], 0));
  CHECK(kaio_emulator_fail_function("cuNothing", 0, 1, 0) == 0);
  kaio_emulator_reset();
  MUST(cuEventDestroy_v2(e[0]));
  MUST(cuEventDestroy_v2(e[2]));
}

TEST_CASE("every call of a program may fail with every code") {
  // Whatever fails, a program that gives back what it got leaves nothing alive.
  constexpr int codes[] = {1, 2, 3, 46, 100, 200, 201, 209, 214, 218, 304, 400, 700, 709, 710, 719, 999};
  const auto program = [] {
    CUcontext c = nullptr;
    CUmodule m = nullptr;
    CUfunction f = nullptr;
    CUdeviceptr x = 0;
    CUstream stream = nullptr;
    if (cuInit(0) != CUDA_SUCCESS) return;
    if (cuDevicePrimaryCtxRetain(&c, 0) != CUDA_SUCCESS) return;
    bool good = cuCtxSetCurrent(c) == CUDA_SUCCESS;
    good = good && cuModuleLoadData(&m, add_text.c_str()) == CUDA_SUCCESS;
    good = good && cuModuleGetFunction(&f, m, "add") == CUDA_SUCCESS;
    good = good && cuStreamCreate(&stream, 1) == CUDA_SUCCESS;
    good = good && cuMemAlloc_v2(&x, 512) == CUDA_SUCCESS;
    good = good && cuMemsetD32Async(x, 1, 128, stream) == CUDA_SUCCESS;
    good = good && launch_add(f, x, 1, 128, stream) == CUDA_SUCCESS;
    std::uint32_t out = 0;
    good = good && cuMemcpyDtoHAsync_v2(&out, x, 4, stream) == CUDA_SUCCESS;
    good = good && cuStreamSynchronize(stream) == CUDA_SUCCESS;
    if (good) CHECK(out == 2);
    if (x != 0) cuMemFree_v2(x);
    if (stream != nullptr) cuStreamDestroy_v2(stream);
    if (m != nullptr) cuModuleUnload(m);
    cuCtxSetCurrent(nullptr);
    cuDevicePrimaryCtxRelease_v2(0);
  };
  kaio_emulator_reset();
  program();
  const auto calls = static_cast<long>(counted().calls);
  REQUIRE(calls > 12);
  for (const int code : codes)
    for (const int sticky : {0, 1})
      for (long call = 0; call < calls; ++call) {
        INFO("call " << call << ", code " << code << ", sticky " << sticky);
        kaio_emulator_reset();
        kaio_emulator_fail_call(call, code, sticky);
        program();
        kaio_emulator_reset();
        cuCtxSetCurrent(nullptr);
        REQUIRE(counted().contexts == 0);
        const kaio_emulator_counters now = counted();
        REQUIRE(kaio_emulator_alive(&now) == 0);
      }
}
