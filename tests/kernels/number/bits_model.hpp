#pragma once
// A model of the language's types on the host, for tests: exact values in long double (64 bits of mantissa
// hold every i64 and every f64), and one rounding of them. The rounding shares no line with the library: it
// scales and uses std::rint, where the library works on bits.
//
//   model<f16>::encode(round_to(model<f16>::format, 65519.0L, toward::nearest)) == 0x7bff;

#include <kaio/dsl/number/scalar.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace kaio::tests {

enum class toward { nearest, zero, below, above };

struct float_format {
  int digits;    // stored bits of the mantissa
  int least;     // the exponent of the least normal number
  int greatest;  // the exponent of the largest number
};

inline long double whole(long double x, toward mode) {
  switch (mode) {
    case toward::nearest: return std::rint(x);
    case toward::zero: return std::trunc(x);
    case toward::below: return std::floor(x);
    default: return std::ceil(x);
  }
}

inline long double round_to(const float_format& f, long double x, toward mode) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), f.least);
  const long double quantum = std::ldexp(1.0L, exponent - f.digits);
  const long double result = std::copysign(whole(x / quantum, mode) * quantum, x);
  const long double largest = std::ldexp(2.0L - std::ldexp(1.0L, -f.digits), f.greatest);
  if (std::fabs(result) <= largest) return result;
  const bool outward = mode == toward::nearest || mode == (x > 0 ? toward::above : toward::below);
  return std::copysign(outward ? std::numeric_limits<long double>::infinity() : largest, x);
}

template <class T>
inline constexpr bool is_float = dsl::floating<T> && !dsl::packed<T>;

template <std::size_t Bytes>
using pattern =
    std::conditional_t<Bytes == 1, std::uint8_t,
                       std::conditional_t<Bytes == 2, std::uint16_t,
                                          std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

// The value of a type as its bits and as an exact number.
template <class T>
struct model {
  using bits_type = pattern<sizeof(T)>;
  static constexpr float_format format = std::is_same_v<T, f16>    ? float_format{10, -14, 15}
                                         : std::is_same_v<T, bf16> ? float_format{7, -126, 127}
                                         : std::is_same_v<T, f32>  ? float_format{23, -126, 127}
                                                                   : float_format{52, -1022, 1023};

  static std::uint64_t bits(T x) { return std::bit_cast<bits_type>(x); }
  static T from_bits(std::uint64_t b) { return std::bit_cast<T>(static_cast<bits_type>(b)); }

  static long double exact(T x) {
    if constexpr (!is_float<T>) {
      return static_cast<long double>(x);
    } else {
      const std::uint64_t b = bits(x);
      const std::uint64_t sign = b >> (sizeof(T) * 8 - 1);
      const int width = static_cast<int>(sizeof(T) * 8) - 1 - format.digits;
      const auto exponent = static_cast<int>((b >> format.digits) & ((1u << width) - 1));
      const std::uint64_t fraction = b & ((std::uint64_t{1} << format.digits) - 1);
      long double value = 0;
      if (exponent == (1 << width) - 1)
        value = fraction != 0 ? std::numeric_limits<long double>::quiet_NaN()
                              : std::numeric_limits<long double>::infinity();
      else if (exponent == 0)
        value = std::ldexp(static_cast<long double>(fraction), format.least - format.digits);
      else
        value = std::ldexp(static_cast<long double>(fraction | std::uint64_t{1} << format.digits),
                           format.least - format.digits + exponent - 1);
      return sign != 0 ? -value : value;
    }
  }

  // The bits of a number that the format holds.
  static std::uint64_t encode(long double x) {
    const std::uint64_t sign = std::uint64_t{std::signbit(x)} << (sizeof(T) * 8 - 1);
    const auto top = static_cast<std::uint64_t>(format.greatest - format.least + 2) << format.digits;
    const long double magnitude = std::fabs(x);
    if (std::isnan(x)) return top | std::uint64_t{1} << (format.digits - 1);
    if (std::isinf(x)) return sign | top;
    const long double unit = std::ldexp(1.0L, format.least - format.digits);
    if (magnitude < std::ldexp(1.0L, format.least))
      return sign | static_cast<std::uint64_t>(magnitude / unit);
    const int exponent = std::ilogb(magnitude);
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(magnitude, format.digits - exponent));
    // The leading one of the mantissa adds the last one to the exponent.
    return sign | ((static_cast<std::uint64_t>(exponent - format.least) << format.digits) + mantissa);
  }

  static bool is_nan(std::uint64_t b) {
    if constexpr (is_float<T>)
      return std::isnan(exact(from_bits(b)));
    else
      return false;
  }

  // Equal bits; every NaN is the same.
  static bool same(std::uint64_t a, std::uint64_t b) { return a == b || (is_nan(a) && is_nan(b)); }
};

// a + b or a * b + c for numbers of f16 and bf16, rounded to odd in f64, so that one more rounding to their
// few digits is the only one.
inline long double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - a;
  const double lost = (a - (sum - part)) + (b - part);
  if (lost == 0 || (std::bit_cast<std::uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(
      sum, lost > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
}

// The host's meaning of the operations of each type, as storage.
template <class T>
struct host_half {
  static double real(T x) { return static_cast<double>(model<T>::exact(x)); }
  static T rounded(long double x) {
    return model<T>::from_bits(model<T>::encode(round_to(model<T>::format, x, toward::nearest)));
  }
  static T add(T a, T b) { return rounded(sum_to_odd(real(a), real(b))); }
  static T sub(T a, T b) { return rounded(sum_to_odd(real(a), -real(b))); }
  static T mul(T a, T b) { return rounded(real(a) * real(b)); }
  static T div(T a, T b) { return rounded(real(a) / real(b)); }
  static T fma(T a, T b, T c) { return rounded(sum_to_odd(real(a) * real(b), real(c))); }
  static T negated(T a) { return model<T>::from_bits(model<T>::bits(a) ^ 0x8000u); }
  static T absolute(T a) { return model<T>::from_bits(model<T>::bits(a) & 0x7fffu); }
  static bool less(T a, T b) { return real(a) < real(b); }
  static bool equal(T a, T b) { return real(a) == real(b); }
  static T min(T a, T b) {
    if (equal(a, b)) return std::signbit(real(a)) ? a : b;
    return rounded(std::fmin(real(a), real(b)));
  }
  static T max(T a, T b) {
    if (equal(a, b)) return std::signbit(real(a)) ? b : a;
    return rounded(std::fmax(real(a), real(b)));
  }
};

// Values of T: the edges, then random ones.
template <class T>
std::vector<T> values_of(std::size_t random) {
  std::vector<T> v;
  std::mt19937_64 engine(11);
  if constexpr (is_float<T>) {
    constexpr float_format f = model<T>::format;
    const std::uint64_t sign = std::uint64_t{1} << (sizeof(T) * 8 - 1);
    const auto infinity = static_cast<std::uint64_t>(f.greatest - f.least + 2) << f.digits;
    const std::uint64_t least = std::uint64_t{1} << f.digits;
    for (const std::uint64_t b : {std::uint64_t{0}, std::uint64_t{1}, least - 1, least, infinity - 1,
                                  infinity, infinity | least >> 1}) {
      v.push_back(model<T>::from_bits(b));
      v.push_back(model<T>::from_bits(b | sign));
    }
    for (const long double x :
         {1.0L, 0.5L, 0.75L, 1.5L, 2.5L, 126.5L, 127.5L, 128.5L, 255.5L, 256.0L, 32767.5L, 65504.0L, 65535.5L,
          2147483647.5L, 4294967295.5L, 1e10L, 9.3e18L, 1.9e19L})
      for (const long double y : {x, -x})
        v.push_back(model<T>::from_bits(model<T>::encode(round_to(f, y, toward::nearest))));
    for (std::size_t i = 0; i < random; ++i) {
      if (i % 2 == 0) {
        v.push_back(model<T>::from_bits(engine()));
      } else {
        const auto scaled = std::ldexp(static_cast<long double>(static_cast<std::int64_t>(engine())),
                                       static_cast<int>(engine() % 70) - 66);
        v.push_back(model<T>::from_bits(model<T>::encode(round_to(f, scaled, toward::nearest))));
      }
    }
  } else {
    using limits = std::numeric_limits<T>;
    for (const int k : {0, 1, 2, 3, 7, 8, 31, 33, 100, -1, -2, -7}) v.push_back(static_cast<T>(k));
    v.insert(v.end(), {limits::max(), limits::min(), static_cast<T>(limits::max() - 1),
                       static_cast<T>(limits::min() + 1), static_cast<T>(limits::max() / 2 + 1)});
    // Where floating types begin to round, and their ties.
    for (const int k : {7, 8, 11, 12, 15, 16, 24, 25, 31, 32, 40, 53, 54, 63})
      for (const std::int64_t d : {-1, 0, 1})
        if (k < static_cast<int>(sizeof(T) * 8))
          v.push_back(static_cast<T>((std::uint64_t{1} << k) + static_cast<std::uint64_t>(d)));
    for (std::size_t i = 0; i < random; ++i) {
      const std::uint64_t raw = engine();
      v.push_back(static_cast<T>(raw >> (raw % (sizeof(T) * 8))));
    }
  }
  return v;
}

// Pairs of the values: the first ones each with each, then in an order of their own.
template <class T>
struct value_pairs {
  std::vector<T> a, b;
  explicit value_pairs(std::size_t random) {
    const std::vector<T> v = values_of<T>(random);
    const std::size_t edges = std::min<std::size_t>(v.size(), 20);
    for (std::size_t i = 0; i < edges; ++i)
      for (std::size_t k = 0; k < edges; ++k) add(v[i], v[k]);
    for (std::size_t i = 0; i < v.size(); ++i) add(v[i], v[(i * 7 + 3) % v.size()]);
  }

 private:
  void add(T x, T y) {
    a.push_back(x);
    b.push_back(y);
  }
};

}  // namespace kaio::tests
