#include "int8_dequant.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

using namespace kaio;

namespace {

constexpr f32 scale = 0.0125f;

int run(device& gpu, u32 n) {
  std::vector<i8> codes(std::size_t{n} * 4);
  std::mt19937 engine(1);
  std::uniform_int_distribution<int> any_code(-128, 127);
  for (i8& code : codes) code = static_cast<i8>(any_code(engine));
  std::vector<i32> packed(n);
  for (std::size_t i = 0; i < codes.size(); ++i)
    packed[i / 4] |= static_cast<i32>((static_cast<u32>(codes[i]) & 255u) << (8 * (i % 4)));

  auto words = gpu.upload(packed);
  auto y = gpu.allocate<f32>(codes.size());
  const auto launch = [&] {
    showcase::int8_dequant.launch(gpu.stream(), over(n), words, y.reinterpret<f32x4>(), scale, n);
  };
  launch();
  const std::vector<f32> result = y.download();

  showcase::largest_error error(1);
  for (std::size_t i = 0; i < codes.size(); ++i) error.compare(result[i], double{scale} * codes[i]);
  const double ms = showcase::median_ms(gpu, launch);
  const std::string size = std::to_string(n) + " words, " + std::to_string(codes.size()) + " numbers";
  return showcase::report(gpu, {size, error.value(), 1e-6, ms, 20.0 * n});
}

}  // namespace

int main() {
  return showcase::run("int8_dequant", [](device& gpu) {
    const int of_kaio = run(gpu, 256);
    return std::max(of_kaio, run(gpu, gpu.is_emulator() ? 50021 : 1u << 25));
  });
}
