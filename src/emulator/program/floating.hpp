#pragma once
// PTX's rules for floating-point values: canonical NaN results, .ftz and .sat, and rounding modes.

#include "emulator/program/program.hpp"
#include "emulator/program/scalar.hpp"

#include <bit>
#include <cfenv>
#include <type_traits>

namespace kaio::emulator {

template <class T>
using float_bits = std::conditional_t<sizeof(T) == 4, u32, u64>;

template <class T>
inline constexpr float_bits<T> sign_bit = float_bits<T>{1} << (sizeof(T) * 8 - 1);

template <class T>
inline constexpr float_bits<T> infinity_bits =
    sizeof(T) == 4 ? float_bits<T>{0x7f800000u} : static_cast<float_bits<T>>(0x7ff0000000000000ull);

template <class T>
inline constexpr float_bits<T> least_normal_bits =
    sizeof(T) == 4 ? float_bits<T>{0x00800000u} : static_cast<float_bits<T>>(0x0010000000000000ull);

// The NaN that single-precision arithmetic returns: all bits but the sign.
template <class T>
inline constexpr float_bits<T> canonical_nan_bits = static_cast<float_bits<T>>(~sign_bit<T>);

template <class T>
float_bits<T> magnitude(T value) {
  return static_cast<float_bits<T>>(std::bit_cast<float_bits<T>>(value) & ~sign_bit<T>);
}

template <class T>
bool is_nan(T value) {
  return magnitude(value) > infinity_bits<T>;
}

inline f64 quieted(f64 nan) { return std::bit_cast<f64>(std::bit_cast<u64>(nan) | u64{1} << 51); }

// In double precision a NaN keeps its operand's payload. A new NaN is 0xfff8000000000000, as in the host's
// arithmetic.
template <class T>
T canonical(T value) {
  if constexpr (sizeof(T) == 8) return value;
  return std::bit_cast<T>(is_nan(value) ? canonical_nan_bits<T> : std::bit_cast<float_bits<T>>(value));
}

// A subnormal value becomes a zero of the same sign.
template <class T>
T flushed(T value) {
  const float_bits<T> bits = std::bit_cast<float_bits<T>>(value);
  return std::bit_cast<T>(
      magnitude(value) < least_normal_bits<T> ? static_cast<float_bits<T>>(bits & sign_bit<T>) : bits);
}

// Clamps to [0, 1]; NaN and -0 become +0.
template <class T>
T saturated(T value) {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

template <bool Ftz, class T>
T operand(T value) {
  if constexpr (Ftz)
    return flushed(value);
  else
    return value;
}

template <bool Ftz, bool Sat, class T>
T result(T value) {
  if constexpr (Sat)
    value = saturated(value);
  else
    value = canonical(value);
  if constexpr (Ftz) value = flushed(value);
  return value;
}

// Sets the host's rounding mode while it lives, then restores the previous mode.
class rounding_scope {
 public:
  explicit rounding_scope(rounding mode) : before_(std::fegetround()) { std::fesetround(host_mode(mode)); }
  ~rounding_scope() { std::fesetround(before_); }
  rounding_scope(const rounding_scope&) = delete;
  rounding_scope& operator=(const rounding_scope&) = delete;

 private:
  static int host_mode(rounding mode) {
    switch (mode) {
      case rounding::rz: return FE_TOWARDZERO;
      case rounding::rm: return FE_DOWNWARD;
      case rounding::rp: return FE_UPWARD;
      default: return FE_TONEAREST;
    }
  }
  int before_;
};

}  // namespace kaio::emulator
