#pragma once
// fmod, exact for all magnitudes. If a >= b, the quotient is divided out digit by digit: 20 bits (f64: 48) a
// round, on the mantissas as whole numbers. Each round leaves an exact remainder.
//
//   val phase = fmod(time, period);   // the sign of time, as in C

#include <kaio/dsl/math/rare_path.hpp>
#include <kaio/dsl/math/special_unit.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <host_floating T>
struct remainder_format;
template <>
struct remainder_format<f32> {
  static constexpr unsigned mantissa_bits = 23, bias = 127, digits = 20;
  static constexpr f32 least_normal = 1.17549435e-38f, lift = 16777216.0f;
  static constexpr unsigned lift_power = 24;
};
template <>
struct remainder_format<f64> {
  static constexpr unsigned mantissa_bits = 52, bias = 1023, digits = 48;
  static constexpr f64 least_normal = 2.2250738585072014e-308_f64, lift = 18014398509481984.0_f64;
  static constexpr unsigned lift_power = 54;
};

// a = mantissa * 2^(power - bias - mantissa_bits) with a whole mantissa whose top bit is set.
struct parts {
  value mantissa, power;
};
template <host_floating T>
constexpr parts take_apart(const evaluator<T>& e, value a) {
  using format = remainder_format<T>;
  tracer& t = e.trace();
  constexpr std::uint64_t one = std::uint64_t{1} << format::mantissa_bits;
  const value tiny = compare(e, operation::lt, a, format::least_normal);
  const value bits = e.bits(e.select(tiny, e.mul(a, e.number(format::lift)), a));
  const value lift = t.select(ptx::type::s32, tiny, t.constant(ptx::type::s32, format::lift_power),
                              t.constant(ptx::type::s32, 0));
  const value power =
      t.cast(ptx::type::s32, e.bits_type, e.on_bits(operation::shr, bits, e.amount(format::mantissa_bits)));
  const value whole =
      e.on_bits(operation::or_, e.on_bits(operation::and_, bits, e.integer(one - 1)), e.integer(one));
  return {t.cast(e.type, e.bits_type, whole), t.binary(operation::sub, ptx::type::s32, power, lift)};
}

// 2^n for n within the exponents of normal numbers.
template <host_floating T>
constexpr value power_of_two(const evaluator<T>& e, value n) {
  using format = remainder_format<T>;
  const value biased =
      e.trace().binary(operation::add, ptx::type::s32, n, e.trace().constant(ptx::type::s32, format::bias));
  return e.from_bits(e.on_bits(operation::shl, e.trace().cast(e.bits_type, ptx::type::s32, biased),
                               e.amount(format::mantissa_bits)));
}

// |a| mod |b| for |a| >= |b|; NaN for NaN, an infinite a, and b = 0.
template <host_floating T>
constexpr value divide_out(const evaluator<T>& e, value a, value b) {
  using format = remainder_format<T>;
  tracer& t = e.trace();
  constexpr ptx::type s32 = ptx::type::s32;
  const parts dividend = take_apart(e, a);
  const parts divisor = take_apart(e, b);
  const value minus_m = negate(e, divisor.mantissa);
  const value inverse = quick_reciprocal(e, divisor.mantissa);
  const value above = compare(e, operation::ge, dividend.mantissa, divisor.mantissa);
  const std::uint32_t rest = t.new_variable(e.type);
  const std::uint32_t left = t.new_variable(s32);
  const value first_rest = e.select(above, e.add(dividend.mantissa, minus_m), dividend.mantissa);
  t.assign(rest, first_rest, t.position());
  const value first_left = t.binary(operation::sub, s32, dividend.power, divisor.power);
  t.assign(left, first_left, t.position());

  const std::uint32_t head = t.new_label();
  const std::uint32_t exit = t.new_label();
  t.enter_loop();
  t.place(head);
  const value n = t.snapshot(left);
  t.branch_if(t.compare(operation::le, s32, n, t.constant(s32, 0)), false, exit);
  const value shift = t.binary(operation::min, s32, n, t.constant(s32, format::digits));
  const value old_rest = t.snapshot(rest);
  const value x = e.mul(old_rest, power_of_two(e, shift));
  const value q = t.pure({opcode::cvt, in_order(modifier::rni), e.type, e.type, e.type}, e.mul(x, inverse));
  const value r = e.fma(q, minus_m, x);  // within 3/4 of the divisor: exact
  const value negative = compare(e, operation::lt, r, T{0});
  const value next_rest = e.select(negative, e.add(r, divisor.mantissa), r);
  t.assign(rest, next_rest, t.position());
  const value next_left = t.binary(operation::sub, s32, n, shift);
  t.assign(left, next_left, t.position());
  t.leave_loop();
  t.branch(head);
  t.place(exit);

  // Times 2^(power - bias - mantissa_bits), in two factors: every product is exact.
  const value power =
      t.binary(operation::sub, s32, divisor.power, t.constant(s32, format::bias + format::mantissa_bits));
  const value half = t.binary(operation::shr, s32, power, t.constant(ptx::type::u32, 1));
  const value other = t.binary(operation::sub, s32, power, half);
  const value last_rest = t.snapshot(rest);
  const value half_scaled = e.mul(last_rest, power_of_two(e, half));
  const value scaled = e.mul(half_scaled, power_of_two(e, other));
  const value finite = compare(e, operation::lt, a, infinity(e));
  const value valid = t.binary(operation::and_, ptx::type::pred, finite, compare(e, operation::gt, b, T{0}));
  const value nan = e.sub(infinity(e), infinity(e));
  return e.select(valid, scaled, nan);
}

}  // namespace detail

struct fmod_function {
  static constexpr known_function name = known_function::fmod;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x, value y) {
    tracer& t = e.trace();
    const value a = detail::magnitude(e, x);
    const value b = detail::magnitude(e, y);
    const value below = detail::compare(e, operation::lt, a, b);
    const value r = detail::rare(t, t.unary(operation::not_, ptx::type::pred, below), a,
                                 [&] { return detail::divide_out(e, a, b); });
    return detail::with_sign(e, r, x);
  }
};

// The remainder of a / b with the quotient rounded toward zero, exact, with the sign of a. NaN if a is
// infinite or b is 0.
template <class A, class B>
  requires operands<A, B>
constexpr auto fmod(const A& a, const B& b) {
  return apply_function<fmod_function>(a, b);
}

}  // namespace kaio::dsl
