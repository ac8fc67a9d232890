// Kernels that wait for memory which the host, another stream or another device writes later: the launch returns, and
// other work goes on. Waiting that nobody can end is reported.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "driver_emulator/support.hpp"
#include "environment.hpp"

using namespace driver_emulator_test;

namespace {

using clock = std::chrono::steady_clock;

// wait(flag, value, to): waits until the word at `flag` is `value`, then writes value + 1 to `to`.
// write(to, value): writes the word.
// count(flag, value, to): like wait, and counts in a register meanwhile.
// time(flag, value, to): like wait, and reads a clock meanwhile.
// beat(flag, value, to): like wait, and counts in the word after `to` meanwhile.
// turns(mine, other, n, ahead): for k from 1 to n waits until `other` is at least k, then writes k + ahead to `mine`.
std::string waiting_text() {
  const auto waiting = [](const std::string& name, const std::string& meanwhile) {
    return ".visible .entry " + name + R"((.param .u64 flag, .param .u32 value, .param .u64 to)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [flag];
  ld.param.u32 %r0, [value];
  ld.param.u64 %d1, [to];
  mov.u32 %r2, 0;
again:
)" + meanwhile +
           R"(  ld.acquire.sys.global.u32 %r1, [%d0];
  setp.ne.u32 %p, %r1, %r0;
  @%p bra again;
  add.u32 %r3, %r0, 1;
  st.release.sys.global.u32 [%d1], %r3;
  ret;
}
)";
  };
  return ptx(waiting("wait", "") + waiting("count", "  add.u32 %r2, %r2, 1;\n") +
             waiting("time", "  mov.u64 %d2, %globaltimer;\n") +
             waiting("beat", "  add.u32 %r2, %r2, 1;\n  st.volatile.global.u32 [%d1+4], %r2;\n") +
             R"(.visible .entry write(.param .u64 to, .param .u32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [to];
  ld.param.u32 %r0, [value];
  st.release.sys.global.u32 [%d0], %r0;
  ret;
}
.visible .entry turns(.param .u64 mine, .param .u64 other, .param .u32 n, .param .u32 ahead)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [mine];
  ld.param.u64 %d1, [other];
  ld.param.u32 %r0, [n];
  ld.param.u32 %r4, [ahead];
  mov.u32 %r1, 0;
next:
  add.u32 %r1, %r1, 1;
again:
  ld.acquire.sys.global.u32 %r2, [%d1];
  setp.lt.u32 %p, %r2, %r1;
  @%p bra again;
  add.u32 %r3, %r1, %r4;
  st.release.sys.global.u32 [%d0], %r3;
  setp.lt.u32 %p, %r1, %r0;
  @%p bra next;
  ret;
}
)");
}

CUresult launch_wait(CUfunction f, CUdeviceptr flag, std::uint32_t value, CUdeviceptr to, CUstream where,
                     unsigned blocks = 1) {
  void* parameters[] = {&flag, &value, &to};
  return cuLaunchKernel(f, blocks, 1, 1, 32, 1, 1, 0, where, parameters, nullptr);
}
CUresult launch_write(CUfunction f, CUdeviceptr to, std::uint32_t value, CUstream where) {
  void* parameters[] = {&to, &value};
  return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, where, parameters, nullptr);
}

struct stream {
  CUstream handle = nullptr;
  explicit stream(unsigned flags = CU_STREAM_NON_BLOCKING) { MUST(cuStreamCreate(&handle, flags)); }
  ~stream() { cuStreamDestroy_v2(handle); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
};

// Words that the host and the device share.
struct shared_words {
  std::uint32_t* host = nullptr;
  explicit shared_words(std::size_t n) {
    void* at = nullptr;
    MUST(cuMemHostAlloc(&at, n * 4, 0));
    host = static_cast<std::uint32_t*>(at);
  }
  ~shared_words() { cuMemFreeHost(host); }
  shared_words(const shared_words&) = delete;
  shared_words& operator=(const shared_words&) = delete;
  CUdeviceptr at(std::size_t i) const { return reinterpret_cast<CUdeviceptr>(host + i); }
  void write(std::size_t i, std::uint32_t value) const {
    __atomic_store_n(host + i, value, __ATOMIC_RELEASE);
  }
  std::uint32_t read(std::size_t i) const { return __atomic_load_n(host + i, __ATOMIC_ACQUIRE); }
  // Waits for a value, without a call of the driver. False: it has not come.
  bool becomes(std::size_t i, std::uint32_t value) const {
    const auto end = clock::now() + std::chrono::seconds(20);
    while (read(i) != value)
      if (clock::now() > end) return false;
    return true;
  }
};

bool delayed() {
  const char* value = std::getenv("KAIO_STREAMS");
  return value != nullptr && std::string(value) == "delayed";
}

// Contexts on two devices.
struct two_devices {
  CUcontext of[2] = {};
  two_devices() {
    kaio_emulator_machine machine{};
    machine.devices = 2;
    REQUIRE(kaio_emulator_set_machine(&machine) == 1);
    MUST(cuInit(0));
    for (int d : {0, 1}) MUST(cuDevicePrimaryCtxRetain(&of[d], d));
  }
  ~two_devices() {
    cuCtxSetCurrent(nullptr);
    for (int d : {0, 1}) cuDevicePrimaryCtxRelease_v2(d);
    kaio_emulator_machine machine{};
    machine.devices = 1;
    CHECK(kaio_emulator_set_machine(&machine) == 1);
  }
  two_devices(const two_devices&) = delete;
  two_devices& operator=(const two_devices&) = delete;
};

// The time that some calls take, in seconds.
template <class Calls>
double seconds_of(Calls calls) {
  const auto begin = clock::now();
  calls();
  return std::chrono::duration<double>(clock::now() - begin).count();
}

}  // namespace

TEST_CASE("a kernel waits for a flag that the host sets later") {
  const session s;
  const loaded m(waiting_text());
  const stream a;
  for (const char* name : {"wait", "count", "time"}) {
    INFO(name);
    const shared_words words(4);
    const numbers result(1);
    MUST(launch_wait(m[name], words.at(0), 7, result.address, a.handle));
    MUST(cuMemcpyDtoHAsync_v2(words.host + 1, result.address, 4, a.handle));
    CHECK(cuStreamQuery(a.handle) == CUDA_ERROR_NOT_READY);
    CHECK(cuStreamQuery(a.handle) == CUDA_ERROR_NOT_READY);
    CHECK(words.read(1) == 0);
    words.write(0, 7);
    MUST(cuStreamSynchronize(a.handle));
    CHECK(words.read(1) == 8);
    MUST(cuStreamQuery(a.handle));
  }
}

TEST_CASE("work after a waiting kernel runs without a call of the driver") {
  if (delayed()) return;
  const session s;
  const loaded m(waiting_text());
  const stream a, b;
  CUevent waited = nullptr;
  MUST(cuEventCreate(&waited, 0));
  const shared_words words(8);
  MUST(launch_wait(m["wait"], words.at(0), 1, words.at(1), a.handle));
  MUST(cuEventRecord(waited, a.handle));
  MUST(cuStreamWaitEvent(b.handle, waited, 0));
  MUST(launch_write(m["write"], words.at(2), 5, b.handle));
  MUST(cuLaunchHostFunc(
      b.handle, [](void* to) { __atomic_store_n(static_cast<std::uint32_t*>(to), 6u, __ATOMIC_RELEASE); },
      words.host + 3));
  CHECK(cuEventQuery(waited) == CUDA_ERROR_NOT_READY);
  CHECK(words.read(2) == 0);
  words.write(0, 1);
  CHECK(words.becomes(3, 6));
  CHECK(words.read(1) == 2);
  CHECK(words.read(2) == 5);
  MUST(cuEventSynchronize(waited));
  MUST(cuEventDestroy_v2(waited));
}

TEST_CASE("a stream waits for a word that the host writes later") {
  if (delayed()) return;
  const session s;
  const loaded m(waiting_text());
  const stream a;
  const shared_words words(2);
  MUST(cuStreamWaitValue32_v2(a.handle, words.at(0), 3, 0));
  MUST(launch_write(m["write"], words.at(1), 4, a.handle));
  CHECK(cuStreamQuery(a.handle) == CUDA_ERROR_NOT_READY);
  words.write(0, 3);
  CHECK(words.becomes(1, 4));
}

TEST_CASE("a kernel of one stream waits for one of another, in both orders") {
  const session s;
  const loaded m(waiting_text());
  for (const bool waiter_first : {true, false}) {
    INFO(waiter_first);
    const stream a, b;
    const numbers words(std::vector<std::uint32_t>{0, 0});
    if (!waiter_first) MUST(launch_write(m["write"], words.address, 9, b.handle));
    MUST(launch_wait(m["wait"], words.address, 9, words.address + 4, a.handle));
    if (waiter_first) MUST(launch_write(m["write"], words.address, 9, b.handle));
    MUST(cuStreamSynchronize(a.handle));
    CHECK(words.read() == std::vector<std::uint32_t>{9, 10});
  }
  // A fill and a copy write as a kernel does.
  const stream a, b;
  const numbers words(std::vector<std::uint32_t>{0, 0, 3});
  MUST(launch_wait(m["wait"], words.address, 2, words.address + 4, a.handle));
  MUST(cuMemsetD32Async(words.address, 2, 1, b.handle));
  MUST(cuStreamSynchronize(a.handle));
  MUST(launch_wait(m["wait"], words.address + 4, 5, words.address, a.handle));
  const std::uint32_t five = 5;
  MUST(cuMemcpyHtoDAsync_v2(words.address + 4, &five, 4, b.handle));
  MUST(cuCtxSynchronize());
  CHECK(words.read() == std::vector<std::uint32_t>{6, 5, 3});
}

TEST_CASE("all blocks of a grid that waits are resident") {
  const session s;
  const loaded m(waiting_text());
  const stream a;
  const shared_words words(2);
  MUST(launch_wait(m["wait"], words.at(0), 1, words.at(1), a.handle, 40));
  words.write(0, 1);
  MUST(cuStreamSynchronize(a.handle));
  CHECK(words.read(1) == 2);
}

TEST_CASE("the legacy stream waits for a waiting kernel") {
  const session s;
  const loaded m(waiting_text());
  const stream a(CU_STREAM_DEFAULT);
  const shared_words words(1);
  const numbers result(1);
  MUST(launch_wait(m["wait"], words.at(0), 1, result.address, a.handle));
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    words.write(0, 1);
  });
  CHECK(result.read() == std::vector<std::uint32_t>{2});
  other.join();
}

TEST_CASE("devices exchange signals") {
  kaio_emulator_reset();
  const two_devices devices;
  constexpr std::uint32_t n = 20;
  // The second device's word is one ahead.
  const auto launch = [&](const loaded& m, CUdeviceptr mine, CUdeviceptr other, std::uint32_t ahead) {
    std::uint32_t count = n;
    void* parameters[] = {&mine, &other, &count, &ahead};
    MUST(cuLaunchKernel(m["turns"], 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  };
  for (const bool first : {false, true}) {
    MUST(cuCtxSetCurrent(devices.of[0]));
    const numbers words(std::vector<std::uint32_t>{0, 1});
    const CUdeviceptr mine = words.address, other = words.address + 4;
    const loaded m0(waiting_text());
    if (first) launch(m0, mine, other, 0);
    {
      MUST(cuCtxSetCurrent(devices.of[1]));
      const loaded m1(waiting_text());
      launch(m1, other, mine, 1);
      MUST(cuCtxSetCurrent(devices.of[0]));
      if (!first) launch(m0, mine, other, 0);
      MUST(cuCtxSynchronize());
      MUST(cuCtxSetCurrent(devices.of[1]));
    }
    MUST(cuCtxSetCurrent(devices.of[0]));
    CHECK(words.read() == std::vector<std::uint32_t>{n, n + 1});
  }
}

TEST_CASE("a host thread waits while another one makes progress") {
  const session s;
  const loaded m(waiting_text());
  const numbers words(std::vector<std::uint32_t>{0, 0});
  const stream a;
  MUST(launch_wait(m["wait"], words.address, 1, words.address + 4, a.handle));
  std::thread other([&] {
    CHECK(cuCtxSetCurrent(s.context) == CUDA_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CUstream own = nullptr;
    CHECK(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(launch_write(m["write"], words.address, 1, own) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(own) == CUDA_SUCCESS);
    CHECK(cuStreamDestroy_v2(own) == CUDA_SUCCESS);
  });
  CHECK(cuStreamSynchronize(a.handle) == CUDA_SUCCESS);
  other.join();
  CHECK(words.read() == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("several threads wait for each other's kernels") {
  const session s;
  const loaded m(waiting_text());
  constexpr std::uint32_t count = 4;
  const numbers words(std::vector<std::uint32_t>(count + 1, 0));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  // Each waits for the next one's word; the last one's is written by this thread.
  for (std::uint32_t t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      CUstream own = nullptr;
      wrong += cuCtxSetCurrent(s.context) != CUDA_SUCCESS;
      wrong += cuStreamCreate(&own, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
      wrong += launch_wait(m["wait"], words.address + 4 * (t + 1), 10 * count - t, words.address + 4 * t,
                           own) != CUDA_SUCCESS;
      wrong += cuStreamSynchronize(own) != CUDA_SUCCESS;
      wrong += cuStreamDestroy_v2(own) != CUDA_SUCCESS;
    });
  const stream a;
  const std::uint32_t first = 10 * count - (count - 1);
  MUST(launch_write(m["write"], words.address + 4 * count, first, a.handle));
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(words.read() == std::vector<std::uint32_t>{41, 40, 39, 38, 37});
}

TEST_CASE("a graph's kernel waits for the host") {
  const session s;
  const loaded m(waiting_text());
  const stream a;
  const shared_words words(2);
  CUgraph g = nullptr;
  CUgraphExec e = nullptr;
  MUST(cuStreamBeginCapture_v2(a.handle, CU_STREAM_CAPTURE_MODE_GLOBAL));
  MUST(launch_wait(m["wait"], words.at(0), 1, words.at(1), a.handle));
  MUST(launch_wait(m["wait"], words.at(1), 2, words.at(0), a.handle));
  MUST(cuStreamEndCapture(a.handle, &g));
  MUST(cuGraphInstantiateWithFlags(&e, g, 0));
  MUST(cuGraphLaunch(e, a.handle));
  words.write(0, 1);
  MUST(cuStreamSynchronize(a.handle));
  CHECK(words.read(0) == 3);
  MUST(cuGraphExecDestroy(e));
  MUST(cuGraphDestroy(g));
}

TEST_CASE("a stream is destroyed while its kernel waits") {
  const session s;
  const loaded m(waiting_text());
  const shared_words words(2);
  {
    const stream a;
    MUST(launch_wait(m["wait"], words.at(0), 1, words.at(1), a.handle));
  }
  words.write(0, 1);
  MUST(cuCtxSynchronize());
  CHECK(words.read(1) == 2);
}

TEST_CASE("waiting that nobody can end is a livelock") {
  kaio_emulator_reset();
  MUST(cuInit(0));
  CUcontext c = nullptr;
  MUST(cuCtxCreate_v2(&c, 0, 0));
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  CUdeviceptr x = 0;
  MUST(cuModuleLoadData(&m, waiting_text().c_str()));
  MUST(cuModuleGetFunction(&f, m, "wait"));
  SECTION("device memory, two kernels that wait for each other") {
    MUST(cuMemAlloc_v2(&x, 8));
    MUST(cuMemsetD32_v2(x, 0, 2));
    CUstream a = nullptr;
    MUST(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    MUST(launch_wait(f, x, 1, x + 4, a));
    MUST(launch_wait(f, x + 4, 1, x, nullptr));
    CHECK(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_TIMEOUT);
  }
  SECTION("memory of the host, after some time") {
    const kaio::tests::environment patience("KAIO_LIVELOCK_SECONDS", "0.1");
    void* host = nullptr;
    MUST(cuMemHostAlloc(&host, 8, 0));
    x = reinterpret_cast<CUdeviceptr>(host);
    MUST(launch_wait(f, x, 1, x + 4, nullptr));
    CHECK(cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY);
    CHECK(seconds_of([&] { CHECK(cuStreamSynchronize(nullptr) == CUDA_ERROR_LAUNCH_TIMEOUT); }) >= 0.1);
  }
  SECTION("the context is destroyed") {
    MUST(cuMemAlloc_v2(&x, 8));
    MUST(launch_wait(f, x, 1, x + 4, nullptr));
  }
  MUST(cuCtxDestroy_v2(c));
}

TEST_CASE("budgets end a kernel that waits") {
  const kaio::tests::environment seconds("KAIO_LAUNCH_SECONDS", "0.2");
  kaio_emulator_reset();
  MUST(cuInit(0));
  for (const char* name : {"wait", "time", "beat"}) {
    INFO(name);
    CUcontext c = nullptr;
    MUST(cuCtxCreate_v2(&c, 0, 0));
    CUmodule m = nullptr;
    CUfunction f = nullptr;
    void* host = nullptr;
    MUST(cuModuleLoadData(&m, waiting_text().c_str()));
    MUST(cuModuleGetFunction(&f, m, name));
    MUST(cuMemHostAlloc(&host, 8, 0));
    const auto x = reinterpret_cast<CUdeviceptr>(host);
    MUST(launch_wait(f, x, 1, x, nullptr));
    CHECK(cuStreamSynchronize(nullptr) == CUDA_ERROR_LAUNCH_TIMEOUT);
    MUST(cuCtxDestroy_v2(c));
  }
}

TEST_CASE("the sanitizer finds nothing in kernels that wait for each other") {
  const kaio::tests::environment checks("KAIO_SANITIZE", "all");
  const session s;
  const loaded m(waiting_text());
  const stream a, b;
  const shared_words words(4);
  MUST(launch_wait(m["wait"], words.at(0), 1, words.at(1), a.handle));
  MUST(launch_wait(m["wait"], words.at(1), 2, words.at(2), b.handle));
  MUST(launch_write(m["write"], words.at(3), 1, nullptr));
  words.write(0, 1);
  MUST(cuCtxSynchronize());
  CHECK(words.read(2) == 3);
}
