// Reductions and scans of warps and of groups of lanes: any operator, any block size, the order of the lanes.
#include "tests/kernels/warp/warp_fold.hpp"
#include "tests/kernels/warp/warp_kernels.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <u32 Threads, u32 Width>
void check_warp_folds() {
  const std::vector<u32> a = random_words(Threads, 3), b = random_words(Threads, 4);
  const std::vector<f32> x = uneven_floats(Threads);
  std::vector<host_affine> values(Threads);
  for (u32 i = 0; i < Threads; ++i) values[i] = {a[i] | 1, b[i]};
  std::vector<u32> odd(Threads);
  for (u32 i = 0; i < Threads; ++i) odd[i] = values[i].a;
  auto of_a = under_test().upload(odd);
  auto of_b = under_test().upload(b);
  auto of_x = under_test().upload(x);
  auto y = poisoned<u32>(Threads * 8);
  auto z = poisoned<f32>(Threads * 4);
  warp_folds<Threads, Width>.launch(under_test().stream(), grid(1), of_a, of_b, of_x, y, z);
  const auto words = y.download();
  const auto floats = z.download();
  const auto got = [&](u32 row, u32 i) {
    return host_affine{words[i + 2 * row * Threads], words[i + (2 * row + 1) * Threads]};
  };
  for (u32 i = 0; i < Threads; ++i) {
    const u32 first = i / Width * Width;
    const auto group = group_of(values, i, Width);
    const host_affine all = tree_of(group, compose_on_host);
    CAPTURE(Threads, Width, i);
    REQUIRE(got(0, i) == all);
    if (i == first) REQUIRE(got(1, i) == all);
    host_affine before{3, 5};
    host_affine up_to = values[first];
    for (u32 k = first; k < i; ++k) {
      before = compose_on_host(before, values[k]);
      up_to = compose_on_host(up_to, values[k + 1]);
    }
    REQUIRE(got(2, i) == up_to);
    REQUIRE(got(3, i) == before);
    const auto of_group = group_of(x, i, Width);
    const f32 sum = tree_of(of_group, [](f32 p, f32 q) { return p + q; });
    REQUIRE(bits(floats[i]) == bits(sum));
    REQUIRE(bits(floats[i + Threads]) == bits(sum));
    REQUIRE(floats[i + Threads * 2] == *std::min_element(of_group.begin(), of_group.end()));
    f32 most = -1.0f;
    for (u32 k = first; k < i; ++k) most = std::max(most, x[k]);
    REQUIRE(floats[i + Threads * 3] == most);
  }
}

template <class T, u32 Threads, u32 Target>
void check_integer_folds() {
  std::vector<T> x;
  for (const u32 w : random_words(Threads, 5)) x.push_back(static_cast<T>(w | (w & 1) << 31 | 0x10));
  auto in = under_test().upload(x);
  auto y = poisoned<T>(Threads * 12);
  integer_folds<T, Threads, Target>.launch(under_test().stream(), grid(1), in, y);
  const auto got = y.download();
  const auto check = [&](u32 row, const auto& op) {
    for (u32 i = 0; i < Threads; ++i) {
      CAPTURE(Threads, Target, row, i);
      REQUIRE(got[i + row * Threads] == tree_of(group_of(x, i, 32), op));
      REQUIRE(got[i + (row + 1) * Threads] == tree_of(x, op));
    }
  };
  check(0, [](T p, T q) { return static_cast<T>(static_cast<u64>(p) + static_cast<u64>(q)); });
  check(2, [](T p, T q) { return std::min(p, q); });
  check(4, [](T p, T q) { return std::max(p, q); });
  check(6, [](T p, T q) { return static_cast<T>(p & q); });
  check(8, [](T p, T q) { return static_cast<T>(p | q); });
  check(10, [](T p, T q) { return static_cast<T>(p ^ q); });
}

}  // namespace

TEST_CASE("warps of full blocks reduce and scan in the order of their lanes", "[warp]") {
  check_warp_folds<32, 32>();
  check_warp_folds<64, 32>();
  check_warp_folds<64, 16>();
  check_warp_folds<32, 2>();
  check_warp_folds<32, 1>();
}

TEST_CASE("partial warps and partial groups reduce and scan what they have", "[warp]") {
  check_warp_folds<1, 32>();
  check_warp_folds<2, 32>();
  check_warp_folds<19, 32>();
  check_warp_folds<31, 8>();
  check_warp_folds<33, 32>();
  check_warp_folds<48, 16>();
  check_warp_folds<55, 32>();
  check_warp_folds<85, 4>();
}

TEST_CASE("integers reduce alike by redux.sync and by shuffles", "[warp]") {
  check_integer_folds<u32, 64, 70>();
  check_integer_folds<i8, 45, 70>();
  check_integer_folds<u64, 96, 70>();
  if (under_test().properties().target.sm < 80) return;
  check_integer_folds<u32, 64, 80>();
  check_integer_folds<i32, 96, 80>();
  check_integer_folds<u32, 1024, 80>();
  check_integer_folds<i8, 45, 80>();
  check_integer_folds<u16, 7, 80>();
  check_integer_folds<i16, 200, 80>();
  check_integer_folds<i64, 64, 80>();
}

TEST_CASE("a NaN loses against a number in minimum and maximum, and propagates in plus", "[warp]") {
  constexpr f32 nan = std::numeric_limits<f32>::quiet_NaN();
  std::vector<f32> x(64);
  for (u32 i = 0; i < 64; ++i) x[i] = i < 32 ? static_cast<f32>(i) - 9.0f : nan;
  x[5] = nan;
  auto words = under_test().upload(std::vector<u32>(64));
  auto in = under_test().upload(x);
  auto y = poisoned<u32>(64 * 8);
  auto z = poisoned<f32>(64 * 4);
  warp_folds<64, 32>.launch(under_test().stream(), grid(1), words, words, in, y, z);
  const auto got = z.download();
  for (u32 i = 0; i < 64; ++i) {
    CAPTURE(i);
    REQUIRE(std::isnan(got[i]));
    REQUIRE(same(got[i + 128], i < 32 ? -9.0f : nan));
    REQUIRE(got[i + 192] == (i < 32 ? std::max(-1.0f, static_cast<f32>(i) - 10.0f) : -1.0f));
  }
}

TEST_CASE("values of 16 bits and conditions reduce and scan", "[warp]") {
  constexpr u32 threads = 75;
  std::vector<f16> x;
  std::vector<u32> z(threads);
  for (const f32 v : uneven_floats(threads)) x.emplace_back(v * 0x1p-2f);
  for (u32 i = 0; i < threads; ++i) z[i] = i;
  auto halves = under_test().upload(x);
  auto words = under_test().upload(z);
  auto y = poisoned<f16>(threads * 3);
  auto w = poisoned<u32>(threads * 3);
  narrow_folds.launch(under_test().stream(), grid(1), halves, words, y, w);
  const auto got = y.download();
  const auto conditions = w.download();
  const auto larger = [](f16 p, f16 q) { return p < q ? q : p; };
  const auto smaller = [](f16 p, f16 q) { return q < p ? q : p; };
  for (u32 i = 0; i < threads; ++i) {
    CAPTURE(i);
    const f16 sum = tree_of(group_of(x, i, 32),
                            [](f16 p, f16 q) { return f16(static_cast<f64>(p) + static_cast<f64>(q)); });
    REQUIRE(got[i].bits() == sum.bits());
    REQUIRE(got[i + threads] == tree_of(x, larger));
    f16 least = x[i & ~31u];
    for (u32 k = i & ~31u; k <= i; ++k) least = smaller(least, x[k]);
    REQUIRE(got[i + 2 * threads] == least);
    const auto check = [&](u32 row, const auto& holds, const auto& op) {
      bool of_warp = holds(i & ~31u), of_block = holds(0u), up_to = holds(0u);
      for (u32 k = (i & ~31u) + 1; k < std::min(threads, (i | 31) + 1); ++k) of_warp = op(of_warp, holds(k));
      for (u32 k = 1; k < threads; ++k) {
        of_block = op(of_block, holds(k));
        if (k <= i) up_to = op(up_to, holds(k));
      }
      REQUIRE(conditions[i + row * threads] == (of_warp ? 1u : 0) + (of_block ? 2u : 0) + (up_to ? 4u : 0));
    };
    check(
        0, [](u32 k) { return k == 40; }, [](bool p, bool q) { return p || q; });
    check(
        1, [](u32 k) { return k < 50; }, [](bool p, bool q) { return p && q; });
    check(
        2, [](u32 k) { return k % 3 == 1; }, [](bool p, bool q) { return p != q; });
  }
}
