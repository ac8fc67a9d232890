// What kaio costs above the driver's own calls, in one program, in batches that take turns:
//
//   launches   stream::launch, on a stream of kaio and on borrowed ones, against cuLaunchKernel. The kernel has
//              five parameters and does nothing.
//   graphs     a graph of 100 small kernels, captured and replayed by kaio, against the same by the driver's calls
//   growth     the memory that many launches, replays and allocations leave behind
//
//   launch [--json] [--batches N] [--calls N]
//
// --batches: of launches, 500. --calls: launches of the growth check, 1,000,000. Exits with 1 if memory grows, and
// with 77 where there is no GPU. With KAIO_CUDA_LIBRARY=<path>/libkaio_cuda_emulator.so and small numbers it runs
// without one, and its times mean nothing.

#include <kaio/runtime/runtime.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/launch/growth.hpp"
#include "bench/launch/raw_calls.hpp"

namespace {

using namespace kaio::bench;
namespace ptx = kaio::ptx;

constexpr int launches_per_batch =
    400;  // below the driver's queue length of 1,024, so that no launch waits for the GPU
constexpr int nodes = 100, replays_per_batch = 20;
int warm_up(int rounds) { return std::min(rounds, 20); }  // the first rounds, which are not counted

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

using clock_type = std::chrono::steady_clock;
double nanoseconds(clock_type::time_point begin, clock_type::time_point end, int calls) {
  return std::chrono::duration<double, std::nano>(end - begin).count() / calls;
}

// A way to launch, and the nanoseconds of one call in each batch.
struct way {
  const char* name;
  std::function<void()> batch;
  std::vector<double> ns = {};

  // These times minus those of `base`, round by round.
  std::vector<double> above(const way& base) const {
    std::vector<double> differences;
    for (std::size_t i = 0; i < ns.size(); ++i) differences.push_back(ns[i] - base.ns[i]);
    return differences;
  }
};

// Rounds of a batch of each way, another one first in each. The stream is empty before and after a batch.
template <class Ways>
void take_turns(const kaio::stream& s, Ways& ways, int rounds, int calls, bool with_their_work) {
  for (int round = -warm_up(rounds); round < rounds; ++round)
    for (std::size_t i = 0; i < ways.size(); ++i) {
      way& one = ways[(static_cast<std::size_t>(round + warm_up(rounds)) + i) % ways.size()];
      const auto begin = clock_type::now();
      one.batch();
      auto end = clock_type::now();
      s.synchronize();
      if (with_their_work) end = clock_type::now();
      if (round >= 0) one.ns.push_back(nanoseconds(begin, end, calls));
    }
}

// The fields that all lines of JSON begin with.
void begin_json(const char* benchmark, const kaio::device& gpu) {
  std::printf("{\"benchmark\": \"%s\", \"device\": \"%s\", ", benchmark,
              std::string(gpu.description()).c_str());
}

void measure_launches(const kaio::device& gpu, int batches, bool json) {
  const kaio::stream s = gpu.create_stream();
  const kaio::stream borrowed = kaio::stream::borrow(gpu, s.native_handle());
  const auto x = gpu.allocate<float>(1 << 20), y = gpu.allocate<float>(1 << 20),
             z = gpu.allocate<float>(1 << 20);
  gpu.warmup(nothing);
  const raw_kernel raw(nothing);
  const auto native = static_cast<driver::CUstream>(s.native_handle());

  // The launch is a template argument: the way's own function is called once for a batch.
  const auto batch_of = [](const auto& launch) {
    return [launch] {
      for (int i = 0; i < launches_per_batch; ++i) launch();
    };
  };
  const auto launch_on = [&](const kaio::stream& on) {
    const ptx::argument arguments[] = {
        x.as_argument(), y.as_argument(), z.as_argument(), {0x40000000u}, {1 << 20}};
    on.launch(nothing, {1, 1, 1}, arguments, 5);
  };
  std::array<way, 4> ways = {way{"cuLaunchKernel", batch_of([&] {
                                   std::uint64_t px = x.address(), py = y.address(), pz = z.address();
                                   float scale = 2.0f;
                                   std::uint32_t n = 1 << 20;
                                   void* values[] = {&px, &py, &pz, &scale, &n};
                                   raw.launch(native, values);
                                 })},
                             way{"own stream", batch_of([&] { launch_on(s); })},
                             way{"borrowed stream", batch_of([&] { launch_on(borrowed); })},
                             way{"borrowed for each launch",
                                 batch_of([&] { launch_on(kaio::stream::borrow(gpu, s.native_handle())); })}};
  take_turns(s, ways, batches, launches_per_batch, false);

  if (!json) {
    std::printf("%d batches of %d launches\n\n", batches, launches_per_batch);
    std::printf("%-26s %9s %9s %9s %9s   %s\n", "launch", "ns", "above", "10 %", "90 %", "asked");
    std::printf("%-26s %9.1f\n", ways[0].name, quantile(ways[0].ns, 0.5));
  }
  for (std::size_t i = 1; i < ways.size(); ++i) {
    const auto above = ways[i].above(ways[0]);
    const double ns = quantile(ways[i].ns, 0.5), least = quantile(above, 0.1), most = quantile(above, 0.9);
    if (!json) {
      std::printf("%-26s %9.1f %9.1f %9.1f %9.1f   %s\n", ways[i].name, ns, quantile(above, 0.5), least, most,
                  i == 1 ? "at most 300" : "at most 100");
      continue;
    }
    begin_json("launch", gpu);
    if (i > 1) std::printf("\"call\": \"%s\", ", ways[i].name);
    std::printf(
        "\"batches\": %d, \"launches_per_batch\": %d, \"raw_ns\": %.1f, \"kaio_ns\": %.1f, \"above_ns\": %.1f, \"above_ns_p10\": %.1f, \"above_ns_p90\": %.1f}\n",
        batches, launches_per_batch, quantile(ways[0].ns, 0.5), ns, quantile(above, 0.5), least, most);
  }
}

void measure_graphs(const kaio::device& gpu, int batches, bool json) {
  const kaio::stream s = gpu.create_stream();
  const auto native = static_cast<driver::CUstream>(s.native_handle());
  const auto counter = gpu.allocate<std::uint32_t>(1);
  gpu.warmup(count_one);
  const raw_kernel raw(count_one);
  const raw_graph by_driver(native, [&] {
    std::uint64_t address = counter.address();
    void* values[] = {&address};
    for (int i = 0; i < nodes; ++i) raw.launch(native, values);
  });
  const ptx::argument arguments[] = {counter.as_argument()};
  const auto enqueue = [&] {
    for (int i = 0; i < nodes; ++i) s.launch(count_one, {1, 1, 1}, arguments, 1);
  };
  const kaio::executable_graph by_kaio = capture_graph(s, enqueue).instantiate();

  std::array<way, 2> ways = {way{"cuGraphLaunch",
                                 [&] {
                                   for (int i = 0; i < replays_per_batch; ++i) by_driver.launch();
                                 }},
                             way{"executable_graph::launch", [&] {
                                   for (int i = 0; i < replays_per_batch; ++i) by_kaio.launch(s);
                                 }}};
  take_turns(s, ways, batches, replays_per_batch, true);
  const auto replays = static_cast<std::uint32_t>((warm_up(batches) + batches) * 2 * replays_per_batch);
  if (counter.download()[0] != replays * nodes)
    throw std::runtime_error("kaio: kernels of a replayed graph did not run; the times are of other work");

  std::vector<double> ratios;
  for (std::size_t i = 0; i < ways[0].ns.size(); ++i) ratios.push_back(ways[1].ns[i] / ways[0].ns[i]);
  const double raw_us = 1e-3 * quantile(ways[0].ns, 0.5), kaio_us = 1e-3 * quantile(ways[1].ns, 0.5);
  const double ratio = quantile(ratios, 0.5);
  if (json) {
    begin_json("graph", gpu);
    std::printf("\"nodes\": %d, \"raw_us\": %.2f, \"kaio_us\": %.2f, \"ratio\": %.4f}\n", nodes, raw_us,
                kaio_us, ratio);
    return;
  }
  std::printf("\n%-26s %9s %9s %29s\n", "replay of 100 kernels", "us", "ratio", "asked");
  std::printf("%-26s %9.2f\n%-26s %9.2f %9.3f %29s\n", ways[0].name, raw_us, ways[1].name, kaio_us, ratio,
              "0.97 to 1.03");
}

// Whether the memory stayed.
bool check_growth(const kaio::device& gpu, std::size_t launches, bool json) {
  bool small = true;
  if (!json)
    std::printf("\n%-40s %10s %14s %12s   %s\n", "growth", "calls", "resident KiB", "device KiB", "asked");
  for (const growth& one : all_growth(gpu, launches)) {
    small = small && one.is_small();
    const double resident = static_cast<double>(one.resident) / 1024,
                 device = static_cast<double>(one.device) / 1024;
    if (!json) {
      std::printf("%-40s %10zu %14.0f %12.0f   below 1024: %s\n", one.call, one.count, resident, device,
                  one.is_small() ? "yes" : "NO");
      continue;
    }
    begin_json("growth", gpu);
    std::printf("\"call\": \"%s\", \"calls\": %zu, \"resident_kib\": %.0f, \"device_kib\": %.0f}\n", one.call,
                one.count, resident, device);
  }
  return small;
}

int measure(int batches, std::size_t calls, bool json) {
  if (kaio::device::count() == 0) {
    std::puts("skipped: needs a GPU");
    return 77;
  }
  const kaio::device gpu = kaio::device::open("cuda:0");
  if (!json) std::printf("%s\n", std::string(gpu.description()).c_str());
  measure_launches(gpu, batches, json);
  measure_graphs(gpu, std::max(1, batches / 5), json);
  if (check_growth(gpu, calls, json)) return 0;
  std::fprintf(stderr, "kaio: memory grew by 1 MiB or more; see the table of growth\n");
  return 1;
}

}  // namespace

int main(int count, char** words) {
  bool json = false;
  int batches = 500;
  std::size_t calls = 1'000'000;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const long number = i + 1 < count ? std::atol(words[i + 1]) : 0;
    if (word == "--json") {
      json = true;
    } else if (word == "--batches" && number > 0) {
      batches = static_cast<int>(number);
      ++i;
    } else if (word == "--calls" && number > 0) {
      calls = static_cast<std::size_t>(number);
      ++i;
    } else {
      std::fprintf(stderr, "usage: launch [--json] [--batches N] [--calls N]\n");
      return 2;
    }
  }
  try {
    return measure(batches, calls, json);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
