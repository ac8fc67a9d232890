// A program to trace: trace_test.py runs it with KAIO_TRACE and reads the file. Each scenario is one argument.

#include <kaio/kaio.hpp>
#include <kaio/runtime/detail/operation_scope.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/context.hpp"
#include "runtime/trace/work.hpp"

using namespace kaio;

namespace {

inline constexpr auto scale = kernel<"scale", 64>([](thread t, inout<f32> x, val<f32> a, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) x[i] = x[i] * a;
});
inline constexpr auto outside =
    kernel<"outside", 32>([](thread t, inout<f32> x) { x[t.global_id() + (1u << 30)] = 1.0f; });

constexpr u32 elements = 256;

// Everything that a trace shows: an operation with arguments, launches on two streams, copies, fills, waits.
void everything() {
  device gpu = device::open();
  stream s = gpu.create_stream();
  auto x = gpu.upload(std::vector<f32>(elements, 1.0f));
  {
    const runtime::detail::operation_scope outer("double \"twice\"");
    const std::int64_t extents[] = {16, 16};
    runtime::detail::note_argument("x", "f32", extents, 2);
    runtime::detail::note_argument("x", "f16", extents, 1);  // only the first one of a name counts
    runtime::detail::note_workspace(4096);
    scale.launch(gpu.stream(), over(elements), x, 2.0f, elements);
    const runtime::detail::operation_scope inner("double again");
    scale.launch(gpu.stream(), over(elements), x, 2.0f, elements);
  }
  gpu.stream().synchronize();
  auto y = gpu.allocate<f32>(elements);
  y.copy_from(x, s);
  scale.launch(s, grid(4), y, 2.0f, elements);
  auto staging = gpu.allocate_host<f32>(elements);
  y.copy_to(staging.data(), elements, s);
  y.fill_zero(s);
  event mark = gpu.create_event();
  s.record(mark);
  mark.synchronize();
  gpu.synchronize();
  if (staging[0] != 8.0f || x.download()[0] != 4.0f) std::exit(1);
}

void threads() {
  device gpu = device::open();
  auto x = gpu.upload(std::vector<f32>(elements, 1.0f));
  gpu.warmup(scale.image());
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i)
    workers.emplace_back([&] {
      const stream own = gpu.create_stream();
      for (int k = 0; k < 20; ++k) scale.launch(own, over(elements), x, 1.0f, elements);
      own.synchronize();
    });
  for (std::thread& worker : workers) worker.join();
}

void many() {
  device gpu = device::open();
  auto x = gpu.upload(std::vector<f32>(elements, 1.0f));
  for (int i = 0; i < 2000; ++i) scale.launch(gpu.stream(), over(elements), x, 1.0f, elements);
  gpu.synchronize();
}

void fault() {
  device gpu = device::open();
  auto x = gpu.allocate<f32>(8);
  try {
    outside.launch(gpu.stream(), grid(1), x);
    gpu.synchronize();
  } catch (const runtime::error&) {
    return;
  }
  std::exit(1);
}

// A function of the driver that kaio loads.
template <class Function>
Function of_driver(const char* name) {
  static void* const library = dlopen(std::getenv("KAIO_CUDA_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) std::exit(1);
  return reinterpret_cast<Function>(found);
}

// Launches while a stream is captured, while work of another stream waits to be looked at; then two replays of the graph.
void captured() {
  device gpu = device::open();
  auto x = gpu.upload(std::vector<f32>(elements, 1.0f));
  auto y = gpu.upload(std::vector<f32>(elements, 1.0f));
  gpu.warmup(scale.image());
  stream s = gpu.create_stream(), other = gpu.create_stream();
  scale.launch(other, over(elements), y, 2.0f, elements);
  constexpr int global = 0;
  void *graph = nullptr, *executable = nullptr;
  const auto must = [](int result) {
    if (result != 0) std::exit(1);
  };
  must(of_driver<int (*)(void*, int)>("cuStreamBeginCapture_v2")(s.native_handle(), global));
  scale.launch(s, over(elements), x, 2.0f, elements);
  scale.launch(other, over(elements), y, 2.0f, elements);  // its events are looked at during the capture
  scale.launch(s, over(elements), x, 2.0f, elements);
  must(of_driver<int (*)(void*, void**)>("cuStreamEndCapture")(s.native_handle(), &graph));
  must(of_driver<int (*)(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable,
                                                                                            graph, 0));
  auto& opened = *static_cast<runtime::detail::context*>(const_cast<void*>(gpu.identity()));
  for (int i = 0; i < 2; ++i) {
    const runtime::trace::work traced(opened.device(), s.native_handle(),
                                      [] { return runtime::trace::replay("decode step", 2); });
    must(of_driver<int (*)(void*, void*)>("cuGraphLaunch")(executable, s.native_handle()));
  }
  s.synchronize();
  must(of_driver<int (*)(void*)>("cuGraphExecDestroy")(executable));
  must(of_driver<int (*)(void*)>("cuGraphDestroy")(graph));
  if (x.download()[0] != 16.0f || y.download()[0] != 4.0f) std::exit(1);
}

// The file is also written when the program asks for it, and the trace goes on.
void twice() {
  device gpu = device::open();
  auto x = gpu.upload(std::vector<f32>(elements, 1.0f));
  scale.launch(gpu.stream(), over(elements), x, 2.0f, elements);
  const bool first = runtime::write_trace(), again = runtime::write_trace();
  std::printf("%d %d\n", first, again);
  std::fflush(stdout);
  scale.launch(gpu.stream(), over(elements), x, 2.0f, elements);
}

// The device is never closed: the end of the program writes what it did.
void left_open() {
  auto& gpu = *new device(device::open());
  auto& x = *new buffer<f32>(gpu.upload(std::vector<f32>(elements, 1.0f)));
  scale.launch(gpu.stream(), over(elements), x, 2.0f, elements);
}

// A static object launches after the file was written.
std::optional<device> held;
std::optional<buffer<f32>> held_memory;
struct last_launch {
  ~last_launch() {
    if (!held) return;
    scale.launch(held->stream(), over(elements), *held_memory, 2.0f, elements);
    held_memory.reset();
    held.reset();
  }
} last;

void late() {
  held = device::open();
  held_memory = held->upload(std::vector<f32>(elements, 1.0f));
}

// Nanoseconds of a scope, and of a launch on the emulated driver or on the emulator.
void cost() {
  device gpu = device::open();
  auto x = gpu.upload(std::vector<f32>(elements, 1.0f));
  gpu.warmup(scale.image());
  auto& opened = *static_cast<runtime::detail::context*>(const_cast<void*>(gpu.identity()));
  const auto measure = [](int count, auto&& call) {
    double least = 1e30;
    for (int round = 0; round < 5; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < count; ++i) call();
      const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
      least = std::min(least, taken.count() / count);
    }
    return least;
  };
  const bool is_on = runtime::trace::is_on();
  std::printf("scope of work %.2f ns\n", measure(is_on ? 1000 : 10000000, [&] {
                const runtime::trace::work traced(opened.device(), opened.default_stream(),
                                                  [] { return runtime::trace::fill(4, 0); });
                __asm__ volatile("" : : "r"(traced.measure()) : "memory");
              }));
  std::printf("scope of an operation %.2f ns\n", measure(is_on ? 1000 : 10000000, [] {
                const runtime::detail::operation_scope traced("none");
              }));
  std::printf("launch %.1f ns\n",
              measure(2000, [&] { scale.launch(gpu.stream(), over(elements), x, 1.0f, elements); }));
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, std::function<void()>> scenarios = {
      {"everything", everything}, {"threads", threads},  {"many", many},
      {"fault", fault},           {"capture", captured}, {"twice", twice},
      {"left_open", left_open},   {"late", late},        {"cost", cost}};
  const auto found = scenarios.find(count == 2 ? arguments[1] : "");
  if (found == scenarios.end()) return 2;
  found->second();
  return 0;
}
