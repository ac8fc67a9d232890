// Textures and surfaces of CUDA programs.

#include "nvcc/program.hpp"

#include <cmath>

using namespace nvcc_test;

namespace {

// Rows of elements in a new buffer.
template <class T>
image image_with(memory& m, image_shape shape, texel_format format, unsigned width, unsigned height,
                 unsigned depth, const std::vector<T>& values) {
  image i;
  i.shape = shape;
  i.format = format;
  i.width = width, i.height = height, i.depth = depth;
  i.pitch = std::uint64_t{width} * format.size();
  i.slice = i.pitch * height;
  i.address = m.allocate(i.slice * depth);
  m.write(i.address, values.data(), values.size() * sizeof(T));
  return i;
}

constexpr texel_format floats{texel_kind::floating, 4, 1};

}  // namespace

TEST_CASE("nvcc: a resize with linear filtering", "[nvcc]") {
  program textures("textures");
  constexpr int width = 13, height = 9, to_width = 40, to_height = 20;
  const auto values = random_values<float>(width * height, 0, 255);
  for (const schedule& order : schedules) {
    textures.order = order;
    memory global;
    texture t;
    t.texels = image_with(global, image_shape::two, floats, width, height, 1, values);
    t.sampler.filter = filter_mode::linear;
    t.sampler.normalized = true;
    const array<float> y(global, to_width * to_height);
    textures.run(global, "resize", {2, 3, 1}, {32, 8, 1}, 0, global.images().add(t), y, to_width, to_height);
    const auto have = y.values();
    int wrong = 0;
    for (int r = 0; r < to_height; ++r)
      for (int c = 0; c < to_width; ++c) {
        const double u = static_cast<double>((static_cast<float>(c) + 0.5f) / to_width) * width - 0.5;
        const double v = static_cast<double>((static_cast<float>(r) + 0.5f) / to_height) * height - 0.5;
        const double a = std::round((u - std::floor(u)) * 256) / 256,
                     b = std::round((v - std::floor(v)) * 256) / 256;
        const auto at = [&](double column, double row) {
          const double x = std::fmin(std::fmax(column, 0), width - 1),
                       line = std::fmin(std::fmax(row, 0), height - 1);
          return static_cast<double>(values[static_cast<std::size_t>(line * width + x)]);
        };
        const double i = std::floor(u), j = std::floor(v);
        const double want = (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) +
                            (1 - a) * b * at(i, j + 1) + a * b * at(i + 1, j + 1);
        wrong += have[static_cast<std::size_t>(r * to_width + c)] != static_cast<float>(want);
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("nvcc: look-ups, layers and a volume", "[nvcc]") {
  program textures("textures");
  memory global;
  const auto pairs = random_values<short>(200, -30000, 30000);
  texture table;
  table.texels =
      image_with(global, image_shape::linear, {texel_kind::signed_integer, 2, 2}, 100, 1, 1, pairs);
  const auto places = random_values<int>(64, -5, 104, 3);
  const array<int> at(global, places), found(global, 128);
  textures.run(global, "look_up", {2, 1, 1}, {32, 1, 1}, 0, global.images().add(table), at, found);
  const auto numbers = found.values();
  for (std::size_t k = 0; k < 64; ++k)
    for (std::size_t c = 0; c < 2; ++c) {
      const bool inside = places[k] >= 0 && places[k] < 100;
      CHECK(numbers[2 * k + c] == (inside ? pairs[2 * static_cast<std::size_t>(places[k]) + c] : 0));
    }

  const auto values = random_values<float>(8 * 4 * 6, 0, 1000, 5);
  texture t;
  t.texels = image_with(global, image_shape::layered_two, floats, 8, 4, 6, values);
  const array<float> sums(global, 32);
  textures.run(global, "add_layers", {1, 1, 1}, {8, 4, 1}, 0, global.images().add(t), sums, 6);
  const auto totals = sums.values();
  for (std::size_t k = 0; k < 32; ++k) {
    float sum = 0;
    for (std::size_t layer = 0; layer < 6; ++layer) sum += values[layer * 32 + k];
    CHECK(totals[k] == sum);
  }

  t.texels.shape = image_shape::three;
  t.sampler.filter = filter_mode::linear;
  const array<float> small(global, 4 * 2 * 3);
  textures.run(global, "shrink_volume", {1, 1, 1}, {4, 2, 3}, 0, global.images().add(t), small);
  const auto means = small.values();
  for (std::size_t z = 0; z < 3; ++z)
    for (std::size_t y = 0; y < 2; ++y)
      for (std::size_t x = 0; x < 4; ++x) {
        double mean = 0;
        for (std::size_t k = 0; k < 8; ++k)
          mean += values[((2 * z + (k >> 2)) * 4 + 2 * y + (k >> 1 & 1)) * 8 + 2 * x + (k & 1)] / 8.0;
        CHECK(means[(z * 2 + y) * 4 + x] == static_cast<float>(mean));
      }
}

TEST_CASE("nvcc: from one surface to another", "[nvcc]") {
  program textures("textures");
  constexpr int width = 37, height = 11;
  const auto values = random_values<unsigned char>(width * height * 4, 0, 255);
  for (const schedule& order : schedules) {
    textures.order = order;
    memory global;
    const texel_format bytes{texel_kind::unsigned_integer, 1, 4};
    const image from = image_with(global, image_shape::two, bytes, width, height, 1, values);
    const image to = image_with(global, image_shape::two, bytes, width, height, 1,
                                std::vector<unsigned char>(values.size()));
    textures.run(global, "spread", {2, 3, 1}, {32, 4, 1}, 0, global.images().add(surface{from}),
                 global.images().add(surface{to}), width, height);
    std::vector<unsigned char> have(values.size());
    global.read(have.data(), to.address, have.size());
    const auto at = [&](int x, int y, int c) {
      const bool inside = x >= 0 && x < width && y >= 0 && y < height;
      return inside ? values[static_cast<std::size_t>((y * width + x) * 4 + c)] : 0;
    };
    int wrong = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int want[] = {at(x - 1, y, 0), at(x + 1, y, 1), at(x, y - 1, 2), at(x, y + 1, 3)};
        for (int c = 0; c < 4; ++c)
          wrong += have[static_cast<std::size_t>((y * width + x) * 4 + c)] != want[c];
      }
    CHECK(wrong == 0);
  }
}
