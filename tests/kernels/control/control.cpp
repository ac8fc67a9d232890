// Guards, loops and what they do to variables, with lanes of one warp going different ways.
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("guards and their otherwise nest and assign outer variables", "[control]") {
  std::vector<i32> x(301);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<i32>(i * 37 % 211) - 105;
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = poisoned<i32>(n);
  branches.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<i32> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    const i32 v = x[i];
    i32 r = 0;
    if (v < 0) {
      r = -v;
      if (v % 2 == 0) {
        r += 1000;
      } else {
        r += 2000;
        if (v < -50) r *= 2;
      }
    } else {
      if (v > 50) r = v * 3;
      r += v;
    }
    CAPTURE(i, v);
    REQUIRE(got[i] == r);
  }
}

TEST_CASE("each lane leaves a loop in its own round", "[control]") {
  const u32 n = 150;
  std::vector<u32> x(n);
  for (u32 i = 0; i < n; ++i) x[i] = i * 7 + 1;
  auto in = under_test().upload(x);
  auto y = poisoned<u32>(n), z = poisoned<u32>(n);
  early_exits.launch(under_test().stream(), over(n), in, y, z, n);
  const std::vector<u32> steps_of = y.download(), sum_of = z.download();
  for (u32 i = 0; i < n; ++i) {
    u32 v = x[i], steps = 0;
    while (v > 1 && ++steps < 200) v = v % 2 == 1 ? v * 3 + 1 : v / 2;
    u32 sum = 0;
    for (u32 k = 0; k < i; ++k) {
      if (k % 3 == 0) continue;
      if (k > 40 && k % 10 == 7) break;
      for (u32 j = 0; j < 4 && j <= k; ++j) sum += k * j;
    }
    CAPTURE(i, x[i]);
    REQUIRE(steps_of[i] == steps);
    REQUIRE(sum_of[i] == sum);
  }
}

TEMPLATE_TEST_CASE("ranges go up and down in every integer type", "[control]", i32, u32, i64, u64) {
  using T = TestType;
  std::vector<T> x;
  for (int i = 0; i < 70; ++i) x.push_back(static_cast<T>(std::is_signed_v<T> ? i - 20 : i));
  const auto n = static_cast<u32>(x.size());
  const T step = 4;
  auto in = under_test().upload(x);
  auto y = poisoned<T>(n * 3);
  ranges<T>.launch(under_test().stream(), over(n), in, y, step, n);
  const std::vector<T> got = y.download();
  using wide = std::uint64_t;  // arithmetic modulo 2^64, then modulo the type
  for (u32 i = 0; i < n; ++i) {
    wide up = 0, other = 1;
    for (T k = 2; k < x[i]; k = static_cast<T>(k + 3)) up = up * 3 + static_cast<wide>(k);
    if constexpr (std::is_signed_v<T>)
      for (T k = x[i]; k > -5; k = static_cast<T>(k - 2)) other = other * 5 - static_cast<wide>(k);
    else
      for (T k = 1; k < x[i]; k = static_cast<T>(k + step)) other = other * 5 - static_cast<wide>(k);
    CAPTURE(i, x[i]);
    REQUIRE(got[i] == static_cast<T>(up));
    REQUIRE(got[i + n] == static_cast<T>(other));
    REQUIRE(got[i + n * 2] == T{7});
  }
}

TEST_CASE("conditions are parameters, memory, variables and operands", "[control]") {
  const u32 n = 75;
  std::vector<bool> x(n), y(n);
  for (u32 i = 0; i < n; ++i) {
    x[i] = i % 2 == 0;
    y[i] = i % 5 < 2;
  }
  for (const bool flag : {true, false}) {
    auto in = under_test().upload(x), inout = under_test().upload(y);
    auto z = poisoned<u32>(n);
    conditions.launch(under_test().stream(), over(n), in, inout, z, flag, false, n);
    const std::vector<bool> got = inout.download();
    const std::vector<u32> sums = z.download();
    for (u32 i = 0; i < n; ++i) {
      CAPTURE(i, flag);
      if (!flag) {
        REQUIRE(got[i] == y[i]);
        REQUIRE(sums[i] == 0xa5a5a5a5u);
        continue;
      }
      const bool seen = (x[i] != flag) || i % 3 == 0 || y[i];
      const bool stored = (seen && x[i] == flag) || i == 5 || x[i] != y[i];
      REQUIRE(got[i] == stored);
      REQUIRE(sums[i] == (seen ? 1u : 0u) + (stored ? 10u : 0u) + (seen ? 100u : 0u));
    }
  }
}
