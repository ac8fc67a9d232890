#pragma once
// The names of the language's operations, and their value on constants. Folding computes the device's result:
// integers wrap, shifts clamp at the width, a float result is rounded once. An operation without such a value
// is left to the device.

#include <kaio/ptx/type.hpp>

#include <cstdint>

namespace kaio::dsl {

enum class operation : std::uint8_t {
  add,
  sub,
  mul,
  div,
  rem,
  min,
  max,
  and_,
  or_,
  xor_,
  shl,
  shr,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  neg,
  not_,
  abs,
  sqrt,
};

struct folded {
  bool known = false;
  std::uint64_t bits = 0;
};

// A constant as immediates hold it: sign- or zero-extended from its width.
constexpr std::uint64_t canonical(ptx::type t, std::uint64_t bits) {
  const unsigned bytes = ptx::detail::type_table[static_cast<unsigned>(t)].bytes;
  if (bytes >= 8 || t == ptx::type::pred) return bits;
  const unsigned unused = 64 - 8 * bytes;
  bits <<= unused;
  return ptx::is_signed(t) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> unused)
                           : bits >> unused;
}

namespace detail {

constexpr folded known(std::uint64_t bits) { return {true, bits}; }

constexpr folded fold_comparison(operation op, bool less, bool equal) {
  switch (op) {
    case operation::eq: return known(equal);
    case operation::ne: return known(!equal);
    case operation::lt: return known(less);
    case operation::le: return known(less || equal);
    case operation::gt: return known(!less && !equal);
    default: return known(!less);
  }
}

constexpr folded fold_integer(operation op, ptx::type t, std::uint64_t a, std::uint64_t b) {
  const bool is_signed = ptx::is_signed(t);
  const auto sa = static_cast<std::int64_t>(a);
  const auto sb = static_cast<std::int64_t>(b);
  const bool less = is_signed ? sa < sb : a < b;
  const std::uint64_t width = ptx::size_of(t) * 8;
  const std::uint64_t shift = b & 0xffffffffu;  // shift amounts are unsigned 32-bit
  switch (op) {
    case operation::add: return known(canonical(t, a + b));
    case operation::sub: return known(canonical(t, a - b));
    case operation::mul: return known(canonical(t, a * b));
    case operation::div:
      if (b == 0 || (is_signed && sb == -1)) return {};
      return known(canonical(t, is_signed ? static_cast<std::uint64_t>(sa / sb) : a / b));
    case operation::rem:
      if (b == 0 || (is_signed && sb == -1)) return {};
      return known(canonical(t, is_signed ? static_cast<std::uint64_t>(sa % sb) : a % b));
    case operation::min: return known(less ? a : b);
    case operation::max: return known(less ? b : a);
    case operation::and_: return known(a & b);
    case operation::or_: return known(a | b);
    case operation::xor_: return known(canonical(t, a ^ b));
    case operation::shl: return known(shift >= width ? 0 : canonical(t, a << shift));
    case operation::shr:
      if (is_signed) return known(static_cast<std::uint64_t>(sa >> (shift >= width ? width - 1 : shift)));
      return known(shift >= width ? 0 : a >> shift);
    case operation::neg: return known(canonical(t, std::uint64_t{0} - a));
    case operation::not_: return known(canonical(t, ~a));
    case operation::abs: return known(canonical(t, sa < 0 ? std::uint64_t{0} - a : a));
    case operation::sqrt: return {};
    default: return fold_comparison(op, less, a == b);
  }
}

constexpr folded fold_predicate(operation op, std::uint64_t a, std::uint64_t b) {
  switch (op) {
    case operation::and_: return known(a & b);
    case operation::or_: return known(a | b);
    case operation::xor_:
    case operation::ne: return known(a ^ b);
    case operation::eq: return known((a ^ b) ^ 1);
    case operation::not_: return known(a ^ 1);
    default: return {};
  }
}

constexpr std::uint64_t bits_of_f32(float x) { return __builtin_bit_cast(std::uint32_t, x); }
constexpr float f32_of_bits(std::uint64_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits));
}

// f32 through double: exact except for one rounding at the end, and no overflow on the way.
constexpr folded fold_f32(operation op, std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t exponent =
      0x7f800000u;  // all of it: infinities and NaN, which are left to the device
  if ((a & exponent) == exponent || (b & exponent) == exponent) return {};
  const double x = static_cast<double>(f32_of_bits(a));
  const double y = static_cast<double>(f32_of_bits(b));
  double r = 0;
  switch (op) {
    case operation::add: r = x + y; break;
    case operation::sub: r = x - y; break;
    case operation::mul: r = x * y; break;
    case operation::neg: return known(a ^ 0x80000000u);
    case operation::abs: return known(a & 0x7fffffffu);
    case operation::eq:
    case operation::ne:
    case operation::lt:
    case operation::le:
    case operation::gt:
    case operation::ge: return fold_comparison(op, x < y, x == y);
    default: return {};
  }
  if (r > 3.4028234663852886e38 || r < -3.4028234663852886e38) return {};
  return known(bits_of_f32(static_cast<float>(r)));
}

}  // namespace detail

// The value of `op` on constants of type t; unary operations ignore b.
constexpr folded fold(operation op, ptx::type t, std::uint64_t a, std::uint64_t b) {
  if (t == ptx::type::pred) return detail::fold_predicate(op, a, b);
  if (t == ptx::type::f32) return detail::fold_f32(op, a, b);
  if (ptx::is_floating(t)) return {};
  return detail::fold_integer(op, t, a, b);
}

}  // namespace kaio::dsl
