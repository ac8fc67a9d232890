#include "histogram.hpp"
#include "plot.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

using namespace kaio;

namespace {

// Bytes like those of a photograph: two peaks, the darker one narrow, so that some bins are in demand.
std::vector<u8> picture(std::size_t n) {
  const std::vector<f32> normal = showcase::random_normal(n, 1);
  std::vector<u8> bytes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const f32 value = i % 3 == 0 ? 60 + 8 * normal[i] : 150 + 32 * normal[i];
    bytes[i] = static_cast<u8>(std::clamp(value, 0.0f, 255.0f));
  }
  return bytes;
}

int run(device& gpu, const std::vector<u8>& host_x, const char* plot) {
  auto x = gpu.upload(host_x);
  auto counts = gpu.allocate<u32>(showcase::histogram_bins);
  const u32 blocks = gpu.properties().multiprocessors * (gpu.is_emulator() ? 1 : 8);
  const auto launch = [&] {
    counts.fill_zero(gpu.stream());
    showcase::histogram.launch(gpu.stream(), grid(blocks), x, counts, u64{host_x.size()});
  };
  launch();
  const std::vector<u32> result = counts.download();

  std::vector<u32> want(showcase::histogram_bins);
  for (const u8 one : host_x) ++want[one];
  showcase::largest_error error(1);
  for (std::size_t b = 0; b < want.size(); ++b) error.compare(result[b], want[b]);
  const double ms = showcase::median_ms(gpu, launch);
  const auto mode = std::max_element(result.begin(), result.end());
  std::printf("  most frequent   %td, %u times\n", mode - result.begin(), *mode);
  if (plot != nullptr && !showcase::write_bars(plot, result)) {
    std::fprintf(stderr, "kaio: %s cannot be written; name a file in a folder that exists\n", plot);
    return 1;
  }
  const std::string size = std::to_string(host_x.size()) + " bytes";
  return showcase::report(gpu, {size, error.value(), 0, ms, static_cast<double>(host_x.size())});
}

}  // namespace

int main(int count, char** words) {
  return showcase::run("histogram", [&](device& gpu) {
    const char* const plot = showcase::plot_file(count, words);
    return run(gpu, picture(gpu.is_emulator() ? 200003 : (std::size_t{1} << 28) + 5), plot);
  });
}
