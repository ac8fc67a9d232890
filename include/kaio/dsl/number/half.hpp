#pragma once
// The 16-bit floating types as the host stores them, and pairs of them: the bits that a buffer holds.
// Conversions round to the nearest even. They are storage: to compute on the host, convert to float.
//
//   static_assert(float(kaio::f16(1.0009765625f)) == 1.0009765625f);
//   std::vector<kaio::bf16> weights = {kaio::bf16(0.5f), kaio::bf16(-2.0f)};

#include <kaio/ptx/standard.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio {

namespace dsl::detail {

// A value of f64 rounded once to a format with `Digits` stored bits of mantissa and 15 - Digits of exponent.
// NaN becomes the canonical quiet NaN, a too large number an infinity.
template <unsigned Digits>
constexpr std::uint16_t round_to_half(double x) {
  constexpr int bias = (1 << (14 - Digits)) - 1;
  constexpr std::uint32_t infinity = ((1u << (15 - Digits)) - 1) << Digits;
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  const auto sign = static_cast<std::uint32_t>(bits >> 48) & 0x8000u;
  const auto exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  const std::uint64_t fraction = bits & 0xfffffffffffffu;
  if (exponent == 1024) return static_cast<std::uint16_t>(fraction != 0 ? 0x7fffu : sign | infinity);
  if (exponent > bias) return static_cast<std::uint16_t>(sign | infinity);
  if (exponent < -bias - static_cast<int>(Digits) - 1) return static_cast<std::uint16_t>(sign);
  // The mantissa with its leading one, shifted so that the bits to keep are the lowest.
  const std::uint64_t mantissa = fraction | std::uint64_t{1} << 52;
  const bool subnormal = exponent < 1 - bias;
  const unsigned dropped = 52 - Digits + (subnormal ? static_cast<unsigned>(1 - bias - exponent) : 0);
  std::uint64_t kept = mantissa >> dropped;
  const std::uint64_t rest = mantissa & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // A carry out of the mantissa arrives in the exponent, where it belongs.
  const std::uint32_t place = subnormal ? 0 : static_cast<std::uint32_t>(exponent + bias - 1) << Digits;
  return static_cast<std::uint16_t>(sign | (place + static_cast<std::uint32_t>(kept)));
}

// An integer as f64. If f64 does not hold it, its last bit is rounded to odd: one more rounding to fewer bits
// then equals a single rounding.
template <class Integer>
constexpr double sticky_double(Integer x) {
  if constexpr (sizeof(Integer) < 8) {
    return static_cast<double>(x);
  } else {
    const bool negative = x < 0;
    auto magnitude = static_cast<std::uint64_t>(x);
    if (negative) magnitude = std::uint64_t{0} - magnitude;
    if (magnitude >> 53 != 0) magnitude = (magnitude | ((magnitude & 0x7ff) + 0x7ff)) & ~std::uint64_t{0x7ff};
    return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  }
}

template <unsigned Digits>
constexpr float half_to_float(std::uint16_t bits) {
  constexpr int bias = (1 << (14 - Digits)) - 1;
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits & 0x7fffu) >> Digits;
  const std::uint32_t fraction = bits & ((1u << Digits) - 1);
  constexpr std::uint32_t top = (1u << (15 - Digits)) - 1;
  if (exponent == top) return __builtin_bit_cast(float, sign | 0x7f800000u | fraction << (23 - Digits));
  if (exponent != 0 || Digits == 7)
    return __builtin_bit_cast(float, sign | (Digits == 7 ? exponent << 23 : (exponent + 127 - bias) << 23) |
                                         fraction << (23 - Digits));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

// The common base of f16 and bf16; `Digits` are the stored bits of the mantissa.
template <unsigned Digits>
class half_storage {
 public:
  constexpr half_storage() = default;
  constexpr explicit half_storage(double x) : bits_(round_to_half<Digits>(x)) {}
  constexpr explicit half_storage(float x) : half_storage(static_cast<double>(x)) {}
  template <class Integer>
    requires std::is_integral_v<Integer>
  constexpr explicit half_storage(Integer x) : half_storage(sticky_double(x)) {}

  constexpr explicit operator float() const { return half_to_float<Digits>(bits_); }
  constexpr explicit operator double() const { return half_to_float<Digits>(bits_); }

  constexpr std::uint16_t bits() const { return bits_; }

  // IEEE comparison: NaN equals nothing, -0 equals +0.
  friend constexpr bool operator==(half_storage a, half_storage b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
  friend constexpr bool operator<(half_storage a, half_storage b) {
    return static_cast<float>(a) < static_cast<float>(b);
  }

 protected:
  std::uint16_t bits_ = 0;
};

}  // namespace dsl::detail

// IEEE binary16: 1 sign, 5 exponent, 10 mantissa bits.
class f16 : public dsl::detail::half_storage<10> {
 public:
  using half_storage::half_storage;
  static constexpr f16 from_bits(std::uint16_t bits) {
    f16 result;
    result.bits_ = bits;
    return result;
  }
};

// bfloat16: the upper half of an f32; 1 sign, 8 exponent, 7 mantissa bits.
class bf16 : public dsl::detail::half_storage<7> {
 public:
  using half_storage::half_storage;
  static constexpr bf16 from_bits(std::uint16_t bits) {
    bf16 result;
    result.bits_ = bits;
    return result;
  }
};

// Two of them in 32 bits, the first in the lower half.
struct alignas(4) f16x2 {
  f16 low, high;
  friend constexpr bool operator==(const f16x2&, const f16x2&) = default;
};
struct alignas(4) bf16x2 {
  bf16 low, high;
  friend constexpr bool operator==(const bf16x2&, const bf16x2&) = default;
};

}  // namespace kaio
