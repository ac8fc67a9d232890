// How much of the device's copy bandwidth the showcases' kernels reach: each run is timed next to a copy
// between buffers of the same size, in turn, in one program. The tensors are several times the L2 cache, so
// every run moves all its bytes.
//
//   bandwidth [--json] [--elements N] [--runs N]
//
// Bandwidth counts the bytes that must move: inputs read once, outputs written once; a copy reads and writes.
// Exits with 77 where there is no GPU.

#include "bench/median.hpp"
#include "showcase/fused_silu_gate/fused_silu_gate.hpp"
#include "showcase/saxpy/saxpy.hpp"
#include "showcase/softmax/softmax.hpp"

#include <kaio/showcase.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;

namespace {

// The kernel as the README writes it: one element a thread.
inline constexpr auto one_element_a_thread =
    kernel<"fused_silu_gate", 256>([](thread t, in<f32> x, in<f32> gate, out<f32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val xi = x[i];
        y[i] = xi / (1.0f + exp(-xi)) * gate[i];
      }
    });

struct settings {
  bool json = false;
  u32 elements = 1u << 26;  // 256 MB of f32
  int runs = 100;
};

class bench {
 public:
  bench(device& on, const settings& how)
      : gpu_(on), how_(how), begin_(on.create_event()), end_(on.create_event()) {
    source_ = gpu_.upload(showcase::random_normal(how.elements, 3));
    target_ = gpu_.allocate<f32>(how.elements);
  }

  // Prints one row: the kernel's bandwidth, the copy's, and their ratio.
  template <class Run>
  void compare(const char* name, double bytes, Run run) {
    std::vector<double> copies, runs, ratios;
    for (int i = -10; i < how_.runs; ++i) {
      const double copy =
          8.0 * how_.elements / time([&] { target_.copy_from(source_, gpu_.stream()); }) * 1e-6;
      const double kernel = bytes / time(run) * 1e-6;
      if (i < 0) continue;
      copies.push_back(copy);
      runs.push_back(kernel);
      ratios.push_back(kernel / copy);
    }
    const std::string device(gpu_.description());
    std::printf(
        how_.json
            ? "{\"benchmark\": \"bandwidth\", \"device\": \"%s\", \"kernel\": \"%s\", \"elements\": %u, \"runs\": %d, \"kernel_gbs\": %.1f, \"copy_gbs\": %.1f, \"ratio\": %.4f}\n"
            : "%s: %s, %u elements, %d runs: %.1f GB/s, copy %.1f GB/s, ratio %.4f\n",
        device.c_str(), name, how_.elements, how_.runs, kaio::bench::median(runs),
        kaio::bench::median(copies), kaio::bench::median(ratios));
  }

 private:
  template <class Run>
  double time(Run run) {
    gpu_.stream().record(begin_);
    run();
    gpu_.stream().record(end_);
    return elapsed_ms(begin_, end_);
  }

  device& gpu_;
  settings how_;
  event begin_, end_;
  buffer<f32> source_, target_;
};

int measure(const settings& how) {
  if (device::count() == 0) {
    std::puts("skipped: needs a GPU");
    return 77;
  }
  device gpu = device::open("cuda:0");
  stream& s = gpu.stream();
  const u32 n = how.elements;
  auto x = gpu.upload(showcase::random_normal(n, 1, 4.0f)), gate = gpu.upload(showcase::random_normal(n, 2));
  auto y = gpu.allocate<f32>(n);
  bench all(gpu, how);
  all.compare("fused_silu_gate", 12.0 * n, [&] {
    showcase::fused_silu_gate.launch(s, over(n).per_thread(showcase::fused_silu_gate_share), x, gate, y, n);
  });
  all.compare("fused_silu_gate, one element a thread", 12.0 * n,
              [&] { one_element_a_thread.launch(s, over(n), x, gate, y, n); });
  all.compare("saxpy", 12.0 * n, [&] { showcase::saxpy.launch(s, over(n), x, y, 0.5f, n); });
  for (const u32 columns : {1024u, 4096u, 16384u})
    all.compare(("softmax of " + std::to_string(columns) + " columns").c_str(), 8.0 * n,
                [&] { showcase::softmax.launch(s, grid(n / columns), x, y, columns); });
  return 0;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const long number = i + 1 < count ? std::atol(words[i + 1]) : 0;
    if (word == "--json") {
      how.json = true;
    } else if (word == "--elements" && number > 0 && number <= 1l << 30) {
      how.elements = static_cast<u32>(number);
      ++i;
    } else if (word == "--runs" && number > 0 && number <= 1000000) {
      how.runs = static_cast<int>(number);
      ++i;
    } else {
      std::fprintf(stderr, "usage: bandwidth [--json] [--elements N] [--runs N]\n");
      return 2;
    }
  }
  return showcase::guarded([&] { return measure(how); });
}
