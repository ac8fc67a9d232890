// exp, log, pow, the hyperbolic functions and the activations over their whole range, against a reference in
// higher precision, within the bounds that their documentation states.
#include "tests/kernels/math/kernels_exponential.hpp"
#include "tests/kernels/support.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

using wide = long double;

constexpr wide root_half = 0.707106781186547524400844362104849039L;

wide sigmoid_of(wide x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
wide gelu_of(wide x) { return std::isinf(x) && x < 0 ? -0.0L : x / 2 * std::erfc(-x * root_half); }
wide gelu_tanh_of(wide x) {
  const wide u = 1.59576912160573071175978423973752747L * (x + 0.044715L * x * x * x);
  return u < -11000 ? -0.0L : x * sigmoid_of(u);
}

struct function {
  const char* name;
  double f32_bound, f64_bound;  // in units of the last place
  wide (*reference)(wide);
};
const function table[] = {
    {"exp", 2, 1, [](wide x) { return std::exp(x); }},
    {"exp2", 2.2, 1, [](wide x) { return std::exp2(x); }},
    {"exp10", 2.2, 1.1, [](wide x) { return std::pow(10.0L, x); }},
    {"expm1", 1.5, 1.5, [](wide x) { return std::expm1(x); }},
    {"log", 1, 1, [](wide x) { return std::log(x); }},
    {"log2", 1, 1, [](wide x) { return std::log2(x); }},
    {"log10", 2, 1, [](wide x) { return std::log10(x); }},
    {"log1p", 1, 1, [](wide x) { return std::log1p(x); }},
    {"sinh", 3.2, 2, [](wide x) { return std::sinh(x); }},
    {"cosh", 2.4, 2, [](wide x) { return std::cosh(x); }},
    {"tanh", 2, 2, [](wide x) { return std::tanh(x); }},
    {"sigmoid", 4, 3, sigmoid_of},
    {"gelu", 6, 6, gelu_of},
    {"gelu_tanh", 5, 4, gelu_tanh_of},
};
constexpr u32 count = std::size(table);

template <class T>
T random_pattern(std::mt19937_64& engine) {
  return std::bit_cast<T>(static_cast<decltype(bits(T{}))>(engine()));
}

// The numbers in [low, high), evenly.
double between(std::mt19937_64& engine, double low, double high) {
  return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
}

// The edges, where the functions turn and end, points over all bit patterns, and points where the functions
// are neither 0 nor infinite.
template <class T>
std::vector<T> arguments(std::size_t random) {
  std::vector<T> x = edges<T>();
  for (const double turn : {88.722839,
                            88.72284,
                            87.33654,
                            87.33655,
                            89.415985,
                            103.97208,
                            103.9721,
                            38.53184,
                            44.8534,
                            45.1545,
                            127.99999,
                            128.0,
                            149.0,
                            150.0,
                            0.4054651,
                            0.4054652,
                            0.2876820,
                            0.2876821,
                            0.65,
                            1.0,
                            0.6666667,
                            1.3333333,
                            0.70710678,
                            1.41421356,
                            0.75,
                            1.5,
                            0.99999994,
                            1.0000001,
                            1e-30,
                            5.9604645e-8,
                            709.782712893384,
                            709.7827128933841,
                            708.3964185322641,
                            745.1332191019411,
                            745.1332191019412,
                            710.4758600739439,
                            710.475860073944,
                            308.25471555991675,
                            323.3062153431158,
                            1023.9999999999999,
                            1074.5,
                            1075.0,
                            5.551115123125783e-17,
                            14.5,
                            38.6,
                            12.0,
                            22.0}) {
    x.push_back(static_cast<T>(turn));
    x.push_back(static_cast<T>(-turn));
  }
  std::mt19937_64 engine(11);
  const double end = std::is_same_v<T, f32> ? 155 : 1100;
  while (x.size() < random) {
    x.push_back(random_pattern<T>(engine));
    x.push_back(static_cast<T>(between(engine, -end, end)));
    x.push_back(static_cast<T>(between(engine, -15, 15)));
    x.push_back(static_cast<T>(between(engine, -2, 2)));
    x.push_back(static_cast<T>(1 + std::ldexp(between(engine, -1, 1), -static_cast<int>(engine() % 24))));
  }
  return x;
}

std::size_t points() { return emulated() ? 20000 : 2000000; }

// Distance from the wide result in units of the last place of a 16-bit type.
template <class T>
double half_ulps(T got, wide want) {
  constexpr int digits = std::is_same_v<T, f16> ? 11 : 8;
  constexpr int least = std::is_same_v<T, f16> ? -24 : -133;
  const auto have = static_cast<float>(got);
  const auto rounded = static_cast<float>(T(static_cast<double>(want)));
  if (std::isnan(have) || std::isnan(rounded)) return std::isnan(have) == std::isnan(rounded) ? 0 : 1e30;
  if (std::isinf(have) || std::isinf(rounded)) return have == rounded ? 0 : 1e30;
  int exponent = 0;
  std::frexp(rounded, &exponent);
  return static_cast<double>(std::abs(wide{have} - want) /
                             std::ldexp(1.0L, std::max(exponent - digits, least)));
}

}  // namespace

TEMPLATE_TEST_CASE("exponential functions hold their bounds over the whole range", "[functions]", f32, f64) {
  using T = TestType;
  const std::vector<T> x = arguments<T>(points());
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = poisoned<T>(std::size_t{count} * n);
  exponentials<T>.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<T> got = y.download();
  for (u32 row = 0; row < count; ++row) {
    const function& f = table[row];
    double most = 0;
    T at = 0;
    for (u32 i = 0; i < n; ++i) {
      const double error = ulps(got[std::size_t{row} * n + i], f.reference(wide{x[i]}));
      if (error <= most) continue;
      most = error;
      at = x[i];
    }
    INFO(f.name << ", largest error at " << at);
    CHECK(most <= (std::is_same_v<T, f32> ? f.f32_bound : f.f64_bound));
    if (!emulated()) WARN(f.name << ": largest error " << most << " ulp at " << at);
  }
}

TEMPLATE_TEST_CASE("exponential functions of 16 bits, every argument", "[functions]", f16, bf16) {
  using T = TestType;
  std::vector<T> x;
  for (u32 i = 0; i < 65536; ++i) x.push_back(T::from_bits(static_cast<u16>(i)));
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = under_test().upload(std::vector<T>(std::size_t{count} * n, T::from_bits(0xa5a5)));
  exponentials<T>.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<T> got = y.download();
  for (u32 row = 0; row < count; ++row) {
    double most = 0;
    float at = 0;
    for (u32 i = 0; i < n; ++i) {
      const float a = static_cast<float>(x[i]);
      const double error = half_ulps(got[std::size_t{row} * n + i], table[row].reference(wide{a}));
      if (error <= most) continue;
      most = error;
      at = a;
    }
    INFO(table[row].name << ", largest error at " << at);
    CHECK(most <= 0.51);  // one rounding to 16 bits, of a result of f32
  }
}

TEMPLATE_TEST_CASE("special values of the exponential functions", "[functions]", f32, f64) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T least = std::numeric_limits<T>::denorm_min();
  constexpr T most = std::numeric_limits<T>::max();
  const std::vector<T> x = {T(0), T(-0.0), inf, -inf, nan, least, -least, most, -most, T(1), T(-1)};
  // Results that cannot be known to the last bit are left out: the bounds above are for them.
  constexpr T any = T(-12345);
  const std::array<std::array<T, 11>, count> want{{
      {1, 1, inf, 0, nan, 1, 1, inf, 0, any, any},
      {1, 1, inf, 0, nan, 1, 1, inf, 0, 2, T(0.5)},
      {1, 1, inf, 0, nan, 1, 1, inf, 0, any, any},
      {0, T(-0.0), inf, -1, nan, least, -least, inf, -1, any, any},
      {-inf, -inf, inf, nan, nan, any, nan, any, nan, 0, nan},
      {-inf, -inf, inf, nan, nan, std::is_same_v<T, f32> ? T(-149) : T(-1074), nan, any, nan, 0, nan},
      {-inf, -inf, inf, nan, nan, any, nan, any, nan, 0, nan},
      {0, T(-0.0), inf, nan, nan, least, -least, any, nan, any, -inf},
      {0, T(-0.0), inf, -inf, nan, least, -least, inf, -inf, any, any},
      {1, 1, inf, inf, nan, 1, 1, inf, inf, any, any},
      {0, T(-0.0), 1, -1, nan, least, -least, 1, -1, any, any},
      {T(0.5), T(0.5), 1, 0, nan, T(0.5), T(0.5), 1, 0, any, any},
      {0, T(-0.0), inf, T(-0.0), nan, any, any, most, T(-0.0), any, any},
      {0, T(-0.0), inf, T(-0.0), nan, any, any, most, T(-0.0), any, any},
  }};
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = poisoned<T>(std::size_t{count} * n);
  exponentials<T>.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<T> got = y.download();
  for (u32 row = 0; row < count; ++row)
    for (u32 i = 0; i < n; ++i) {
      if (bits(want[row][i]) == bits(any)) continue;
      INFO(table[row].name << " of " << x[i] << " is " << got[row * n + i] << ", not " << want[row][i]);
      CHECK(same(got[row * n + i], want[row][i]));
    }
}

TEMPLATE_TEST_CASE("pow", "[functions]", f32, f64) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr int digits = std::numeric_limits<T>::digits;
  const T odd = std::ldexp(T(1), digits) - 1;
  std::vector<T> special = edges<T>();
  for (const T a :
       {T(2), T(-2), T(3), T(-3), T(1.5), T(-1.5), odd, -odd, odd + 1, T(0.99999994), T(1.0000001)})
    special.push_back(a);
  std::vector<T> x, z;
  for (const T a : special)
    for (const T b : special) {
      x.push_back(a);
      z.push_back(b);
    }
  const std::size_t exact = x.size();
  std::mt19937_64 engine(5);
  // Exponents that bring the result into the range of the type.
  const double end = std::is_same_v<T, f32> ? 152 : 1080;
  const auto add = [&](T base) {
    x.push_back(base);
    z.push_back(static_cast<T>(between(engine, -end, end) / std::log2(std::fabs(static_cast<double>(base)))));
  };
  while (x.size() < points()) {
    x.push_back(random_pattern<T>(engine));
    z.push_back(random_pattern<T>(engine));
    add(std::fabs(random_pattern<T>(engine)));
    add(static_cast<T>(between(engine, 0.5, 2)));
    add(static_cast<T>(1 + std::ldexp(between(engine, -1, 1), -static_cast<int>(engine() % (digits - 4)))));
    x.push_back(static_cast<T>(between(engine, -20, 20)));
    z.push_back(static_cast<T>(static_cast<int>(engine() % 60) - 30));
  }
  const auto n = static_cast<u32>(x.size());
  auto left = under_test().upload(x);
  auto right = under_test().upload(z);
  auto y = poisoned<T>(n);
  powers<T>.launch(under_test().stream(), over(n), left, right, y, n);
  const std::vector<T> got = y.download();
  double most = 0;
  for (u32 i = 0; i < n; ++i) {
    const wide want = std::pow(wide{x[i]}, wide{z[i]});
    const double error = ulps(got[i], want);
    most = std::max(most, error);
    INFO("pow(" << x[i] << ", " << z[i] << ") is " << got[i] << ", not " << want);
    if (error > (std::is_same_v<T, f32> ? 4 : 2)) FAIL("an error of " << error << " ulp");
    const bool has_end = want == 0 || std::isinf(want) || std::fabs(want) == 1;
    if (i < exact && has_end && !same(got[i], static_cast<T>(want))) FAIL("a special value");
  }
  CHECK(same(got[0], T(1)));
  CHECK(most > 0);
  CHECK(inf > most);
}

// Against the bounds that the PTX ISA states for the instructions, and the error that the multiplications
// add.
TEST_CASE("fast exponential functions", "[functions]") {
  std::vector<f32> x;
  for (int i = 0; i < 8000; ++i) x.push_back(static_cast<f32>(i - 4000) * 0.00731f);
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(std::size_t{9} * n);
  fast_exponentials<f32>.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<f32> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    const double a = x[i];
    const double size = std::fabs(a);
    const auto near = [&](u32 row, double want, double relative, double absolute = 0) {
      const double have = got[row * n + i];
      INFO("row " << row << " at " << a << ": " << have << ", not " << want);
      const bool agree = std::isnan(want)   ? std::isnan(have)
                         : std::isinf(want) ? have == want
                                            : std::fabs(have - want) <= relative * std::fabs(want) + absolute;
      CHECK(agree);
    };
    const double two = std::exp2(-22.5);
    near(0, std::exp(a), two + size * 0x1p-23);
    near(1, std::exp2(a), two);
    near(2, std::pow(10.0, a), two + size * 0x1p-21);
    near(3, std::log(a), 0x1p-22, 0x1p-22);
    near(4, std::log2(a), 0x1p-22, 0x1p-22);
    near(5, std::log10(a), 0x1p-22, 0x1p-22);
    near(6, std::tanh(a), 0x1p-10);
    near(7, 1 / (1 + std::exp(-a)), 0x1p-20 + size * 0x1p-22);
    near(8, std::pow(a, 1.5), 0x1p-17);
  }
}
