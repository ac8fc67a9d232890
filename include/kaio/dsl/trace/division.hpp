#pragma once
// Division by a constant as a multiplication by its reciprocal: the high half of the product, and shifts.
// Source: Granlund and Montgomery, "Division by Invariant Integers using Multiplication" (1994), sections 4
// and 5.
//
//   static_assert(reciprocal_of(7, 32, 32).multiplier == 0x24924925u);

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::dsl {

// x / d for unsigned x: q = high(multiplier * (x >> shift_before)); add: q = ((x - q) >> 1) + q; q >> shift.
struct unsigned_reciprocal {
  std::uint64_t multiplier = 0;
  unsigned shift_before = 0;
  bool add = false;
  unsigned shift = 0;
};

// x / d for signed x and d > 0: q = high(multiplier * x), signed; add: q += x; (q >> shift) - (x >> width-1).
struct signed_reciprocal {
  std::uint64_t multiplier = 0;
  bool add = false;
  unsigned shift = 0;
};

namespace detail {

__extension__ using wide = unsigned __int128;

constexpr unsigned bits_to_hold(std::uint64_t d) {  // ceil(log2(d))
  unsigned n = 0;
  while (n < 64 && (std::uint64_t{1} << n) < d) ++n;
  return n;
}

struct multiplier {
  wide m = 0;
  unsigned shift = 0;
};

// The least multiplier that gives `precision` right bits of the quotient.
constexpr multiplier choose_multiplier(std::uint64_t d, unsigned width, unsigned precision) {
  const unsigned l = bits_to_hold(d);
  unsigned shift = l;
  // floor(2^(width + l) / d) in two steps, since 2^(width + l) may need 129 bits.
  const auto scaled = [&](unsigned extra) {
    const wide power = wide{1} << (width + l - 1);
    const wide q = power / d;
    const wide r = power % d;
    wide low = q * 2 + (r * 2) / d;
    if (extra != 0) {
      // + 2^(width + l - precision) / d
      const wide add = wide{1} << (width + l - precision);
      const wide rest = (r * 2) % d;
      low = low + add / d + (add % d + rest) / d;
    }
    return low;
  };
  wide low = scaled(0);
  wide high = scaled(1);
  while (low / 2 < high / 2 && shift > 0) {
    low /= 2;
    high /= 2;
    --shift;
  }
  return {high, shift};
}

}  // namespace detail

// For x below 2^precision in registers of `width` bits. d >= 3 is below it too, and no power of two, for
// which a shift is the whole division.
constexpr unsigned_reciprocal reciprocal_of(std::uint64_t d, unsigned width, unsigned precision) {
  unsigned_reciprocal result;
  detail::multiplier m = detail::choose_multiplier(d, width, precision);
  const detail::wide limit = detail::wide{1} << width;
  if (m.m >= limit && d % 2 == 0) {
    std::uint64_t odd = d;
    while (odd % 2 == 0) {
      odd /= 2;
      ++result.shift_before;
    }
    m = detail::choose_multiplier(odd, width, precision - result.shift_before);
  }
  if (m.m >= limit) {
    result.add = true;
    result.multiplier = static_cast<std::uint64_t>(m.m - limit);
    result.shift = m.shift - 1;
  } else {
    result.multiplier = static_cast<std::uint64_t>(m.m);
    result.shift = m.shift;
  }
  return result;
}

// For -2^precision <= x < 2^precision; d >= 3 is below it too, and no power of two.
constexpr signed_reciprocal signed_reciprocal_of(std::uint64_t d, unsigned width, unsigned precision) {
  const detail::multiplier m = detail::choose_multiplier(d, width, precision);
  signed_reciprocal result;
  result.shift = m.shift;
  result.multiplier = static_cast<std::uint64_t>(m.m);
  result.add = m.m >= detail::wide{1} << (width - 1);
  return result;
}

}  // namespace kaio::dsl
