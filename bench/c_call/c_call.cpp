// What a call through the C interface costs above the same call in C++: kaio_matmul and matmul of f16, 512 x 512 x 512, in
// batches that take turns, on one stream and one memory. Both queue the same kernel, so only the host's time is compared.
//
//   c_call [--json] [--batches N]
//
// The environment variable KAIO_C_LIBRARY names another libkaio.so than the build's. Exits with 77 where there is no GPU. With KAIO_CUDA_LIBRARY=<path>/libkaio_cuda_emulator.so and small numbers it runs
// without one, and its times mean nothing.

#include <kaio/c/kaio.h>
#include <kaio/kaio.hpp>
#include <kaio/ops/matmul.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::int64_t size = 512;
// Below the driver's queue length of 1,024, so that no launch waits for the GPU.
constexpr int calls_per_batch = 400;

// libkaio.so is loaded at run time: its runtime is a second one in this process, apart from the program's own.
template <class Function>
Function* function_of(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr) throw std::runtime_error(std::string("libkaio.so has no ") + name);
  return reinterpret_cast<Function*>(found);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Call>
double nanoseconds(Call call) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  for (int i = 0; i < calls_per_batch; ++i) call();
  return std::chrono::duration<double, std::nano>(clock::now() - begin).count() / calls_per_batch;
}

int run(bool json, int batches) {
  const kaio::device gpu = kaio::device::open();
  if (gpu.is_emulator()) {
    std::puts("skipped: there is no GPU");
    return 77;
  }
  const char* const elsewhere = std::getenv("KAIO_C_LIBRARY");
  void* const library = dlopen(elsewhere != nullptr ? elsewhere : KAIO_C_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  auto* const c_matmul = function_of<decltype(kaio_matmul)>(library, "kaio_matmul");
  auto* const last_error = function_of<decltype(kaio_last_error)>(library, "kaio_last_error");

  const kaio::stream s = gpu.create_stream();
  auto a = gpu.allocate<kaio::f16>(size * size), b = gpu.allocate<kaio::f16>(size * size),
       c = gpu.allocate<kaio::f16>(size * size);
  const kaio::tensor_view<kaio::f16, 2> a_view(a, size, size), b_view(b, size, size), c_view(c, size, size);
  std::int64_t shape[] = {size, size};
  const auto tensor = [&](const kaio::buffer<kaio::f16>& memory) {
    DLTensor t{};
    std::uint64_t address = memory.address();
    std::memcpy(&t.data, &address, sizeof t.data);
    t.device = {kDLCUDA, gpu.properties().ordinal};
    t.ndim = 2;
    t.dtype = {kDLFloat, 16, 1};
    t.shape = shape;
    return t;
  };
  const DLTensor ta = tensor(a), tb = tensor(b), tc = tensor(c);

  const auto in_cpp = [&] { kaio::ops::matmul(s, a_view, b_view, c_view); };
  const auto in_c = [&] {
    if (c_matmul(s.native_handle(), &ta, &tb, &tc, nullptr) != KAIO_OK)
      throw std::runtime_error(last_error());
  };
  std::vector<double> cpp, c_ns, above;
  for (int i = 0; i < batches + 20; ++i) {  // 20 to warm up
    const bool c_first = i % 2 == 0;
    double times[2];
    for (const bool now_c : {c_first, !c_first}) {
      times[now_c] = now_c ? nanoseconds(in_c) : nanoseconds(in_cpp);
      s.synchronize();
    }
    if (i < 20) continue;
    cpp.push_back(times[0]);
    c_ns.push_back(times[1]);
    above.push_back(times[1] - times[0]);
  }
  if (json)
    std::printf("{\"cpp_ns\":%.1f,\"c_ns\":%.1f,\"above_ns\":%.1f}\n", median(cpp), median(c_ns),
                median(above));
  else
    std::printf("on %s, median of %d batches of %d calls\n%-14s %8.1f ns\n%-14s %8.1f ns\n%-14s %8.1f ns\n",
                std::string(gpu.description()).c_str(), batches, calls_per_batch, "matmul", median(cpp),
                "kaio_matmul", median(c_ns), "above", median(above));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  bool json = false;
  int batches = 500;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--json")
      json = true;
    else if (word == "--batches" && i + 1 < count)
      batches = std::max(1, std::atoi(words[++i]));
    else
      return std::puts("c_call [--json] [--batches N]"), 2;
  }
  try {
    return run(json, batches);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
