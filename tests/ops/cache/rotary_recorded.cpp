// The frequencies of each scaling of rotary_table next to those that Hugging Face's transformers computes in f32, and
// tables for tokens of several positions next to their definition.
#include "tests/ops/cache/support.hpp"

#include <kaio/ops/rotary.hpp>

#include <numeric>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct recorded_table {
  const char* name;
  double base;
  rotary_scaling scaling;
  double factor;  // of cos and sin
  std::vector<double> frequencies;
};

template <class F>
std::vector<double> factors(u32 pairs, const F& f) {
  std::vector<double> result;
  for (u32 i = 0; i < pairs; ++i) result.push_back(f(static_cast<double>(i)));
  return result;
}
rotary_scaling scaled(rotary_scaling s, double mscale, double mscale_all_dim) {
  s.mscale = mscale;
  s.mscale_all_dim = mscale_all_dim;
  return s;
}

std::vector<recorded_table> recorded_tables() {
  return {
#include "tests/ops/cache/rotary_recorded.inc"
  };
}

struct made_rows {
  std::vector<f32> cos, sin;
};
made_rows tables_of(u32 rows, u32 pairs, const rotary_table_options& options) {
  auto c = under_test().allocate<f32>(rows * pairs), s = under_test().allocate<f32>(rows * pairs);
  rotary_table(under_test().stream(), tensor_view<f32, 2>(c, rows, pairs),
               tensor_view<f32, 2>(s, rows, pairs), options);
  return {c.download(), s.download()};
}

}  // namespace

TEST_CASE("rotary_table: the frequencies of transformers", "[ops][cache]") {
  for (const recorded_table& want : recorded_tables()) {
    const auto pairs = static_cast<u32>(want.frequencies.size());
    const made_rows got =
        tables_of(1, pairs, {.base = want.base, .scaling = want.scaling, .first_position = 1});
    for (u32 i = 0; i < pairs; ++i) {
      // The sine of a frequency, at most 1, determines it.
      const double sine = want.factor * std::sin(want.frequencies[i]),
                   cosine = want.factor * std::cos(want.frequencies[i]);
      CAPTURE(want.name, i, got.sin[i], sine, got.cos[i], cosine);
      REQUIRE(std::abs(got.sin[i] - sine) <= 3e-6 * std::abs(sine));
      REQUIRE(std::abs(got.cos[i] - cosine) <= 3e-6);
    }
  }
}

TEST_CASE("rotary_table: positions of rows, and sections with a position each", "[ops][cache]") {
  const u32 rows = 9, pairs = 70;
  const made_rows plain = tables_of(64, pairs, {});
  std::vector<i32> narrow(3 * rows);
  for (u32 i = 0; i < narrow.size(); ++i) narrow[i] = static_cast<i32>(i * 37 % 64);
  const std::vector<i64> wide(narrow.begin(), narrow.end());
  const auto numbers_32 = upload(narrow);
  const auto numbers_64 = upload(wide);
  const auto check = [&](const rotary_table_options& options, const auto& axis_of_pair) {
    const made_rows got = tables_of(rows, pairs, options);
    for (u32 r = 0; r < rows; ++r)
      for (u32 i = 0; i < pairs; ++i) {
        CAPTURE(r, i);
        const auto at = static_cast<u32>(narrow[axis_of_pair(i) * rows + r]) * pairs + i;
        REQUIRE(got.cos[r * pairs + i] == plain.cos[at]);
        REQUIRE(got.sin[r * pairs + i] == plain.sin[at]);
      }
  };
  check({.positions = tensor_view<const i32, 1>(numbers_32, rows)}, [](u32) { return 0u; });
  const tensor_view<const i32, 2> of_32(numbers_32, 3, rows);
  const tensor_view<const i64, 2> of_64(numbers_64, 3, rows);
  check({.positions = of_64, .sections = {{34, 20, 16}}}, [](u32 i) {
    return i < 34 ? 0u : i < 54 ? 1u : 2u;
  });
  // Qwen2-VL's files repeat the sections for the second half of a head.
  check({.positions = of_32, .sections = {{10, 15, 10, 10, 15, 10}}}, [](u32 i) {
    return i % 35 < 10 ? 0u : i % 35 < 25 ? 1u : 2u;
  });
  check({.positions = of_32, .sections = {{30, 22, 18}, true}}, [](u32 i) {
    return i % 3 == 1 && i < 66 ? 1u : i % 3 == 2 && i < 54 ? 2u : 0u;
  });
}

TEST_CASE("rotary_table: positions that it has no angles for", "[ops][cache]") {
  const std::vector<i64> positions{0, -1, i64{1} << 32, (i64{1} << 32) - 1, std::numeric_limits<i64>::min()};
  const auto numbers = upload(positions);
  const made_rows got = tables_of(5, 2, {.positions = tensor_view<const i64, 1>(numbers, 5)});
  for (u32 r = 0; r < 5; ++r) {
    CAPTURE(r);
    const bool known = r == 0 || r == 3;
    REQUIRE(std::isnan(got.cos[2 * r]) == !known);
    REQUIRE(std::isnan(got.sin[2 * r + 1]) == !known);
  }
}
