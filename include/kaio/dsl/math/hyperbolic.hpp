#pragma once
// sinh, cosh and tanh. Near 0, sinh (f32, f64) and tanh (f32) are odd polynomials, minimax fits made for
// kaio. Elsewhere they use e^|x| / 4 and its reciprocal, which overflow no earlier than the result. tanh of
// f64 is t / (1 + t) with t = (e^(2|x|) - 1) / 2.
//
//   val y = tanh(x[i]);

#include <kaio/dsl/math/exponential.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// e^a / 4 for a >= 0; infinity if e^a / 2 overflows.
constexpr value quarter_exp(const evaluator<f32>& e, value a) {
  return scaled_power(e, a, log2_e, 0, 129, 2);
}
constexpr value quarter_exp(const evaluator<f64>& e, value a) {
  const reduction by = reduce(e, a, by_ln2);
  const value n = on_words(e, operation::sub, by.exponent, word(e, 2));
  return times_power(e, exp_polynomial(e, by.r), n);
}

constexpr value short_reciprocal(const evaluator<f32>& e, value a) { return unit(e, opcode::rcp, a); }
constexpr value short_reciprocal(const evaluator<f64>& e, value a) { return near_reciprocal(e, a); }

// x + x^3 p(x^2) for |x| < 1.
constexpr value sinh_near_zero(const evaluator<f32>& e, value x) {
  constexpr f32 c[] = {0.166666672f, 0.00833331514f, 0.000198416659f, 2.78998391e-6f};
  const value z = e.mul(x, x);
  return e.fma(e.mul(z, e.polynomial(z, c)), x, x);
}
constexpr value sinh_near_zero(const evaluator<f64>& e, value x) {
  constexpr f64 c[] = {0.16666666666666669_f64,    0.00833333333333297_f64,    0.00019841269841531248_f64,
                       2.7557319130350974e-06_f64, 2.5052126862312027e-08_f64, 1.6056999936105123e-10_f64,
                       7.765917592470857e-13_f64};
  const value z = e.mul(x, x);
  return e.fma(e.mul(z, e.polynomial(z, c)), x, x);
}

// `y` for a < 710.5, else infinity, or NaN for NaN. f32 needs no such end.
constexpr value with_cosh_end(const evaluator<f32>&, value, value y) { return y; }
constexpr value with_cosh_end(const evaluator<f64>& e, value a, value y) {
  const value below = is_below(e, a, 0x40863400);
  return e.select(below, y, e.add(a, infinity(e)));
}

template <host_floating T>
constexpr value lower_sinh(const evaluator<T>& e, value x) {
  const value a = magnitude(e, x);
  const value quarter = quarter_exp(e, a);
  const value y =
      e.fma(quarter, e.number(T{2}), e.mul(short_reciprocal(e, quarter), e.number(T{-0.125_f64})));
  const value little = compare(e, operation::lt, a, T{1});
  const value series = sinh_near_zero(e, x);
  return with_sign(e, e.select(little, series, with_cosh_end(e, a, y)), x);
}

template <host_floating T>
constexpr value lower_cosh(const evaluator<T>& e, value x) {
  const value a = magnitude(e, x);
  const value quarter = quarter_exp(e, a);
  const value y = e.fma(quarter, e.number(T{2}), e.mul(short_reciprocal(e, quarter), e.number(T{0.125_f64})));
  return with_cosh_end(e, a, y);
}

constexpr value lower_tanh(const evaluator<f32>& e, value x) {
  const value a = magnitude(e, x);
  const value power = unit(e, opcode::ex2, e.mul(a, e.number(2.88539004f)));
  const value reciprocal = unit(e, opcode::rcp, e.add(power, e.number(1.0f)));
  const value y = e.fma(reciprocal, e.number(-2.0f), e.number(1.0f));
  constexpr f32 c[] = {-0.333332986f, 0.133322418f,    -0.0538535938f,
                       0.0213065036f, -0.00741412677f, 0.00158701115f};
  const value z = e.mul(x, x);
  const value series = e.fma(e.mul(z, e.polynomial(z, c)), x, x);
  const value little = compare(e, operation::lt, a, 0.8f);
  return with_sign(e, e.select(little, series, y), x);
}

constexpr value lower_tanh(const evaluator<f64>& e, value x) {
  const value a = magnitude(e, x);
  const value t = half_expm1(e, e.add(a, a));
  // d + d_low = 1 + t; the quotient is corrected by its remainder.
  const value d = e.add(t, e.number(1.0_f64));
  const value d_low = e.sub(t, e.add(d, e.number(-1.0_f64)));
  const value reciprocal = near_reciprocal(e, d);
  const value q = e.mul(t, reciprocal);
  const value minus_q = negate(e, q);
  const value y = e.fma(e.fma(minus_q, d_low, e.fma(minus_q, d, t)), reciprocal, q);
  const value one = compare(e, operation::ge, a, 22.0_f64);
  return with_sign(e, e.select(one, e.number(1.0_f64), y), x);
}

}  // namespace detail

struct sinh_function {
  static constexpr known_function name = known_function::sinh;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_sinh(e, x);
  }
};
struct cosh_function {
  static constexpr known_function name = known_function::cosh;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_cosh(e, x);
  }
};
struct tanh_function {
  static constexpr known_function name = known_function::tanh;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_tanh(e, x);
  }
};

// The hyperbolic sine. f32: 3.2 ulp, f64: 2 ulp.
template <device A>
constexpr auto sinh(const A& a) {
  return apply_function<sinh_function>(a);
}

// The hyperbolic cosine. f32: 2.4 ulp, f64: 2 ulp.
template <device A>
constexpr auto cosh(const A& a) {
  return apply_function<cosh_function>(a);
}

// The hyperbolic tangent. 2 ulp.
template <device A>
constexpr auto tanh(const A& a) {
  return apply_function<tanh_function>(a);
}

}  // namespace kaio::dsl
