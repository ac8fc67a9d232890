#include "gelu_comparison.hpp"
#include "plot.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace kaio;

namespace {

double exact(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}
double fast(double x) { return x / (1 + std::exp(-1.702 * x)); }

struct measured {
  std::vector<f32> y;
  double milliseconds;
  int code;
};

// Runs one of the kernels, and compares it with its own formula in double precision.
template <class Kernel, class Reference>
measured run(device& gpu, const char* name, const Kernel& kernel, const std::vector<f32>& host_x,
             Reference reference, double bound) {
  const u32 n = static_cast<u32>(host_x.size());
  auto x = gpu.upload(host_x);
  auto y = gpu.allocate<f32>(n);
  const auto launch = [&] {
    kernel.launch(gpu.stream(), over(n).per_thread(showcase::activation_share), x, y, n);
  };
  launch();
  measured result{y.download(), 0, 0};
  showcase::largest_error error(4);  // above every |y|: an absolute error, times 1 / 4
  for (u32 i = 0; i < n; ++i) error.compare(result.y[i], reference(host_x[i]));
  result.milliseconds = showcase::median_ms(gpu, launch);
  result.code = showcase::report(gpu, {std::to_string(n) + " elements, " + name, 4 * error.value(), bound,
                                       result.milliseconds, 8.0 * n});
  return result;
}

// n numbers from -3 to 3, in order.
int compare(device& gpu, u32 n, const char* plot) {
  std::vector<f32> x(n);
  for (u32 i = 0; i < n; ++i) x[i] = -3.0f + 6.0f * static_cast<f32>(i) / static_cast<f32>(n - 1);
  const measured slow = run(gpu, "tanh", showcase::exact_gelu, x, exact, 2e-6);
  const measured quick = run(gpu, "sigmoid", showcase::fast_gelu, x, fast, 2e-6);
  double apart = 0;
  for (u32 i = 0; i < n; ++i) apart = std::max(apart, std::abs(static_cast<double>(slow.y[i] - quick.y[i])));
  std::printf("  between them    %.4f at most\n", apart);
  if (!gpu.is_emulator())
    std::printf("  Fast is %.1f%% of exact's time.\n", 100 * quick.milliseconds / slow.milliseconds);
  if (plot != nullptr) {
    std::vector<double> at, of_tanh, of_sigmoid, difference;
    for (u32 i = 0; i < n; i += n / 240) {
      at.push_back(x[i]);
      of_tanh.push_back(slow.y[i]);
      of_sigmoid.push_back(quick.y[i]);
      difference.push_back(10 * (of_tanh.back() - of_sigmoid.back()));
    }
    showcase::curve_picture picture(-3.2, 3.2, -0.6, 3.2);
    picture.curve(at, of_tanh, "#1f5fbf", "with tanh");
    picture.curve(at, of_sigmoid, "#d04a1f", "with the logistic function");
    picture.curve(at, difference, "#3a9a3a", "10 x their difference");
    if (!picture.write(plot)) {
      std::fprintf(stderr, "kaio: %s cannot be written; name a file in a folder that exists\n", plot);
      return 1;
    }
  }
  return std::max(slow.code, quick.code);
}

}  // namespace

int main(int count, char** words) {
  return showcase::run("gelu_comparison", [&](device& gpu) {
    const char* const plot = showcase::plot_file(count, words);
    const int of_kaio = compare(gpu, 1u << 20, plot);
    return std::max(of_kaio, compare(gpu, gpu.is_emulator() ? 100003 : 1u << 26, nullptr));
  });
}
