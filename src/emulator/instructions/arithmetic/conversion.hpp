#pragma once
// Shared by the conversions of all types: floating point to integers, and the loop over lanes whose registers
// may be wider than the types.
//
//   convert_lanes<s32, f32>(w, i, mask, [&](f32 value) { return integer_from<s32>(value, i.round); });

#include "emulator/machine/lanes.hpp"
#include "emulator/program/floating.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace kaio::emulator {

// Rounds to an integral value with this mode; the host rounds to nearest.
template <class T>
T to_integral(T value, rounding mode) {
  switch (mode) {
    case rounding::rni: return std::nearbyint(value);
    case rounding::rzi: return std::trunc(value);
    case rounding::rmi: return std::floor(value);
    case rounding::rpi: return std::ceil(value);
    default: return value;
  }
}

// Clamps to the range of To. NaN becomes 0 if both types have at most 32 bits, else the top bit of To.
template <class To, class From>
To integer_from(From value, rounding mode) {
  using bits = std::make_unsigned_t<To>;
  if (is_nan(value)) {
    if (sizeof(From) == 4 && sizeof(To) < 8) return 0;
    return static_cast<To>(static_cast<bits>(bits{1} << (sizeof(To) * 8 - 1)));
  }
  const From whole = to_integral(value, mode);
  // Both ends are exact powers of two (or zero) in floating point.
  const From beyond = std::ldexp(From{1}, std::is_signed_v<To> ? static_cast<int>(sizeof(To) * 8 - 1)
                                                               : static_cast<int>(sizeof(To) * 8));
  const From least = std::is_signed_v<To> ? -beyond : From{0};
  if (whole >= beyond) return std::numeric_limits<To>::max();
  if (whole < least) return std::numeric_limits<To>::min();
  return static_cast<To>(whole);
}

// Reads the low bits of a wider source register; extends the result to the destination's register.
template <class To, class From, class Function>
void convert_lanes(warp& w, const instruction& i, u32 mask, Function&& function) {
  const std::byte* const from = w.file + i.from[0];
  std::byte* const to = w.file + i.to[0];
  const unsigned from_stride = i.from_bytes, to_stride = i.to_bytes;
  for_lanes(mask, [&](unsigned lane) {
    From value;
    std::memcpy(&value, from + lane * from_stride, sizeof value);
    const To result = function(value);
    if constexpr (std::is_integral_v<To>) {
      const auto extended = static_cast<std::conditional_t<std::is_signed_v<To>, s64, u64>>(result);
      std::memcpy(to + lane * to_stride, &extended, to_stride);
    } else {
      u64 bits = 0;
      std::memcpy(&bits, &result, sizeof result);
      std::memcpy(to + lane * to_stride, &bits, to_stride);
    }
  });
}

}  // namespace kaio::emulator
