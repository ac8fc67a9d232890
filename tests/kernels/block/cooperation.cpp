// Threads working together: shared memory, barriers, shuffles, reductions over blocks of any size.
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("a transpose through shared memory, ragged at the edges", "[cooperation]") {
  const u32 rows = 37, columns = 50;
  std::vector<f32> x(std::size_t{rows} * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<f32>(i);
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(x.size());
  transpose.launch(under_test().stream(), grid((columns + 15) / 16, (rows + 15) / 16), in, y, rows, columns);
  const std::vector<f32> got = y.download();
  for (u32 r = 0; r < rows; ++r)
    for (u32 c = 0; c < columns; ++c)
      REQUIRE(got[std::size_t{c} * rows + r] == x[std::size_t{r} * columns + c]);
}

TEMPLATE_TEST_CASE("shuffles move values between lanes", "[cooperation]", f32, i64) {
  using T = TestType;
  std::vector<T> x(64);
  std::vector<u32> lane(64);
  for (u32 i = 0; i < 64; ++i) {
    x[i] = static_cast<T>((static_cast<std::int64_t>(i) * 1234567 % 4001 - 2000) *
                          (sizeof(T) == 8 ? 3000000019 : 1));
    lane[i] = i * 5 % 32;
  }
  auto in = under_test().upload(x);
  auto lanes = under_test().upload(lane);
  auto y = poisoned<T>(64 * 7);
  shuffles<T>.launch(under_test().stream(), grid(1), in, y, lanes);
  const std::vector<T> got = y.download();
  for (u32 i = 0; i < 64; ++i) {
    const u32 warp = i & ~31u, l = i & 31;
    CAPTURE(i);
    REQUIRE(got[i] == x[warp + lane[i]]);
    REQUIRE(got[i + 64] == (l < 3 ? x[i] : x[i - 3]));
    REQUIRE(got[i + 128] == (l + 5 > 31 ? x[i] : x[i + 5]));
    REQUIRE(got[i + 192] == x[warp + (l ^ 9)]);
    REQUIRE(got[i + 256] == x[(i & ~7u) + 2]);
    REQUIRE(got[i + 320] == ((l & 15) + 4 > 15 ? x[i] : x[i + 4]));
    REQUIRE(got[i + 384] == (x[warp] > x[0] ? x[i] : T{1}));
  }
}

namespace {

template <class T, u32 Threads>
void check_reductions() {
  std::vector<T> x(Threads);
  for (u32 i = 0; i < Threads; ++i)
    x[i] = static_cast<T>(static_cast<i32>(i * 7919 % 1009) - (std::is_signed_v<T> ? 500 : 0));
  auto in = under_test().upload(x);
  auto y = poisoned<T>(Threads * 4);
  reductions<T, Threads>.launch(under_test().stream(), grid(1), in, y, Threads);
  const std::vector<T> got = y.download();
  T sum{}, least = x[0], most = x[0];
  for (const T v : x) {
    sum = static_cast<T>(sum + v);  // small integers: exact in any order
    least = std::min(least, v);
    most = std::max(most, v);
  }
  for (u32 i = 0; i < Threads; ++i) {
    T warp_sum{};
    for (u32 k = i & ~31u; k < std::min(Threads, (i & ~31u) + 32); ++k)
      warp_sum = static_cast<T>(warp_sum + x[k]);
    CAPTURE(Threads, i);
    REQUIRE(got[i] == sum);
    REQUIRE(got[i + Threads] == least);
    REQUIRE(got[i + Threads * 2] == most);
    REQUIRE(got[i + Threads * 3] == warp_sum);
  }
}

}  // namespace

TEST_CASE("reductions are right for blocks of any size", "[cooperation]") {
  check_reductions<f32, 1>();
  check_reductions<f32, 48>();
  check_reductions<f64, 256>();
  check_reductions<i32, 1000>();
  check_reductions<u64, 1024>();
}

TEST_CASE("reductions follow each other and repeat in loops without a race", "[cooperation]") {
  std::vector<u32> x(192);
  for (u32 i = 0; i < 192; ++i) x[i] = i * 2654435761u;
  auto in = under_test().upload(x);
  auto y = poisoned<u32>(192);
  const u32 rounds = 50;
  repeated_reduction.launch(under_test().stream(), grid(1), in, y, rounds);
  u32 want = 0;
  for (u32 k = 0; k < rounds; ++k) {
    u32 total = 0, most = 0;
    for (u32 i = 0; i < 192; ++i) total += x[i] + k * i;
    for (u32 i = 0; i < 192; ++i) most = std::max(most, (x[i] ^ k) + total);
    want = want * 31 + total + most;
  }
  for (const u32 got : y.download()) REQUIRE(got == want);
}
