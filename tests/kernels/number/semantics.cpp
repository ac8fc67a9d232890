// The order of reads and writes, scopes, and indices.
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("a read takes the value at its place in the kernel", "[semantics]") {
  const u32 n = 40;
  std::vector<i32> x(n);
  for (u32 i = 0; i < n; ++i) x[i] = static_cast<i32>(i) * 3 - 7;
  auto inout = under_test().upload(x);
  auto y = poisoned<i32>(n * 7);
  snapshots.launch(under_test().stream(), over(n), inout, y, n);
  const std::vector<i32> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    const i32 before = x[i], after = before * 10;
    i32 v = after;
    for (int k = 0; k < 3; ++k) v = v + after + k;
    const i32 want[] = {before, before + 1, after, before, after, v, (before + 100) * 2 - before};
    for (u32 k = 0; k < 7; ++k) {
      CAPTURE(i, k);
      REQUIRE(got[i + n * k] == want[k]);
    }
  }
}

TEST_CASE("what a guarded body computes stays in it", "[semantics]") {
  const std::vector<f32> x = {0.25f, 2.0f, -1.0f, 0.75f, 0.5f};
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(n * 2);
  scopes.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<f32> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    CAPTURE(x[i]);
    REQUIRE(got[i] == (x[i] > 0.5f ? x[i] * x[i] : 1.0f));
    REQUIRE(got[i + n] == std::fma(x[i], x[i], 1.0f));
  }
}

TEST_CASE("negative and 64-bit indices address what they say", "[semantics]") {
  std::vector<f32> x(200);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<f32>(i);
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(64);
  far_index.launch(under_test().stream(), grid(1), in, y, i32{100}, u64{150});
  const std::vector<f32> got = y.download();
  for (u32 i = 0; i < 32; ++i) {
    REQUIRE(got[i] == x[100 - i - 1]);
    REQUIRE(got[i + 32] == x[150 + i]);
  }
}

TEST_CASE("operations on constants give what the device would", "[semantics]") {
  auto f = poisoned<f32>(10);
  auto d = poisoned<f64>(4);
  auto s = poisoned<i32>(7);
  auto l = poisoned<i64>(1);
  auto b = under_test().allocate<bool>(3);
  constants.launch(under_test().stream(), grid(1), f, d, s, l, b, 0u);
  const std::vector<f32> floats = f.download();
  CHECK(floats[0] == 100000000.0f);
  CHECK(floats[1] == std::sqrt(2.5f) + 2.5f / 3.0f);
  CHECK(ulps(floats[2], std::exp(2.5L)) <= 2);
  CHECK(floats[3] == std::numeric_limits<f32>::infinity());
  CHECK(floats[4] == std::numeric_limits<f32>::infinity());
  CHECK(std::isnan(floats[5]));
  CHECK(floats[6] == 8.75f);
  CHECK(bits(floats[7]) == 1);
  CHECK(floats[8] == -7000000000.0f - 3.25f);
  CHECK(floats[9] == 2.5f);
  CHECK(d.download() == std::vector<f64>{100000001.0, -9.5625, std::sqrt(3.25) / 2, 2.5});
  CHECK(s.download() == std::vector<i32>{2, 1, ~100000001 & (100000001 >> 3), static_cast<i32>(-7000000000),
                                         0x40200000, 7, 1});
  CHECK(l.download() == std::vector<i64>{-3 + 7000000000});
  CHECK(b.download() == std::vector<bool>{true, false, true});
}
