// Stated roundings, clamped results and packed pairs, against the host.
#include "tests/kernels/number/bits_kernels.hpp"
#include "tests/kernels/number/bits_model.hpp"
#include "tests/kernels/support.hpp"

#include <cfenv>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr int host_modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

// One operation under the host's own rounding mode; volatile keeps the compiler from computing it in another.
template <class T>
T rounded_on_host(u32 operation, T x, T y, int mode) {
  const volatile T a = x, b = y;
  std::fesetround(mode);
  volatile T r = 0;
  switch (operation) {
    case 0: r = a + b; break;
    case 1: r = a - b; break;
    case 2: r = a * b; break;
    case 3: r = a / b; break;
    case 4: r = std::fma(T{a}, T{b}, T{a}); break;
    case 5: r = std::sqrt(T{a}); break;
    case 6: r = T{1} / a; break;
    default: r = T{1} + a; break;
  }
  std::fesetround(FE_TONEAREST);
  return r;
}

}  // namespace

TEMPLATE_TEST_CASE("every rounding of arithmetic agrees with the host", "[rounding]", f32, f64) {
  using T = TestType;
  const value_pairs<T> operands(emulated() ? 300 : 20000);
  const auto n = static_cast<u32>(operands.a.size());
  auto a = under_test().upload(operands.a), b = under_test().upload(operands.b);
  auto y = poisoned<T>(std::size_t{rounded_operation_count} * 4 * n);
  every_rounding<T>.launch(under_test().stream(), over(n), a, b, y, n);
  const std::vector<T> got = y.download();
  for (u32 mode = 0; mode < 4; ++mode)
    for (u32 k = 0; k < rounded_operation_count; ++k)
      for (u32 i = 0; i < n; ++i) {
        const T want = rounded_on_host(k, operands.a[i], operands.b[i], host_modes[mode]);
        const T value = got[std::size_t{mode * rounded_operation_count + k} * n + i];
        if (!same(value, want))
          FAIL("operation " << k << " in mode " << mode << " of " << operands.a[i] << " and " << operands.b[i]
                            << ": " << value << ", not " << want);
      }
}

namespace {

template <class T>
struct host_number : host_half<T> {};
template <class T>
  requires std::is_floating_point_v<T>
struct host_number<T> {
  static T add(T a, T b) { return a + b; }
  static T sub(T a, T b) { return a - b; }
  static T mul(T a, T b) { return a * b; }
  static T div(T a, T b) { return a / b; }
  static T fma(T a, T b, T c) { return std::fma(a, b, c); }
};

template <class T>
T clamped_to_one(T x) {
  const long double value = model<T>::exact(x);
  return value >= 1 ? T(1.0f) : value > 0 ? x : T(0.0f);
}

template <class T, u32 Sm>
void check_saturation() {
  using h = host_number<T>;
  const value_pairs<T> operands(emulated() ? 300 : 20000);
  const auto n = static_cast<u32>(operands.a.size());
  auto a = under_test().upload(operands.a), b = under_test().upload(operands.b);
  auto y = poisoned<T>(std::size_t{5} * n);
  every_saturation<T, Sm>.launch(under_test().stream(), over(n), a, b, y, n);
  const std::vector<T> got = y.download();
  const T quarter = T(0.25f);
  for (u32 i = 0; i < n; ++i) {
    const T x = operands.a[i], z = operands.b[i];
    const bool fuses = Sm >= 80 || !std::is_same_v<T, bf16>;
    const T results[] = {x, h::add(x, z), h::sub(x, z), h::mul(x, z),
                         fuses ? h::fma(x, z, quarter) : h::add(h::mul(x, z), quarter)};
    for (u32 k = 0; k < 5; ++k) {
      const T want = clamped_to_one(results[k]), value = got[std::size_t{k} * n + i];
      // The sign of a zero is not defined.
      const bool equal = model<T>::bits(value) == model<T>::bits(want) ||
                         (model<T>::exact(value) == 0 && model<T>::exact(want) == 0);
      if (!equal)
        FAIL("operation " << k << " of " << model<T>::exact(x) << " and " << model<T>::exact(z) << ": "
                          << model<T>::exact(value) << ", not " << model<T>::exact(want));
    }
  }
}

}  // namespace

TEST_CASE("clamped results agree with the host", "[rounding]") {
  check_saturation<f32, 70>();
  check_saturation<f64, 70>();
  check_saturation<f16, 70>();
  check_saturation<bf16, 70>();
  check_saturation<bf16, 80>();
}

namespace {

template <class P, u32 Sm>
void check_packed() {
  using T = dsl::half_of<P>;
  using h = host_half<T>;
  const value_pairs<T> operands(emulated() ? 600 : 20000);
  const auto n = static_cast<u32>(operands.a.size() / 2);
  std::vector<P> x(n), y(n);
  std::vector<f32> f(n);
  const std::vector<f32> numbers = values_of<f32>(n);
  for (u32 i = 0; i < n; ++i) {
    x[i] = {operands.a[i], operands.a[i + n]};
    y[i] = {operands.b[i], operands.b[i + n]};
    f[i] = numbers[i];
  }
  auto a = under_test().upload(x), b = under_test().upload(y);
  auto c = under_test().upload(f);
  auto out = poisoned<P>(std::size_t{packed_operation_count} * n);
  every_packed_operation<P, Sm>.launch(under_test().stream(), over(n), a, b, c, out, n);
  const std::vector<P> got = out.download();
  const auto of_f32 = [](f32 v) {
    return model<T>::from_bits(model<T>::encode(round_to(model<T>::format, v, toward::nearest)));
  };
  constexpr bool fuses = Sm >= 80 || std::is_same_v<T, f16>;
  for (u32 i = 0; i < n; ++i) {
    const auto both = [&](auto&& op) { return P{op(x[i].low, y[i].low), op(x[i].high, y[i].high)}; };
    const P want[] = {
        both(h::add),
        both(h::sub),
        both(h::mul),
        both(h::div),
        both(h::min),
        both(h::max),
        both([](T p, T) { return h::negated(p); }),
        both([](T p, T) { return h::absolute(p); }),
        both([](T p, T q) { return fuses ? h::fma(p, q, p) : h::add(h::mul(p, q), p); }),
        both([](T p, T) { return h::mul(p, T(0.5f)); }),
        both([](T p, T) { return h::sub(T(2.0f), p); }),
        P{y[i].low, x[i].high},
        P{h::add(x[i].high, y[i].low), T(1.5f)},
        P{x[i].high, x[i].low},
        P{of_f32(f[i]), of_f32(f[i] * 3.0f)},
        P{model<T>::from_bits(model<T>::bits(x[i].low) ^ 1), x[i].high},
    };
    static_assert(std::size(want) == packed_operation_count);
    for (u32 k = 0; k < packed_operation_count; ++k) {
      const P value = got[std::size_t{k} * n + i];
      if (!model<T>::same(model<T>::bits(value.low), model<T>::bits(want[k].low)) ||
          !model<T>::same(model<T>::bits(value.high), model<T>::bits(want[k].high)))
        FAIL("operation " << k << " of " << h::real(x[i].low) << " and " << h::real(y[i].low) << ": "
                          << h::real(value.low) << ", not " << h::real(want[k].low) << "; of "
                          << h::real(x[i].high) << " and " << h::real(y[i].high) << ": "
                          << h::real(value.high) << ", not " << h::real(want[k].high));
    }
  }
}

}  // namespace

TEST_CASE("every operation on packed pairs agrees with the host", "[rounding]") {
  check_packed<f16x2, 70>();
  check_packed<f16x2, 80>();
  check_packed<bf16x2, 70>();
  check_packed<bf16x2, 80>();
  check_packed<bf16x2, 90>();
}
