// Atomic operations of many threads on few cells lose nothing.
#include "tests/kernels/memory/atomic_kernels.hpp"
#include "tests/kernels/support.hpp"

#include <algorithm>
#include <array>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Small numbers, so that sums are exact in any order; the integers with f16 stay below 2048.
template <class T>
T number(u32 k) {
  const int small = static_cast<int>(k * 29 % 7) - (ptx::is_unsigned(dsl::ptx_type<T>) ? 0 : 3);
  if constexpr (dsl::packed<T>)
    return T{number<dsl::half_of<T>>(k), number<dsl::half_of<T>>(k + 2)};
  else
    return static_cast<T>(small);
}

template <class T>
T applied(u32 row, T a, T b) {
  if constexpr (dsl::packed<T>) {
    return T{applied(row, a.low, b.low), applied(row, a.high, b.high)};
  } else if constexpr (dsl::floating<T>) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    return static_cast<T>(row == 0 ? x + y : row == 1 ? x - y : row == 2 ? std::min(x, y) : std::max(x, y));
  } else {
    switch (row) {
      case 0: return static_cast<T>(a + b);
      case 1: return static_cast<T>(a - b);
      case 2: return std::min(a, b);
      case 3: return std::max(a, b);
      case 4: return static_cast<T>(a & (b | 1));
      case 5: return static_cast<T>(a | b);
      default: return static_cast<T>(a ^ b);
    }
  }
}

template <class T, u16 Sm>
void check_contention() {
  constexpr u32 n = 200, rows = dsl::integer<T> && sizeof(T) >= 4 ? 7 : 4;
  std::vector<T> x(n), first(8 * atomic_cells);
  for (u32 i = 0; i < n; ++i) x[i] = number<T>(i);
  for (u32 i = 0; i < first.size(); ++i) first[i] = number<T>(i + 3);
  auto in = under_test().upload(x);
  auto cells = under_test().upload(first);
  auto start = under_test().upload(first);
  auto staged = poisoned<T>(7 * atomic_cells);
  auto old = poisoned<T>(n);
  contention<T, Sm>.launch(under_test().stream(), over(n), in, cells, staged, start, old, n);
  const auto got = cells.download();
  const auto got_staged = staged.download();
  for (u32 row = 0; row < rows; ++row)
    for (u32 c = 0; c < atomic_cells; ++c) {
      T want = first[row * atomic_cells + c], want_staged = want;
      for (u32 i = c; i < n; i += atomic_cells) {
        want = applied(row, want, x[i]);
        if (i < 64) want_staged = applied(row, want_staged, x[i]);
      }
      CAPTURE(row, c, Sm);
      REQUIRE(got[row * atomic_cells + c] == want);
      REQUIRE(got_staged[row * atomic_cells + c] == want_staged);
    }
  // An exchange loses nothing: every value put in comes out, except the last one, and so does the first content.
  const auto found = old.download();
  const auto key = [](const T& v) {
    u64 raw = 0;
    std::memcpy(&raw, &v, sizeof(T));
    return raw;
  };
  for (u32 c = 0; c < atomic_cells; ++c) {
    std::vector<u64> in_cell{key(first[7 * atomic_cells + c])}, out_of_it{key(got[7 * atomic_cells + c])};
    for (u32 i = c; i < n; i += atomic_cells) {
      in_cell.push_back(key(x[i]));
      out_of_it.push_back(key(found[i]));
    }
    std::sort(in_cell.begin(), in_cell.end());
    std::sort(out_of_it.begin(), out_of_it.end());
    REQUIRE(in_cell == out_of_it);
  }
}

template <class V, u16 Sm>
void check_vectors() {
  using T = typename V::value_type;
  constexpr u32 n = 60;
  std::vector<V> x(n), start(n);
  for (u32 i = 0; i < n; ++i)
    for (u32 k = 0; k < V::size(); ++k) {
      x[i][k] = number<T>(i * 5 + k);
      start[i][k] = number<T>(i + k * 3);
    }
  auto in = under_test().upload(x);
  auto sums = under_test().allocate<V>(3);
  auto largest = under_test().allocate<T>(3 * V::size());
  auto once = under_test().upload(start);
  auto found = poisoned<V>(n);
  vector_sums<V, Sm>.launch(under_test().stream(), over(n), in, sums, largest, once, found, n);
  const auto got_sums = sums.download();
  const auto got_largest = largest.download();
  const auto got_once = once.download();
  const auto got_found = found.download();
  for (u32 c = 0; c < 3; ++c)
    for (u32 k = 0; k < V::size(); ++k) {
      T sum{}, most{};
      for (u32 i = c; i < n; i += 3) {
        sum = applied(0, sum, x[i][k]);
        most = applied(3, most, x[i][k]);
      }
      CAPTURE(c, k, Sm);
      REQUIRE(got_sums[c][k] == sum);
      REQUIRE(got_largest[c * V::size() + k] == most);
    }
  for (u32 i = 0; i < n; ++i)
    for (u32 k = 0; k < V::size(); ++k) {
      REQUIRE(got_found[i][k] == start[i][k]);
      REQUIRE(got_once[i][k] == applied(1, start[i][k], x[i][k]));
    }
}

}  // namespace

TEMPLATE_TEST_CASE("atomic operations of each type", "[atomic]", u32, i32, u64, i64, f32, f64, f16, bf16,
                   f16x2, bf16x2, u16, i16) {
  check_contention<TestType, 70>();
}

TEST_CASE("the instructions of newer architectures give the same", "[atomic]") {
  check_contention<bf16, 90>();
  check_contention<bf16x2, 90>();
}

TEMPLATE_TEST_CASE("tickets and compare-exchange loops", "[atomic]", u32, i64, f32, f64, f16, bf16, u16) {
  using T = TestType;
  const u32 n = 70;
  auto counters = under_test().upload(std::vector<u32>{0, 0});
  auto up = poisoned<u32>(n);
  auto down = poisoned<u32>(n);
  auto sum = under_test().upload(std::vector<T>{static_cast<T>(1)});
  exchanges<T>.launch(under_test().stream(), over(n), counters, up, down, sum, n);
  std::array<u32, 10> seen_up{}, seen_down{};
  for (const u32 k : up.download()) ++seen_up.at(k);
  for (const u32 k : down.download()) ++seen_down.at(k);
  for (u32 k = 0; k < 10; ++k) {
    REQUIRE(seen_up[k] == 7);
    REQUIRE(seen_down[k] == 7);
  }
  REQUIRE(counters.download() == std::vector<u32>{0, 0});
  REQUIRE(sum.download()[0] == static_cast<T>(211));
}

TEST_CASE("the least and the largest of floats ignore NaN", "[atomic]") {
  const f32 nan = std::numeric_limits<f32>::quiet_NaN();
  const std::vector<f32> x = {nan, -0.0f, 3.0f, -7.5f, std::numeric_limits<f32>::infinity(),
                              nan, 1.0f,  0.0f, -1.0f, 2.0f};
  auto in = under_test().upload(x);
  auto cells = under_test().upload(std::vector<f32>(40, nan));
  auto first = under_test().upload(std::vector<f32>(40, nan));
  auto staged = poisoned<f32>(35);
  auto old = poisoned<f32>(10);
  contention<f32, 70>.launch(under_test().stream(), over(10), in, cells, staged, first, old, 10u);
  const auto got = cells.download();
  for (u32 c = 0; c < 5; ++c) {
    const f32 a = x[c], b = x[c + 5];
    REQUIRE(same(got[2 * 5 + c], std::fmin(a, b)));
    REQUIRE(same(got[3 * 5 + c], std::fmax(a, b)));
  }
}

TEST_CASE("sums of vectors", "[atomic]") {
  check_vectors<f32x4, 70>();
  check_vectors<f32x4, 90>();
  check_vectors<f32x2, 90>();
  check_vectors<f16x8, 70>();
  check_vectors<f16x8, 90>();
  check_vectors<bf16x4, 90>();
  check_vectors<vec<f16x2, 4>, 90>();
  check_vectors<vec<bf16x2, 2>, 90>();
  check_vectors<i32x4, 90>();
  check_vectors<u16x8, 70>();
}
