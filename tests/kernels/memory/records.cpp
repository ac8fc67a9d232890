// Structs of the host are values and variables of a kernel.
#include "tests/kernels/memory/record_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

complex product_on_host(complex a, complex b) {
  return {std::fma(a.re, b.re, -(a.im * b.im)), std::fma(a.re, b.im, a.im * b.re)};
}
bool close(complex a, complex b) {
  const auto near = [](f32 x, f32 y) { return std::fabs(x - y) <= 1e-3f * (1 + std::fabs(y)); };
  return near(a.re, b.re) && near(a.im, b.im);
}
bool equal(complex a, complex b) { return a.re == b.re && a.im == b.im; }

body made(u32 k) {
  const auto f = static_cast<f32>(k);
  return {f + 0.5f,
          k % 3 != 0,
          static_cast<i8>(k * 5),
          f16(f),
          {f, -f, f * 2, f + 1},
          {{static_cast<u8>(k), f * 0.25}, {static_cast<u8>(k + 100), -f}},
          {static_cast<u16>(k), static_cast<u16>(k * 1000), static_cast<u16>(65535 - k)},
          -static_cast<i64>(k) * 10000000000};
}

}  // namespace

TEST_CASE("a struct is a variable that loops and guards change", "[memory]") {
  const u32 n = 32;
  std::vector<complex> x(n), y(3 * n);
  for (u32 i = 0; i < n; ++i) x[i] = {static_cast<f32>(i) * 0.125f, 1.0f - static_cast<f32>(i) * 0.0625f};
  for (u32 i = 0; i < 3 * n; ++i) y[i] = {static_cast<f32>(i), static_cast<f32>(i) * -2};
  const complex factor{0.5f, -0.25f};
  auto in = under_test().upload(x);
  auto inout = under_test().upload(y);
  auto z = poisoned<complex>(complex_rows * n);
  auto steps = poisoned<u32>(n);
  complex_powers.launch(under_test().stream(), grid(1), in, inout, z, steps, factor, n);
  const auto got = z.download();
  const auto changed = inout.download();
  const auto counts = steps.download();
  complex reduced = x[0];
  for (const complex& c : x) reduced = {std::fmax(reduced.re, c.re), std::fmin(reduced.im, c.im)};
  for (u32 i = 0; i < n; ++i) {
    CAPTURE(i);
    complex power{1, 0};
    u32 count = 0;
    for (; !(power.re * power.re + power.im * power.im > 1000.0f || count == 20); ++count)
      power = product_on_host(power, x[i]);
    REQUIRE(counts[i] == count);
    power = count == 20 ? complex{-1, -2} : complex{power.re + 1, static_cast<f32>(count)};
    REQUIRE(close(changed[i], power));
    REQUIRE(equal(changed[i + n], y[i]));
    REQUIRE(equal(changed[i + 2 * n], y[i]));
    REQUIRE(close(got[i], product_on_host(power, factor)));
    REQUIRE(equal(got[i + n], x[31 - i]));
    REQUIRE(equal(got[i + 2 * n], x[i ^ 1]));
    REQUIRE(equal(got[i + 3 * n], reduced));
    REQUIRE(equal(got[i + 4 * n], {1.5f, -2.5f}));
    REQUIRE(equal(got[i + 5 * n], {0, 0}));
  }
}

TEST_CASE("a struct with members of every kind goes through registers", "[memory]") {
  const u32 n = 50;
  std::vector<body> x(n), y(n);
  for (u32 i = 0; i < n; ++i) {
    x[i] = made(i);
    y[i] = made(i + 77);
  }
  const body p = made(200);
  auto in = under_test().upload(x);
  auto inout = under_test().upload(y);
  auto out = poisoned<body>(2 * n);
  whole_structs.launch(under_test().stream(), over(n), in, inout, out, p, n);
  const auto got = out.download();
  const auto changed = inout.download();
  for (u32 i = 0; i < n; ++i) {
    CAPTURE(i);
    REQUIRE(got[i] == x[i]);
    REQUIRE(got[i + n] == p);
    body want = y[i];
    want.mass *= y[i].mass;
    want.alive = want.alive && x[i].alive;
    want.charge = x[i].charge;
    want.friction = f16(static_cast<f32>(want.friction) * 2);
    for (u32 k = 0; k < 4; ++k) want.position[k] += p.position[k];
    want.position[2] += 1;
    want.stock[1] = x[i].stock[0];
    want.stock[0].amount = p.stock[1].amount;
    for (u32 k = 0; k < 3; ++k) want.tags[k] ^= p.tags[2 - k];
    if (i % 2 == 1) want.id += 5;
    REQUIRE(changed[i] == want);
  }
}
