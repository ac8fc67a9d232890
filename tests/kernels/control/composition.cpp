// Device functions in device functions, kernels that are templates, and classes of device values.
#include "tests/kernels/control/composition.hpp"

#include "tests/kernels/support.hpp"

#include <algorithm>

using namespace kaio;
using namespace kaio::tests;

namespace {

std::vector<f32> noise(std::size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<f32> draw(-2.0f, 2.0f);
  std::vector<f32> x(n);
  for (f32& e : x) e = draw(engine);
  return x;
}

template <u32 Head, u32 Threads>
void check_attention(u32 rows, u32 keys) {
  const std::vector<f32> q = noise(rows * Head, 1), k = noise(keys * Head, 2), v = noise(keys * Head, 3);
  auto in_q = under_test().upload(q), in_k = under_test().upload(k), in_v = under_test().upload(v);
  auto y = poisoned<f32>(rows * Head);
  const f32 scale = 0.25f;
  attention_row<Head, 200, Threads>.launch(under_test().stream(), grid(rows), in_q, in_k, in_v, y, scale,
                                           keys);
  const std::vector<f32> got = y.download();
  for (u32 row = 0; row < rows; ++row) {
    std::vector<f64> p(keys);
    for (u32 j = 0; j < keys; ++j) {
      f64 dot = 0;
      for (u32 d = 0; d < Head; ++d)
        dot += static_cast<f64>(q[row * Head + d]) * static_cast<f64>(k[j * Head + d]);
      p[j] = dot * 0.25;
    }
    const f64 top = *std::max_element(p.begin(), p.end());
    f64 total = 0;
    for (f64& e : p) total += e = std::exp(e - top);
    for (u32 d = 0; d < Head; ++d) {
      f64 want = 0;
      for (u32 j = 0; j < keys; ++j) want += p[j] / total * static_cast<f64>(v[j * Head + d]);
      CAPTURE(row, d, keys);
      REQUIRE(static_cast<f64>(got[row * Head + d]) == Approx(want).margin(2e-6));
    }
  }
}

template <class T, u32 Tile>
void check_map(u32 n) {
  std::vector<T> x(n);
  for (u32 i = 0; i < n; ++i) x[i] = static_cast<T>(i % 1000);
  auto in = under_test().upload(x);
  auto y = poisoned<T>(n);
  const u32 blocks = (n + 64 * Tile - 1) / (64 * Tile);
  map_tiles<T, Tile, ptx::oldest_target, square_plus_one>.launch(under_test().stream(), grid(blocks), in, y,
                                                                 n);
  const std::vector<T> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    CAPTURE(i);
    REQUIRE(got[i] == x[i] * x[i] + 1);
  }
}

}  // namespace

TEST_CASE("a reduction in a softmax in an attention", "[composition]") {
  check_attention<16, 64>(3, 1);
  check_attention<16, 64>(2, 63);
  check_attention<33, 48>(2, 200);
  check_attention<64, 128>(2, 129);
}

TEST_CASE("a kernel over a type, a tile and a function", "[composition]") {
  check_map<f32, 1>(1);
  check_map<f32, 4>(1000);
  check_map<u32, 3>(500);
  check_map<i64, 2>(129);
  check_map<f64, 4>(257);
}

TEST_CASE("a kernel over targets", "[composition]") {
  static_assert(map_tiles<f32, 2, ptx::target{80}, square_plus_one>.needs().target.sm == 80);
  static_assert(map_tiles<f32, 2, ptx::oldest_target, square_plus_one>.needs().target == ptx::oldest_target);
  REQUIRE(map_tiles<f32, 2, ptx::target{80}, square_plus_one>.ptx().contains(".target sm_80"));
}

TEST_CASE("an accumulator that is a class", "[composition]") {
  for (const u32 n : {1u, 31u, 32u, 500u}) {
    std::vector<f32> x = noise(n, 5);
    for (f32& e : x) e += 100.0f;
    auto in = under_test().upload(x);
    auto y = poisoned<f32>(2);
    statistics.launch(under_test().stream(), grid(1), in, y, n);
    const std::vector<f32> got = y.download();
    f64 mean = 0, variance = 0;
    for (const f32 e : x) mean += static_cast<f64>(e) / n;
    for (const f32 e : x) variance += (static_cast<f64>(e) - mean) * (static_cast<f64>(e) - mean) / n;
    CAPTURE(n);
    REQUIRE(static_cast<f64>(got[0]) == Approx(mean).epsilon(1e-6));
    REQUIRE(static_cast<f64>(got[1]) == Approx(variance).epsilon(1e-4).margin(1e-6));
  }
}

TEST_CASE("a ring of values in shared memory", "[composition]") {
  const u32 n = 23;
  std::vector<i32> x(n * 32);
  for (u32 i = 0; i < x.size(); ++i) x[i] = static_cast<i32>(i * i % 1009) - 500;
  auto in = under_test().upload(x);
  auto y = poisoned<i32>(n * 32);
  moving_sums.launch(under_test().stream(), grid(1), in, y, n);
  const std::vector<i32> got = y.download();
  for (u32 lane = 0; lane < 32; ++lane)
    for (u32 k = 0; k < n; ++k) {
      i32 want = 0;
      for (u32 j = k < 4 ? 0 : k - 4; j <= k; ++j) want += x[j * 32 + lane];
      CAPTURE(lane, k);
      REQUIRE(got[k * 32 + lane] == want);
    }
}

TEST_CASE("variables in structs and arrays", "[composition]") {
  for (const u32 n : {0u, 1u, 2u, 3u, 10u}) {
    std::vector<i32> x(n * 32 + 1);
    for (u32 i = 0; i < x.size(); ++i) x[i] = static_cast<i32>(i * 7919 % 1000);
    auto in = under_test().upload(x);
    auto y = poisoned<i32>(32 * holder_rows);
    holders.launch(under_test().stream(), grid(1), in, y, n);
    const std::vector<i32> got = y.download();
    for (u32 lane = 0; lane < 32; ++lane) {
      i32 least[3] = {2147483647, 2147483647, 2147483647}, most[3] = {-2147483647, -2147483647, -2147483647};
      i32 sum = 0;
      for (u32 k = 0; k < n; ++k) {
        const i32 v = x[k * 32 + lane];
        least[v % 3] = std::min(least[v % 3], v);
        most[v % 3] = std::max(most[v % 3], v);
        sum += v;
      }
      const auto rounds = static_cast<i32>(n);
      const auto one_more = static_cast<i32>(static_cast<u32>(least[1]) + 1);
      const i32 want[holder_rows] = {least[0], most[0], least[1], -5, least[1], most[1], one_more,    most[1],
                                     0,        1 + sum, -sum,     1,  rounds,   7,       100 + rounds};
      for (u32 row = 0; row < holder_rows; ++row) {
        CAPTURE(n, lane, row);
        REQUIRE(got[lane + 32 * row] == want[row]);
      }
    }
  }
}
