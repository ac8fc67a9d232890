// Functions of 16-bit arguments, all 65536 of them, within one unit in the last place of their type.
#include "tests/kernels/math/function_kernels.hpp"
#include "tests/kernels/support.hpp"

#include <algorithm>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
struct half_format;
template <>
struct half_format<f16> {
  static constexpr int digits = 11, least = -24;
  static constexpr long double largest = 65504;
};
template <>
struct half_format<bf16> {
  static constexpr int digits = 8, least = -133;
  static constexpr long double largest = 0x1.fep127L;
};

template <class T>
double half_ulps(T value, long double want) {
  using format = half_format<T>;
  const long double got = static_cast<float>(value);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : 1e30;
  if (std::isinf(want)) return got == want ? 0 : 1e30;
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : 1e30;
  const int place = std::max(std::ilogb(want) + 1 - format::digits, format::least);
  const long double unit = std::ldexp(1.0L, place);
  // An infinity is right for a value that rounds beyond the largest number.
  if (std::isinf(got)) return std::fabs(want) > format::largest && (got > 0) == (want > 0) ? 0 : 1e30;
  return static_cast<double>(std::fabs(got - want) / unit);
}

template <class T, class Kernel, class... F>
void check_all(const Kernel& k, function_list<F...>) {
  std::vector<T> x;
  for (std::uint32_t raw = 0; raw < 65536; ++raw)
    x.push_back(std::bit_cast<T>(static_cast<std::uint16_t>(raw)));
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = under_test().upload(std::vector<T>(sizeof...(F) * n, std::bit_cast<T>(std::uint16_t{0x5a5a})));
  k.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<T> got = y.download();
  const auto check = [&]<class G>(std::size_t row) {
    double worst = 0;
    std::uint32_t at = 0;
    for (u32 i = 0; i < n; ++i)
      if (const double e = half_ulps(got[row * n + i], G::want(static_cast<float>(x[i]))); e > worst) {
        worst = e;
        at = i;
      }
    INFO(G::name << " of " << static_cast<float>(x[at]) << ": " << static_cast<float>(got[row * n + at]));
    CHECK(worst <= (G::bound.f32 == 0 ? 0 : 1));
    WARN(G::name << (std::is_same_v<T, f16> ? " f16: " : " bf16: ") << worst << " ulp");
  };
  std::size_t row = 0;
  (check.template operator()<F>(row++), ...);
}

}  // namespace

TEMPLATE_TEST_CASE("functions of all 16-bit arguments", "[functions]", f16, bf16) {
  using T = TestType;
  check_all<T>(trigonometric<T>, trigonometric_functions{});
  check_all<T>(inverse_trigonometric<T>, inverse_functions{});
  check_all<T>(roots<T>, root_functions{});
  check_all<T>(roundings<T>, rounding_functions{});
}

TEST_CASE("functions of packed pairs are those of their halves", "[functions]") {
  std::vector<f16> halves;
  std::vector<f16x2> pairs;
  for (std::uint32_t raw = 0; raw < 65536; raw += 2) {
    halves.push_back(std::bit_cast<f16>(static_cast<std::uint16_t>(raw)));
    halves.push_back(std::bit_cast<f16>(static_cast<std::uint16_t>(raw * 31 + 1)));
    pairs.push_back(f16x2{halves[raw], halves[raw + 1]});
  }
  const auto n = static_cast<u32>(pairs.size());
  constexpr std::size_t rows = 7;
  auto in = under_test().upload(halves);
  auto y = under_test().upload(std::vector<f16>(rows * n * 2));
  trigonometric<f16>.launch(under_test().stream(), over(n * 2), in, y, n * 2);
  auto in_pairs = under_test().upload(pairs);
  auto y_pairs = under_test().upload(std::vector<f16x2>(rows * n));
  trigonometric<f16x2>.launch(under_test().stream(), over(n), in_pairs, y_pairs, n);
  const std::vector<f16> want = y.download();
  const std::vector<f16x2> got = y_pairs.download();
  for (std::size_t i = 0; i < rows * n; ++i)
    if (got[i].low.bits() != want[2 * i].bits() || got[i].high.bits() != want[2 * i + 1].bits())
      FAIL("row " << i / n << ", pair " << i % n);
}
