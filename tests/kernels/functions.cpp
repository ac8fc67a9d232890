// Functions over their whole range, against a reference in higher precision, within the documented bounds.
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// The edges, where exp and log turn, and points spread over all bit patterns.
template <class T>
std::vector<T> arguments(std::size_t random) {
  std::vector<T> x = edges<T>();
  const T turns[] = {T(88.722839),
                     T(88.72284),
                     T(-87.33654),
                     T(-87.33655),
                     T(-103.97208),
                     T(-103.9721),
                     T(-104),
                     T(89),
                     T(709.782712893384),
                     T(709.7827128933841),
                     T(-708.3964185322641),
                     T(-745.1332191019411),
                     T(-745.1332191019412),
                     T(-746),
                     T(711),
                     T(0.6666667),
                     T(0.6666666),
                     T(1.3333333),
                     T(1.3333334),
                     T(0.99999994),
                     T(1.0000001),
                     T(1e-30),
                     T(-1e-30)};
  x.insert(x.end(), std::begin(turns), std::end(turns));
  std::mt19937_64 engine(11);
  for (std::size_t i = 0; i < random; ++i) {
    using raw = decltype(bits(T{}));
    x.push_back(
        i % 2 == 0
            ? std::bit_cast<T>(static_cast<raw>(engine()))
            : static_cast<T>(static_cast<double>(static_cast<std::int64_t>(engine() >> 40)) * 1e-4 - 800));
  }
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("functions hold their bounds over the whole range", "[functions]", f32, f64) {
  using T = TestType;
  const std::vector<T> x = arguments<T>(under_test().is_emulator() ? 6000 : 1000000);
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = poisoned<T>(std::size_t{6} * n);
  elementary<T>.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<T> got = y.download();
  double exp_error = 0, log_error = 0;
  for (u32 i = 0; i < n; ++i) {
    const long double wide = x[i];
    exp_error = std::max(exp_error, ulps(got[i], std::exp(wide)));
    log_error = std::max(log_error, ulps(got[i + n], std::log(wide)));
    if (exp_error > (std::is_same_v<T, f32> ? 2 : 1.1) || log_error > 1)
      FAIL("at " << x[i] << ": exp " << exp_error << " ulp, log " << log_error << " ulp");
    if (!same(got[i + n * 2], std::sqrt(x[i]))) FAIL("sqrt of " << x[i] << ": " << got[i + n * 2]);
    if (!same(got[i + n * 3], std::fabs(x[i]))) FAIL("abs of " << x[i] << ": " << got[i + n * 3]);
    if (!same(got[i + n * 4], std::fma(x[i], x[i], x[i]))) FAIL("fma at " << x[i] << ": " << got[i + n * 4]);
    if (!same(got[i + n * 5], std::fma(x[i], T(2), T(-1)))) FAIL("fma with literals at " << x[i]);
  }
  WARN("largest errors: exp " << exp_error << " ulp, log " << log_error << " ulp");
}
