// Derivatives of compositions: the scores of attention, helper functions, second derivatives, several variables.
#include "tests/kernels/derivative/derivative_compositions.hpp"
#include "tests/kernels/derivative/derivative_support.hpp"

using namespace kaio;
using namespace kaio::tests;

TEMPLATE_TEST_CASE("derivatives of compositions", "[derivative]", f32, f64) {
  derivative_test<composition_cases, TestType>::run();
}

TEST_CASE("second derivatives", "[derivative]") { derivative_test<second_cases, f64>::run(); }

TEST_CASE("derivatives of 16-bit floats", "[derivative]") {
  const auto check = [](auto zero, double tolerance) {
    using T = decltype(zero);
    std::vector<T> x;
    for (int i = 1; i <= 64; ++i) x.push_back(T(static_cast<float>(i) / 16.0f - 2.03125f));
    const auto n = static_cast<u32>(x.size());
    const auto run = [&](const auto& slopes) {
      auto in = under_test().upload(x);
      auto y = under_test().upload(std::vector<T>(std::size_t{4} * n));
      slopes.launch(under_test().stream(), over(n), in, y, n);
      const std::vector<T> got = y.download();
      for (u32 i = 0; i < n; ++i) {
        const double v = static_cast<double>(static_cast<float>(x[i]));
        const double s = 1 / (1 + std::exp(-v));
        const double want[] = {3 * v * v - 1, s * (1 - s), v < 0 ? -v * 2 : v * 2, 2 * v};
        for (u32 k = 0; k < 4; ++k) {
          const double error = std::fabs(static_cast<double>(static_cast<float>(got[i + n * k])) - want[k]);
          if (!(error <= tolerance * (1 + std::fabs(want[k])))) FAIL("row " << k << " at " << v);
        }
      }
    };
    run(half_slopes<T, 70>);
    run(half_slopes<T, 80>);
    run(half_slopes<T, 90>);
  };
  check(f16(0.0f), 0x1p-8);
  check(bf16(0.0f), 0x1p-5);
}

TEST_CASE("partial derivatives, and what a derivative holds constant", "[derivative]") {
  std::vector<f32> x;
  for (int i = 0; i < 128; ++i) x.push_back(static_cast<f32>(i) / 32.0f - 1.984375f);
  const u32 n = 64;
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(std::size_t{partial_rows} * n);
  partial_slopes.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<f32> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    const double a = x[i], b = x[i + n];
    const double want[partial_rows] = {2 * a * b,        // of a^2 b by a
                                       a * a,            // by b
                                       2 * a,            // mixed
                                       0,                // of b by a
                                       1,                // of a by itself
                                       3 * a * a * b,    // through a var written before
                                       b,                // in a guarded body
                                       2 * a + 2,        // of what a lambda computes
                                       std::cos(a) * b,  // through f64
                                       2 * (a + b)};     // by a val of a var that changes later
    for (u32 k = 0; k < partial_rows; ++k)
      if (!(std::fabs(static_cast<double>(got[i + n * k]) - want[k]) <= 1e-5 * (1 + std::fabs(want[k]))))
        FAIL("row " << k << " at " << a << ", " << b << ": " << got[i + n * k] << ", not " << want[k]);
  }
}

TEST_CASE("derivatives at kinks", "[derivative]") {
  auto in = under_test().upload(std::vector<f32>{0.0f, 1.0f, 2.0f});
  auto y = poisoned<f32>(kink_rows);
  kink_slopes.launch(under_test().stream(), grid(1), in, y);
  const std::vector<f32> want{1, 1, 2, 1, 1, 1, 1, 0};
  CHECK(y.download() == want);
}
