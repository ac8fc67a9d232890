#include "transpose.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

using namespace kaio;

namespace {

// Moves bits and rounds nothing: the result must be exact.
int run(device& gpu, u32 rows, u32 columns) {
  const std::size_t count = std::size_t{rows} * columns;
  const std::vector<f32> host_x = showcase::random_normal(count, 1);
  auto x = gpu.upload(host_x);
  auto y = gpu.allocate<f32>(count);
  const u32 tile = showcase::transpose_tile;
  const auto launch = [&] {
    showcase::transpose.launch(gpu.stream(), grid((columns + tile - 1) / tile, (rows + tile - 1) / tile), x,
                               y, rows, columns);
  };
  launch();
  const std::vector<f32> result = y.download();
  showcase::largest_error error(1);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) error.compare(result[c * rows + r], host_x[r * columns + c]);
  const double ms = showcase::median_ms(gpu, launch);
  const std::string size = std::to_string(rows) + " rows x " + std::to_string(columns) + " columns";
  return showcase::report(gpu, {size, error.value(), 0, ms, 8.0 * static_cast<double>(count)});
}

}  // namespace

int main() {
  return showcase::run("transpose", [](device& gpu) {
    const int odd = gpu.is_emulator() ? run(gpu, 67, 129) : run(gpu, 10007, 4999);
    return std::max(odd, gpu.is_emulator() ? run(gpu, 256, 320) : run(gpu, 16384, 16384));
  });
}
