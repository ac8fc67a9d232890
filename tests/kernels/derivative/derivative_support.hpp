#pragma once
// A list of cases: derivatives on the device next to finite differences of f64.

#include "tests/kernels/derivative/derivative_kernels.hpp"
#include "tests/kernels/support.hpp"

namespace kaio::tests {

// (f(x + h) - f(x - h)) / 2h, and whether f is smooth there.
struct difference {
  double slope, size;
  bool smooth;
};

inline difference difference_of(double before, double at, double after, double h) {
  const double left = (at - before) / h, right = (after - at) / h, slope = (after - before) / (2 * h);
  const double size = 1 + std::fabs(slope) + std::fabs(at);
  return {slope, size, std::fabs(right - left) < 1e-3 * size};
}

template <class List, class T>
struct derivative_test;

template <fixed_string Name, class... Cases, class T>
struct derivative_test<case_list<Name, Cases...>, T> {
  using list = case_list<Name, Cases...>;
  static constexpr u32 points = 128;
  static constexpr double h = 0x1p-17;

  static void run() {
    std::vector<double> x;
    std::mt19937_64 engine(5);
    const auto add = [&](double low, double high) {
      std::uniform_real_distribution<double> draw(low, high);
      for (u32 i = 0; i < points; ++i) x.push_back(static_cast<double>(static_cast<float>(draw(engine))));
    };
    (add(Cases::low, Cases::high), ...);
    const std::vector<double> before = values(x, -h), at = values(x, 0), after = values(x, h);
    const std::vector<T> got = on_device<T>(case_slopes<list, T>, std::vector<T>(x.begin(), x.end()));
    std::size_t first = 0;
    const auto compare = [&](const char* name, double tolerance) {
      std::size_t kinks = 0;
      for (std::size_t i = first; i < first + points; ++i) {
        const difference want = difference_of(before[i], at[i], after[i], h);
        if (!want.smooth) {
          ++kinks;
          continue;
        }
        const double error = std::fabs(static_cast<double>(got[i]) - want.slope);
        if (!(error <= tolerance * want.size))
          FAIL(name << " at " << x[i] << ": " << static_cast<double>(got[i]) << ", not " << want.slope);
      }
      CHECK(kinks <= points / 16);
      first += points;
    };
    (compare(Cases::name, sizeof(T) == 8 ? 1e-8 : Cases::tolerance), ...);
  }

 private:
  template <class V, class Kernel>
  static std::vector<V> on_device(const Kernel& k, const std::vector<V>& x) {
    auto in = under_test().upload(x);
    auto y = poisoned<V>(x.size());
    k.launch(under_test().stream(), over(points), in, y, points);
    return y.download();
  }
  static std::vector<double> values(std::vector<double> x, double step) {
    for (double& p : x) p += step;
    return on_device<double>(case_values<list>, x);
  }
};

}  // namespace kaio::tests
