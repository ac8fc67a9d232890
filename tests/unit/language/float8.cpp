// The 8-bit floating types as the host stores them: every code, and roundings against a table of their
// numbers.
#include "catch.hpp"
#include "tests/kernels/number/float8_model.hpp"

#include <kaio/dsl/memory/vec.hpp>

using namespace kaio;
using namespace kaio::tests;

static_assert(sizeof(e4m3) == 1 && sizeof(e5m2) == 1 && sizeof(vec<e4m3, 16>) == 16);
static_assert(e4m3(464.0f).bits() == 0x7e && e4m3(1e30).bits() == 0x7e && e4m3(-1e30).bits() == 0xfe);
static_assert(e5m2(1e30).bits() == 0x7b && e4m3(-0.0f).bits() == 0x80 && e4m3(0x1p-10).bits() == 0);
static_assert(e4m3(__builtin_nan("")).bits() == 0x7f && e5m2(-__builtin_nanf("")).bits() == 0x7f);
static_assert(e4m3(1) == e4m3(1.0f) && e4m3(0.0f) == e4m3(-0.0f) && e5m2(1) < e5m2(2));
static_assert(!(e4m3::from_bits(0x7f) == e4m3::from_bits(0x7f)) && e4m3(f16(0.5f)) == e4m3(bf16(0.5f)));
// One rounding: 1.0625 is between 1 and 1.125, and a little more is above the middle, which a rounding to f32
// on the way would lose.
static_assert(e4m3(1.0625).bits() == 0x38 && e4m3(1.0625 + 0x1p-40).bits() == 0x39);
static_assert(e5m2((std::int64_t{1} << 15) + (std::int64_t{1} << 12)).bits() == 0x78);

TEMPLATE_TEST_CASE("every 8-bit pattern has the value of its format", "[float8]", e4m3, e5m2) {
  using T = TestType;
  for (std::uint32_t code = 0; code < 256; ++code) {
    const T x = T::from_bits(static_cast<std::uint8_t>(code));
    const long double want = float8_model<T>::exact(code);
    INFO(code);
    REQUIRE(x.bits() == code);
    if (std::isnan(want)) {
      REQUIRE(std::bit_cast<u32>(static_cast<float>(x)) == 0x7fffffff);
      REQUIRE(std::isnan(static_cast<double>(x)));
      continue;
    }
    REQUIRE(static_cast<long double>(static_cast<float>(x)) == want);
    REQUIRE(static_cast<long double>(static_cast<double>(x)) == want);
    REQUIRE(std::signbit(static_cast<float>(x)) == (code >= 0x80));
    if (!std::isinf(want)) REQUIRE(T(static_cast<double>(x)).bits() == code);
  }
}

TEMPLATE_TEST_CASE("numbers round to the nearest 8-bit float, ties to even", "[float8]", e4m3, e5m2) {
  using T = TestType;
  const auto check = [](auto number) {
    INFO(static_cast<long double>(number));
    REQUIRE(u32{T(number).bits()} == float8_model<T>::nearest(static_cast<long double>(number)));
  };
  for (const double x : float8_inputs<double>(3000)) check(x);
  for (const float x : float8_inputs<float>(3000)) check(x);
  for (const std::int64_t x : values_of<std::int64_t>(3000)) check(x);
  for (const std::uint64_t x : values_of<std::uint64_t>(3000)) check(x);
  for (std::int32_t x = -70000; x < 70000; x += 7) check(x);
}
