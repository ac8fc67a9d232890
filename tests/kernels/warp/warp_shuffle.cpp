// Shuffles of every type and of aggregates; votes, matches and elections, of whole warps and of parts.
#include "tests/kernels/support.hpp"
#include "tests/kernels/warp/warp_kernels.hpp"

#include <cstring>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
std::vector<T> distinct() {
  std::vector<T> x(64);
  for (u32 i = 0; i < 64; ++i) {
    const u64 raw = (i + 1) * 0x9e3779b97f4a7c15u;
    std::memcpy(static_cast<void*>(&x[i]), &raw, sizeof(T));
  }
  return x;
}

template <class T>
bool equal_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("shuffles move values of every type between lanes, bit by bit", "[warp]", u8, i8, u16, i16,
                   u32, i32, u64, i64, f16, bf16, f16x2, bf16x2, f32, f64) {
  using T = TestType;
  const std::vector<T> x = distinct<T>();
  std::vector<u32> lane(64);
  for (u32 i = 0; i < 64; ++i) lane[i] = i * 5 % 32;
  auto in = under_test().upload(x);
  auto lanes = under_test().upload(lane);
  auto y = poisoned<T>(64 * 8);
  auto in_range = poisoned<u32>(64 * 3);
  every_shuffle<T>.launch(under_test().stream(), grid(1), in, y, in_range, lanes);
  const std::vector<T> got = y.download();
  const auto inside = in_range.download();
  for (u32 i = 0; i < 64; ++i) {
    const u32 warp = i & ~31u, l = i & 31;
    CAPTURE(i);
    REQUIRE(equal_bits(got[i], x[warp + lane[i]]));
    REQUIRE(equal_bits(got[i + 64], l < 3 ? x[i] : x[i - 3]));
    REQUIRE(equal_bits(got[i + 128], l + 5 > 31 ? x[i] : x[i + 5]));
    REQUIRE(equal_bits(got[i + 192], x[warp + (l ^ 9)]));
    REQUIRE(equal_bits(got[i + 256], x[(i & ~7u) + 2]));
    const bool up = l % 16 >= 5;
    REQUIRE(equal_bits(got[i + 320], up ? x[i - 5] : x[i]));
    REQUIRE((inside[i] != 0) == up);
    const u32 delta = lane[i] % 8;
    const bool down = l % 8 + delta <= 7;
    REQUIRE(equal_bits(got[i + 384], down ? x[i + delta] : x[i]));
    REQUIRE((inside[i + 64] != 0) == down);
    const u32 partner = l ^ 6;  // in a group further down, or out of range
    const bool across = partner <= (l | 3);
    REQUIRE(equal_bits(got[i + 448], across ? x[warp + partner] : x[i]));
    REQUIRE((inside[i + 128] != 0) == across);
  }
}

TEST_CASE("an aggregate of vals travels as one value", "[warp]") {
  const std::vector<bf16x2> pairs = [] {
    const std::vector<bf16x2> all = distinct<bf16x2>();
    return std::vector<bf16x2>(all.begin(), all.begin() + 32);
  }();
  std::vector<u32> x(32);
  for (u32 i = 0; i < 32; ++i) x[i] = i * 37 % 101;
  auto in = under_test().upload(x);
  auto of_pairs = under_test().upload(pairs);
  auto y = poisoned<u32>(32 * 6);
  auto b = poisoned<f64>(32);
  auto f = poisoned<i64>(64);
  auto e = poisoned<f16>(32);
  auto g = poisoned<bf16x2>(32);
  shuffled_aggregate.launch(under_test().stream(), grid(1), in, y, b, f, e, g, of_pairs);
  const auto words = y.download();
  const auto doubles = b.download();
  const auto longs = f.download();
  const auto halves = e.download();
  const auto packed = g.download();
  for (u32 i = 0; i < 32; ++i) {
    const u32 from = i == 31 ? 31 : i + 1;
    const u32 v = x[from];
    CAPTURE(i);
    REQUIRE(words[i] == v);
    REQUIRE(doubles[i] == v);
    REQUIRE(words[i + 32] == (v % 3 == 0 ? 1 : 0));
    REQUIRE(words[i + 64] == v * 2);
    REQUIRE(words[i + 96] == v * 3);
    REQUIRE(equal_bits(halves[i], f16(static_cast<f32>(v))));
    REQUIRE(longs[i] == static_cast<i64>(v) * -4294967299);
    REQUIRE(longs[i + 32] == static_cast<i64>(v) * -4294967299 + 1);
    REQUIRE(equal_bits(packed[i], pairs[from]));
    REQUIRE(words[i + 128] == bits(static_cast<f32>(v)));
    REQUIRE(words[i + 160] == (i == 31 ? 0 : 1));
  }
}

namespace {

template <u32 Target>
void check_votes(const std::vector<u32>& x, const std::vector<u64>& key) {
  auto values = under_test().upload(x);
  auto keys = under_test().upload(key);
  auto y = poisoned<u32>(64 * 14);
  const std::vector<u32> poison = y.download();
  votes<Target>.launch(under_test().stream(), grid(1), values, keys, y);
  const auto got = y.download();
  const auto mask = [&](u32 warp, u32 members, const auto& holds) {
    u32 result = 0;
    for (u32 l = 0; l < 32; ++l)
      if ((members >> l & 1) != 0 && holds(warp + l)) result |= 1u << l;
    return result;
  };
  const u32 all = 0xffffffffu, some = 0x000fffe0u;
  u32 elected[2] = {}, elected_of_some[2] = {};
  for (u32 i = 0; i < 64; ++i) {
    const u32 warp = i & ~31u, l = i & 31;
    const auto of = [&](u32 members, const auto& holds) { return mask(warp, members, holds); };
    CAPTURE(Target, i);
    REQUIRE(got[i] == of(all, [&](u32 k) { return x[k] % 3 == 0; }));
    const u32 even = of(all, [&](u32 k) { return x[k] % 2 == 0; });
    const u32 small = of(all, [&](u32 k) { return x[k] < 100; });
    const u32 sevens = of(all, [&](u32 k) { return x[k] % 7 == 0; });
    const u32 large = of(all, [&](u32 k) { return x[k] > 1000; });
    REQUIRE(got[i + 64] == (small == all ? 1u : 0) + (sevens != 0 ? 2u : 0) +
                               (large == 0 || large == all ? 4u : 0) + (even == 0 || even == all ? 8u : 0));
    REQUIRE(got[i + 128] == of(all, [&](u32 k) { return x[k] % 5 == x[i] % 5; }));
    REQUIRE(got[i + 192] == of(all, [&](u32 k) { return key[k] == key[i]; }));
    REQUIRE(got[i + 256] == (of(all, [&](u32 k) { return x[k] == x[i]; }) == all ? all + 1 : 0));
    const u32 same = of(all, [&](u32 k) { return key[k] / 1000000000000u == key[i] / 1000000000000u; });
    REQUIRE(got[i + 320] == (same == all ? all : 77));
    elected[i / 32] += got[i + 384];
    REQUIRE(got[i + 384] <= 1);
    const u32 bit = 1u << l;
    REQUIRE(got[i + 448] ==
            (bit ^ (bit - 1) * 3) + (bit | (bit - 1)) * 5 + ~(bit | (bit - 1)) * 7 + ~(bit - 1) * 11);
    if (l < 5 || l >= 20) {
      for (u32 row = 8; row < 14; ++row) REQUIRE(got[i + 64 * row] == poison[i + 64 * row]);
      continue;
    }
    REQUIRE(got[i + 512] == of(some, [&](u32 k) { return x[k] % 2 == 0; }));
    elected_of_some[i / 32] += got[i + 576];
    REQUIRE(got[i + 640] == x[l == 5 ? i : warp + (l ^ 1)]);
    REQUIRE((got[i + 704] & bit) != 0);
    REQUIRE((got[i + 704] & ~some) == 0);
    REQUIRE(got[i + 768] == of(some, [&](u32 k) { return x[k] % 5 == x[i] % 5; }));
    REQUIRE(got[i + 832] == 1);
  }
  for (const u32 count : {elected[0], elected[1], elected_of_some[0], elected_of_some[1]})
    REQUIRE(count == 1);
}

}  // namespace

TEST_CASE("votes, matches and elections, of whole warps and of parts", "[warp]") {
  std::vector<u32> mixed(64), equal(64, 70);
  std::vector<u64> key(64), wide(64);
  for (u32 i = 0; i < 64; ++i) {
    mixed[i] = i * 29 % 131 + (i < 32 ? 0 : 980);
    key[i] = u64{i % 3} << 32 | 5;
    wide[i] = 3000000000007u;
  }
  check_votes<70>(mixed, key);
  check_votes<70>(equal, wide);
  if (under_test().properties().target.sm >= 90) {
    check_votes<90>(mixed, key);
    check_votes<90>(equal, wide);
  }
}
