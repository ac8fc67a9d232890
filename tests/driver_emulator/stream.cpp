// Streams and events: order, waiting, callbacks; and, where the environment asks for streams that are
// delayed, that work without a wait has not happened.

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

bool delayed() {
  const char* value = std::getenv("KAIO_STREAMS");
  return value != nullptr && std::string(value) == "delayed";
}

struct streams {
  std::vector<CUstream> all;
  explicit streams(std::size_t n, unsigned flags = CU_STREAM_NON_BLOCKING) : all(n) {
    for (CUstream& s : all) MUST(cuStreamCreate(&s, flags));
  }
  ~streams() {
    for (const CUstream s : all) cuStreamDestroy_v2(s);
  }
  streams(const streams&) = delete;
  streams& operator=(const streams&) = delete;
  CUstream operator[](std::size_t i) const { return all[i]; }
};

struct host_number {
  std::uint32_t* value = nullptr;
  explicit host_number(std::uint32_t first) {
    void* host = nullptr;
    MUST(cuMemHostAlloc(&host, 4, 0));
    value = static_cast<std::uint32_t*>(host);
    *value = first;
  }
  ~host_number() { cuMemFreeHost(value); }
  host_number(const host_number&) = delete;
  host_number& operator=(const host_number&) = delete;
};

}  // namespace

TEST_CASE("a stream does its work in order") {
  const session s;
  const loaded m(add_text);
  const streams stream(1);
  const numbers x(1);
  host_number out(0);
  MUST(cuMemsetD32Async(x.address, 5, 1, stream[0]));
  for (std::uint32_t i = 0; i < 10; ++i) MUST(launch_add(m["add"], x.address, i, 1, stream[0]));
  MUST(cuMemcpyDtoHAsync_v2(out.value, x.address, 4, stream[0]));
  if (delayed()) CHECK(*out.value == 0);  // no wait yet
  MUST(cuStreamSynchronize(stream[0]));
  CHECK(*out.value == 50);
  REFUSED(cuStreamQuery(stream[0]), CUDA_SUCCESS);
}

TEST_CASE("an event orders two streams") {
  const session s;
  const loaded m(add_text);
  const streams stream(3);
  CUevent e = nullptr;
  MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
  const numbers x(1);
  host_number out(0), untouched(0);
  MUST(cuMemsetD32Async(x.address, 1, 1, stream[0]));
  MUST(launch_add(m["add"], x.address, 10, 1, stream[0]));
  MUST(cuEventRecord(e, stream[0]));
  MUST(cuStreamWaitEvent(stream[1], e, 0));
  MUST(cuMemcpyDtoHAsync_v2(out.value, x.address, 4, stream[1]));
  MUST(cuMemcpyDtoHAsync_v2(untouched.value, x.address, 4, stream[2]));
  MUST(cuStreamSynchronize(stream[1]));
  CHECK(*out.value == 11);
  if (delayed()) CHECK(*untouched.value == 0);  // this stream was not waited for
  MUST(cuCtxSynchronize());
  CHECK(*untouched.value == 11);
  MUST(cuEventDestroy_v2(e));
  REFUSED(cuEventDestroy_v2(e), CUDA_ERROR_INVALID_HANDLE);
  REFUSED(cuEventRecord(e, stream[0]), CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("without an event another stream has not waited") {
  const session s;
  const streams stream(2);
  const numbers x(std::vector<std::uint32_t>{1});
  host_number out(0);
  MUST(cuMemsetD32Async(x.address, 2, 1, stream[0]));
  MUST(cuMemcpyDtoHAsync_v2(out.value, x.address, 4, stream[1]));
  MUST(cuStreamSynchronize(stream[1]));
  CHECK(*out.value == (delayed() ? 1 : 2));
  MUST(cuCtxSynchronize());
}

TEST_CASE("the legacy stream is ordered with blocking streams, and not with others") {
  const session s;
  const streams blocking(2, CU_STREAM_DEFAULT), free_running(1);
  const numbers x(std::vector<std::uint32_t>{1});
  host_number out(0), other(0);
  MUST(cuMemsetD32Async(x.address, 2, 1, blocking[0]));
  MUST(cuMemsetD32Async(x.address, 3, 1, nullptr));  // after the first
  MUST(cuMemcpyDtoHAsync_v2(out.value, x.address, 4, blocking[1]));
  MUST(cuMemcpyDtoHAsync_v2(other.value, x.address, 4, free_running[0]));
  MUST(cuStreamSynchronize(free_running[0]));
  CHECK(*other.value == (delayed() ? 1 : 3));
  MUST(cuStreamSynchronize(blocking[1]));
  CHECK(*out.value == 3);
  // A copy without a stream waits for what came before.
  MUST(cuMemsetD32Async(x.address, 9, 1, blocking[0]));
  CHECK(x.read()[0] == 9);
}

TEST_CASE("a query lets delayed work run, and hears of it the next time") {
  const session s;
  const streams stream(1);
  const numbers x(std::vector<std::uint32_t>{1});
  host_number out(0);
  CUevent e = nullptr;
  MUST(cuEventCreate(&e, CU_EVENT_DEFAULT));
  MUST(cuEventQuery(e));  // never recorded
  MUST(cuMemcpyDtoHAsync_v2(out.value, x.address, 4, stream[0]));
  MUST(cuEventRecord(e, stream[0]));
  if (delayed()) {
    REFUSED(cuEventQuery(e), CUDA_ERROR_NOT_READY);
  }
  MUST(cuEventQuery(e));
  MUST(cuStreamQuery(stream[0]));
  CHECK(*out.value == 1);
  MUST(cuEventDestroy_v2(e));
}

TEST_CASE("events measure time") {
  const session s;
  const streams stream(1);
  CUevent begin = nullptr, end = nullptr, untimed = nullptr;
  MUST(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  MUST(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
  MUST(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  float milliseconds = -1;
  REFUSED(cuEventElapsedTime(&milliseconds, begin, end), CUDA_ERROR_INVALID_HANDLE);
  MUST(cuEventRecord(begin, stream[0]));
  MUST(cuLaunchHostFunc(
      stream[0], [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
  MUST(cuEventRecordWithFlags(end, stream[0], 0));
  MUST(cuEventSynchronize(end));
  MUST(cuEventElapsedTime(&milliseconds, begin, end));
  CHECK(milliseconds >= 19.0f);
  CHECK(milliseconds < 5000.0f);
  MUST(cuEventElapsedTime_v2(&milliseconds, begin, end));
  MUST(cuEventRecord(untimed, stream[0]));
  REFUSED(cuEventElapsedTime(&milliseconds, begin, untimed), CUDA_ERROR_INVALID_HANDLE);
  for (const CUevent e : {begin, end, untimed}) MUST(cuEventDestroy_v2(e));
}

TEST_CASE("functions of the host run in their place, and may not call the driver") {
  const session s;
  const loaded m(add_text);
  const streams stream(1);
  const numbers x(std::vector<std::uint32_t>{1});
  struct seen {
    std::uint32_t* value;
    std::uint32_t before = 0;
    CUresult call = CUDA_SUCCESS, status = CUDA_ERROR_UNKNOWN;
    CUstream where = nullptr;
  };
  host_number copy(0);
  seen first{copy.value}, second{copy.value};
  MUST(launch_add(m["add"], x.address, 1, 1, stream[0]));
  MUST(cuMemcpyDtoHAsync_v2(copy.value, x.address, 4, stream[0]));
  MUST(cuLaunchHostFunc(
      stream[0],
      [](void* data) {
        auto* to = static_cast<seen*>(data);
        to->before = *to->value;
        to->call = cuCtxSynchronize();
      },
      &first));
  MUST(cuStreamAddCallback(
      stream[0],
      [](CUstream where, CUresult status, void* data) {
        static_cast<seen*>(data)->status = status;
        static_cast<seen*>(data)->where = where;
      },
      &second, 0));
  MUST(cuStreamSynchronize(stream[0]));
  CHECK(first.before == 2);
  CHECK(first.call == CUDA_ERROR_NOT_PERMITTED);
  CHECK(second.status == CUDA_SUCCESS);
  CHECK(second.where == stream[0]);
}

TEST_CASE("streams report what they are") {
  const session s;
  CUstream a = nullptr;
  MUST(cuStreamCreateWithPriority(&a, CU_STREAM_NON_BLOCKING, -99));
  int priority = 0;
  unsigned flags = 0;
  CUcontext owner = nullptr;
  CUdevice d = -1;
  unsigned long long id = 0;
  MUST(cuStreamGetPriority(a, &priority));
  CHECK(priority == -5);
  MUST(cuStreamGetFlags(a, &flags));
  CHECK(flags == CU_STREAM_NON_BLOCKING);
  MUST(cuStreamGetCtx(a, &owner));
  CHECK(owner == s.context);
  MUST(cuStreamGetDevice(a, &d));
  CHECK(d == 0);
  MUST(cuStreamGetId(a, &id));
  CHECK(id != 0);
  REFUSED(cuStreamCreate(&a, 8), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuStreamCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  MUST(cuStreamDestroy_v2(a));
  REFUSED(cuStreamDestroy_v2(a), CUDA_ERROR_INVALID_HANDLE);
  REFUSED(cuStreamSynchronize(a), CUDA_ERROR_INVALID_HANDLE);
  REFUSED(cuStreamQuery(a), CUDA_ERROR_INVALID_HANDLE);
  REFUSED(cuStreamDestroy_v2(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("a stream waits for a word of memory that the host writes") {
  const session s;
  const streams stream(2);
  host_number flag(0), out(0);
  const numbers x(std::vector<std::uint32_t>{7});
  CUdeviceptr word = 0;
  MUST(cuMemHostGetDevicePointer_v2(&word, flag.value, 0));
  MUST(cuStreamWaitValue32_v2(stream[0], word, 3, 0));  // until it is 3 or more
  MUST(cuMemcpyDtoHAsync_v2(out.value, x.address, 4, stream[0]));
  REFUSED(cuStreamQuery(stream[0]), CUDA_ERROR_NOT_READY);
  CHECK(*out.value == 0);
  *flag.value = 4;
  MUST(cuStreamSynchronize(stream[0]));
  CHECK(*out.value == 7);
  MUST(cuStreamWriteValue32_v2(stream[1], word, 12, 0));
  MUST(cuStreamSynchronize(stream[1]));
  CHECK(*flag.value == 12);
}

TEST_CASE("a stream may be destroyed before its work is done") {
  const session s;
  const numbers x(std::vector<std::uint32_t>{1});
  CUstream a = nullptr;
  MUST(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  MUST(cuMemsetD32Async(x.address, 6, 1, a));
  MUST(cuStreamDestroy_v2(a));
  MUST(cuCtxSynchronize());
  CHECK(x.read()[0] == 6);
}
