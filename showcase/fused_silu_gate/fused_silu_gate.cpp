#include "fused_silu_gate.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace kaio;

namespace {

int run(device& gpu, u32 n) {
  const std::vector<f32> host_x = showcase::random_normal(n, 1, 4.0f),
                         host_gate = showcase::random_normal(n, 2);
  auto x = gpu.upload(host_x), gate = gpu.upload(host_gate);
  auto y = gpu.allocate<f32>(n);
  const auto launch = [&] {
    showcase::fused_silu_gate.launch(gpu.stream(), over(n).per_thread(showcase::fused_silu_gate_share), x,
                                     gate, y, n);
  };
  launch();
  const std::vector<f32> result = y.download();

  showcase::largest_error error(1e-30);  // relative, for the smallest numbers too
  for (u32 i = 0; i < n; ++i) {
    const double xi = host_x[i];
    error.compare(result[i], xi / (1 + std::exp(-xi)) * host_gate[i]);
  }
  const double ms = showcase::median_ms(gpu, launch);
  return showcase::report(gpu, {std::to_string(n) + " elements", error.value(), 1e-6, ms, 12.0 * n});
}

}  // namespace

int main() {
  return showcase::run("fused_silu_gate", [](device& gpu) {
    const int of_kaio = run(gpu, 1u << 20);
    return std::max(of_kaio, run(gpu, gpu.is_emulator() ? 100003 : 1u << 26));
  });
}
