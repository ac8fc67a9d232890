// What texture reads return: filters, address modes and normalized coordinates against the formulas of the CUDA C++
// Programming Guide ("Texture Fetching"), written here in double precision.

#include "tests/emulator/texture/image_kernel.hpp"

#include <cmath>
#include <functional>

using namespace emulator_test;

namespace {

constexpr double border_value = 7;

// The value of T[i] under an address mode.
double texel(const std::function<double(long)>& row, long i, long n, address_mode mode, bool normalized) {
  if (i >= 0 && i < n) return row(i);
  if (mode == address_mode::border) return border_value;
  if (!normalized || mode == address_mode::clamp) return row(i < 0 ? 0 : n - 1);
  while (i < 0) i += 2 * n;
  i %= 2 * n;
  if (mode == address_mode::wrap) return row(i % n);
  return row(i < n ? i : 2 * n - 1 - i);
}

// tex(x) in one dimension.
double filtered(const std::function<double(long)>& row, float coordinate, long n, const sampler& s,
                address_mode mode) {
  const double x = s.normalized ? static_cast<double>(coordinate) * static_cast<double>(n) : coordinate;
  if (s.filter == filter_mode::point) return texel(row, std::lround(std::floor(x)), n, mode, s.normalized);
  const double b = x - 0.5;
  const long i = std::lround(std::floor(b));
  const double a = std::round((b - std::floor(b)) * 256) / 256;
  return (1 - a) * texel(row, i, n, mode, s.normalized) + a * texel(row, i + 1, n, mode, s.normalized);
}

const address_mode modes[] = {address_mode::wrap, address_mode::clamp, address_mode::mirror,
                              address_mode::border};

std::vector<float> counted(std::size_t n) {
  std::vector<float> values;
  for (std::size_t k = 0; k < n; ++k) values.push_back(static_cast<float>(k * 37 % 101));
  return values;
}

// Coordinates inside, outside and on the edges, in texels.
std::vector<float> places(long n) {
  std::vector<float> result;
  for (int k = -9; k <= 25; ++k) result.push_back(static_cast<float>(k) * 0.37f);
  for (const float edge : {0.0f, 0.5f, 1.0f, 1.5f, static_cast<float>(n) - 0.5f, static_cast<float>(n), -0.0f,
                           2.501f, 1.498f, -1e-6f})
    result.push_back(edge);
  return result;
}

std::string instruction_of(unsigned dimensions) {
  return "tex." + std::to_string(dimensions) + "d.v4.f32.f32 {%r20, %r21, %r22, %r23}, [%p2, " +
         (dimensions == 1   ? "{%r10}"
          : dimensions == 2 ? "{%r10, %r11}"
                            : "{%r10, %r11, %r12, %r12}") +
         "];";
}

void check_filters(unsigned dimensions) {
  memory m;
  const long n[] = {5, dimensions > 1 ? 4 : 1, dimensions > 2 ? 3 : 1};
  const auto values = counted(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  const image_shape shapes[] = {image_shape::one, image_shape::two, image_shape::three};
  texture t;
  t.texels = image_of(m, shapes[dimensions - 1], single_float, 5, static_cast<unsigned>(n[1]),
                      static_cast<unsigned>(n[2]), values);
  t.sampler.border_color = {static_cast<float>(border_value), 0, 0, 0};
  for (const bool normalized : {false, true})
    for (const filter_mode filter : {filter_mode::point, filter_mode::linear})
      for (unsigned k = 0; k < 4; ++k) {
        t.sampler.normalized = normalized;
        t.sampler.filter = filter;
        t.sampler.address = {modes[k], modes[(k + 1) % 4], modes[(k + 2) % 4]};
        std::vector<float> c[3];
        const auto x = places(n[0]);
        for (std::size_t r = 0; r < x.size(); ++r)
          for (unsigned d = 0; d < 3; ++d) {
            const float at = x[(r * (2 * d + 1) + d) % x.size()];
            c[d].push_back(normalized ? at / static_cast<float>(n[d]) : at);
          }
        const auto have = apply_image(m, instruction_of(dimensions), m.images().add(t),
                                      {float_bits(c[0]), float_bits(c[1]), float_bits(c[2])});
        for (std::size_t r = 0; r < x.size(); ++r) {
          const auto in_z = [&](long iz) {
            const auto in_y = [&](long iy) {
              const auto in_x = [&](long ix) {
                return static_cast<double>(values[static_cast<std::size_t>((iz * n[1] + iy) * n[0] + ix)]);
              };
              return filtered(in_x, c[0][r], n[0], t.sampler, t.sampler.address[0]);
            };
            return dimensions > 1 ? filtered(in_y, c[1][r], n[1], t.sampler, t.sampler.address[1]) : in_y(0);
          };
          const double want =
              dimensions > 2 ? filtered(in_z, c[2][r], n[2], t.sampler, t.sampler.address[2]) : in_z(0);
          INFO("normalized " << normalized << ", filter " << static_cast<int>(filter) << ", mode " << k
                             << " at " << c[0][r] << " " << c[1][r] << " " << c[2][r]);
          CHECK(f32_of(have[r][0]) == static_cast<float>(want));
          CHECK(have[r][1] == 0);
        }
      }
}

}  // namespace

TEST_CASE("textures of one dimension follow the guide's formulas") { check_filters(1); }
TEST_CASE("textures of two dimensions follow the guide's formulas") { check_filters(2); }
TEST_CASE("textures of three dimensions follow the guide's formulas") { check_filters(3); }

TEST_CASE("linear filtering has weights of 8 bits") {
  memory m;
  texture t;
  t.texels = image_of(m, image_shape::one, single_float, 2, 1, 1, std::vector<float>{0, 256});
  t.sampler.filter = filter_mode::linear;
  const std::uint64_t object = m.images().add(t);
  const auto have = apply_image(
      m, instruction_of(1), object,
      {float_bits({0.5f, 0.5f + 1 / 256.0f, 0.5f + 1.49f / 256, 0.5f + 1.51f / 256, 1.499f, 1.5f})});
  const float want[] = {0, 1, 1, 2, 256, 256};
  for (std::size_t k = 0; k < 6; ++k) CHECK(f32_of(have[k][0]) == want[k]);
}

TEST_CASE("coordinates without a place are folded too") {
  memory m;
  texture t;
  t.texels = image_of(m, image_shape::one, single_float, 3, 1, 1, std::vector<float>{1, 2, 3});
  const auto at = float_bits({std::nanf(""), INFINITY, -INFINITY, 1e30f, -1e30f});
  const auto clamped = apply_image(m, instruction_of(1), m.images().add(t), {at});
  const float want[] = {1, 3, 1, 3, 1};
  for (std::size_t k = 0; k < 5; ++k) CHECK(f32_of(clamped[k][0]) == want[k]);
  t.sampler.normalized = true;
  t.sampler.address = {address_mode::wrap, address_mode::wrap, address_mode::wrap};
  for (const auto& row : apply_image(m, instruction_of(1), m.images().add(t), {at}))
    CHECK(f32_of(row[0]) == 1);
}

TEST_CASE("layers are selected by number, the last one for greater numbers") {
  memory m;
  texture t;
  t.texels = image_of(m, image_shape::layered_two, single_float, 4, 2, 3, counted(24));
  t.sampler.filter = filter_mode::linear;
  const auto two = apply_image(
      m, "tex.a2d.v4.f32.f32 {%r20, %r21, %r22, %r23}, [%p2, {%r10, %r11, %r12, %r12}];", m.images().add(t),
      {{0, 1, 2, 3, 0xffffffff}, float_bits({1, 1, 1, 1, 1}), float_bits({0.5f, 0.5f, 1.5f, 1.5f, 1.5f})});
  const auto values = counted(24);
  const float want[] = {(values[0] + values[1]) / 2, (values[8] + values[9]) / 2,
                        (values[20] + values[21]) / 2, (values[20] + values[21]) / 2,
                        (values[20] + values[21]) / 2};
  for (std::size_t k = 0; k < 5; ++k) CHECK(f32_of(two[k][0]) == want[k]);

  t.texels = image_of(m, image_shape::layered_one, single_float, 4, 1, 3, counted(12));
  const auto one = apply_image(m, "tex.a1d.v4.f32.f32 {%r20, %r21, %r22, %r23}, [%p2, {%r10, %r11}];",
                               m.images().add(t), {{0, 2, 9}, float_bits({2.5f, 0.5f, 3.5f})});
  CHECK(f32_of(one[0][0]) == values[2]);
  CHECK(f32_of(one[1][0]) == values[8]);
  CHECK(f32_of(one[2][0]) == values[11]);
}

TEST_CASE("linear memory is read by number, zero outside") {
  memory m;
  texture t;
  t.texels = {m.allocate(40), image_shape::linear, single_float, 10, 1, 1, 40, 40};
  const auto values = counted(10);
  m.write(t.texels.address, values.data(), 40);
  const auto have = apply_image(m, "tex.1d.v4.f32.s32 {%r20, %r21, %r22, %r23}, [%p2, {%r10}];",
                                m.images().add(t), {{0, 3, 9, 10, 0xffffffff}});
  const float want[] = {values[0], values[3], values[9], 0, 0};
  for (std::size_t k = 0; k < 5; ++k) CHECK(f32_of(have[k][0]) == want[k]);
}

TEST_CASE("integer coordinates name texels under the address mode") {
  memory m;
  texture t;
  t.texels = image_of(m, image_shape::two, single_float, 3, 2, 1, counted(6));
  t.sampler.address = {address_mode::clamp, address_mode::border, address_mode::clamp};
  t.sampler.border_color = {5, 6, 7, 8};
  const auto have = apply_image(m, "tex.2d.v4.f32.s32 {%r20, %r21, %r22, %r23}, [%p2, {%r10, %r11}];",
                                m.images().add(t), {{0, 2, 3, 0xffffffff, 1}, {0, 1, 1, 0, 2}});
  const auto v = counted(6);
  const float want[] = {v[0], v[5], v[5], v[0], 5};
  for (std::size_t k = 0; k < 5; ++k) CHECK(f32_of(have[k][0]) == want[k]);
}

TEST_CASE("a gather returns one component of four texels, counter-clockwise from the lower left") {
  memory m;
  texture t;
  std::vector<float> values;
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x)
      values.insert(values.end(), {static_cast<float>(x), static_cast<float>(10 * y)});
  t.texels = image_of(m, image_shape::two, {texel_kind::floating, 4, 2}, 3, 3, 1, values);
  const std::uint64_t object = m.images().add(t);
  const row_of_words x = float_bits({1.6f}), y = float_bits({1.0f});
  const auto red =
      apply_image(m, "tld4.r.2d.v4.f32.f32 {%r20, %r21, %r22, %r23}, [%p2, {%r10, %r11}];", object, {x, y});
  const auto green =
      apply_image(m, "tld4.g.2d.v4.u32.f32 {%r20, %r21, %r22, %r23}, [%p2, {%r10, %r11}];", object, {x, y});
  const float reds[] = {1, 2, 2, 1}, greens[] = {10, 10, 0, 0};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(f32_of(red[0][k]) == reds[k]);
    CHECK(f32_of(green[0][k]) == greens[k]);
  }
}
