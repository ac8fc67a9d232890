// Known silent errors of GPU languages.
#include "tests/kernels/control/pitfalls.hpp"
#include "tests/kernels/support.hpp"

#include <algorithm>

using namespace kaio;
using namespace kaio::tests;

namespace {

std::vector<f32> numbers(f32 first, f32 step, std::size_t count = 32) {
  std::vector<f32> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = first + step * static_cast<f32>(i);
  return x;
}

}  // namespace

TEST_CASE("an integer literal next to a float is that number", "[pitfalls]") {
  const std::vector<f32> host = numbers(-3.5f, 0.25f);
  auto x = under_test().upload(host);
  auto y = poisoned<f32>(192);
  literal_operands.launch(under_test().stream(), grid(1), x, y);
  const std::vector<f32> got = y.download();
  for (std::size_t i = 0; i < 32; ++i) {
    const f32 v = host[i];
    CAPTURE(v);
    CHECK(got[i] == v * 2);
    CHECK(got[i + 32] == v + 1);
    CHECK(same(got[i + 64], 1 / v));
    CHECK(got[i + 96] == std::max(v, 1.0f));
    CHECK(got[i + 128] == (v < 1 ? v : 0.0f));
    CHECK(got[i + 160] == 3.0f);
  }
}

TEST_CASE("an inner name ends with its body", "[pitfalls]") {
  std::vector<i32> host(32);
  for (i32 i = 0; i < 32; ++i) host[static_cast<std::size_t>(i)] = i - 16;
  auto x = under_test().upload(host);
  auto y = poisoned<i32>(64);
  inner_names.launch(under_test().stream(), grid(1), x, y);
  const std::vector<i32> got = y.download();
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK(got[i] == 2 * host[i]);
    if (host[i] > 0) CHECK(got[i + 32] == host[i] * 10 + 2);
  }
}

TEST_CASE("floats convert in both directions between widths", "[pitfalls]") {
  const std::vector<f32> host = numbers(1.0f / 3, 1.1f);
  auto x = under_test().upload(host);
  auto y = poisoned<f64>(32);
  auto z = poisoned<f32>(32);
  widths.launch(under_test().stream(), grid(1), x, y, z);
  const std::vector<f64> squares = y.download();
  const std::vector<f32> halves = z.download();
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK(squares[i] == f64{host[i]} * f64{host[i]});
    CHECK(halves[i] == static_cast<f32>(f16(host[i])));
  }
}

TEST_CASE("signed indices may be negative, unsigned comparisons are unsigned", "[pitfalls]") {
  const std::vector<f32> host = numbers(0, 1, 64);
  auto x = under_test().upload(host);
  auto y = poisoned<f32>(96);
  signed_indices.launch(under_test().stream(), grid(1), x, y, u32{0xfffffff0});
  const std::vector<f32> got = y.download();
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK(got[i] == host[i]);
    CHECK(got[i + 32] == host[31 - i]);
    CHECK(got[i + 64] == 2.0f + 2147483640.0f);
  }
}

TEST_CASE("activations are right where their parts overflow", "[pitfalls]") {
  std::vector<f32> host = {0,     10.06f, 20,     43.7f, 44.4f,  50,     88.8f,   90,
                           100,   1e10f,  3e38f,  -0.0f, -9,     -20,    -43.7f,  -44.4f,
                           -50,   -88.8f, -90,    -100,  -1e10f, -3e38f, 5,       -5,
                           1e-5f, -1e-5f, 1e-30f, 12.5f, -12.5f, 0.625f, -0.625f, 1};
  host.resize(32);
  auto x = under_test().upload(host);
  auto y = poisoned<f32>(128);
  tails.launch(under_test().stream(), grid(1), x, y);
  const std::vector<f32> got = y.download();
  for (std::size_t i = 0; i < 32; ++i) {
    const double v = host[i];
    CAPTURE(v);
    const double cubic = std::sqrt(2 / 3.14159265358979324) * (v + 0.044715 * v * v * v);
    CHECK(std::abs(got[i] - std::tanh(v)) <= 3e-7 * std::abs(std::tanh(v)));
    CHECK(std::abs(got[i + 32] - 0.5 * v * std::erfc(-v / std::sqrt(2.0))) <= 1e-6 * std::abs(v));
    CHECK(std::abs(got[i + 64] - v / (1 + std::exp(-2 * cubic))) <= 1e-6 * std::abs(v));
    CHECK(std::abs(got[i + 96] - 1 / (1 + std::exp(-v))) <= 1e-6);
  }
}

TEST_CASE("reductions in a row do not disturb each other", "[pitfalls]") {
  const std::vector<f32> host = numbers(-2, 0.1f, 48);
  constexpr u32 rounds = 20;
  auto x = under_test().upload(host);
  auto y = poisoned<f32>(48);
  reductions_in_a_row.launch(under_test().stream(), grid(1), x, y, rounds);
  const std::vector<f32> got = y.download();
  std::vector<double> v(host.begin(), host.end());
  for (u32 k = 0; k < rounds; ++k) {
    const double largest = *std::max_element(v.begin(), v.end()) + k;
    double sum = 0;
    for (const double e : v) sum += std::exp(e - largest);
    for (double& e : v) e = std::exp(e - largest) / sum;
  }
  for (std::size_t i = 0; i < 48; ++i) CHECK(std::abs(got[i] - v[i]) <= 1e-6 * v[i]);
}

TEST_CASE("the bound of a loop is taken once", "[pitfalls]") {
  auto y = poisoned<u32>(32);
  for (const u32 n : {0u, 1u, 7u}) {
    moving_bound.launch(under_test().stream(), grid(1), y, n);
    for (const u32 rounds : y.download()) CHECK(rounds == n);
  }
}

TEST_CASE("bool is a value in parameters and memory", "[pitfalls]") {
  device& gpu = under_test();
  auto bytes = gpu.allocate<bool>(32), y = gpu.allocate<bool>(32);
  for (const bool invert : {false, true}) {
    flags.launch(gpu.stream(), grid(1), bytes, y, invert);
    for (const bool b : y.download()) CHECK(b == invert);
  }
}
