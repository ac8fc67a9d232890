#pragma once
// pow: 2^(y log2|x|), or e^(y log|x|) for f64. The logarithm is a sum of two numbers, with about twice the
// bits of the type, so that y may multiply it by hundreds. log m = 2 atanh s with s = (m - 1) / (m + 1), m in
// [sqrt(1/2), sqrt(2)) (Muller, "Elementary Functions", ch. 11). The polynomials are minimax fits made for
// kaio. Special cases are those of C99, annex F.9.4.4.
//
//   val y = pow(x, 2.4f);

#include <kaio/dsl/math/exponential.hpp>
#include <kaio/dsl/math/logarithm.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// log2 or log of |x| as high + low, finite for every x.
struct long_log {
  value high, low;
};

constexpr long_log log2_of_magnitude(const evaluator<f32>& e, value a) {
  const log_parts parts = split_log(e, a, 0x3f3504f3);  // sqrt(1/2)
  const value f = parts.f, n = parts.n;
  // s + s_low = f / (2 + f)
  const value reciprocal = unit(e, opcode::rcp, e.add(f, e.number(2.0f)));
  const value s = e.mul(f, reciprocal);
  const value minus_s = negate(e, s);
  const value s_low = e.mul(e.fma(minus_s, f, e.fma(s, e.number(-2.0f), f)), reciprocal);
  // log2 m = s c + s^3 q(s^2), c = 2 / ln 2
  constexpr f32 q[] = {0.961796701f, 0.577079058f, 0.4119066f, 0.336922824f};
  const value z = e.mul(s, s);
  const value h = e.mul(s, e.number(2.88539004f));
  value l = e.fma(s, e.number(2.88539004f), negate(e, h));
  l = e.fma(s, e.number(3.85192607e-8f), l);
  l = e.fma(s_low, e.fma(z, e.number(2.88539004f), e.number(2.88539004f)), l);  // c / (1 - s^2) is the slope
  const value cube = e.mul(s, z);
  l = e.fma(cube, e.polynomial(z, q), l);
  const value sum = e.add(n, h);
  const value rest = e.add(e.sub(h, e.sub(sum, n)), l);
  const value high = e.add(sum, rest);
  return {high, e.sub(rest, e.sub(high, sum))};
}

constexpr long_log log_of_magnitude(const evaluator<f64>& e, value a) {
  const log_parts parts = split_log(e, a, 0x3fe6a09e);  // sqrt(1/2)
  const value f = parts.f, n = parts.n;
  // s + s_low = f / (2 + f), z + z_low its square
  const value reciprocal = near_reciprocal(e, e.add(f, e.number(2.0_f64)));
  const value s = e.mul(f, reciprocal);
  const value minus_s = negate(e, s);
  const value s_low = e.mul(e.fma(minus_s, f, e.fma(s, e.number(-2.0_f64), f)), reciprocal);
  const value z = e.mul(s, s);
  const value twice_s = e.add(s, s);
  const value z_low = e.fma(twice_s, s_low, e.fma(s, s, negate(e, z)));
  // atanh s = s + s z w, w = 1/3 + z (1/5 + ...) in two parts
  constexpr f64 c[] = {0.1999999999999999_f64,  0.142857142857219_f64,   0.11111111108901615_f64,
                       0.09090909421066377_f64, 0.07692279279953312_f64, 0.06668129728278813_f64,
                       0.05837940468334827_f64, 0.059904721941276155_f64};
  const value tail = e.polynomial(z, c);
  const value third = e.number(0.3333333333333333_f64);
  const value w = e.fma(z, tail, third);
  const value w_low = e.add(e.fma(z, tail, e.sub(third, w)), e.number(1.850371707708594e-17_f64));
  const value p = e.mul(z, w);
  value p_low = e.fma(z, w, negate(e, p));
  p_low = e.fma(z, w_low, p_low);
  p_low = e.fma(z_low, w, p_low);
  const value t = e.mul(s, p);
  value t_low = e.fma(s, p, negate(e, t));
  t_low = e.fma(s, p_low, t_low);
  t_low = e.fma(s_low, p, t_low);
  const value sum = e.add(s, t);
  const value lost = e.add(e.sub(s, sum), t);
  const value sum_low = e.add(lost, e.add(s_low, t_low));
  // The first part of ln 2 has 42 bits: its product with n is exact.
  const value whole = e.mul(n, e.number(0.6931471805598903_f64));
  const value two = e.number(2.0_f64);
  const value high = e.fma(sum, two, whole);
  const value rest = e.fma(sum_low, two, e.mul(n, e.number(5.497923018708371e-14_f64)));
  return {high, e.add(e.fma(sum, two, e.sub(whole, high)), rest)};
}

// Replaces an infinite or NaN y by a largest finite number, so that no product with 0 is NaN.
constexpr value finite_exponent(const evaluator<f32>& e, value y) {
  return e.clamp(y, -3.40282347e38f, 3.40282347e38f);
}
constexpr value finite_exponent(const evaluator<f64>& e, value y) {
  const words parts = words_of(e, y);
  const value size = on_words(e, operation::and_, parts.high, word(e, 0x7fffffff));
  const value sign = on_words(e, operation::and_, parts.high, word(e, 0x80000000));
  const value bounded = on_words(e, operation::min, size, word(e, 0x7fefffff));
  return from_words(e, parts.low, on_words(e, operation::or_, bounded, sign));
}

// |x|^y for finite y, and x neither 0 nor infinite.
constexpr value power_of_magnitude(const evaluator<f32>& e, value a, value y) {
  const long_log log = log2_of_magnitude(e, a);
  const value p = e.clamp(e.mul(y, log.high), -126.0f, 127.0f);
  const value rest = e.fma(y, log.low, e.fma(y, log.high, negate(e, p)));
  const value magic = e.number(12583039.0f);  // 1.5 * 2^23 + 127
  const value j = e.add(p, magic);
  const value z = e.add(e.sub(p, e.sub(j, magic)), rest);
  const value fraction = unit(e, opcode::ex2, z);
  return e.mul(fraction, e.from_bits(e.on_bits(operation::shl, e.bits(j), e.amount(23))));
}
constexpr value power_of_magnitude(const evaluator<f64>& e, value a, value y) {
  const long_log log = log_of_magnitude(e, a);
  const value p = e.mul(y, log.high);
  const value rest = e.fma(y, log.low, e.fma(y, log.high, negate(e, p)));
  const reduction by = reduce(e, p, by_ln2);
  const value power = scale(e, exp_polynomial(e, e.add(by.r, rest)), by.exponent);
  return with_exponential_ends(e, p, 0x40890000, power);  // 800
}

// An s32 with the sign of x.
constexpr value upper_bits(const evaluator<f32>& e, value x) { return e.bits(x); }
constexpr value upper_bits(const evaluator<f64>& e, value x) { return words_of(e, x).high; }

// 0^y and infinity^y for y != 0: a itself, or the other one if y < 0 (`exchange`).
constexpr value power_of_end(const evaluator<f32>& e, value a, value exchange) {
  const value mask = e.trace().select(e.bits_type, exchange, e.integer(0x7f800000), e.integer(0));
  return e.from_bits(e.on_bits(operation::xor_, e.bits(a), mask));
}
constexpr value power_of_end(const evaluator<f64>& e, value a, value exchange) {
  const value mask = e.trace().select(ptx::type::s32, exchange, word(e, 0x7ff00000), word(e, 0));
  return from_words(e, word(e, 0), on_words(e, operation::xor_, words_of(e, a).high, mask));
}

template <host_floating T>
constexpr value lower_pow(const evaluator<T>& e, value x, value y) {
  tracer& t = e.trace();
  const auto all = [&](value a, value b) { return t.binary(operation::and_, ptx::type::pred, a, b); };
  const auto any = [&](value a, value b) { return t.binary(operation::or_, ptx::type::pred, a, b); };
  const value a = magnitude(e, x);
  const value exponent = finite_exponent(e, y);
  value result = power_of_magnitude(e, a, exponent);

  // y minus the even integer 2 trunc(y / 2): 1 for odd integers, 0 for even ones.
  const value half = e.mul(exponent, e.number(T{0.5_f64}));
  const value whole = t.pure({opcode::cvt, in_order(modifier::rzi), e.type, e.type, e.type}, half);
  const value rest = magnitude(e, e.fma(whole, e.number(T{-2}), exponent));
  const value odd = compare(e, operation::eq, rest, T{1});
  const value integral = any(odd, compare(e, operation::eq, rest, T{0}));
  const value not_a_number = e.number(__builtin_bit_cast(
      T, static_cast<std::conditional_t<std::is_same_v<T, f32>, std::uint32_t, std::uint64_t>>(
             std::is_same_v<T, f32> ? 0x7fffffffu : 0x7fffffffffffffffu)));
  const value below = compare(e, operation::lt, x, T{0});
  const value undefined = all(below, t.unary(operation::not_, ptx::type::pred, integral));
  result = e.select(undefined, not_a_number, result);

  const value is_zero = compare(e, operation::eq, a, T{0});
  const value end = any(is_zero, t.compare(operation::eq, e.type, a, infinity(e)));
  result = e.select(end, power_of_end(e, a, compare(e, operation::lt, y, T{0})), result);
  const value negative =
      t.compare(operation::lt, ptx::type::s32, upper_bits(e, x), t.constant(ptx::type::s32, 0));
  const value odd_power = all(negative, odd);
  result = e.select(odd_power, negate(e, result), result);

  const value unordered =
      t.pure({opcode::setp, in_order(modifier::nan), e.type, ptx::type::none, ptx::type::pred}, x, y);
  result = e.select(unordered, e.add(x, y), result);
  const value zeroth_power = compare(e, operation::eq, y, T{0});
  const value is_one = any(zeroth_power, compare(e, operation::eq, x, T{1}));
  return e.select(is_one, e.number(T{1}), result);
}

}  // namespace detail

struct pow_function {
  static constexpr known_function name = known_function::pow;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x, value y) {
    return detail::lower_pow(e, x, y);
  }
};

// a to the power b; one of them may be a literal. f32: 4 ulp, f64: 2 ulp. If a < 0, the result is a number
// only for an integer b. pow(a, 0) and pow(1, b) are 1 even for NaN.
template <class A, class B>
  requires operands<A, B>
constexpr auto pow(const A& a, const B& b) {
  return apply_function<pow_function>(a, b);
}

}  // namespace kaio::dsl
