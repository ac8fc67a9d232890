// The 16-bit floating types as the host stores them: every bit pattern, and roundings against a model that
// rounds by scaling.
#include "catch.hpp"
#include "tests/kernels/number/bits_model.hpp"

using namespace kaio;
using namespace kaio::tests;

static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2 && sizeof(f16x2) == 4 && alignof(f16x2) == 4);
static_assert(f16(65519.0).bits() == 0x7bff && f16(65520.0).bits() == 0x7c00 && f16(-0.0f).bits() == 0x8000);
static_assert(bf16(1.00390625f).bits() == 0x3f80 && bf16(1.01171875f).bits() == 0x3f82);
static_assert(f16(1u) == f16(1) && f16(1u) == f16(1.0f) && f16(0.0f) == f16(-0.0f) && f16(1) < f16(2));
static_assert(!(f16::from_bits(0x7e00) == f16::from_bits(0x7e00)) && !(bf16(1) < bf16::from_bits(0x7fc0)));
static_assert(f16x2{f16(1), f16(2)} == f16x2{f16(1), f16(2)});

TEMPLATE_TEST_CASE("every 16-bit pattern has the value of its format", "[half]", f16, bf16) {
  using T = TestType;
  for (std::uint32_t b = 0; b < 0x10000; ++b) {
    const T x = T::from_bits(static_cast<std::uint16_t>(b));
    const long double want = model<T>::exact(x);
    INFO(b);
    if (std::isnan(want)) {
      REQUIRE(std::isnan(static_cast<float>(x)));
      REQUIRE(std::isnan(static_cast<float>(T(static_cast<double>(x)))));
      continue;
    }
    REQUIRE(static_cast<long double>(static_cast<float>(x)) == want);
    REQUIRE(static_cast<long double>(static_cast<double>(x)) == want);
    REQUIRE(std::signbit(static_cast<float>(x)) == (b >= 0x8000));
    REQUIRE(T(static_cast<double>(x)).bits() == b);
  }
}

TEMPLATE_TEST_CASE("numbers round to the nearest 16-bit float, ties to even", "[half]", f16, bf16) {
  using T = TestType;
  const auto check = [](auto number) {
    const long double exact = static_cast<long double>(number);
    const std::uint64_t want = model<T>::encode(round_to(model<T>::format, exact, toward::nearest));
    INFO(exact);
    REQUIRE(model<T>::same(T(number).bits(), want));
  };
  for (const double x : values_of<double>(20000)) check(x);
  for (const float x : values_of<float>(20000)) check(x);
  for (const std::int64_t x : values_of<std::int64_t>(20000)) check(x);
  for (const std::uint64_t x : values_of<std::uint64_t>(20000)) check(x);
  for (const std::int32_t x : values_of<std::int32_t>(2000)) check(x);
  // Every tie between neighbours, and the numbers on both sides of it.
  for (std::uint32_t b = 0; b + 1 < model<T>::encode(std::numeric_limits<long double>::infinity()); ++b) {
    const auto low = static_cast<double>(T::from_bits(static_cast<std::uint16_t>(b)));
    const auto high = static_cast<double>(T::from_bits(static_cast<std::uint16_t>(b + 1)));
    const double tie = low + (high - low) / 2;
    for (const double x : {tie, std::nextafter(tie, low), std::nextafter(tie, high)}) {
      check(x);
      check(-x);
    }
  }
  // A tie of bf16 that f64 can no longer distinguish from its neighbours.
  for (const std::int64_t d : {-1, 0, 1}) {
    check((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + d);
    check(-(std::int64_t{1} << 62) - (std::int64_t{1} << 54) + d);
  }
}
