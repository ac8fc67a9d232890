// The mathematical functions hold the bounds that they state over the whole range of their type, on the
// edges, on points spread over all bit patterns, and on the range where they are used.
#include "tests/kernels/math/function_kernels.hpp"
#include "tests/kernels/support.hpp"

#include <algorithm>
#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

std::size_t points() { return emulated() ? 20000 : 1000000; }

template <class T>
T any_bits(std::mt19937_64& engine) {
  return std::bit_cast<T>(static_cast<decltype(bits(T{}))>(engine()));
}

// Where reductions, branches and rounding turn.
template <class T>
std::vector<T> turns() {
  std::vector<T> x = edges<T>();
  for (const double v : {0.5,
                         0.25,
                         0.75,
                         1.5,
                         2.0,
                         2.5,
                         3.0,
                         3.5,
                         1.0 / 3,
                         0.92,
                         1e-10,
                         3.93,
                         5.95,
                         10.06,
                         26.6,
                         27.3,
                         105615.0,
                         2147483648.0,
                         8388608.0,
                         4194304.0,
                         8388609.0,
                         4503599627370496.0,
                         4503599627370497.0,
                         2251799813685248.0,
                         1e22,
                         1.5707963267948966,
                         3.141592653589793,
                         0.7853981633974483,
                         1e-30,
                         1e30})
    for (const T sign : {T(1), T(-1)}) {
      const T at = sign * static_cast<T>(v);
      const T to = std::numeric_limits<T>::infinity();
      x.insert(x.end(), {at, std::nextafter(at, to), std::nextafter(at, -to)});
    }
  // The numbers next to a multiple of pi/2. Source: Muller, "Elementary Functions", 11.3.
  if constexpr (std::is_same_v<T, f32>)
    x.insert(x.end(), {0x1.f37c8ap+95f, -0x1.f37c8ap+95f});
  else
    x.insert(x.end(), {0x1.6ac5b262ca1ffp+849, -0x1.6ac5b262ca1ffp+849});
  return x;
}

template <class T>
std::vector<T> arguments(double low, double high, unsigned seed) {
  std::vector<T> x = turns<T>();
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> range(low, high);
  while (x.size() < points()) {
    x.push_back(static_cast<T>(range(engine)));
    x.push_back(any_bits<T>(engine));
  }
  return x;
}

// The error of one result; zeros must have their sign, and exact functions their bits.
template <class T>
double error_of(T got, long double want) {
  if (want == 0 && (got != 0 || std::signbit(got) != std::signbit(want))) return 1e30;
  return ulps(got, want);
}

template <class T, class F, class Want>
void check_row(const T* got, std::size_t n, const Want& want) {
  const double bound = std::is_same_v<T, f32> ? F::bound.f32 : F::bound.f64;
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (const double e = error_of(got[i], want(i)); e > worst) {
      worst = e;
      at = i;
    }
  INFO(F::name << ": element " << at << ", " << got[at] << " for " << static_cast<double>(want(at)));
  CHECK(worst <= bound);
  WARN(F::name << (sizeof(T) == 4 ? " f32: " : " f64: ") << worst << " ulp of " << bound);
}

template <class T, class Kernel, class... F>
void check_unary(const Kernel& k, function_list<F...>) {
  unsigned seed = 1;
  const auto one = [&]<class G>(std::size_t row) {
    const std::vector<T> x = arguments<T>(G::low, G::high, ++seed);
    const auto n = static_cast<u32>(x.size());
    auto in = under_test().upload(x);
    auto y = poisoned<T>(sizeof...(F) * n);
    k.launch(under_test().stream(), over(n), in, y, n);
    const std::vector<T> got = y.download();
    check_row<T, G>(got.data() + row * n, n, [&](std::size_t i) { return G::want(x[i]); });
  };
  std::size_t row = 0;
  (one.template operator()<F>(row++), ...);
}

template <class T, class... F>
void check_binary(function_list<F...>) {
  std::vector<T> a, b;
  for (const T x : turns<T>())
    for (const T y : edges<T>()) {
      a.insert(a.end(), {x, y});
      b.insert(b.end(), {y, x});
    }
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> range(-3, 3);
  while (a.size() < points()) {
    a.insert(a.end(), {any_bits<T>(engine), static_cast<T>(range(engine)), any_bits<T>(engine)});
    // Any two, two of one size, and quotients of up to 40 bits.
    const int exponent = std::isfinite(a.back()) ? std::ilogb(a.back() == 0 ? T(1) : a.back()) : 0;
    b.insert(b.end(),
             {any_bits<T>(engine), static_cast<T>(range(engine)),
              std::ldexp(static_cast<T>(range(engine)), exponent - static_cast<int>(engine() % 40))});
  }
  const auto n = static_cast<u32>(a.size());
  auto left = under_test().upload(a);
  auto right = under_test().upload(b);
  auto y = poisoned<T>(sizeof...(F) * n);
  of_two<T>.launch(under_test().stream(), over(n), left, right, y, n);
  const std::vector<T> got = y.download();
  std::size_t row = 0;
  (check_row<T, F>(got.data() + row++ * n, n, [&](std::size_t i) { return F::want(a[i], b[i]); }), ...);
}

}  // namespace

TEMPLATE_TEST_CASE("trigonometric functions hold their bounds", "[functions]", f32, f64) {
  check_unary<TestType>(trigonometric<TestType>, trigonometric_functions{});
}

TEMPLATE_TEST_CASE("inverse trigonometric functions hold their bounds", "[functions]", f32, f64) {
  check_unary<TestType>(inverse_trigonometric<TestType>, inverse_functions{});
}

TEMPLATE_TEST_CASE("roots and error functions hold their bounds", "[functions]", f32, f64) {
  check_unary<TestType>(roots<TestType>, root_functions{});
}

TEMPLATE_TEST_CASE("rounding functions are exact", "[functions]", f32, f64) {
  check_unary<TestType>(roundings<TestType>, rounding_functions{});
}

TEMPLATE_TEST_CASE("functions of two operands hold their bounds", "[functions]", f32, f64) {
  check_binary<TestType>(binary_functions{});
}

TEMPLATE_TEST_CASE("classes, clamp and lerp", "[functions]", f32, f64) {
  using T = TestType;
  const std::vector<T> x = arguments<T>(-4, 4, 3);
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto is = poisoned<u32>(n);
  auto y = poisoned<T>(std::size_t{3} * n);
  classes<T>.launch(under_test().stream(), over(n), in, is, y, n);
  const std::vector<u32> flags = is.download();
  const std::vector<T> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    const T v = x[i];
    const u32 want = (std::isnan(v) ? 1u : 0u) | (std::isinf(v) ? 2u : 0u) | (std::isfinite(v) ? 4u : 0u) |
                     (std::signbit(v) ? 8u : 0u);
    if (flags[i] != want) FAIL("class of " << v << ": " << flags[i]);
    if (!same(got[i], std::isnan(v) ? T(-1.5) : std::min(std::max(v, T(-1.5)), T(2)))) FAIL("clamp of " << v);
    if (!same(got[i + n], std::fma(T(0.25), T(2), std::fma(T(-0.25), v, v)))) FAIL("lerp from " << v);
    if (!same(got[i + n * 2], v == 0 ? T(0) : v)) FAIL("lerp to " << v);
  }
}

TEST_CASE("fast functions stay near", "[functions]") {
  std::vector<f32> x;
  for (int i = 0; i < 20000; ++i) x.push_back(static_cast<f32>(i - 10000) * 3.14159e-4f + 1e-5f);
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(std::size_t{7} * n);
  fast_units.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<f32> got = y.download();
  const auto relative = [](f32 value, double want) {
    return std::abs((static_cast<double>(value) - want) / want);
  };
  for (u32 i = 0; i < n; ++i) {
    const double v = static_cast<double>(x[i]);
    INFO("at " << v);
    REQUIRE(std::abs(static_cast<double>(got[i]) - std::sin(v)) < 1e-6);
    REQUIRE(std::abs(static_cast<double>(got[i + n]) - std::cos(v)) < 1e-6);
    if (std::abs(std::cos(v)) > 0.1)
      REQUIRE(std::abs(static_cast<double>(got[i + n * 2]) - std::tan(v)) < 2e-4);
    REQUIRE(relative(got[i + n * 3], 1 / v) < 2.4e-7);
    REQUIRE(relative(got[i + n * 6], 1.5 / v) < 4e-7);
    if (v > 0) {
      REQUIRE(relative(got[i + n * 4], 1 / std::sqrt(v)) < 2.4e-7);
      REQUIRE(relative(got[i + n * 5], std::sqrt(v)) < 2.4e-7);
    } else {
      REQUIRE(std::isnan(got[i + n * 4]));
      REQUIRE(std::isnan(got[i + n * 5]));
    }
  }
}
