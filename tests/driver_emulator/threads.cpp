// Several threads at a time, on one context and on contexts of their own.

#include <atomic>
#include <thread>
#include <vector>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

// The work of a thread; returns the number of calls that did not return what they must.
int work(CUcontext c, std::uint32_t seed) {
  int wrong = 0;
  const auto must = [&](CUresult result) { wrong += result != CUDA_SUCCESS; };
  must(cuCtxSetCurrent(c));
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  must(cuModuleLoadData(&m, add_text.c_str()));
  must(cuModuleGetFunction(&f, m, "add"));
  for (std::uint32_t round = 0; round < 15; ++round) {
    CUstream s = nullptr;
    CUevent e = nullptr;
    CUdeviceptr x = 0;
    const std::uint32_t n = 100 + seed * 7 + round;
    std::vector<std::uint32_t> in(n, seed), out(n);
    must(cuStreamCreate(&s, round % 2));
    must(cuEventCreate(&e, 0));
    must(cuMemAlloc_v2(&x, n * 4));
    must(cuMemcpyHtoDAsync_v2(x, in.data(), n * 4, s));
    must(launch_add(f, x, round, n, s));
    must(cuEventRecord(e, s));
    must(cuStreamWaitEvent(reinterpret_cast<CUstream>(2), e, 0));
    must(cuMemcpyDtoHAsync_v2(out.data(), x, n * 4, reinterpret_cast<CUstream>(2)));
    must(cuStreamSynchronize(reinterpret_cast<CUstream>(2)));
    wrong += out != std::vector<std::uint32_t>(n, seed + round);
    must(cuMemFree_v2(x));
    must(cuEventDestroy_v2(e));
    must(cuStreamDestroy_v2(s));
  }
  must(cuModuleUnload(m));
  return wrong;
}

void storm(const std::vector<CUcontext>& contexts) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < contexts.size(); ++t)
    threads.emplace_back([&, t] { wrong += work(contexts[t], t + 1); });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("threads share a context") {
  const session s;
  storm(std::vector<CUcontext>(8, s.context));
}

TEST_CASE("threads have contexts of their own") {
  MUST(cuInit(0));
  std::vector<CUcontext> contexts(6);
  for (CUcontext& c : contexts) MUST(cuCtxCreate_v2(&c, 0, 0));
  storm(contexts);
  for (const CUcontext c : contexts) MUST(cuCtxDestroy_v2(c));
}

TEST_CASE("threads make, launch and destroy graphs of their own, of one that they share") {
  const session s;
  CUgraph shared = nullptr;
  CUgraphNode first = nullptr, second = nullptr;
  MUST(cuGraphCreate(&shared, 0));
  MUST(cuGraphAddEmptyNode(&first, shared, nullptr, 0));
  MUST(cuGraphAddEmptyNode(&second, shared, &first, 1));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      const auto must = [&](CUresult result) { wrong += result != CUDA_SUCCESS; };
      must(cuCtxSetCurrent(s.context));
      for (int round = 0; round < 20; ++round) {
        CUgraph own = nullptr;
        CUgraphExec executable = nullptr;
        CUstream stream = nullptr;
        must(cuGraphClone(&own, shared));
        must(cuGraphInstantiateWithFlags(&executable, own, 0));
        must(cuStreamCreate(&stream, 0));
        must(cuGraphLaunch(executable, stream));
        must(cuStreamSynchronize(stream));
        must(cuStreamDestroy(stream));
        must(cuGraphExecDestroy(executable));
        must(cuGraphDestroy(own));
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  MUST(cuGraphDestroy(shared));
}
