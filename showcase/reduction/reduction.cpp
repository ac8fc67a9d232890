#include "reduction.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

using namespace kaio;

namespace {

int run(device& gpu, const std::vector<f32>& host_x, double bound) {
  const u32 blocks =
      std::max(1u, std::min(gpu.properties().multiprocessors * 8,
                            static_cast<u32>(host_x.size() / (16 * showcase::reduction_threads))));
  auto x = gpu.upload(host_x);
  auto partial = gpu.allocate<f32>(blocks), sum = gpu.allocate<f32>(1);
  auto arrived = gpu.upload(std::vector<u32>{0});
  const auto launch = [&] {
    showcase::reduction.launch(gpu.stream(), grid(blocks), x, partial, arrived, sum, u64{host_x.size()});
  };
  launch();
  const f32 first = sum.download()[0];

  // The error is relative to the sum of the magnitudes, which bounds what rounding can do.
  double want = 0;
  double magnitude = 0;
  for (const f32 one : host_x) {
    want += one;
    magnitude += std::abs(one);
  }
  double error = std::abs(first - want) / magnitude;
  const double ms = showcase::median_ms(gpu, launch);
  if (sum.download()[0] != first) {
    std::printf("  not the same    a later run gave %.9g in place of %.9g\n", double{sum.download()[0]},
                double{first});
    error = 1;
  }
  std::printf("  sum             %.9g\n", double{first});
  const double bytes = 4.0 * static_cast<double>(host_x.size());
  return showcase::report(gpu, {std::to_string(host_x.size()) + " numbers", error, bound, ms, bytes});
}

}  // namespace

int main() {
  return showcase::run("reduction", [](device& gpu) {
    std::vector<f32> whole(256);
    std::iota(whole.begin(), whole.end(), 1.0f);
    const int exact = run(gpu, whole, 0);  // 32896
    const std::size_t n = gpu.is_emulator() ? 300007 : (std::size_t{1} << 28) + 3;
    return std::max(exact, run(gpu, showcase::random_normal(n, 1), 1e-7));
  });
}
