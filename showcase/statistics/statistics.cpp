#include "statistics.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace kaio;

namespace {

template <class T>
int run(device& gpu, const char* type, u32 rows, u32 columns) {
  const std::size_t count = std::size_t{rows} * columns;
  std::vector<T> host_x;
  for (const f32 v : showcase::random_normal(count, 1, 0.5f)) host_x.push_back(T(v + 100.0f));
  auto x = gpu.upload(host_x);
  auto mean = gpu.allocate<f32>(rows), variance = gpu.allocate<f32>(rows);
  const auto launch = [&] {
    showcase::row_statistics<T>.launch(gpu.stream(), grid(rows), x, mean, variance, columns);
  };
  launch();
  const std::vector<f32> means = mean.download(), variances = variance.download();
  showcase::largest_error error(1e-3);
  for (u32 r = 0; r < rows; ++r) {
    double sum = 0;
    double squares = 0;
    for (u32 c = 0; c < columns; ++c) sum += static_cast<float>(host_x[std::size_t{r} * columns + c]);
    for (u32 c = 0; c < columns; ++c)
      squares += std::pow(static_cast<float>(host_x[std::size_t{r} * columns + c]) - sum / columns, 2);
    error.compare(means[r], sum / columns);
    error.compare(variances[r], squares / columns);
  }
  const double ms = showcase::median_ms(gpu, launch);
  const std::string size =
      std::to_string(rows) + " rows x " + std::to_string(columns) + " columns of " + type;
  return showcase::report(gpu, {size, error.value(), 2e-4, ms, static_cast<double>(sizeof(T) * count)});
}

}  // namespace

int main() {
  return showcase::run("statistics", [](device& gpu) {
    const u32 rows = gpu.is_emulator() ? 8 : 8192;
    const u32 columns = gpu.is_emulator() ? 1000 : 4096;
    const int of_f32 = run<f32>(gpu, "f32", rows, columns);
    return std::max(of_f32, run<bf16>(gpu, "bf16", rows, columns));
  });
}
