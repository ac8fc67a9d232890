#pragma once
// Integer instructions on numbers, as the PTX ISA defines them. They compute an address if everything is
// known. Operands and results of 32 bits are sign-extended.
//
//   exact_result(opcode::mul, in_order(modifier::hi), type::u32, 24, 0xaaaaaaab, 0).bits == 16

#include <kaio/ptx/analysis/lane_value.hpp>

#include <bit>
#include <cstdint>

namespace kaio::ptx {

struct exact_number {
  bool known = false;
  std::uint64_t bits = 0;
};

namespace detail {

// The high half of a product of 64 bits.
constexpr std::uint64_t high_half(std::uint64_t a, std::uint64_t b, bool is_signed) {
  __extension__ using wide = unsigned __int128;
  std::uint64_t high = static_cast<std::uint64_t>(wide{a} * b >> 64);
  if (is_signed && static_cast<std::int64_t>(a) < 0) high -= b;
  if (is_signed && static_cast<std::int64_t>(b) < 0) high -= a;
  return high;
}

constexpr exact_number divided(bool remainder, bool is_signed, std::uint64_t a, std::uint64_t b) {
  if (b == 0) return {};
  if (!is_signed) return {true, remainder ? a % b : a / b};
  const auto x = static_cast<std::int64_t>(a);
  const auto y = static_cast<std::int64_t>(b);
  if (y == -1) return {true, remainder ? 0 : std::uint64_t{0} - a};
  return {true, static_cast<std::uint64_t>(remainder ? x % y : x / y)};
}

constexpr exact_number compared(modifier_list modifiers, bool is_signed, std::uint64_t a, std::uint64_t b) {
  const bool less = is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  switch (static_cast<modifier>(modifiers)) {
    case modifier::eq: return {true, a == b};
    case modifier::ne: return {true, a != b};
    case modifier::lt: return {true, less};
    case modifier::le: return {true, less || a == b};
    case modifier::gt: return {true, !less && a != b};
    case modifier::ge: return {true, !less};
    default: return {};
  }
}

constexpr std::uint64_t reversed(std::uint64_t bits, unsigned width) {
  std::uint64_t result = 0;
  for (unsigned i = 0; i < width; ++i) result |= (bits >> i & 1) << (width - 1 - i);
  return result;
}

}  // namespace detail

// The result on one lane. It is unknown for a division by zero, for instructions not listed here, and for
// types other than predicates and 32- or 64-bit integers.
constexpr exact_number exact_result(opcode op, modifier_list modifiers, type t, std::uint64_t a,
                                    std::uint64_t b, std::uint64_t c) {
  if (t == type::pred) {
    if (op == opcode::not_) return {true, a ^ 1};
    if (op == opcode::and_ || op == opcode::or_ || op == opcode::xor_) return {true, bitwise_bits(op, a, b)};
    return {};
  }
  const unsigned width = size_of(t) * 8;
  if (is_floating(t) || (width != 32 && width != 64)) return {};
  const bool is_64 = width == 64;
  const auto fit = [&](std::uint64_t bits) { return exact_number{true, is_64 ? bits : extended(bits)}; };
  const auto narrow = [&](std::uint64_t bits) { return is_64 ? bits : bits & 0xffffffffu; };
  const bool sign = is_signed(t);
  // The operands as the instruction sees them: an unsigned number of 32 bits has no sign.
  const std::uint64_t x = sign ? a : narrow(a);
  const std::uint64_t y = sign ? b : narrow(b);
  const bool less = sign ? static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y) : x < y;
  switch (op) {
    case opcode::add: return fit(a + b);
    case opcode::sub: return fit(a - b);
    case opcode::neg: return fit(std::uint64_t{0} - a);
    case opcode::abs: return fit(static_cast<std::int64_t>(a) < 0 ? std::uint64_t{0} - a : a);
    case opcode::mul:
    case opcode::mad: {
      const std::uint64_t more = op == opcode::mad ? c : 0;
      if (contains(modifiers, modifier::wide)) return {!is_64, x * y + more};
      if (!contains(modifiers, modifier::hi)) return fit(x * y + more);
      return fit((is_64 ? detail::high_half(x, y, sign) : x * y >> 32) + more);
    }
    case opcode::div:
    case opcode::rem: {
      const exact_number q = detail::divided(op == opcode::rem, sign, x, y);
      return q.known ? fit(q.bits) : q;
    }
    case opcode::min: return fit(less ? a : b);
    case opcode::max: return fit(less ? b : a);
    case opcode::and_:
    case opcode::or_:
    case opcode::xor_: return fit(bitwise_bits(op, a, b));
    case opcode::not_: return fit(~a);
    case opcode::shl: return fit((b & 0xffffffffu) >= width ? 0 : a << (b & 63));
    case opcode::shr: {
      const bool all = (b & 0xffffffffu) >= width;
      if (!sign) return fit(all ? 0 : x >> (b & 63));
      return fit(static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> (all ? 63 : b & 63)));
    }
    case opcode::setp: return detail::compared(modifiers, sign, x, y);
    case opcode::popc: return fit(static_cast<std::uint64_t>(std::popcount(narrow(a))));
    case opcode::clz: return fit(static_cast<std::uint64_t>(std::countl_zero(narrow(a))) - (64 - width));
    case opcode::brev: return fit(detail::reversed(a, width));
    default: return {};
  }
}

// An integer converted to an integer type: the low bits, extended as the narrower type (`from` if equal)
// says.
constexpr std::uint64_t converted(type to, type from, std::uint64_t bits) {
  const unsigned width = fewer(size_of(to), size_of(from)) * 8;
  const type narrower = size_of(to) < size_of(from) ? to : from;
  if (width < 64) {
    const unsigned unused = 64 - width;
    bits <<= unused;
    bits = is_signed(narrower) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> unused)
                               : bits >> unused;
  }
  return size_of(to) == 8 ? bits : extended(bits);
}

}  // namespace kaio::ptx
