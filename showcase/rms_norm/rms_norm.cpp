#include "rms_norm.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace kaio;

namespace {

constexpr f32 epsilon = 1e-6f;

// The largest error of any element in double precision; results are about 1, so the error is absolute below 1.
double verify(const std::vector<f32>& x, const std::vector<f32>& weight, const std::vector<f32>& y) {
  showcase::largest_error error(1);
  const std::size_t columns = weight.size();
  for (std::size_t first = 0; first < x.size(); first += columns) {
    double squares = 0;
    for (std::size_t c = 0; c < columns; ++c) squares += double{x[first + c]} * x[first + c];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(columns) + double{epsilon});
    for (std::size_t c = 0; c < columns; ++c) error.compare(y[first + c], x[first + c] * scale * weight[c]);
  }
  return error.value();
}

int run(device& gpu, u32 rows, u32 columns) {
  const std::size_t count = std::size_t{rows} * columns;
  const std::vector<f32> host_x = showcase::random_normal(count, 1, 3.0f),
                         host_weight = showcase::random_normal(columns, 2);
  auto x = gpu.upload(host_x), weight = gpu.upload(host_weight);
  auto y = gpu.allocate<f32>(count);
  const auto launch = [&] {
    const auto with = [&](const auto& kernel) {
      kernel.launch(gpu.stream(), grid(rows), x, weight, y, columns, epsilon);
    };
    columns <= 512 ? with(showcase::rms_norm<32>) : with(showcase::rms_norm<256>);
  };
  launch();
  const double error = verify(host_x, host_weight, y.download());
  const double ms = showcase::median_ms(gpu, launch);
  const std::string size = std::to_string(rows) + " rows x " + std::to_string(columns) + " columns";
  return showcase::report(gpu, {size, error, 1e-5, ms, 8.0 * static_cast<double>(count)});
}

}  // namespace

int main() {
  return showcase::run("rms_norm", [](device& gpu) {
    const int of_kaio = run(gpu, 1, 256);
    const int large = gpu.is_emulator() ? run(gpu, 16, 1000) : run(gpu, 32768, 4096);
    const int odd = gpu.is_emulator() ? run(gpu, 3, 257) : run(gpu, 262144, 257);
    return std::max({of_kaio, large, odd});
  });
}
