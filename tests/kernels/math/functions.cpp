// The functions that are exact or correctly rounded, bit for bit.
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

TEMPLATE_TEST_CASE("exact functions over the whole range", "[functions]", f32, f64) {
  using T = TestType;
  std::vector<T> x = edges<T>();
  std::mt19937_64 engine(11);
  const std::size_t points = emulated() ? 20000 : 1000000;
  while (x.size() < points) {
    x.push_back(std::bit_cast<T>(static_cast<decltype(bits(T{}))>(engine())));
    x.push_back(static_cast<T>(static_cast<double>(static_cast<std::int64_t>(engine() >> 40)) * 1e-4 - 800));
  }
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = poisoned<T>(std::size_t{4} * n);
  elementary<T>.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<T> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    if (!same(got[i], std::sqrt(x[i]))) FAIL("sqrt of " << x[i] << ": " << got[i]);
    if (!same(got[i + n], std::fabs(x[i]))) FAIL("abs of " << x[i] << ": " << got[i + n]);
    if (!same(got[i + n * 2], std::fma(x[i], x[i], x[i]))) FAIL("fma at " << x[i] << ": " << got[i + n * 2]);
    if (!same(got[i + n * 3], std::fma(x[i], T(2), T(-1)))) FAIL("fma with literals at " << x[i]);
  }
}
