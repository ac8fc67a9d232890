#pragma once
// The small floating-point formats of PTX (f16, bf16, tf32, e4m3, e5m2) as bits, and rounding to them from
// double precision. Every finite value of each format is a double, and products of two are exact doubles. An
// inexact sum is rounded to odd: rounding it again to at most 11 bits equals one rounding of the exact value
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
//
//   f16 third = nearest<f16>(1.0 / 3);                  // 0x3555
//   f64 exact = value_of(third);
//   f16 below = rounded<f16>(1.0 / 3, rounding::rz);

#include "emulator/program/program.hpp"
#include "emulator/program/scalar.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kaio::emulator {

// A format: the bits of its significand, hidden bit included, and the exponents of its normal values.
struct f16 {
  static constexpr int precision = 11, least_exponent = -14, greatest_exponent = 15;
  u16 bits;
};
struct bf16 {
  static constexpr int precision = 8, least_exponent = -126, greatest_exponent = 127;
  u16 bits;
};
struct tf32 {
  static constexpr int precision = 11, least_exponent = -126, greatest_exponent = 127;
};
struct e4m3 {
  static constexpr int precision = 4, least_exponent = -6;
  static constexpr u8 greatest = 0x7e;  // 448; there is no infinity
};
struct e5m2 {
  static constexpr int precision = 3, least_exponent = -14;
  static constexpr u8 greatest = 0x7b;  // 57344
};

// Formats that have registers of their own.
template <class Format>
concept half_format = requires(Format h) { h.bits; };

// Two values in one register, the first in the low half.
template <class Half>
struct twin {
  Half low, high;
};

constexpr u16 half_sign = 0x8000;
constexpr u16 half_nan = 0x7fff;  // the NaN that arithmetic returns

template <class Format>
inline constexpr u32 infinity_code =
    static_cast<u32>(Format::greatest_exponent - Format::least_exponent + 2) << (Format::precision - 1);

template <half_format Half>
u16 magnitude_of(Half h) {
  return static_cast<u16>(h.bits & 0x7fff);
}

template <half_format Half>
bool is_nan(Half h) {
  return magnitude_of(h) > infinity_code<Half>;
}

// A subnormal value becomes a zero of the same sign.
template <half_format Half>
Half flushed(Half h) {
  constexpr u16 least_normal = 1 << (Half::precision - 1);
  return {static_cast<u16>(magnitude_of(h) < least_normal ? h.bits & half_sign : h.bits)};
}

inline f32 single_of(f16 h) {
  const u32 magnitude = static_cast<u32>(magnitude_of(h)) << 13;
  const u32 scaled = std::bit_cast<u32>(std::bit_cast<f32>(magnitude) * 0x1p112f);
  const u32 bits = magnitude_of(h) >= infinity_code<f16> ? magnitude | 0x7f800000u : scaled;
  return std::bit_cast<f32>(bits | static_cast<u32>(h.bits & half_sign) << 16);
}
inline f32 single_of(bf16 h) { return std::bit_cast<f32>(static_cast<u32>(h.bits) << 16); }

template <half_format Half>
f64 value_of(Half h) {
  return static_cast<f64>(single_of(h));
}

namespace detail {

inline u64 magnitude_bits(f64 value) { return std::bit_cast<u64>(value) & ~(u64{1} << 63); }

// The exponent of a value as Format stores it: subnormal values have the exponent of the least normal ones.
template <class Format>
int stored_exponent(u64 magnitude, int greatest) {
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  return std::clamp(exponent, Format::least_exponent, greatest);
}

}  // namespace detail

// Rounds to nearest, ties to even. It adds a double so large that its last place is the format's: the host's
// addition, which rounds to nearest, does the rounding.
template <half_format Half>
Half nearest(f64 value) {
  constexpr int places = 52 - (Half::precision - 1);
  const u64 magnitude = detail::magnitude_bits(value);
  const int exponent = detail::stored_exponent<Half>(magnitude, Half::greatest_exponent + 1);
  const u64 anchor = static_cast<u64>(exponent + places + 1023) << 52;
  const u64 units = std::bit_cast<u64>(std::bit_cast<f64>(magnitude) + std::bit_cast<f64>(anchor)) - anchor;
  const u64 binade = static_cast<u64>(exponent - Half::least_exponent) << (Half::precision - 1);
  const u64 code = std::min<u64>(units + binade, infinity_code<Half>);
  const u64 sign = std::bit_cast<u64>(value) >> 48 & half_sign;
  return {static_cast<u16>(magnitude > 0x7ff0000000000000ull ? half_nan : code | sign)};
}

// The code of a finite magnitude; the format's exponent has no upper limit here.
template <class Format>
u64 code_of(f64 magnitude, bool negative, rounding mode) {
  const int exponent = detail::stored_exponent<Format>(std::bit_cast<u64>(magnitude), 1023);
  const f64 scaled = std::ldexp(magnitude, Format::precision - 1 - exponent);
  const f64 whole = std::floor(scaled), rest = scaled - whole;
  u64 units = static_cast<u64>(whole);
  bool up = false;
  switch (mode) {
    case rounding::rz: break;
    case rounding::rm: up = negative && rest > 0; break;
    case rounding::rp: up = !negative && rest > 0; break;
    case rounding::rna: up = rest >= 0.5; break;
    default: up = rest > 0.5 || (rest == 0.5 && (units & 1) != 0); break;
  }
  if (up) ++units;
  return units + (static_cast<u64>(exponent - Format::least_exponent) << (Format::precision - 1));
}

// The code, without its sign, of a value that is not NaN in a format with infinities. `finite`: values beyond
// the greatest finite value become that value (.satfinite).
template <class Format>
u32 rounded_code(f64 value, rounding mode, bool finite) {
  constexpr u32 infinity = infinity_code<Format>;
  const f64 magnitude = std::fabs(value);
  const bool negative = std::signbit(value);
  if (std::isinf(magnitude)) return finite ? infinity - 1 : infinity;
  const u64 code = code_of<Format>(magnitude, negative, mode);
  if (code < infinity) return static_cast<u32>(code);
  const bool inward = mode == rounding::rz || mode == (negative ? rounding::rp : rounding::rm);
  return inward || finite ? infinity - 1 : infinity;
}

template <half_format Half>
Half rounded(f64 value, rounding mode, bool finite = false) {
  if (std::isnan(value)) return {half_nan};
  const u32 code = rounded_code<Half>(value, mode, finite);
  return {static_cast<u16>(code | (std::signbit(value) ? half_sign : 0u))};
}

// a + b rounded to odd: an inexact sum becomes the neighbour whose last bit is set.
inline f64 odd_sum(f64 a, f64 b) {
  const f64 sum = a + b;
  const f64 part = sum - a;
  const f64 error = (a - (sum - part)) + (b - part);
  const u64 bits = std::bit_cast<u64>(sum);
  const bool inexact = error < 0 || error > 0;  // false for NaN, which infinite sums give
  const bool grows = (error < 0) == (sum < 0);
  const u64 neighbour = grows ? bits + 1 : bits - 1;
  return std::bit_cast<f64>(inexact && (bits & 1) == 0 ? neighbour : bits);
}

// An integer as a double, rounded to odd.
template <class Integer>
f64 odd_value(Integer value) {
  const bool negative = value < Integer{0};
  const u64 size = negative ? 0 - static_cast<u64>(value) : static_cast<u64>(value);
  if (size >> 53 == 0) return static_cast<f64>(value);
  const u64 kept = size >> 11 | ((size & 0x7ff) != 0 ? 1u : 0u);
  const f64 result = static_cast<f64>(kept) * 2048.0;
  return negative ? -result : result;
}

}  // namespace kaio::emulator
