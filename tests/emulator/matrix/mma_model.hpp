#pragma once
// A second, slow model of the tensor cores for the tests, in double precision: every product and every
// truncated term is an exact double, and so is a group's sum. The constants are those of Khattak and
// Mikaitis, arXiv 2512.07004.

#include "tests/emulator/kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace mma_model {

struct number_format {
  std::string name;
  int exponent_bits, fraction_bits, bits;
  int least_exponent() const { return 2 - (1 << (exponent_bits - 1)); }
  // tf32 is kept in 32 bits; 13 of them do not count.
  unsigned ignored() const { return name == "tf32" ? 13 : 0; }
  double value(std::uint32_t code) const {
    code >>= ignored();
    const int exponent = static_cast<int>(code >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = static_cast<int>(code) & ((1 << fraction_bits) - 1);
    const double sign = (code >> (exponent_bits + fraction_bits) & 1) != 0 ? -1 : 1;
    const int last = (1 << exponent_bits) - 1;
    if (name == "e4m3") {
      if (exponent == last && fraction == 7) return std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == last) {
      return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                           : sign * std::numeric_limits<double>::infinity();
    }
    const double significand = fraction + (exponent == 0 ? 0.0 : std::ldexp(1.0, fraction_bits));
    return sign * std::ldexp(significand, std::max(exponent, 1) - (last >> 1) - fraction_bits);
  }
  // `value` is not zero. Subnormal numbers have the least exponent.
  int exponent(double value) const { return std::max(std::ilogb(value), least_exponent()); }
};

inline const number_format f16{"f16", 5, 10, 16}, bf16{"bf16", 8, 7, 16}, tf32{"tf32", 8, 10, 32},
    e4m3{"e4m3", 4, 3, 8}, e5m2{"e5m2", 5, 2, 8}, f32{"f32", 8, 23, 32};

// A device's way with one dot product.
struct device_model {
  unsigned group;
  int fraction;
  int floor;
  int kept;
};

inline device_model published(unsigned sm, const std::string& format, bool warpgroup) {
  const bool eight = format == "e4m3" || format == "e5m2";
  const unsigned divisor = format == "tf32" ? 2 : 1;
  switch (sm) {
    case 70: return {4, 23, -132, 23};
    case 75:
    case 80:
    case 86: return {8 / divisor, 24, -132, 23};
    case 89: return eight ? device_model{16, 13, -132, 13} : device_model{8 / divisor, 24, -132, 23};
    default:
      return eight && warpgroup ? device_model{32, 13, -133, 13} : device_model{16 / divisor, 25, -133, 23};
  }
}

struct term {
  double value;
  int exponent;
};

inline std::uint32_t bits_of(double value, const number_format& to) {
  if (std::isnan(value)) return to.bits == 16 ? 0x7fff : 0x7fffffff;
  if (to.bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isinf(size)) return sign | 0x7c00;
  if (size < std::ldexp(1.0, -14)) return sign | static_cast<std::uint32_t>(std::ldexp(size, 24));
  const int e = std::ilogb(size);
  return sign | (static_cast<std::uint32_t>(e + 15) << 10) |
         (static_cast<std::uint32_t>(std::ldexp(size, 10 - e)) - 1024);
}

// One group: the terms are its products and c.
inline double fused_sum(const device_model& m, const std::vector<term>& terms, bool to_half) {
  double special = 0;
  for (const term& t : terms)
    if (!std::isfinite(t.value)) special += t.value;
  if (special != 0 || std::isnan(special)) return special;
  int greatest = m.floor;
  for (const term& t : terms)
    if (t.value != 0) greatest = std::max(greatest, t.exponent);
  const double unit = std::ldexp(1.0, greatest - m.fraction);
  double sum = 0;
  for (const term& t : terms) sum += std::trunc(t.value / unit);
  sum *= unit;
  if (sum == 0) return 0;
  const int e = std::ilogb(sum);
  if (to_half) {
    const double place = std::ldexp(1.0, std::max(e, -14) - 10);
    const double result = std::nearbyint(sum / place) * place;
    if (result == 0) return 0;  // an H200 gives +0
    return std::fabs(result) >= 65536.0 ? std::copysign(std::numeric_limits<double>::infinity(), sum)
                                        : std::copysign(result, sum);
  }
  const double place = std::ldexp(1.0, std::max(e, -126) - m.kept);
  const double result = std::trunc(sum / place) * place;
  if (result == 0) return 0;
  return e > 127 ? std::copysign(std::numeric_limits<double>::infinity(), sum) : std::copysign(result, sum);
}

// d = a . b + c with c and d of f32, or of f16 where `half`; all are bits.
inline std::uint32_t dot(unsigned sm, const number_format& fa, const std::vector<std::uint32_t>& a,
                         const number_format& fb, const std::vector<std::uint32_t>& b, std::uint32_t c,
                         bool half, bool warpgroup = false) {
  const device_model m = published(sm, fa.name, warpgroup);
  const number_format& fc = half ? f16 : f32;
  const bool two_of_f16 = sm == 90 && !warpgroup && fa.bits == 8;
  const auto product = [&](std::size_t k) {
    const double x = fa.value(a[k]), y = fb.value(b[k]);
    if (x == 0 || y == 0 || !std::isfinite(x * y)) return term{x * y, 0};
    if (two_of_f16) return term{x * y, f16.exponent(x) + f16.exponent(y)};
    return term{x * y, fa.exponent(x) + fb.exponent(y)};
  };
  std::vector<std::vector<std::size_t>> groups;
  if (two_of_f16) {
    groups.resize(2);
    for (std::size_t k = 0; k < a.size(); ++k) groups[k % 4 / 2].push_back(k);
  } else {
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (k % m.group == 0) groups.emplace_back();
      groups.back().push_back(k);
    }
  }
  double sum = two_of_f16 ? 0.0 : fc.value(c);
  for (const auto& group : groups) {
    std::vector<term> terms;
    for (std::size_t k : group) terms.push_back(product(k));
    terms.push_back({sum, sum != 0 && std::isfinite(sum) ? fc.exponent(sum) : 0});
    sum = fused_sum(m, terms, half);
  }
  if (two_of_f16) {
    const double before = fc.value(c);
    if (!half) return bits_of(static_cast<double>(static_cast<float>(before) + static_cast<float>(sum)), f32);
    sum += before;
    if (sum == 0 || !std::isfinite(sum)) return bits_of(sum, f16);
    const double place = std::ldexp(1.0, std::max(std::ilogb(sum), -14) - 10);
    const double result = std::copysign(std::nearbyint(sum / place) * place, sum);
    return bits_of(std::fabs(result) >= 65536 ? std::copysign(INFINITY, sum) : result, f16);
  }
  return bits_of(sum, fc);
}

// ---- numbers to multiply ----

enum class kind { small_integers, close, wide, subnormal, special };
inline constexpr kind all_kinds[] = {kind::small_integers, kind::close, kind::wide, kind::subnormal,
                                     kind::special};

inline std::uint32_t code_of(double value, const number_format& f) {
  if (value == 0) return 0;
  const int e = std::ilogb(value), bias = (1 << (f.exponent_bits - 1)) - 1;
  const auto fraction = static_cast<std::uint32_t>(std::ldexp(std::fabs(value), f.fraction_bits - e));
  const std::uint32_t code = (static_cast<std::uint32_t>(e + bias - 1) << f.fraction_bits) + fraction;
  return (code | (value < 0 ? 1u << (f.bits - 1 - static_cast<int>(f.ignored())) : 0u)) << f.ignored();
}

inline std::uint32_t random_code(std::mt19937& random, const number_format& f, kind k) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const std::uint32_t sign = below(2) << (f.exponent_bits + f.fraction_bits);
  const std::uint32_t fraction = below(1u << f.fraction_bits), bias = (1u << (f.exponent_bits - 1)) - 1;
  const std::uint32_t noise = f.ignored() != 0 ? below(1u << f.ignored()) : 0;
  std::uint32_t exponent = 0;
  switch (k) {
    case kind::small_integers: return code_of(static_cast<double>(below(9)) - 4, f);
    case kind::close: exponent = bias - 2 + below(5); break;
    case kind::wide: exponent = below((1u << f.exponent_bits) - 1); break;
    case kind::subnormal: exponent = below(3); break;
    case kind::special: exponent = below(6) == 0 ? (1u << f.exponent_bits) - 1 : bias + below(3);
  }
  const std::uint32_t shown = k == kind::special && below(2) == 0 ? 0 : fraction;
  return (below(12) == 0 && k != kind::special ? sign : (sign | exponent << f.fraction_bits | shown))
             << f.ignored() |
         noise;
}

}  // namespace mma_model
