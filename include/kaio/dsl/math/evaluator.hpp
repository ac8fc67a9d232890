#pragma once
// The operations of one floating type on traced values. The mathematical functions are written with them.
//
//   const evaluator<f32> e(t);
//   const value y = e.fma(x, x, e.number(1.0f));

#include <kaio/dsl/expression/expression.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::dsl::detail {

// Writes the instructions of one function over one type.
template <host_floating T>
class evaluator {
 public:
  constexpr explicit evaluator(tracer& t) : t_(t) {}
  constexpr tracer& trace() const { return t_; }

  constexpr value number(T x) const { return t_.constant(type, literal_bits(x)); }
  constexpr value integer(std::uint64_t bits) const {
    return t_.constant(bits_type, canonical(bits_type, bits));
  }
  constexpr value amount(std::uint32_t bits) const { return t_.constant(ptx::type::u32, bits); }
  constexpr value add(value a, value b) const { return t_.binary(operation::add, type, a, b); }
  constexpr value sub(value a, value b) const { return t_.binary(operation::sub, type, a, b); }
  constexpr value mul(value a, value b) const { return t_.binary(operation::mul, type, a, b); }
  constexpr value div(value a, value b) const { return t_.binary(operation::div, type, a, b); }
  constexpr value fma(value a, value b, value c) const { return t_.multiply_add(type, a, b, c); }
  constexpr value clamp(value a, T low, T high) const {
    return t_.binary(operation::min, type, t_.binary(operation::max, type, a, number(low)), number(high));
  }
  constexpr value bits(value a) const { return t_.reinterpret(bits_type, a); }
  constexpr value from_bits(value a) const { return t_.reinterpret(type, a); }
  constexpr value on_bits(operation op, value a, value b) const { return t_.binary(op, bits_type, a, b); }
  // ex2, lg2, sin, cos, tanh, rcp, rsqrt: the approximation of the special function unit, f32. With `ftz`,
  // which tanh does not have, a subnormal argument or result is a zero of its sign.
  constexpr value approximate(opcode op, value a, bool ftz = false) const {
    const modifier flush = ftz ? modifier::ftz : modifier::none;
    return t_.pure({op, in_order(modifier::approx, flush), type, ptx::type::none, type}, a);
  }
  constexpr value select(value condition, value a, value b) const { return t_.select(type, condition, a, b); }

  // c[0] + x (c[1] + x (c[2] + ...))
  template <std::size_t N>
  constexpr value polynomial(value x, const T (&c)[N]) const {
    value sum = number(c[N - 1]);
    for (std::size_t i = N - 1; i-- != 0;) sum = fma(sum, x, number(c[i]));
    return sum;
  }

  static constexpr std::uint64_t literal_bits(T x) {
    if constexpr (std::is_same_v<T, f32>)
      return __builtin_bit_cast(std::uint32_t, x);
    else
      return __builtin_bit_cast(std::uint64_t, x);
  }

  static constexpr ptx::type type = ptx_type<T>;
  static constexpr ptx::type bits_type = std::is_same_v<T, f32> ? ptx::type::s32 : ptx::type::s64;

 private:
  tracer& t_;
};

}  // namespace kaio::dsl::detail
