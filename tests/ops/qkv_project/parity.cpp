// The names of KAIO: qkv_project_int8 and qkv_project_int4, with the canaries of its tests.
#include <kaio/ops/parity/quantised.hpp>

#include "tests/ops/cache/support.hpp"
#include "tests/ops/refusal.hpp"

#include <array>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Codes of Q, K and V by (k, column), and their scales by (k, column).
struct projections {
  u32 m, n, k, group;  // a group of k for int8
  std::array<std::vector<int>, 3> codes;
  std::array<std::vector<f16>, 3> scales;  // of groups and columns; of int8: the first
  std::vector<f16> x;

  projections(u32 rows, u32 columns, u32 depth, u32 of_group)
      : m(rows), n(columns), k(depth), group(of_group) {
    for (u32 p = 0; p < 3; ++p) {
      codes[p].assign(std::size_t{k} * n, 0);
      scales[p].assign(std::size_t{k / group} * n, f16(1.0f));
    }
    x.assign(std::size_t{m} * k, f16(1.0f));
  }
  double scale(u32 p, u32 i, u32 column) const {
    return to_double(scales[p][std::size_t{i / group} * n + column]);
  }
};

using results = std::array<std::vector<f16>, 3>;

// The results of all three, in memory that held other numbers.
template <class Call>
results run(const projections& c, const Call& call) {
  const device& gpu = under_test();
  const std::vector<f16> before(std::size_t{c.m} * c.n + 3,
                                f16(-77.0f));  // and no more than m * n is written
  auto x = gpu.upload(c.x), q = gpu.upload(before), of_k = gpu.upload(before), v = gpu.upload(before);
  call(x, q, of_k, v);
  results all{q.download(), of_k.download(), v.download()};
  for (std::vector<f16>& one : all) {
    for (std::size_t i = one.size() - 3; i < one.size(); ++i) REQUIRE(to_double(one[i]) == -77);
    one.resize(one.size() - 3);
  }
  return all;
}

results run_int8(const projections& c, const std::array<f32, 3>& scale) {
  const device& gpu = under_test();
  std::vector<buffer<i8>> w;
  for (const std::vector<int>& codes : c.codes)
    w.push_back(gpu.upload(std::vector<i8>(codes.begin(), codes.end())));
  return run(c, [&](auto& x, auto& q, auto& of_k, auto& v) {
    ops::qkv_project_int8(gpu, x, w[0], w[1], w[2], scale[0], scale[1], scale[2], q, of_k, v, c.m, c.n, c.k);
  });
}

results run_int4(const projections& c) {
  const device& gpu = under_test();
  std::vector<buffer<u32>> w;
  std::vector<buffer<f16>> scales;
  for (u32 p = 0; p < 3; ++p) {
    std::vector<u32> words(std::size_t{c.n} * (c.k / 8), 0);
    for (u32 i = 0; i < c.k; ++i)
      for (u32 column = 0; column < c.n; ++column)
        words[i / 8 + std::size_t{column} * (c.k / 8)] |=
            (static_cast<u32>(c.codes[p][std::size_t{i} * c.n + column]) & 15u) << (4 * (i % 8));
    w.push_back(gpu.upload(words));
    scales.push_back(gpu.upload(c.scales[p]));
  }
  return run(c, [&](auto& x, auto& q, auto& of_k, auto& v) {
    ops::qkv_project_int4(gpu, x, w[0], w[1], w[2], scales[0], scales[1], scales[2], q, of_k, v, c.m, c.n,
                          c.k, c.group);
  });
}

// Against double precision: sums in f32, a result rounded to f16. From 17 rows on weights may be rounded to f16.
void check(const projections& c, const results& got, const std::array<f32, 3>& scale) {
  CAPTURE(c.m, c.n, c.k, c.group);
  for (u32 p = 0; p < 3; ++p)
    for (u32 row = 0; row < c.m; ++row)
      for (u32 column = 0; column < c.n; ++column) {
        double want = 0, terms = 0;
        for (u32 i = 0; i < c.k; ++i) {
          const double term = to_double(c.x[std::size_t{row} * c.k + i]) *
                              c.codes[p][std::size_t{i} * c.n + column] * c.scale(p, i, column) *
                              static_cast<double>(scale[p]);
          want += term;
          terms += std::abs(term);
        }
        const double is = to_double(got[p][std::size_t{row} * c.n + column]);
        const double rounding = 1e-5 + (c.m > 16 ? 0x1p-11 : 0);
        if (std::abs(is - want) <= std::abs(want) / 2048 + terms * rounding + 1e-7) continue;
        CAPTURE(p, row, column);
        REQUIRE(is == want);
      }
}

constexpr std::array<f32, 3> ones{1, 1, 1};

projections random_case(u32 m, u32 n, u32 k, u32 group, int lowest, int highest, u64 seed) {
  projections c(m, n, k, group);
  std::mt19937_64 engine(seed);
  for (std::vector<int>& codes : c.codes)
    for (int& one : codes) one = lowest + static_cast<int>(engine() % static_cast<u64>(highest - lowest + 1));
  for (std::vector<f16>& scales : c.scales)
    for (f16& one : scales) one = f16(0.01f * static_cast<float>(engine() % 9 + 1));
  for (f16& one : c.x) one = f16(static_cast<float>(engine() % 2001) / 1000 - 1);
  return c;
}

}  // namespace

TEST_CASE("qkv_project_int8, qkv_project_int4: Q, K and V by their own weights, 100 times the same bits",
          "[ops][qkv][parity]") {
  const auto repeat = [](const projections& c, const auto& run_once) {
    const results first = run_once();
    for (u32 p = 0; p < 3; ++p)
      for (const f16 one : first[p]) REQUIRE(to_double(one) == 0.5 * c.k * (p + 1));
    for (int i = 1; i < 100; ++i) {
      const results again = run_once();
      for (u32 p = 0; p < 3; ++p) REQUIRE(same_bits(again[p], first[p]));
    }
  };
  for (const u32 group : {32u, 0u}) {
    projections c(5, 16, 32, group == 0 ? 32 : group);
    for (u32 p = 0; p < 3; ++p) c.codes[p].assign(c.codes[p].size(), static_cast<int>(p) + 1);
    c.x.assign(c.x.size(), f16(0.5f));
    if (group == 0)
      repeat(c, [&] { return run_int8(c, ones); });
    else
      repeat(c, [&] { return run_int4(c); });
  }
}

// Each 16 of k and each column has a weight of its own: none is used for another, with K of two and three
// tiles of KAIO's kernels.
TEST_CASE("qkv_project_int8, qkv_project_int4: every weight in its place", "[ops][qkv][quantised][parity]") {
  for (const u32 k : {32u, 48u}) {
    projections c(3, 16, k, k);
    for (u32 row = 0; row < c.m; ++row)
      for (u32 i = 0; i < k; ++i) c.x[std::size_t{row} * k + i] = f16(static_cast<float>(1 + i / 16 + row));
    for (u32 p = 0; p < 3; ++p)
      for (u32 i = 0; i < k; ++i)
        for (u32 column = 0; column < c.n; ++column)
          c.codes[p][std::size_t{i} * c.n + column] =
              static_cast<int>((i / 16 * 5 + i % 3 + column + p * 7) % 16) - 8;
    check(c, run_int8(c, ones), ones);
    check(c, run_int4(c), ones);
  }
}

TEST_CASE("qkv_project_int8, qkv_project_int4: signs", "[ops][qkv][quantised][parity]") {
  projections c(2, 8, 128, 128);
  const std::array<int, 3> eight{-128, -1, 127}, four{-8, -1, 7};
  for (const bool is_int8 : {true, false}) {
    for (u32 p = 0; p < 3; ++p) c.codes[p].assign(c.codes[p].size(), is_int8 ? eight[p] : four[p]);
    const results got = is_int8 ? run_int8(c, ones) : run_int4(c);
    for (u32 p = 0; p < 3; ++p)
      for (const f16 one : got[p]) REQUIRE(to_double(one) == 128.0 * (is_int8 ? eight[p] : four[p]));
  }
}

TEST_CASE("qkv_project_int8, qkv_project_int4: random weights", "[ops][qkv][quantised][parity]") {
  const std::array<f32, 3> scale{0.01f, 0.5f, 2e-3f};
  for (const auto& [m, n, k] : {std::array<u32, 3>{17, 24, 64}, {1, 13, 20}, {70, 1030, 16}}) {
    projections c = random_case(m, n, k, k, -128, 127, m);
    for (std::vector<f16>& scales : c.scales) scales.assign(scales.size(), f16(1.0f));
    check(c, run_int8(c, scale), scale);
  }
  for (const auto& [m, n, k, group] :
       {std::array<u32, 4>{17, 13, 256, 128}, {1, 40, 96, 32}, {66, 8, 128, 128}}) {
    const projections c = random_case(m, n, k, group, -8, 7, m);
    check(c, run_int4(c), ones);
  }
  REQUIRE(run_int8(projections(0, 8, 16, 16), ones)[0].empty());
}

TEST_CASE("qkv_project_int8, qkv_project_int4: bad input", "[ops][qkv][parity]") {
  const device& gpu = under_test();
  auto x = gpu.allocate<f16>(64), out = gpu.allocate<f16>(64), scales = gpu.allocate<f16>(8);
  auto other = gpu.allocate<f16>(64), third = gpu.allocate<f16>(64);
  auto w = gpu.allocate<i8>(256);
  auto packed = gpu.allocate<u32>(64);
  const auto int8 = [&](u32 m, u32 n, u32 k) {
    ops::qkv_project_int8(gpu, x, w, w, w, 1, 1, 1, out, other, third, m, n, k);
  };
  const auto int4 = [&](u32 m, u32 n, u32 k, u32 group) {
    ops::qkv_project_int4(gpu, x, packed, packed, packed, scales, scales, scales, out, other, third, m, n, k,
                          group);
  };
  int8(2, 8, 32);
  int4(2, 8, 32, 32);
  gpu.stream().synchronize();
  for (const auto& bad : std::vector<std::function<void()>>{
           [&] { int8(3, 8, 32); }, [&] { int8(2, 9, 32); }, [&] { int8(2, 8, 0); },
           [&] { int4(2, 9, 32, 32); }, [&] { int4(2, 8, 32, 40); }, [&] { int4(2, 8, 32, 0); }})
    REQUIRE_THROWS_AS(bad(), invalid_argument);
  REQUIRE_THROWS_AS(ops::qkv_project_int8(gpu, x, w, w, w, 1, 1, 1, out, out, third, 2, 8, 32),
                    invalid_argument);
}
