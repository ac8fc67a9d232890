// divided_by has the bits of division.
#include "tests/ops/support.hpp"

#include <kaio/ops/shared/divided_by.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr auto divisions = kernel<"divided_by", 128>(
    [](thread t, in<f32> x, in<f32> divisor, out<f32> y, out<u32> holds, val<u32> n) {
      const val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        const val by = t.let(divisor[i]);
        const val reciprocal = t.let(1.0f / by);
        y[i] = ops::divided_by(t, t.let(x[i]), by, reciprocal);
        holds[i] = select(ops::has_reciprocal(t, by), 1u, 0u);
      }
    });

}  // namespace

TEST_CASE("divided_by: the bits of division", "[ops][quantised]") {
  constexpr u32 n = 1 << 16;
  std::mt19937 engine(20261128);
  std::vector<f32> x, divisor;
  // Mantissas of few and of many ones, whose quotients are near the middle of two numbers.
  const auto number = [&](int exponent) {
    const u32 bits = static_cast<u32>(engine()), mantissa = bits % 3 == 0   ? bits >> 9
                                                            : bits % 3 == 1 ? bits & 15
                                                                            : 0x7fffff - (bits & 15);
    return std::ldexp(1.0f + static_cast<f32>(mantissa) / 0x1p23f, exponent);
  };
  for (u32 i = 0; i < n; ++i) {
    const int exponent = static_cast<int>(engine() % 120) - 60, above = static_cast<int>(engine() % 50) - 40;
    divisor.push_back(number(exponent));
    x.push_back(number(exponent + above) * (engine() % 2 == 0 ? 1.0f : -1.0f));
  }
  const f32 special[] = {0.0f, -0.0f, std::numeric_limits<f32>::quiet_NaN()};
  for (u32 i = 0; i < 3; ++i) x[i] = special[i];
  divisor[3] = 0x1p60f;
  divisor[4] = 0x1p-60f;
  const auto on_x = under_test().upload(x), on_divisor = under_test().upload(divisor);
  auto on_y = under_test().upload(std::vector<f32>(n, 7.0f));
  auto on_holds = under_test().upload(std::vector<u32>(n, 7));
  divisions.launch(under_test().stream(), over(n), on_x, on_divisor, on_y, on_holds, n);
  const auto y = on_y.download();
  const auto holds = on_holds.download();
  for (u32 i = 0; i < n; ++i) {
    CAPTURE(i, x[i], divisor[i]);
    REQUIRE(holds[i] == 1u);
    const f32 want = x[i] / divisor[i];
    if (std::isnan(want))
      REQUIRE(std::isnan(y[i]));
    else
      REQUIRE(std::bit_cast<u32>(y[i]) == std::bit_cast<u32>(want));
  }
  const std::vector<f32> outside = {0x1.fffffep-61f,
                                    0x1.000002p60f,
                                    0.0f,
                                    std::numeric_limits<f32>::infinity(),
                                    std::numeric_limits<f32>::quiet_NaN(),
                                    -1.0f};
  const auto few = static_cast<u32>(outside.size());
  const auto on_outside = under_test().upload(outside);
  divisions.launch(under_test().stream(), over(few), on_x, on_outside, on_y, on_holds, few);
  const auto of_outside = on_holds.download();
  for (u32 i = 0; i < few; ++i) REQUIRE(of_outside[i] == 0u);
}
