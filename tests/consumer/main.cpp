// A program of a user of kaio: the gated SiLU, typed in as the documentation has it, checked on the
// CPU.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels.hpp"

int main(int argc, char** argv) {
  const std::size_t n = 1000;
  std::vector<float> host_x(n), host_gate(n);
  for (std::size_t i = 0; i < n; ++i) {
    host_x[i] = static_cast<float>(i) / 50.0f - 10.0f;
    host_gate[i] = static_cast<float>(i % 7) - 3.0f;
  }

  device gpu = device::open();
  auto x = gpu.upload(host_x), gate = gpu.upload(host_gate);
  auto y = gpu.allocate<f32>(n);
  if (argc > 1) {  // on a GPU: whether there is machine code for it
    const bool expected = std::strcmp(argv[1], "precompiled") == 0;
    if (gpu.is_precompiled(fused_silu_gate.image()) != expected) {
      std::printf("machine code: expected %s\n", argv[1]);
      return EXIT_FAILURE;
    }
  }
  fused_silu_gate.launch(gpu.stream(), over(n), x, gate, y, static_cast<unsigned>(n));
  const auto result = y.download();

  for (std::size_t i = 0; i < n; ++i) {
    const double expected = host_x[i] / (1.0 + std::exp(-static_cast<double>(host_x[i]))) * host_gate[i];
    const double error = std::abs(static_cast<double>(result[i]) - expected);
    if (!(error <= 1e-5 * (1.0 + std::abs(expected)))) {
      std::printf("y[%zu] is %g, expected %g\n", i, static_cast<double>(result[i]), expected);
      return EXIT_FAILURE;
    }
  }
  std::puts("right");
  return EXIT_SUCCESS;
}
