// Vectors of every element type go through global, read-only and shared memory unchanged.
#include "tests/kernels/memory/memory_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
T number(u32 k) {
  if constexpr (dsl::packed<T>)
    return T{number<dsl::half_of<T>>(k), number<dsl::half_of<T>>(k + 7)};
  else
    return static_cast<T>(static_cast<int>(k * 37 % 251) - (ptx::is_unsigned(dsl::ptx_type<T>) ? 0 : 120));
}

template <class T>
T combined(T a, T b, bool subtract) {
  if constexpr (dsl::packed<T>)
    return T{combined(a.low, b.low, subtract), combined(a.high, b.high, subtract)};
  else if constexpr (dsl::floating<T>)
    return static_cast<T>(subtract ? static_cast<double>(a) - static_cast<double>(b)
                                   : static_cast<double>(a) + static_cast<double>(b));
  else
    return static_cast<T>(subtract ? a - b : a + b);
}

template <class T>
std::vector<T> numbers(std::size_t count, u32 first) {
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = number<T>(static_cast<u32>(i) + first);
  return result;
}

template <class V, class T = typename V::value_type>
std::vector<V> together(const std::vector<T>& elements) {
  std::vector<V> result(elements.size() / V::size());
  std::memcpy(static_cast<void*>(result.data()), elements.data(), elements.size() * sizeof(T));
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("vectors of every kind", "[memory]", f32x2, f32x4, f64x2, f16x4, f16x8, bf16x4, bf16x8,
                   i64x2, u64x2, i32x2, i32x4, u32x2, u32x4, i16x2, i16x4, i16x8, u16x2, u16x8, i8x2, i8x4,
                   i8x8, i8x16, u8x2, u8x4, u8x8, u8x16, (vec<f16, 2>), (vec<f16x2, 2>), (vec<f16x2, 4>),
                   (vec<bf16x2, 4>)) {
  using V = TestType;
  using T = typename V::value_type;
  constexpr u32 n = V::size();
  static_assert(alignof(V) == sizeof(V) && sizeof(V) == n * sizeof(T));
  const u32 count = 128;
  const auto x = numbers<T>(count * n, 3);
  const auto d = numbers<T>(count * n, 11);
  const auto e = numbers<T>(count * n, 29);
  auto in = under_test().upload(together<V>(x));
  auto doubled = under_test().upload(together<V>(d));
  auto elements = under_test().upload(e);
  auto backwards = poisoned<V>(count);
  auto mixed = poisoned<V>(count);
  vectors<V>.launch(under_test().stream(), over(count), in, backwards, doubled, elements, mixed);
  const auto got_backwards = backwards.download();
  const auto got_doubled = doubled.download();
  const auto got_elements = elements.download();
  const auto got_mixed = mixed.download();
  for (u32 i = 0; i < count; ++i)
    for (u32 k = 0; k < n; ++k) {
      CAPTURE(i, k);
      const u32 at = i * n + k;
      REQUIRE(got_backwards[i][k] == x[i * n + n - 1 - k]);
      REQUIRE(got_doubled[i][k] == combined(d[at], d[at], false));
      REQUIRE(got_mixed[i][k] == combined(e[at], x[at], false));
      // The neighbour of this thread holds the value that the thread before it has loaded.
      const u32 beside = i % 64 ^ 1, before = beside == 0 ? 0 : beside - 1;
      const T want = combined(e[at], x[(i / 64 * 64 + before) * n + k], true);
      REQUIRE(got_elements[at] == (at == 1 ? x[2 * n - 1] : want));
    }
}

TEST_CASE("every cache policy and order moves the same numbers", "[memory]") {
  const u32 n = 64;
  const auto x = numbers<f32>(n, 1);
  const auto v = numbers<f32>(n * 4, 5);
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(n);
  auto z = poisoned<f32>(n);
  auto vector_in = under_test().upload(together<f32x4>(v));
  auto w = poisoned<f32x4>(n * 2);
  policies.launch(under_test().stream(), over(n), in, y, z, vector_in, w, n);
  const auto got_y = y.download();
  const auto got_z = z.download();
  const auto got_w = w.download();
  for (u32 i = 0; i < n; ++i) {
    REQUIRE(got_y[i] == x[i] * 288.0f);  // nine loads, doubled five times
    REQUIRE(got_z[i] == x[i] * 288.0f);
    for (u32 k = 0; k < 4; ++k) {
      REQUIRE(got_w[i][k] == v[i * 4 + k] * 2.0f);
      REQUIRE(got_w[i + n][k] == v[i * 4 + k] * 2.0f);
    }
  }
}

TEST_CASE("the last block sees what all others wrote", "[memory]") {
  const u32 blocks = 37;
  const auto x = numbers<u32>(blocks * 64, 9);
  u32 want = 0;
  for (const u32 e : x) want += e;
  auto in = under_test().upload(x);
  auto count = under_test().allocate<u32>(1);
  for (int round = 0; round < 3; ++round) {
    auto partial = poisoned<u32>(blocks);
    auto total = poisoned<u32>(1);
    last_block.launch(under_test().stream(), grid(blocks), in, partial, count, total);
    REQUIRE(total.download()[0] == want);
    REQUIRE(count.download()[0] == 0);  // the counter has wrapped, ready for another launch
  }
}

TEST_CASE("pointers to rows", "[memory]") {
  const u32 n = 40, columns = 13;
  const auto x = numbers<f32>(n * columns, 2);
  auto in = under_test().upload(x);
  auto y = poisoned<f32>(n);
  auto w = under_test().upload(together<f32x4>(numbers<f32>(n * 8, 4)));
  rows.launch(under_test().stream(), over(n), in, y, w, n, columns);
  const auto got = y.download();
  const auto pairs_of_it = w.download();
  for (u32 r = 0; r < n; ++r) {
    f32 sum = 0;
    for (u32 k = 0; k < columns; ++k) sum += x[r * columns + k] * x[r * columns + columns - 1];
    REQUIRE(got[r] == sum);  // small integers: exact
    REQUIRE(pairs_of_it[2 * r + 1] == pairs_of_it[2 * r]);
    REQUIRE(pairs_of_it[2 * r][0] == number<f32>(r * 8 + 4));
  }
}

TEST_CASE("addresses beyond 32 bits", "[memory]") {
  const auto x = numbers<u8>(256, 1);
  auto whole = under_test().upload(x);
  auto y = poisoned<u8>(96);
  // The pointer begins 4 GB before the memory, which only a sum of 64 bits meets again.
  const u64 far = 0x100000000u;
  const device_pointer<u8> shifted{whole.address() - far, far + 256, nullptr};
  far_addresses.launch(under_test().stream(), grid(1), shifted, y, far + 200, i64{-120});
  const auto got = y.download();
  for (u32 i = 0; i < 32; ++i) {
    REQUIRE(got[i] == x[80 + i]);
    REQUIRE(got[i + 32] == x[80 + i]);
    REQUIRE(got[i + 64] == x[200 + i]);
  }
}

TEST_CASE("a pointer may come from memory", "[memory]") {
  const auto x = numbers<u32>(32, 1);
  auto first = under_test().upload(x);
  auto second = poisoned<u32>(32);
  const std::vector<u32> before = second.download();
  auto addresses = under_test().upload(std::vector<u64>{0, second.address(), first.address()});
  pointers_in_memory.launch(under_test().stream(), grid(1), addresses, 2u, 1u);
  const auto got = second.download();
  for (u32 i = 0; i < 32; ++i) REQUIRE(got[i] == (i % 2 == 0 ? x[i] + x[0] : before[i]));
}
