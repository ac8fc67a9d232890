// rotary_table next to double precision, and the frequencies of each scaling next to their formulas.
#include "tests/ops/cache/support.hpp"

#include <kaio/ops/rotary.hpp>

#include <numbers>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
struct made_tables {
  u32 rows, pairs;
  buffer<T> cos, sin;
  made_tables(u32 in_rows, u32 in_pairs, const rotary_table_options& options)
      : rows(in_rows),
        pairs(in_pairs),
        cos(under_test().allocate<T>(rows * pairs)),
        sin(under_test().allocate<T>(rows * pairs)) {
    rotary_table(under_test().stream(), tensor_view<T, 2>(cos, rows, pairs),
                 tensor_view<T, 2>(sin, rows, pairs), options);
  }
  // Every number is that of long double, rounded once, within `units` units in the last place.
  template <class Frequency>
  void check(const Frequency& frequency, u64 first, double factor, double units) const {
    const auto c = cos.download(), s = sin.download();
    for (u32 p = 0; p < rows; ++p)
      for (u32 i = 0; i < pairs; ++i) {
        const long double angle = static_cast<long double>(first + p) * frequency(i);
        const auto want_cos = static_cast<double>(std::cos(angle) * factor);
        const auto want_sin = static_cast<double>(std::sin(angle) * factor);
        const double got_cos = to_double(c[p * pairs + i]), got_sin = to_double(s[p * pairs + i]);
        CAPTURE(p, i, first, got_cos, want_cos, got_sin, want_sin);
        // Near a zero of cos or sin, the result has the error of the angle's product in f64.
        const double of_angle = static_cast<double>(std::abs(angle)) * 0x1p-51 * factor;
        REQUIRE(std::abs(got_cos - want_cos) <= units * unit_in_last_place<T>(want_cos) + of_angle);
        REQUIRE(std::abs(got_sin - want_sin) <= units * unit_in_last_place<T>(want_sin) + of_angle);
      }
  }
};

long double plain(double base, u32 i, u32 pairs) {
  return std::pow(static_cast<long double>(base), -static_cast<long double>(i) / pairs);
}

}  // namespace

TEST_CASE("rotary_table: f32 rounding at positions up to 2^20", "[ops][cache]") {
  for (const u64 first : {u64{0}, u64{1000}, u64{131071}, (u64{1} << 20) - 5, (u64{1} << 32) - 6})
    for (const double base : {10000.0, 500000.0}) {
      const u32 pairs = first == 0 ? 64 : 35;
      const made_tables<f32> made(5, pairs, {.base = base, .first_position = static_cast<i64>(first)});
      made.check([&](u32 i) { return plain(base, i, pairs); }, first, 1, 0.501);
    }
  // The largest frequency and the largest factor that are accepted.
  rotary_scaling scaling = rotary_scaling::longrope(std::vector<double>(8, 1.0 / 16), 2, 4096);
  scaling.attention_factor = 1e4;
  const u64 first = (u64{1} << 32) - 6;
  const made_tables<f32> largest(5, 8, {.scaling = scaling, .first_position = static_cast<i64>(first)});
  largest.check([](u32 i) { return 16 * plain(10000, i, 8); }, first, 1e4, 0.501);
}

TEST_CASE("rotary_table: 16-bit tables, the largest ones, strides", "[ops][cache]") {
  const made_tables<f16> half(9, 8, {});
  half.check([](u32 i) { return plain(10000, i, 8); }, 0, 1, 0.51);
  const made_tables<bf16> brain(9, 8, {});
  brain.check([](u32 i) { return plain(10000, i, 8); }, 0, 1, 0.51);
  const made_tables<f32> large(2, 256, {});
  large.check([](u32 i) { return plain(10000, i, 256); }, 0, 1, 0.501);
  const made_tables<f32> none(0, 4, {});
  // Columns of one tensor: the columns between them stay.
  auto both = upload(std::vector<f32>(4 * 20, 9.0f));
  const tensor_view<f32, 2> all(both, 4, 20);
  rotary_table(under_test().stream(), all.slice(1, 0, 8), all.slice(1, 8, 8));
  const auto got = both.download();
  for (u32 p = 0; p < 4; ++p)
    for (u32 i = 0; i < 20; ++i) {
      const double angle = p * static_cast<double>(plain(10000, i % 8, 8));
      const double want = i < 8 ? std::cos(angle) : i < 16 ? std::sin(angle) : 9;
      REQUIRE(std::abs(got[p * 20 + i] - want) < 1e-7);
    }
}

TEST_CASE("rotary_table: scalings", "[ops][cache]") {
  const u32 pairs = 32, rows = 7;
  const double base = 500000;
  const u64 first = 90000;
  rotary_table_options options{.base = base, .first_position = static_cast<i64>(first)};
  const double pi = std::numbers::pi;
  SECTION("linear") {
    options.scaling = rotary_scaling::linear(4);
    made_tables<f32>(rows, pairs, options)
        .check([&](u32 i) { return plain(base, i, pairs) / 4; }, first, 1, 0.501);
  }
  SECTION("llama3: by wavelengths") {
    options.scaling = rotary_scaling::llama3(8, 1, 4, 8192);
    u32 kept = 0, divided = 0, between = 0;
    made_tables<f32>(rows, pairs, options)
        .check(
            [&](u32 i) {
              const long double f = plain(base, i, pairs), wave = 2 * pi / f;
              if (wave < 8192.0L / 4) return ++kept, f;
              if (wave > 8192.0L / 1) return ++divided, f / 8;
              const long double smooth = (8192 / wave - 1) / (4 - 1);
              return ++between, (1 - smooth) * f / 8 + smooth * f;
            },
            first, 1, 0.502);
    REQUIRE((kept != 0 && divided != 0 && between != 0));
  }
  SECTION("yarn: a ramp between two pairs, and a factor") {
    for (const bool own : {false, true}) {
      options.scaling = rotary_scaling::yarn(16, 4096);
      if (own) options.scaling.attention_factor = 1.25;
      const auto pair_of = [&](double turns) {
        return pairs * std::log(4096 / (turns * 2 * pi)) / std::log(base);
      };
      const double low = std::floor(pair_of(32)), high = std::ceil(pair_of(1));
      REQUIRE((low > 0 && high < pairs));
      made_tables<f32>(rows, pairs, options)
          .check(
              [&](u32 i) {
                const long double f = plain(base, i, pairs);
                const double ramp = std::clamp((i - low) / (high - low), 0.0, 1.0);
                return f / 16 * ramp + f * (1 - ramp);
              },
              first, own ? 1.25 : 0.1 * std::log(16.0) + 1, 0.502);
    }
  }
}
