// The approximate functions stay inside the bounds that the PTX ISA states, and give its special cases.

#include "tests/emulator/kernel.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

using namespace emulator_test;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float least = std::numeric_limits<float>::denorm_min();
constexpr std::uint64_t nan32 = 0x7fffffff;

words samples(double from, double to, bool logarithmic) {
  words v;
  for (int i = 0; i < 4000; ++i) {
    const double t = i / 3999.0;
    v.push_back(
        bits(static_cast<float>(logarithmic ? from * std::pow(to / from, t) : from + (to - from) * t)));
  }
  return v;
}

// The largest error over a table, measured by `error`.
double worst(const std::string& text, const words& v,
             const std::function<double(double have, double x)>& error) {
  const words have = apply(text, "f32", {"f32"}, {v});
  double most = 0;
  for (std::size_t i = 0; i < v.size(); ++i)
    most = std::max(most, error(double{f32_of(have[i])}, double{f32_of(v[i])}));
  return most;
}

double relative(double have, double want) { return std::fabs(have - want) / std::fabs(want); }

std::uint64_t of(const std::string& text, float x) { return apply(text, "f32", {"f32"}, {{bits(x)}})[0]; }

}  // namespace

TEST_CASE("approximate functions stay inside their bounds") {
  const double two = 2;
  CHECK(worst("ex2.approx.f32 d, a", samples(-120, 120, false),
              [&](double h, double x) { return relative(h, std::pow(two, x)); }) <= std::exp2(-22.5));
  // ex2 with a subnormal result is rounded once: half of the least subnormal.
  CHECK(worst("ex2.approx.f32 d, a", samples(-151, -126, false), [&](double h, double x) {
          return std::fabs(h - std::pow(two, x));
        }) <= double{least} / 2 * 1.001);
  CHECK(worst("lg2.approx.f32 d, a", samples(0.5, 2, false),
              [](double h, double x) { return std::fabs(h - std::log2(x)); }) <= std::exp2(-22.6));
  CHECK(worst("lg2.approx.f32 d, a", samples(1e-38, 1e38, true), [](double h, double x) {
          return std::fabs(std::log2(x)) < 1 ? 0 : relative(h, std::log2(x));
        }) <= std::exp2(-22.6));
  CHECK(worst("rcp.approx.f32 d, a", samples(1e-37, 1e37, true),
              [](double h, double x) { return relative(h, 1 / x); }) <= std::exp2(-23));
  CHECK(worst("rsqrt.approx.f32 d, a", samples(1e-37, 1e38, true),
              [](double h, double x) { return relative(h, 1 / std::sqrt(x)); }) <= std::exp2(-22.9));
  CHECK(worst("sqrt.approx.f32 d, a", samples(1e-37, 1e38, true),
              [](double h, double x) { return relative(h, std::sqrt(x)); }) <= std::exp2(-23));
  CHECK(worst("sin.approx.f32 d, a", samples(-3.15, 3.15, false),
              [](double h, double x) { return std::fabs(h - std::sin(x)); }) <= std::exp2(-20.5));
  CHECK(worst("cos.approx.f32 d, a", samples(-3.15, 3.15, false),
              [](double h, double x) { return std::fabs(h - std::cos(x)); }) <= std::exp2(-20.5));
  CHECK(worst("tanh.approx.f32 d, a", samples(0.001, 12, true),
              [](double h, double x) { return relative(h, std::tanh(x)); }) <= std::exp2(-11));
}

TEST_CASE("special cases of the approximate functions") {
  CHECK(of("ex2.approx.f32 d, a", -inf) == bits(0.0f));
  CHECK(of("ex2.approx.f32 d, a", inf) == bits(inf));
  CHECK(of("ex2.approx.f32 d, a", -0.0f) == bits(1.0f));
  CHECK(of("ex2.approx.f32 d, a", 128.0f) == bits(inf));
  CHECK(of("ex2.approx.f32 d, a", -149.0f) == bits(least));
  CHECK(of("ex2.approx.f32 d, a", -1000.0f) == bits(0.0f));
  CHECK(of("ex2.approx.ftz.f32 d, a", -130.0f) == bits(0.0f));
  CHECK(of("ex2.approx.f32 d, a", NAN) == nan32);
  for (int n = -126; n < 128; n += 7)
    CHECK(of("ex2.approx.f32 d, a", static_cast<float>(n)) == bits(std::ldexp(1.0f, n)));
  CHECK(of("lg2.approx.f32 d, a", 0.0f) == bits(-inf));
  CHECK(of("lg2.approx.f32 d, a", -0.0f) == bits(-inf));
  CHECK(of("lg2.approx.f32 d, a", -1.0f) == nan32);
  CHECK(of("lg2.approx.f32 d, a", inf) == bits(inf));
  CHECK(of("lg2.approx.f32 d, a", least) == bits(-149.0f));
  CHECK(of("lg2.approx.ftz.f32 d, a", least) == bits(-inf));
  CHECK(of("rcp.approx.f32 d, a", -0.0f) == bits(-inf));
  CHECK(of("rcp.approx.f32 d, a", -inf) == bits(-0.0f));
  CHECK(of("rcp.approx.ftz.f32 d, a", least) == bits(inf));
  CHECK(of("rsqrt.approx.f32 d, a", -0.0f) == bits(-inf));
  CHECK(of("rsqrt.approx.f32 d, a", -4.0f) == nan32);
  CHECK(of("rsqrt.approx.f32 d, a", inf) == bits(0.0f));
  CHECK(of("sqrt.approx.f32 d, a", -0.0f) == bits(-0.0f));
  CHECK(of("sqrt.approx.f32 d, a", -1.0f) == nan32);
  CHECK(of("sin.approx.f32 d, a", inf) == nan32);
  CHECK(of("sin.approx.f32 d, a", -0.0f) == bits(-0.0f));
  CHECK(of("cos.approx.f32 d, a", -0.0f) == bits(1.0f));
  CHECK(of("tanh.approx.f32 d, a", -inf) == bits(-1.0f));
}

// Expected values: computed with 200 digits. The first argument is nearest of all f32 to a multiple of pi / 2.
TEST_CASE("sin and cos of large arguments") {
  struct {
    f32 x;
    double sine, cosine;
  } const cases[] = {
      {0x1.f37c8ap+95f, 1.0, -0x1.bbdd52a58eafbp-30},
      {0x1.000002p+20f, 0x1.c8471008e0f2ep-2, 0x1.ca5cf1333f2f5p-1},
      {0x1.921fb6p+21f, 0x1.76f3cbb806576p-4, 0x1.fdd9aafc3bd16p-1},
      {-0x1.45f306p+60f, -0x1.d94a9b73b6ac0p-1, -0x1.8695d5d7f7b0ap-2},
      {0x1.8p+100f, -0x1.ffe924199aa6bp-1, -0x1.31fa3df04ceecp-6},
      {0x1.fffffep+127f, -0x1.0b33665089575p-1, 0x1.b4bf2c79bdfcep-1},
  };
  for (const auto& one : cases) {
    CHECK(of("sin.approx.f32 d, a", one.x) == bits(static_cast<f32>(one.sine)));
    CHECK(of("cos.approx.f32 d, a", one.x) == bits(static_cast<f32>(one.cosine)));
  }
  CHECK(of("cos.approx.f32 d, a", -inf) == nan32);
}

TEST_CASE("with .ftz subnormal arguments and results are zeros of their sign") {
  CHECK(of("ex2.approx.ftz.f32 d, a", -126.0f) == bits(0x1p-126f));
  CHECK(of("ex2.approx.ftz.f32 d, a", -126.5f) == bits(0.0f));
  CHECK(of("ex2.approx.ftz.f32 d, a", -least) == bits(1.0f));
  CHECK(of("lg2.approx.ftz.f32 d, a", -least) == bits(-inf));
  CHECK(of("lg2.approx.ftz.f32 d, a", 0x1p-126f) == bits(-126.0f));
  CHECK(of("rcp.approx.ftz.f32 d, a", -least) == bits(-inf));
  CHECK(of("rcp.approx.ftz.f32 d, a", -0x1p127f) == bits(-0.0f));
  CHECK(of("rcp.approx.f32 d, a", -0x1p127f) == bits(-0x1p-127f));
  CHECK(of("rsqrt.approx.ftz.f32 d, a", least) == bits(inf));
  CHECK(of("rsqrt.approx.ftz.f32 d, a", -least) == bits(-inf));
  CHECK(of("sqrt.approx.ftz.f32 d, a", least) == bits(0.0f));
  CHECK(of("sqrt.approx.ftz.f32 d, a", -least) == bits(-0.0f));
  CHECK(of("sin.approx.ftz.f32 d, a", -least) == bits(-0.0f));
  CHECK(of("sin.approx.f32 d, a", -least) == bits(-least));
  CHECK(of("cos.approx.ftz.f32 d, a", -least) == bits(1.0f));
}

TEST_CASE("approximate division") {
  const auto quotient = [](const std::string& form, float a, float b) {
    return apply("div." + form + ".f32 d, a, b", "f32", {"f32", "f32"}, {{bits(a)}, {bits(b)}})[0];
  };
  // Beyond 2^126 the reciprocal of the divisor is zero.
  CHECK(quotient("approx", 1e38f, 2e38f) == bits(0.0f));
  CHECK(quotient("approx", -1e38f, 2e38f) == bits(-0.0f));
  CHECK(quotient("approx", inf, 2e38f) == nan32);
  CHECK(quotient("full", 1e38f, 2e38f) == bits(0.5f));
  CHECK(quotient("approx", least, 0.5f) == bits(2 * least));
  CHECK(quotient("approx.ftz", -least, 0.5f) == bits(-0.0f));
  CHECK(quotient("approx.ftz", 1.0f, -least) == bits(-inf));
  CHECK(quotient("approx.ftz", -0x1p-100f, 0x1p30f) == bits(-0.0f));
  for (const std::string form : {"approx", "full"}) {
    CHECK(quotient(form, 6.0f, 3.0f) == bits(2.0f));
    CHECK(quotient(form, 1.0f, 0.0f) == bits(inf));
    CHECK(quotient(form, 0.0f, 0.0f) == nan32);
    CHECK(quotient(form, 1.0f, inf) == bits(0.0f));
  }
}

TEST_CASE("gross double-precision forms use the upper half") {
  const auto gross = [](const std::string& op, double x) {
    return apply(op + " d, a", "f64", {"f64"}, {{bits(x)}})[0];
  };
  for (const double x : {3.0, 0.1, 1e100}) {
    const std::uint64_t have = gross("rcp.approx.ftz.f64", x);
    CHECK((have & 0xffffffff) == 0);
    CHECK(relative(f64_of(have), 1 / x) < std::exp2(-19));
  }
  CHECK(gross("rcp.approx.ftz.f64", 1e-310) == bits(double{inf}));
  CHECK(relative(f64_of(gross("rsqrt.approx.f64", 2.0)), 1 / std::sqrt(2.0)) < std::exp2(-50));
}
