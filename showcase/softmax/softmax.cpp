#include "softmax.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace kaio;

namespace {

// The largest error of row-wise softmax in double precision.
double verify(const std::vector<f32>& x, const std::vector<f32>& y, std::size_t rows, std::size_t columns) {
  showcase::largest_error error(1e-30);
  for (std::size_t r = 0; r < rows; ++r) {
    const f32* in_row = x.data() + r * columns;
    const double m = *std::max_element(in_row, in_row + columns);
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += std::exp(in_row[c] - m);
    for (std::size_t c = 0; c < columns; ++c)
      error.compare(y[r * columns + c], std::exp(in_row[c] - m) / sum);
  }
  return error.value();
}

int run(device& gpu, u32 rows, u32 columns) {
  const std::size_t count = std::size_t{rows} * columns;
  const std::vector<f32> host_x = showcase::random_normal(count, 1, 3.0f);
  auto x = gpu.upload(host_x);
  auto y = gpu.allocate<f32>(count);
  showcase::softmax.launch(gpu.stream(), grid(rows), x, y, columns);
  const double error = verify(host_x, y.download(), rows, columns);
  const double ms =
      showcase::median_ms(gpu, [&] { showcase::softmax.launch(gpu.stream(), grid(rows), x, y, columns); });
  const std::string size = std::to_string(rows) + " rows x " + std::to_string(columns) + " columns";
  return showcase::report(gpu, {size, error, 2e-6, ms, 8.0 * static_cast<double>(count)});
}

}  // namespace

int main() {
  return showcase::run("softmax", [](device& gpu) {
    const int of_kaio = run(gpu, 1, 256);
    const int whole_rows = gpu.is_emulator() ? run(gpu, 16, 1000) : run(gpu, 16384, 4096);
    const int long_rows =
        gpu.is_emulator() ? run(gpu, 2, 10007) : run(gpu, 1000, 50257);  // the vocabulary of GPT-2
    return std::max({of_kaio, whole_rows, long_rows});
  });
}
