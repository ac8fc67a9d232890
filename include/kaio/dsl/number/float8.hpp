#pragma once
// The 8-bit floating types as the host stores them: e4m3 (1 sign, 4 exponent, 3 mantissa bits; greatest
// number 448, one NaN of each sign, no infinity) and e5m2 (1, 5, 2; greatest number 57344, infinities). A
// conversion rounds once to the nearest even and saturates: a value beyond the greatest number, or an
// infinity, becomes it. NaN becomes 0x7f. They are storage: to compute, convert to float. Source: PTX ISA,
// "Alternate Floating-Point Data Formats" and "cvt", .satfinite.
//
//   static_assert(float(kaio::e4m3(0.3f)) == 0.3125f && float(kaio::e4m3(1e6f)) == 448.0f);

#include <kaio/dsl/number/half.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio {

namespace dsl::detail {

// The constants of the two formats, by the stored bits of their mantissa.
template <unsigned Digits>
struct float8_format {
  static_assert(Digits == 3 || Digits == 2);
  static constexpr unsigned digits = Digits;
  static constexpr int bias = Digits == 3 ? 7 : 15;
  static constexpr std::uint8_t greatest_code = Digits == 3 ? 0x7e : 0x7b;
  static constexpr double greatest = Digits == 3 ? 448.0 : 57344.0;
  static constexpr std::uint8_t not_a_number = 0x7f;
};

template <unsigned Digits>
constexpr std::uint8_t round_to_float8(double x) {
  using format = float8_format<Digits>;
  if (x != x) return format::not_a_number;
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  const auto sign = static_cast<std::uint32_t>(bits >> 56) & 0x80u;
  if (x >= format::greatest || x <= -format::greatest)
    return static_cast<std::uint8_t>(sign | format::greatest_code);
  const auto exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  // Below half of the least number.
  if (exponent < -format::bias - static_cast<int>(Digits)) return static_cast<std::uint8_t>(sign);
  // The mantissa with its leading one, shifted so that the bits to keep are the lowest.
  const std::uint64_t mantissa = (bits & 0xfffffffffffffu) | std::uint64_t{1} << 52;
  const bool subnormal = exponent < 1 - format::bias;
  const unsigned dropped = 52 - Digits + (subnormal ? static_cast<unsigned>(1 - format::bias - exponent) : 0);
  std::uint64_t kept = mantissa >> dropped;
  const std::uint64_t rest = mantissa & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // A carry out of the mantissa arrives in the exponent, where it belongs.
  const std::uint32_t place =
      subnormal ? 0 : static_cast<std::uint32_t>(exponent + format::bias - 1) << Digits;
  return static_cast<std::uint8_t>(sign | (place + static_cast<std::uint32_t>(kept)));
}

// NaN becomes the canonical one of the device.
template <unsigned Digits>
constexpr float float8_to_float(std::uint8_t code) {
  using format = float8_format<Digits>;
  const std::uint32_t sign = (code & 0x80u) << 24;
  const std::uint32_t magnitude = code & 0x7fu;
  const std::uint32_t fraction = magnitude & ((1u << Digits) - 1);
  if (Digits == 2 && magnitude == 0x7c) return __builtin_bit_cast(float, sign | 0x7f800000u);
  if (magnitude > format::greatest_code) return __builtin_bit_cast(float, 0x7fffffffu);
  if (magnitude >> Digits == 0) {
    const float least = Digits == 3 ? 0x1p-9f : 0x1p-16f;
    const float value = static_cast<float>(fraction) * least;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t exponent = (magnitude >> Digits) + 127 - format::bias;
  return __builtin_bit_cast(float, sign | exponent << 23 | fraction << (23 - Digits));
}

// The common base of e4m3 and e5m2.
template <unsigned Digits>
class float8_storage {
 public:
  using format = float8_format<Digits>;

  constexpr float8_storage() = default;
  constexpr explicit float8_storage(double x) : bits_(round_to_float8<Digits>(x)) {}
  constexpr explicit float8_storage(float x) : float8_storage(static_cast<double>(x)) {}
  constexpr explicit float8_storage(f16 x) : float8_storage(static_cast<double>(x)) {}
  constexpr explicit float8_storage(bf16 x) : float8_storage(static_cast<double>(x)) {}
  template <class Integer>
    requires std::is_integral_v<Integer>
  constexpr explicit float8_storage(Integer x) : float8_storage(sticky_double(x)) {}

  constexpr explicit operator float() const { return float8_to_float<Digits>(bits_); }
  constexpr explicit operator double() const { return float8_to_float<Digits>(bits_); }

  constexpr std::uint8_t bits() const { return bits_; }

  // IEEE comparison: NaN equals nothing, -0 equals +0.
  friend constexpr bool operator==(float8_storage a, float8_storage b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
  friend constexpr bool operator<(float8_storage a, float8_storage b) {
    return static_cast<float>(a) < static_cast<float>(b);
  }

 protected:
  std::uint8_t bits_ = 0;
};

}  // namespace dsl::detail

// 1 sign, 4 exponent, 3 mantissa bits: -448 to 448 in steps of 1/8 of a power of two, down to 2^-9.
class e4m3 : public dsl::detail::float8_storage<3> {
 public:
  using float8_storage::float8_storage;
  static constexpr e4m3 from_bits(std::uint8_t bits) {
    e4m3 result;
    result.bits_ = bits;
    return result;
  }
};

// 1 sign, 5 exponent, 2 mantissa bits: the upper half of an f16, -57344 to 57344, down to 2^-16.
class e5m2 : public dsl::detail::float8_storage<2> {
 public:
  using float8_storage::float8_storage;
  static constexpr e5m2 from_bits(std::uint8_t bits) {
    e5m2 result;
    result.bits_ = bits;
    return result;
  }
};

}  // namespace kaio
