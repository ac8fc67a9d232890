// Division by constants as multiplication by reciprocals: every quotient of 8 bits, and the edges of 16, 32
// and 64 bits, computed on the host as the device computes them.
#include <kaio/dsl/trace/division.hpp>

#include <cstdint>
#include <initializer_list>

using namespace kaio::dsl;

__extension__ using wide = unsigned __int128;
__extension__ using signed_wide = __int128;

constexpr std::uint64_t mask(unsigned width) { return ~std::uint64_t{0} >> (64 - width); }

constexpr std::uint64_t quotient(std::uint64_t x, const unsigned_reciprocal& m, unsigned width) {
  const std::uint64_t from = x >> m.shift_before;
  std::uint64_t q = static_cast<std::uint64_t>((wide{from} * m.multiplier) >> width);
  if (m.add) q = (((from - q) & mask(width)) >> 1) + q;
  return q >> m.shift;
}

constexpr std::int64_t quotient(std::int64_t x, const signed_reciprocal& m, unsigned width) {
  // The multiplier as the signed number of the register.
  const auto factor = static_cast<std::int64_t>(m.multiplier << (64 - width)) >> (64 - width);
  const auto high = static_cast<std::int64_t>((static_cast<signed_wide>(x) * factor) >> width);
  const auto sum = static_cast<std::uint64_t>(high) + (m.add ? static_cast<std::uint64_t>(x) : 0);
  const std::int64_t q = static_cast<std::int64_t>(sum << (64 - width)) >> (64 - width);
  return (q >> m.shift) - (x >> 63);
}

constexpr bool is_power(std::uint64_t d) { return (d & (d - 1)) == 0; }

constexpr bool right(std::uint64_t x, std::uint64_t d, unsigned width) {
  return quotient(x, reciprocal_of(d, width, width), width) == x / d;
}

// In registers of 8 bits, and of 32 that hold an 8-bit number.
template <unsigned Width>
constexpr bool every_unsigned_quotient_of_8_bits() {
  for (std::uint64_t d = 3; d < 256; ++d) {
    if (is_power(d)) continue;
    const unsigned_reciprocal m = reciprocal_of(d, Width, 8);
    for (std::uint64_t x = 0; x < 256; ++x)
      if (quotient(x, m, Width) != x / d) return false;
  }
  return true;
}
static_assert(every_unsigned_quotient_of_8_bits<8>());
static_assert(every_unsigned_quotient_of_8_bits<32>());

template <unsigned Width>
constexpr bool every_signed_quotient_of_8_bits() {
  for (std::int64_t d = 3; d < 128; ++d) {
    if (is_power(static_cast<std::uint64_t>(d))) continue;
    const signed_reciprocal m = signed_reciprocal_of(static_cast<std::uint64_t>(d), Width, 7);
    for (std::int64_t x = -128; x < 128; ++x)
      if (quotient(x, m, Width) != x / d) return false;
  }
  return true;
}
static_assert(every_signed_quotient_of_8_bits<8>());
static_assert(every_signed_quotient_of_8_bits<32>());

// Dividends around the multiples of the divisor that are nearest to 0, to the middle and to the end.
constexpr bool unsigned_edges(std::uint64_t d, unsigned width) {
  const std::uint64_t largest = mask(width);
  const unsigned_reciprocal m = reciprocal_of(d, width, width);
  for (const std::uint64_t multiple : {std::uint64_t{0}, std::uint64_t{1}, largest / d / 2, largest / d})
    for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{1}, d - 1, d}) {
      const std::uint64_t x = (multiple * d + step) & largest;
      if (quotient(x, m, width) != x / d) return false;
    }
  return quotient(largest, m, width) == largest / d;
}
constexpr bool signed_edges(std::uint64_t d, unsigned width) {
  const auto largest = static_cast<std::int64_t>(mask(width) >> 1);
  const auto divisor = static_cast<std::int64_t>(d);
  const signed_reciprocal m = signed_reciprocal_of(d, width, width - 1);
  for (const std::int64_t multiple :
       {std::int64_t{0}, std::int64_t{1}, largest / divisor / 2, largest / divisor})
    for (const std::int64_t step : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}}) {
      const std::int64_t x = multiple * divisor + (multiple == largest / divisor && step > 0 ? 0 : step);
      if (quotient(x, m, width) != x / divisor || quotient(-x, m, width) != -x / divisor) return false;
    }
  return quotient(-largest - 1, m, width) == (-largest - 1) / divisor;
}

template <unsigned Width>
constexpr bool edges() {
  std::uint64_t d = 0x9e3779b97f4a7c15u;
  for (unsigned round = 0; round < 60; ++round) {
    d = d * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t drawn = (d & mask(Width)) >> (round % (Width - 3));
    for (const std::uint64_t divisor :
         {drawn, std::uint64_t{3} + round, mask(Width) - round, mask(Width) / 2 - round}) {
      if (divisor < 3 || is_power(divisor)) continue;
      if (!unsigned_edges(divisor, Width)) return false;
      if (divisor <= mask(Width) / 2 && !signed_edges(divisor, Width)) return false;
    }
  }
  return right(mask(Width), 641, Width) && right(mask(Width) - 1, 7, Width);
}
static_assert(edges<16>());
static_assert(edges<32>());
static_assert(edges<64>());
