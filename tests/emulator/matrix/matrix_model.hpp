#pragma once
// Shared by the tests of matrix instructions: small integers in the formats of the elements.

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

namespace emulator_test {

inline unsigned element_bits(const std::string& type) {
  if (type == "b1") return 1;
  if (type == "s4" || type == "u4") return 4;
  if (type == "s8" || type == "u8" || type == "e4m3" || type == "e5m2") return 8;
  if (type == "f16" || type == "bf16") return 16;
  return type == "f64" ? 64 : 32;
}

// An integer that the format represents exactly as a normal number or zero.
inline std::uint32_t small_float(int value, unsigned exponent_bits, unsigned fraction_bits) {
  if (value == 0) return 0;
  const int exponent = std::ilogb(static_cast<double>(value));
  const double fraction = std::ldexp(std::fabs(static_cast<double>(value)), -exponent) - 1;
  const auto bias = (1 << (exponent_bits - 1)) - 1;
  const auto stored = static_cast<std::uint32_t>(exponent + bias);
  const auto digits = static_cast<std::uint32_t>(std::ldexp(fraction, static_cast<int>(fraction_bits)));
  return (value < 0 ? 1u << (exponent_bits + fraction_bits) : 0) | stored << fraction_bits | digits;
}

// In the low bits; integers are cut off to their width.
inline std::uint64_t encoded(const std::string& type, int value) {
  if (type == "f16") return small_float(value, 5, 10);
  if (type == "bf16") return small_float(value, 8, 7);
  if (type == "e4m3") return small_float(value, 4, 3);
  if (type == "e5m2") return small_float(value, 5, 2);
  if (type == "tf32" || type == "f32") return small_float(value, 8, 23);
  if (type == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) &
         (~std::uint64_t{0} >> (64 - element_bits(type)));
}

}  // namespace emulator_test
