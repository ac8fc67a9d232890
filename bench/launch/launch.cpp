// The cost of a launch through kaio above the driver's own: stream::launch against a loop of raw
// cuLaunchKernel calls of the same kernel, in one program, on one stream, in batches that alternate. The
// kernel has five parameters and does nothing.
//
//   launch [--json] [--batches N]
//
// Prints the median time of one launch of each, in nanoseconds, and the difference. Exits with 77 where there
// is no GPU.

#include <kaio/runtime/runtime.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "runtime/driver/library.hpp"

namespace {

namespace driver = kaio::runtime::driver;
namespace ptx = kaio::ptx;

constexpr std::string_view text[] = {
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry nothing(.param .u64 nothing_param_0, .param .u64 nothing_param_1, .param .u64 "
    "nothing_param_2,\n"
    "  .param .f32 nothing_param_3, .param .u32 nothing_param_4)\n"
    ".maxntid 256, 1, 1\n{\n  ret;\n}\n"};
constexpr ptx::parameter parameters[] = {{ptx::type::f32, ptx::access::in},
                                         {ptx::type::f32, ptx::access::in},
                                         {ptx::type::f32, ptx::access::out},
                                         {ptx::type::f32, ptx::access::scalar},
                                         {ptx::type::u32, ptx::access::scalar}};
constexpr ptx::kernel_image nothing{.name = "nothing",
                                    .segments = text,
                                    .segment_count = 1,
                                    .parameters = parameters,
                                    .parameter_count = 5,
                                    .block = {256, 1, 1},
                                    .needs = {}};

constexpr int launches_per_batch =
    400;  // below the driver's queue length of 1,024, so that no launch waits for the GPU

void check(driver::CUresult result, const char* call) {
  if (result == driver::CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s failed with code %d\n", call, static_cast<int>(result));
  std::exit(1);
}

// Nanoseconds for each of a batch of calls; the stream is empty before and after.
template <class Launch>
double time_batch(const kaio::stream& s, Launch launch) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  for (int i = 0; i < launches_per_batch; ++i) launch();
  const auto end = clock::now();
  s.synchronize();
  return std::chrono::duration<double, std::nano>(end - begin).count() / launches_per_batch;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

int measure(int batches, bool json) {
  if (kaio::device::count() == 0) {
    std::puts("skipped: needs a GPU");
    return 77;
  }
  kaio::device gpu = kaio::device::open("cuda:0");
  kaio::stream s = gpu.create_stream();
  const auto x = gpu.allocate<float>(1 << 20), y = gpu.allocate<float>(1 << 20),
             z = gpu.allocate<float>(1 << 20);
  gpu.warmup(nothing);

  const driver::functions& cuda = driver::process_library().call;
  driver::CUcontext context = nullptr;
  check(cuda.cuCtxGetCurrent(&context), "cuCtxGetCurrent");  // kaio made it current
  driver::CUmodule module = nullptr;
  driver::CUfunction function = nullptr;
  check(cuda.cuModuleLoadDataEx(&module, text[0].data(), 0, nullptr, nullptr), "cuModuleLoadDataEx");
  check(cuda.cuModuleGetFunction(&function, module, "nothing"), "cuModuleGetFunction");
  const auto native = static_cast<driver::CUstream>(s.native_handle());

  std::uint32_t n = 1 << 20;
  float scale = 2.0f;
  const auto raw = [&] {
    std::uint64_t px = x.address(), py = y.address(), pz = z.address();
    void* values[] = {&px, &py, &pz, &scale, &n};
    check(cuda.cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, native, values, nullptr), "cuLaunchKernel");
  };
  const auto through_kaio = [&] {
    const ptx::argument arguments[] = {x.as_argument(), y.as_argument(), z.as_argument(), {0x40000000u}, {n}};
    s.launch(nothing, {1, 1, 1}, arguments, 5);
  };

  std::vector<double> raw_times, kaio_times, differences;
  for (int i = -20; i < batches; ++i) {  // the first batches warm up
    const bool raw_first = i % 2 == 0;
    double raw_time = raw_first ? time_batch(s, raw) : 0;
    const double kaio_time = time_batch(s, through_kaio);
    if (!raw_first) raw_time = time_batch(s, raw);
    if (i < 0) continue;
    raw_times.push_back(raw_time);
    kaio_times.push_back(kaio_time);
    differences.push_back(kaio_time - raw_time);
  }
  check(cuda.cuModuleUnload(module), "cuModuleUnload");

  const double raw_median = quantile(raw_times, 0.5), kaio_median = quantile(kaio_times, 0.5);
  const double above = quantile(differences, 0.5);
  const std::string_view device = gpu.description();
  if (json) {
    std::printf(
        "{\"benchmark\": \"launch\", \"device\": \"%.*s\", \"batches\": %d, \"launches_per_batch\": %d, \"raw_ns\": %.1f, \"kaio_ns\": %.1f, \"above_ns\": %.1f, \"above_ns_p10\": %.1f, \"above_ns_p90\": %.1f}\n",
        static_cast<int>(device.size()), device.data(), batches, launches_per_batch, raw_median, kaio_median,
        above, quantile(differences, 0.1), quantile(differences, 0.9));
  } else {
    std::printf("%.*s\n%d batches of %d launches\n", static_cast<int>(device.size()), device.data(), batches,
                launches_per_batch);
    std::printf(
        "cuLaunchKernel   %8.1f ns\nstream::launch   %8.1f ns\ndifference       %8.1f ns (10%%: %.1f, 90%%: %.1f)\n",
        raw_median, kaio_median, above, quantile(differences, 0.1), quantile(differences, 0.9));
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  bool json = false;
  int batches = 500;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--json") {
      json = true;
    } else if (word == "--batches" && i + 1 < count && std::atoi(words[i + 1]) > 0) {
      batches = std::atoi(words[++i]);
    } else {
      std::fprintf(stderr, "usage: launch [--json] [--batches N]\n");
      return 2;
    }
  }
  try {
    return measure(batches, json);
  } catch (const kaio::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
