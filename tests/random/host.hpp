#pragma once
// The host's side of random programs: its meaning of each operation of the language, the numbers that they
// start from, and when two results are the same.

#include <kaio/dsl/number/scalar.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

namespace kaio::tests::random {

inline constexpr u32 threads = 96;

template <class T>
inline constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
template <class T>
inline constexpr bool is_float = is_half<T> || std::is_floating_point_v<T>;

// The operations as the host has them.
namespace host {

template <class T, class N>
T number(N n) {
  if constexpr (is_half<T>)
    return T(static_cast<double>(n));
  else
    return static_cast<T>(n);
}

template <class T>
bool is_nan(T x) {
  if constexpr (is_half<T>)
    return std::isnan(static_cast<float>(x));
  else if constexpr (is_float<T>)
    return std::isnan(x);
  else
    return false;
}

// The bits that comparisons use.
template <class T>
auto order(T x) {
  if constexpr (is_half<T>)
    return static_cast<float>(x);
  else
    return x;
}

// A value in f64 that rounds to any shorter format as x itself would: inexact results get an odd last bit.
inline double rounded_to_odd(double sum, double error) {
  if (error == 0 || !std::isfinite(sum)) return sum;
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if ((bits & 1) != 0) return sum;
  const bool away = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

template <class To, class From>
To cast(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (is_half<From>) {
    return host::cast<To>(static_cast<double>(x));
  } else if constexpr (is_half<To>) {
    if constexpr (std::is_floating_point_v<From>) {
      return To(static_cast<double>(x));
    } else {
      const auto exact = static_cast<long double>(x);
      const auto near = static_cast<double>(exact);
      return To(rounded_to_odd(near, static_cast<double>(exact - near)));
    }
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(x)) return To{0};
    const From whole = std::trunc(x);
    if (whole >= std::ldexp(From{1}, std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
    if (whole < static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(whole);
  } else {
    return static_cast<To>(x);
  }
}

// --- arithmetic: integers wrap, floats round once

template <class T, class Integer, class Float>
T compute(T a, T b, Integer integer, Float real) {
  if constexpr (is_half<T>)
    return T(real(static_cast<double>(a), static_cast<double>(b)));
  else if constexpr (is_float<T>)
    return real(a, b);
  else
    return static_cast<T>(integer(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

template <class T>
T add(T a, T b) {
  return compute(
      a, b, [](auto x, auto y) { return x + y; }, [](auto x, auto y) { return x + y; });
}
template <class T>
T sub(T a, T b) {
  return compute(
      a, b, [](auto x, auto y) { return x - y; }, [](auto x, auto y) { return x - y; });
}
template <class T>
T mul(T a, T b) {
  return compute(
      a, b, [](auto x, auto y) { return x * y; }, [](auto x, auto y) { return x * y; });
}

template <class T>
T fma(T a, T b, T c) {
  if constexpr (is_half<T>) {
    const double product = static_cast<double>(a) * static_cast<double>(b);  // exact
    const auto z = static_cast<double>(c);
    const double sum = product + z;
    const double part = sum - product;  // the error of a sum, after Knuth
    const double error = (product - (sum - part)) + (z - part);
    return T(rounded_to_odd(sum, std::isfinite(sum) ? error : 0));
  } else {
    return std::fma(a, b, c);
  }
}

template <class T>
T quotient(T a, T b) {
  if constexpr (is_float<T>)
    return compute(
        a, b, [](auto, auto) { return 0; }, [](auto x, auto y) { return x / y; });
  else
    return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  return static_cast<T>(a % b);
}

template <class T>
T neg(T a) {
  if constexpr (is_half<T>)
    return T::from_bits(static_cast<std::uint16_t>(a.bits() ^ 0x8000));
  else if constexpr (is_float<T>)
    return -a;
  else
    return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
}

template <class T>
T abs(T a) {
  if constexpr (is_half<T>)
    return T::from_bits(static_cast<std::uint16_t>(a.bits() & 0x7fff));
  else if constexpr (is_float<T>)
    return std::fabs(a);
  else
    return a < 0 ? neg(a) : a;
}

template <class T>
T sqrt(T a) {
  if constexpr (is_half<T>)
    return T(std::sqrt(static_cast<double>(a)));
  else
    return std::sqrt(a);
}

template <class T>
T minimum(T a, T b) {
  if constexpr (is_float<T>) {
    if (is_nan(a)) return b;
    if (is_nan(b)) return a;
    if (order(a) == order(b)) return std::signbit(order(a)) ? a : b;
  }
  return order(a) < order(b) ? a : b;
}
template <class T>
T maximum(T a, T b) {
  if constexpr (is_float<T>) {
    if (is_nan(a)) return b;
    if (is_nan(b)) return a;
    if (order(a) == order(b)) return std::signbit(order(a)) ? b : a;
  }
  return order(a) < order(b) ? b : a;
}

template <class T>
T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
T bit_not(T a) {
  return static_cast<T>(~a);
}

template <class T>
T shift_left(T a, u32 by) {
  return by >= sizeof(T) * 8 ? T{0} : static_cast<T>(static_cast<std::uint64_t>(a) << by);
}
template <class T>
T shift_right(T a, u32 by) {
  if (by >= sizeof(T) * 8) return static_cast<T>(a < T{0} ? -1 : 0);
  return static_cast<T>(a >> by);
}

__extension__ using exact = __int128;

template <class T>
T mul_hi(T a, T b) {
  if constexpr (sizeof(T) == 8 && std::is_unsigned_v<T>) {
    __extension__ using wide = unsigned __int128;
    return static_cast<T>((wide{a} * b) >> 64);
  } else {
    return static_cast<T>((exact{a} * b) >> (8 * sizeof(T)));
  }
}

template <class T>
T clamped(exact x) {
  using limits = std::numeric_limits<T>;
  return x < limits::min() ? limits::min() : x > limits::max() ? limits::max() : static_cast<T>(x);
}
template <class T>
T add_sat(T a, T b) {
  return clamped<T>(exact{a} + b);
}
template <class T>
T sub_sat(T a, T b) {
  return clamped<T>(exact{a} - b);
}

template <class T>
T brev(T a) {
  std::make_unsigned_t<T> from = static_cast<std::make_unsigned_t<T>>(a);
  std::make_unsigned_t<T> to = 0;
  for (unsigned k = 0; k < 8 * sizeof(T); ++k, from = static_cast<std::make_unsigned_t<T>>(from >> 1))
    to = static_cast<std::make_unsigned_t<T>>(to << 1 | (from & 1));
  return static_cast<T>(to);
}

template <class T>
T rotate_left(T a, u32 by) {
  return static_cast<T>(std::rotl(static_cast<std::make_unsigned_t<T>>(a), static_cast<int>(by)));
}

template <class T, class Op>
T reduce(const T (&x)[threads], Op op) {
  T sum = x[0];
  for (u32 i = 1; i < threads; ++i) sum = op(sum, x[i]);
  return sum;
}

}  // namespace host

template <class T>
bool same(T a, T b) {
  if (host::is_nan(a) || host::is_nan(b)) return host::is_nan(a) && host::is_nan(b);
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// The bytes of unwritten elements; kernels may leave elements out.
inline constexpr std::byte poison_byte{0x5a};
template <class T>
T poison() {
  T x;
  std::memset(static_cast<void*>(&x), std::to_integer<int>(poison_byte), sizeof(T));
  return x;
}

// A number of any size; zeros, infinities, NaN and the ends of the type are frequent.
template <class T>
T draw(std::mt19937_64& engine) {
  const std::uint64_t raw = engine();
  const std::uint64_t pick = engine() % 8;
  if constexpr (is_float<T>) {
    if (pick == 0) {
      constexpr double special[] = {0.0, -0.0, 1.0, -1.0, 65504.0, 1e-7, 3e38, -2.5};
      return T(static_cast<float>(special[raw % 8]));
    }
    if (pick == 1) {
      constexpr float ends[] = {std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::quiet_NaN(), 1e-40f};
      return T(ends[raw % 4]);
    }
    const auto mantissa = static_cast<double>(static_cast<std::int32_t>(raw));
    return T(static_cast<float>(std::ldexp(mantissa, static_cast<int>((raw >> 40) % 40) - 45)));
  } else {
    if (pick == 0) {
      const T special[] = {T(0), T(1), static_cast<T>(~T(0)), std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::min()};
      return special[raw % 5];
    }
    return static_cast<T>(raw >> (raw >> 58));
  }
}

}  // namespace kaio::tests::random
