// Literals are values wherever a val is taken.
#include "tests/kernels/number/literal_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

f32 weighted_sum_on_host(const std::vector<f32>& x, u32 count, f32 factor) {
  f32 sum = factor;
  for (u32 k = 0; k < 2 * count; ++k) sum = std::fma(x[k], factor, sum);
  if (count > 3) sum = std::fma(-factor, static_cast<f32>(count), sum);
  return std::fmax(sum, -factor) / static_cast<f32>(count);
}

}  // namespace

TEST_CASE("literals are values", "[literals]") {
  const u32 n = 32;
  std::vector<f32> x(2 * n);
  for (u32 i = 0; i < x.size(); ++i) x[i] = static_cast<f32>(i) * 0.25f + 0.5f;
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(literal_rows * n);
  auto z = poisoned<u64>(n);
  auto w = poisoned<f64>(n);
  literals.launch(under_test().stream(), over(n), in, y, z, w, n);
  const auto got = y.download();
  const auto words = z.download();
  const auto doubles = w.download();
  for (u32 i = 0; i < n; ++i) {
    f32 sum = x[i] * 2;
    u32 steps = 0;
    for (; !(sum > 100 || steps == 10); ++steps) sum *= 2;
    const f32 want[literal_rows] = {weighted_sum_on_host(x, 5, 1.5f),
                                    weighted_sum_on_host(x, n, 0),
                                    1,
                                    (i % 2 == 0 ? 0.0f : 1.0f) + (i % 3 == 0 ? 4.0f : -4.0f),
                                    2.0f * 4.0f - 1.0f,
                                    0.5f + x[i],
                                    x[i ^ 1] + 1.0f,
                                    2.0f * 3.0f - 1.0f,
                                    1,
                                    sum,
                                    static_cast<f32>(steps) + 7 + (i < 5 ? 100.0f : 0.0f),
                                    std::fmax(1.0f, x[i]) + x[i]};
    for (u32 k = 0; k < literal_rows; ++k) {
      CAPTURE(i, k);
      REQUIRE(got[i + k * n] == want[k]);
    }
    REQUIRE(words[i] == 0x123456789abcdefu - 5);
    REQUIRE(doubles[i] == 1.0 / 3);
  }
}
