// Capturing streams into graphs, and the errors of calls that are forbidden meanwhile.

#include <functional>
#include <thread>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

struct stream_pair {
  CUstream a = nullptr, b = nullptr;
  CUevent forked = nullptr, joined = nullptr;
  stream_pair() {
    MUST(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
  }
  ~stream_pair() {
    cuEventDestroy_v2(forked);
    cuEventDestroy_v2(joined);
    cuStreamDestroy_v2(a);
    cuStreamDestroy_v2(b);
  }
  stream_pair(const stream_pair&) = delete;
  stream_pair& operator=(const stream_pair&) = delete;
  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) const {
    MUST(cuStreamBeginCapture_v2(a, mode));
  }
  void end_refused(CUresult code) const {
    CUgraph g = nullptr;
    REFUSED(cuStreamEndCapture(a, &g), code);
    CHECK(g == nullptr);
  }
};

}  // namespace

TEST_CASE("what two streams do becomes one graph") {
  const session s;
  const loaded m(add_text);
  const stream_pair streams;
  const numbers x(std::vector<std::uint32_t>{0}), y(std::vector<std::uint32_t>{0});
  std::uint32_t out = 0;
  CUstreamCaptureStatus status{};
  MUST(cuStreamIsCapturing(streams.a, &status));
  CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
  streams.begin();
  MUST(cuStreamIsCapturing(streams.a, &status));
  CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  MUST(launch_add(m["add"], x.address, 1, 1, streams.a));
  MUST(cuEventRecord(streams.forked, streams.a));
  MUST(cuStreamWaitEvent(streams.b, streams.forked, 0));
  MUST(cuMemsetD32Async(y.address, 30, 1, streams.b));
  MUST(launch_add(m["add"], y.address, 3, 1, streams.b));
  MUST(cuEventRecord(streams.joined, streams.b));
  MUST(launch_add(m["add"], x.address, 10, 1, streams.a));
  MUST(cuStreamWaitEvent(streams.a, streams.joined, 0));
  MUST(cuMemcpyDtoHAsync_v2(&out, x.address, 4, streams.a));
  std::uint64_t id = 0;
  CUgraph into = nullptr, g = nullptr;
  const CUgraphNode* after = nullptr;
  std::size_t count = 0;
  MUST(cuStreamGetCaptureInfo_v2(streams.a, &status, &id, &into, &after, &count));
  CHECK(id != 0);
  CHECK(count == 1);
  MUST(cuStreamEndCapture(streams.a, &g));
  CHECK(g == into);
  MUST(cuStreamIsCapturing(streams.b, &status));
  CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
  CHECK(out == 0);  // nothing has run
  CHECK(x.read()[0] == 0);
  MUST(cuGraphGetNodes(g, nullptr, &count));
  CHECK(count == 5);
  MUST(cuGraphGetEdges(g, nullptr, nullptr, &count));
  CHECK(count == 5);  // the copy comes after both streams
  CUgraphExec e = nullptr;
  MUST(cuGraphInstantiateWithFlags(&e, g, 0));
  for (std::uint32_t i = 1; i <= 3; ++i) {
    MUST(cuGraphLaunch(e, streams.b));
    MUST(cuStreamSynchronize(streams.b));
    CHECK(out == 11 * i);
    CHECK(y.read()[0] == 33);
  }
  MUST(cuGraphExecDestroy(e));
  MUST(cuGraphDestroy(g));
}

TEST_CASE("memory and host functions can be captured") {
  const session s;
  const loaded m(add_text);
  const stream_pair streams;
  std::uint32_t out = 0;
  int calls = 0;
  CUdeviceptr x = 0;
  CUgraph g = nullptr;
  CUgraphExec e = nullptr;
  streams.begin();
  MUST(cuMemAllocAsync(&x, 64, streams.a));
  MUST(cuMemsetD32Async(x, 4, 16, streams.a));
  MUST(launch_add(m["add"], x, 2, 16, streams.a));
  MUST(cuMemcpyDtoHAsync_v2(&out, x + 60, 4, streams.a));
  MUST(cuMemFreeAsync(x, streams.a));
  MUST(cuLaunchHostFunc(
      streams.a, [](void* d) { ++*static_cast<int*>(d); }, &calls));
  MUST(cuStreamEndCapture(streams.a, &g));
  MUST(cuGraphInstantiateWithFlags(&e, g, 0));
  MUST(cuGraphDestroy(g));
  MUST(cuGraphLaunch(e, streams.a));
  MUST(cuStreamSynchronize(streams.a));
  CHECK(out == 6);
  CHECK(calls == 1);
  MUST(cuGraphExecDestroy(e));
}

TEST_CASE("loading, allocating and waiting while a stream is captured end the capture") {
  const session s;
  const stream_pair streams;
  const numbers x(1);
  CUmodule m = nullptr;
  CUdeviceptr y = 0;
  streams.begin();
  REFUSED(cuModuleLoadData(&m, add_text.c_str()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  REFUSED(cuMemsetD32Async(x.address, 1, 1, streams.a), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CUstreamCaptureStatus status{};
  MUST(cuStreamIsCapturing(streams.a, &status));
  CHECK(status == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  streams.begin();
  REFUSED(cuMemAlloc_v2(&y, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  streams.begin();
  REFUSED(cuStreamSynchronize(streams.a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  streams.begin();
  REFUSED(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  streams.begin();
  REFUSED(cuStreamAddCallback(
              streams.a, [](CUstream, CUresult, void*) {}, nullptr, 0),
          CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph g = nullptr;
  cuStreamEndCapture(streams.a, &g);
  if (g != nullptr) cuGraphDestroy(g);
}

TEST_CASE(
    "the capture of a thread is ended by its waits and allocations in other streams, unless it is relaxed") {
  const session s;
  const stream_pair streams;
  CUgraph empty = nullptr;
  CUgraphExec e = nullptr;
  MUST(cuGraphCreate(&empty, 0));
  MUST(cuGraphInstantiateWithFlags(&e, empty, 0));
  MUST(cuEventRecord(streams.joined, streams.b));
  MUST(cuStreamSynchronize(streams.b));
  CUdeviceptr x = 0, y = 0;
  MUST(cuMemAllocAsync(&x, 4, streams.b));
  CUmemoryPool pool = nullptr;
  MUST(cuDeviceGetDefaultMemPool(&pool, 0));
  const std::function<CUresult()> calls[] = {[&] { return cuStreamSynchronize(streams.b); },
                                             [&] { return cuStreamQuery(streams.b); },
                                             [&] { return cuEventSynchronize(streams.joined); },
                                             [&] { return cuEventQuery(streams.joined); },
                                             [&] { return cuMemAllocAsync(&y, 4, streams.b); },
                                             [&] { return cuMemPoolTrimTo(pool, 0); },
                                             [&] {
                                               CUgraphExec other = nullptr;
                                               const CUresult result =
                                                   cuGraphInstantiateWithFlags(&other, empty, 0);
                                               if (other != nullptr) cuGraphExecDestroy(other);
                                               return result;
                                             }};
  CUgraph g = nullptr;
  for (const auto& call : calls) {
    CAPTURE(&call - calls);
    streams.begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    CHECK(call() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    streams.begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    MUST(call());
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    MUST(cuStreamEndCapture(streams.a, &g));
    MUST(cuGraphDestroy(g));
  }
  // A launch of a graph is not captured, whatever the mode.
  streams.begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  REFUSED(cuGraphLaunch(e, streams.a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  streams.begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  REFUSED(cuGraphUpload(e, streams.a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  MUST(cuMemFreeAsync(x, streams.b));
  MUST(cuMemFreeAsync(y, streams.b));
  MUST(cuGraphExecDestroy(e));
  MUST(cuGraphDestroy(empty));
}

TEST_CASE("the modes of the capture and of the thread decide what ends it") {
  const session s;
  const stream_pair streams;
  CUdeviceptr y = 0;
  CUgraph g = nullptr;
  // A capture in relaxed mode bears everything.
  streams.begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  MUST(cuMemAlloc_v2(&y, 4));
  MUST(cuMemFree_v2(y));
  MUST(cuStreamEndCapture(streams.a, &g));
  MUST(cuGraphDestroy(g));
  // A thread in relaxed mode disturbs no capture.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  MUST(cuThreadExchangeStreamCaptureMode(&mode));
  CHECK(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
  streams.begin();
  MUST(cuMemAlloc_v2(&y, 4));
  MUST(cuMemFree_v2(y));
  MUST(cuStreamEndCapture(streams.a, &g));
  MUST(cuGraphDestroy(g));
  MUST(cuThreadExchangeStreamCaptureMode(&mode));
  CHECK(mode == CU_STREAM_CAPTURE_MODE_RELAXED);
  // Another thread disturbs a global capture, and not one of a thread.
  const auto elsewhere = [&] {
    CUresult result = CUDA_ERROR_UNKNOWN;
    std::thread([&] {
      cuCtxSetCurrent(s.context);
      CUdeviceptr z = 0;
      result = cuMemAlloc_v2(&z, 4);
      if (result == CUDA_SUCCESS) cuMemFree_v2(z);
    }).join();
    return result;
  };
  streams.begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CHECK(elsewhere() == CUDA_SUCCESS);
  MUST(cuStreamEndCapture(streams.a, &g));
  MUST(cuGraphDestroy(g));
  streams.begin();
  CHECK(elsewhere() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_CASE("a capture ends with the stream that it began on, and leaves no graph") {
  const session s;
  kaio_emulator_counters before, after;
  kaio_emulator_count(&before);
  {
    const stream_pair p;
    CUstream origin = nullptr;
    MUST(cuStreamCreate(&origin, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuEventRecord(p.forked, origin));
    MUST(cuStreamWaitEvent(p.b, p.forked, 0));
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    MUST(cuStreamIsCapturing(p.b, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    MUST(cuStreamDestroy_v2(origin));
    MUST(cuStreamIsCapturing(p.b, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
    MUST(cuCtxSynchronize());
  }
  kaio_emulator_count(&after);
  CHECK(after.graphs == before.graphs);
}

TEST_CASE("captures that are mixed up are refused") {
  const session s;
  const stream_pair streams;
  const numbers x(1);
  CUgraph g = nullptr;
  CUevent outside = nullptr;
  MUST(cuEventCreate(&outside, 0));
  REFUSED(cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
          CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  REFUSED(cuStreamEndCapture(streams.a, &g), CUDA_ERROR_ILLEGAL_STATE);
  streams.begin();
  REFUSED(cuStreamBeginCapture_v2(streams.a, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
  MUST(cuEventRecord(streams.forked, streams.a));
  REFUSED(cuEventSynchronize(streams.forked), CUDA_ERROR_CAPTURED_EVENT);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Work of a forked stream that is not joined.
  streams.begin();
  MUST(cuEventRecord(streams.forked, streams.a));
  MUST(cuStreamWaitEvent(streams.b, streams.forked, 0));
  MUST(cuMemsetD32Async(x.address, 1, 1, streams.b));
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  // Ended in the forked stream.
  streams.begin();
  MUST(cuEventRecord(streams.forked, streams.a));
  MUST(cuStreamWaitEvent(streams.b, streams.forked, 0));
  REFUSED(cuStreamEndCapture(streams.b, &g), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Waiting for work that is not captured.
  MUST(cuEventRecord(outside, streams.b));
  streams.begin();
  REFUSED(cuStreamWaitEvent(streams.a, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Two captures that meet.
  streams.begin();
  MUST(cuStreamBeginCapture_v2(streams.b, CU_STREAM_CAPTURE_MODE_GLOBAL));
  MUST(cuEventRecord(streams.forked, streams.b));
  REFUSED(cuStreamWaitEvent(streams.a, streams.forked, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  REFUSED(cuStreamEndCapture(streams.b, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // The legacy stream would wait for a blocking stream that is captured.
  CUstream blocking = nullptr;
  MUST(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  MUST(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
  REFUSED(cuMemsetD32_v2(x.address, 1, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  REFUSED(cuStreamEndCapture(blocking, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Ended by another thread.
  MUST(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  std::thread([&] {
    CHECK(cuStreamEndCapture(blocking, &g) == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  REFUSED(cuStreamEndCapture(blocking, &g), CUDA_ERROR_ILLEGAL_STATE);
  MUST(cuStreamDestroy_v2(blocking));
  MUST(cuEventDestroy_v2(outside));
}

TEST_CASE("a stream that has joined may be destroyed before the capture ends") {
  const session s;
  const loaded m(add_text);
  const numbers x(std::vector<std::uint32_t>{0});
  for (const bool joins : {true, false}) {
    INFO(joins);
    stream_pair streams;
    streams.begin();
    MUST(cuEventRecord(streams.forked, streams.a));
    MUST(cuStreamWaitEvent(streams.b, streams.forked, 0));
    MUST(launch_add(m["add"], x.address, 5, 1, streams.b));
    MUST(cuEventRecord(streams.joined, streams.b));
    if (joins) MUST(cuStreamWaitEvent(streams.a, streams.joined, 0));
    MUST(cuStreamDestroy_v2(streams.b));
    streams.b = nullptr;
    if (!joins) {
      streams.end_refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
      continue;
    }
    CUgraph g = nullptr;
    MUST(cuStreamEndCapture(streams.a, &g));
    std::size_t nodes = 0;
    MUST(cuGraphGetNodes(g, nullptr, &nodes));
    CHECK(nodes == 1);
    MUST(cuGraphDestroy(g));
  }
}
