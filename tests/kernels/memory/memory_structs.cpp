// Structs as parameters and in memory, member by member, padding and nesting included.
#include "tests/kernels/memory/memory_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

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

TEST_CASE("structs go member by member", "[memory]") {
  const u32 n = 50;
  std::vector<body> x(n), y(n);
  for (u32 i = 0; i < n; ++i) {
    x[i] = made(i);
    y[i] = made(i + 77);
  }
  const body p = made(200);
  auto in = under_test().upload(x);
  auto inout = under_test().upload(y);
  auto out = poisoned<body>(n);
  structs.launch(under_test().stream(), over(n), in, inout, out, p, n);
  const auto got = out.download();
  const auto changed = inout.download();
  REQUIRE(changed[0].mass == y[0].mass + static_cast<f32>(n));
  for (u32 i = 0; i < n; ++i) {
    CAPTURE(i);
    body want = x[i];
    want.mass *= p.mass;
    want.alive = want.alive && p.alive;
    want.charge = static_cast<i8>(want.charge - p.charge);
    want.friction = p.friction;
    for (u32 k = 0; k < 4; ++k) want.position[k] += p.position[k];
    for (u32 k = 0; k < 2; ++k) {
      want.stock[k].unit = p.stock[1 - k].unit;
      want.stock[k].amount += p.stock[k].amount;
    }
    for (u32 k = 0; k < 3; ++k) want.tags[k] = static_cast<u16>(x[i].tags[2 - k] + p.tags[k]);
    want.id = p.id;
    REQUIRE(got[i] == want);

    body after = y[i];
    after.mass = changed[i].mass;
    if (i != 0) REQUIRE(changed[i].mass == y[i].mass);
    after.id += 5;
    after.position = {p.position[3], 1.0f, y[i].position[0], 2.0f};
    after.charge = 3;
    REQUIRE(changed[i] == after);
  }
}

TEST_CASE("constants are parameters of the kernel and not of its entry", "[memory]") {
  const u32 n = 30;
  static_assert(constant_parameters.image().parameter_count == 3);
  std::vector<u32> x(n * 5);
  for (u32 i = 0; i < x.size(); ++i) x[i] = i * i;
  auto in = under_test().upload(x);
  auto y = poisoned<u32>(n);
  constant_parameters.launch(under_test().stream(), over(n), std::integral_constant<u32, 5>{}, in,
                             std::true_type{}, y, n);
  const auto got = y.download();
  for (u32 i = 0; i < n; ++i) REQUIRE(got[i] == x[i * 5] * 2);
}
