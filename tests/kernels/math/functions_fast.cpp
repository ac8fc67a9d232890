// fast::ftz:: keeps the bounds of its instructions and flushes subnormal numbers to zeros of their sign. fast::
// of 16-bit floats keeps the bounds of its instructions, and gives the same for a pair as for its halves.
#include "tests/kernels/math/fast_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr double least_normal = 0x1p-126;

double flushed(double x) { return std::fabs(x) < least_normal ? std::copysign(0.0, x) : x; }

// Whether `got` is `want` within the bound. A result below the least normal number is a zero of its sign; one
// that is nearly there may be.
bool agree(double got, double want, double relative, double absolute = 0) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  const bool is_flushed = got == 0 && std::signbit(got) == std::signbit(want);
  if (std::fabs(want) < least_normal * (1 - 0x1p-10) && absolute == 0) return is_flushed;
  if (std::fabs(want) < least_normal * (1 + 0x1p-10) && is_flushed) return true;
  return std::fabs(got - want) <= relative * std::fabs(want) + absolute;
}

template <class T>
T from_bits(u32 raw) {
  return std::bit_cast<T>(static_cast<std::uint16_t>(raw));
}

// Every 16-bit number, and its results: three rows.
template <class T, u32 Sm>
std::vector<T> results_of_all() {
  std::vector<T> x;
  for (u32 raw = 0; raw < 65536; ++raw) x.push_back(from_bits<T>(raw));
  auto in = under_test().upload(x);
  auto y = under_test().upload(std::vector<T>(3 * x.size(), from_bits<T>(0x5a5a)));
  fast_halves<T, Sm>.launch(under_test().stream(), over(65536), in, y, 65536u);
  return y.download();
}

// The bounds of exp2 and tanh; whether exp2 flushes.
struct half_bounds {
  double exp2_relative, exp2_absolute, tanh_absolute;
  double least;  // numbers of less are flushed by exp2
};

template <class T, u32 Sm>
void check_halves(const half_bounds& bound) {
  const std::vector<T> got = results_of_all<T, Sm>();
  for (u32 raw = 0; raw < 65536; ++raw) {
    const double a = static_cast<f32>(from_bits<T>(raw));
    const double argument = std::fabs(a) < bound.least ? 0.0 : a;
    const double exact = std::exp2(argument);
    const double largest = std::is_same_v<T, f16> ? 65520.0 : 0x1.ffp127;
    const double want = exact >= largest ? std::numeric_limits<double>::infinity() : exact;
    for (const u32 row : {0u, 2u}) {
      const double power = static_cast<f32>(got[row * 65536 + raw]);
      INFO("exp2 of " << a << ": " << power);
      const bool near_the_end = std::fabs(exact - largest) <= bound.exp2_relative * exact;
      const bool near_zero = exact < bound.least * (1 + bound.exp2_relative) && power == 0;
      const bool is_near = std::isnan(want) ? std::isnan(power)
                           : std::isinf(want)
                               ? power == want || near_the_end
                               : std::fabs(power - want) <= bound.exp2_relative * want + bound.exp2_absolute;
      if (!is_near && !near_zero && !(near_the_end && std::isinf(power))) FAIL("beyond the bound");
      if (power != 0 && std::fabs(power) < bound.least) FAIL("a subnormal result");
    }
    const double tangent = static_cast<f32>(got[65536 + raw]);
    INFO("tanh of " << a << ": " << tangent);
    if (std::isnan(a) ? !std::isnan(tangent) : !(std::fabs(tangent - std::tanh(a)) <= bound.tanh_absolute))
      FAIL("beyond the bound");
  }
}

// Two halves of a pair at once: each as it is alone.
template <class T, class Pair, u32 Sm>
void check_pairs() {
  const std::vector<T> want = results_of_all<T, Sm>();
  std::vector<Pair> x;
  for (u32 raw = 0; raw < 65536; ++raw) x.push_back(Pair{from_bits<T>(raw), from_bits<T>(raw * 40503u + 7)});
  auto in = under_test().upload(x);
  auto y = under_test().upload(std::vector<Pair>(3 * x.size()));
  fast_halves<Pair, Sm>.launch(under_test().stream(), over(65536), in, y, 65536u);
  const std::vector<Pair> got = y.download();
  for (u32 row = 0; row < 3; ++row)
    for (u32 raw = 0; raw < 65536; ++raw) {
      const Pair pair = got[row * 65536 + raw];
      const u32 other = (raw * 40503u + 7) & 0xffffu;
      if (pair.low.bits() != want[row * 65536 + raw].bits() ||
          pair.high.bits() != want[row * 65536 + other].bits())
        FAIL("row " << row << " of " << raw << " and " << other);
    }
}

// Every pair of `numbers`, through min_nan and max_nan.
template <class T, u32 Sm>
void check_nan_extremes(const std::vector<T>& numbers) {
  std::vector<T> a, b;
  for (const T x : numbers)
    for (const T y : numbers) {
      a.push_back(x);
      b.push_back(y);
    }
  const auto n = static_cast<u32>(a.size());
  auto left = under_test().upload(a);
  auto right = under_test().upload(b);
  auto y = under_test().upload(std::vector<T>(std::size_t{3} * n));
  nan_extremes<T, Sm>.launch(under_test().stream(), over(n), left, right, y, n);
  const std::vector<T> got = y.download();
  const auto number = [](T x) {
    return static_cast<double>(static_cast<std::conditional_t<sizeof(T) == 8, f64, f32>>(x));
  };
  const auto agrees = [&](T have, T x, T z, bool is_max) {
    const double p = number(x), q = number(z), h = number(have);
    if (std::isnan(p) || std::isnan(q)) return std::isnan(h);
    const bool first = p == q ? std::signbit(p) != is_max : (p < q) != is_max;
    return h == (first ? p : q) && std::signbit(h) == std::signbit(first ? p : q);
  };
  for (u32 i = 0; i < n; ++i) {
    INFO("of " << number(a[i]) << " and " << number(b[i]) << ", sm_" << Sm);
    REQUIRE(agrees(got[i], a[i], b[i], false));
    REQUIRE(agrees(got[i + n], a[i], b[i], true));
    REQUIRE(agrees(got[i + n * 2], a[i], T(0.5f), true));
  }
}

}  // namespace

TEST_CASE("min_nan and max_nan", "[functions]") {
  check_nan_extremes<f64, 80>(edges<f64>());
  check_nan_extremes<f32, 70>(edges<f32>());
  check_nan_extremes<f32, 80>(edges<f32>());
  std::vector<f16> halves;
  std::vector<bf16> brains;
  for (u32 raw = 0; raw < 65536; raw += 773) {
    halves.push_back(from_bits<f16>(raw));
    brains.push_back(from_bits<bf16>(raw));
  }
  for (const u32 raw : {0x8000u, 0x7c00u, 0xfc00u, 0x7e00u, 0xfe00u}) halves.push_back(from_bits<f16>(raw));
  for (const u32 raw : {0x8000u, 0x7f80u, 0xff80u, 0x7fc0u, 0xffc0u}) brains.push_back(from_bits<bf16>(raw));
  check_nan_extremes<f16, 70>(halves);
  check_nan_extremes<f16, 80>(halves);
  check_nan_extremes<bf16, 70>(brains);
  check_nan_extremes<bf16, 80>(brains);
}

TEST_CASE("min_nan of pairs is that of their halves", "[functions]") {
  std::vector<f16x2> a, b;
  for (u32 raw = 0; raw < 65536; raw += 37) {
    a.push_back({from_bits<f16>(raw), from_bits<f16>(raw * 31 + 7)});
    b.push_back({from_bits<f16>(raw * 57 + 3), from_bits<f16>(raw % 3 == 0 ? 0x7e00u : raw)});
  }
  const auto n = static_cast<u32>(a.size());
  auto left = under_test().upload(a);
  auto right = under_test().upload(b);
  auto old = under_test().upload(std::vector<f16x2>(std::size_t{3} * n));
  auto y = under_test().upload(std::vector<f16x2>(std::size_t{3} * n));
  nan_extremes<f16x2, 70>.launch(under_test().stream(), over(n), left, right, old, n);
  nan_extremes<f16x2, 80>.launch(under_test().stream(), over(n), left, right, y, n);
  const std::vector<f16x2> want = old.download(), got = y.download();
  const auto same_half = [](f16 x, f16 z) {
    const f32 p = static_cast<f32>(x), q = static_cast<f32>(z);
    return x.bits() == z.bits() || (std::isnan(p) && std::isnan(q));
  };
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!same_half(got[i].low, want[i].low) || !same_half(got[i].high, want[i].high)) FAIL("pair " << i % n);
}

TEST_CASE("fast functions that flush subnormal numbers", "[functions]") {
  std::vector<f32> x = edges<f32>();
  for (const f32 a :
       {0x1p-126f, 0x1.fffffcp-127f, 0x1p-140f, 0x1p-149f, 0x1p126f, 0x1.8p126f, 0x1p127f, 126.0f, 126.5f,
        127.0f, 130.0f, 148.0f, 87.0f, 87.2f, 87.4f, 88.0f, 89.0f, 38.0f, 38.5f}) {
    x.push_back(a);
    x.push_back(-a);
  }
  for (int i = 0; i < 8000; ++i) x.push_back(static_cast<f32>(i - 4000) * 0.00731f);
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(std::size_t{flushing_rows} * n);
  fast_flushing.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<f32> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    const double a = flushed(x[i]);
    const double size = std::fmin(std::fabs(a), 200);  // beyond, results are 0 or infinite
    const auto near = [&](u32 row, double want, double relative, double absolute = 0) {
      const double have = got[row * n + i];
      if (std::fabs(want) > 0x1.ffffffp127)
        want = std::copysign(std::numeric_limits<double>::infinity(), want);
      INFO("row " << row << " at " << x[i] << ": " << have << ", not " << want);
      CHECK(agree(have, want, relative, absolute));
      if (std::fpclassify(got[row * n + i]) == FP_SUBNORMAL) FAIL("a subnormal result");
    };
    const double two = std::exp2(-22.5);
    near(0, std::exp(a), two + size * 0x1p-22);
    near(1, std::exp2(a), two);
    near(2, std::pow(10.0, a), two + size * 0x1p-20);
    near(3, std::log(a), 0x1p-22, 0x1p-22);
    near(4, std::log2(a), 0x1p-22, 0x1p-22);
    near(5, std::log10(a), 0x1p-22, 0x1p-22);
    near(6, 1 / (1 + std::exp(-a)), 0x1p-20 + size * 0x1p-22);
    if (!(a < 0)) near(7, std::pow(a, 1.5), 0x1p-15);
    if (std::fabs(a) <= 3.14159) {
      near(8, std::sin(a), 0, std::exp2(-20.5));
      near(9, std::cos(a), 0, std::exp2(-20.5));
      if (std::fabs(std::cos(a)) > 0.1) near(10, std::tan(a), 0, 2e-4);
      if (a == 0) CHECK(std::signbit(got[8 * n + i]) == std::signbit(x[i]));
    }
    near(11, 1 / a, 0x1.1p-23);
    near(12, 1 / std::sqrt(a), std::exp2(-22.9));
    near(13, std::sqrt(a), 0x1.1p-23);
    const bool is_large = std::fabs(a) > 0x1p126;
    near(14, is_large ? std::copysign(0.0, a) : 1.5 / a, 0x1p-22);
  }
}

// Source of the bounds: PTX ISA, "Half Precision Floating Point Instructions: ex2, tanh".
TEST_CASE("fast functions of all 16-bit numbers", "[functions]") {
  check_halves<f16, 75>({std::exp2(-9.9), 0x1p-24, std::exp2(-10.987), 0});
  check_halves<bf16, 90>({std::exp2(-7), 0, std::exp2(-7.99), least_normal});
}

TEST_CASE("fast functions of pairs are those of their halves", "[functions]") {
  check_pairs<f16, f16x2, 70>();
  check_pairs<f16, f16x2, 75>();
  check_pairs<bf16, bf16x2, 80>();
  check_pairs<bf16, bf16x2, 90>();
}
