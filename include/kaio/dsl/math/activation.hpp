#pragma once
// The activations of neural networks: sigmoid, and gelu in both of its forms (Hendrycks and Gimpel, "Gaussian
// error linear units"). All hold a relative error down to the smallest numbers of their tails.
//
//   y[i] = gelu(x[i]);

#include <kaio/dsl/math/error_function.hpp>
#include <kaio/dsl/math/exponential.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// Returns a if a <= `end` or a is NaN, else `end`.
template <host_floating T>
constexpr value at_most(const evaluator<T>& e, value a, T end) {
  return e.select(compare(e, operation::gt, a, end), e.number(end), a);
}

// A power of e from 0 to 1, as fraction 2^n. `whole` is rounded if it is a subnormal number; times() rounds
// only the product.
struct unit_power_f32 {
  value fraction, scale, whole;
  constexpr value times(const evaluator<f32>& e, value a) const { return e.mul(e.mul(fraction, a), scale); }
};
struct unit_power_f64 {
  value fraction, n, whole;
  constexpr value times(const evaluator<f64>& e, value a) const {
    const value half = on_words(e, operation::shr, n, e.amount(1));
    const value rest = on_words(e, operation::sub, n, half);
    const value product = e.mul(fraction, a);
    const value scaled = e.mul(product, power_of_two(e, half));
    return e.mul(scaled, power_of_two(e, rest));
  }
};

// e^(high + low) for high <= 0 (f32: 2^(high + low)); f64: high > -800.
constexpr unit_power_f32 unit_power(const evaluator<f32>& e, value high, value low) {
  const power_split power = split_power(e, high, {.log2_base = 1.0f, .least = -126, .most = 0});
  const value fraction = unit(e, opcode::ex2, e.add(e.sub(high, power.n), low));
  return {fraction, power.scale, e.mul(fraction, power.scale)};
}
constexpr unit_power_f64 unit_power(const evaluator<f64>& e, value high, value low) {
  const reduction by = reduce(e, high, by_ln2);
  const value fraction = exp_polynomial(e, low == 0 ? by.r : e.add(by.r, low));
  unit_power_f64 result{fraction, by.exponent, 0};
  result.whole = result.times(e, e.number(1.0_f64));
  return result;
}

constexpr value one_over_one_plus(const evaluator<f32>& e, value a) {
  return unit(e, opcode::rcp, e.add(a, e.number(1.0f)));
}
constexpr value one_over_one_plus(const evaluator<f64>& e, value a) {
  return near_reciprocal(e, e.add(a, e.number(1.0_f64)));
}

// For x < 0, 1 / (1 + e^-x) = e^-|x| / (1 + e^-|x|): no power overflows, and the tail keeps its bits.
constexpr value lower_sigmoid(const evaluator<f32>& e, value x) {
  const value power = scaled_power(e, negate(e, magnitude(e, x)), log2_e, -126, 0);
  const value part = one_over_one_plus(e, power);
  return e.mul(part, e.select(compare(e, operation::lt, x, 0.0f), power, e.number(1.0f)));
}
constexpr value lower_sigmoid(const evaluator<f64>& e, value x) {
  const value a = at_most(e, magnitude(e, x), f64{800.0_f64});
  const value power = unit_power(e, negate(e, a), 0).whole;
  const value part = one_over_one_plus(e, power);
  return e.mul(part, e.select(compare(e, operation::lt, x, 0.0_f64), power, e.number(1.0_f64)));
}

// x / 2 (1 + tanh u) = x / (1 + e^-2u), 2 u = x (b + c x^2). Before the result becomes 0, 2 u reaches 100
// (f64: 745), so it is a sum of two numbers. The first part of b is short enough to make t - b exact. For
// f32, b and c include log2(e).
template <host_floating T>
struct gelu_constants;
template <>
struct gelu_constants<f32> {
  static constexpr f32 b = 2.30218506f, b_low = 2.31395497e-5f, c = 0.102943242f, c_low = -2.01619844e-9f;
  static constexpr f32 end = 12.0f;
};
template <>
struct gelu_constants<f64> {
  static constexpr f64 b = 1.5957691216053718_f64, b_low = 3.589464330756845e-13_f64,
                       c = 0.07135481627260025_f64, c_low = -6.175149918155315e-19_f64;
  static constexpr f64 end = 22.0_f64;
};

template <host_floating T>
constexpr value lower_gelu_tanh(const evaluator<T>& e, value x) {
  using constants = gelu_constants<T>;
  const value a = at_most(e, magnitude(e, x), constants::end);  // the result is x or 0 beyond
  const value minus_a = negate(e, a);
  const value square = e.mul(a, a);
  const value square_low = e.fma(a, a, negate(e, square));
  const value t = e.fma(square, e.number(constants::c), e.number(constants::b));
  value t_low = e.fma(square, e.number(constants::c), e.sub(e.number(constants::b), t));
  t_low = e.add(t_low, e.fma(square, e.number(constants::c_low), e.number(constants::b_low)));
  t_low = e.fma(square_low, e.number(constants::c), t_low);
  const value high = e.mul(minus_a, t);
  const value low = e.fma(minus_a, t_low, e.fma(minus_a, t, negate(e, high)));
  const auto power = unit_power(e, high, low);
  const value part = one_over_one_plus(e, power.whole);
  const value tail = power.times(e, e.mul(minus_a, part));
  const value negative = compare(e, operation::lt, x, T{0});
  return e.select(negative, tail, e.mul(x, part));
}

// x / 2 erfc(-x / sqrt(2)) = max(x, 0) - |x| / 2 erfc(|x| / sqrt(2)). If erfc is small, a change d of its
// argument changes it by -2 a d erfc(a): `factor` adds that for d, the rounding error of |x| / sqrt(2).
template <host_floating T>
constexpr value lower_gelu(const evaluator<T>& e, value x) {
  constexpr bool single = std::is_same_v<T, f32>;
  constexpr T root = single ? T(0.707106769f) : T(0.7071067811865476_f64);
  constexpr T root_low = single ? T(1.21016175e-8f) : T(-4.833646656726457e-17_f64);
  const value size =
      at_most(e, magnitude(e, x), single ? T(14.5_f64) : T(38.6_f64));  // the result is x or 0 beyond
  const value a = e.mul(size, e.number(root));
  const value d = e.fma(size, e.number(root_low), e.fma(size, e.number(root), negate(e, a)));
  const value half = e.mul(size, e.number(T{0.5_f64}));
  const value product = e.mul(half, a);
  const value factor = e.fma(product, e.mul(d, e.number(T{-2})), half);
  const value tail = positive_erfc(e, a, factor);
  const value ramp = e.trace().binary(operation::max, e.type, x, e.number(T{0}));
  return with_sign(e, e.sub(ramp, tail), x);
}

}  // namespace detail

struct sigmoid_function {
  static constexpr known_function name = known_function::sigmoid;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_sigmoid(e, x);
  }
};
struct gelu_function {
  static constexpr known_function name = known_function::gelu;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_gelu(e, x);
  }
};
struct gelu_tanh_function {
  static constexpr known_function name = known_function::gelu_tanh;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_gelu_tanh(e, x);
  }
};

// 1 / (1 + exp(-a)), the logistic function. f32: 4 ulp, f64: 3 ulp, subnormal tail included.
template <device A>
constexpr auto sigmoid(const A& a) {
  return apply_function<sigmoid_function>(a);
}

// a / 2 (1 + erf(a / sqrt(2))): a times the probability that a normal variable is below a. f32 and
// f64: 6 ulp.
template <device A>
constexpr auto gelu(const A& a) {
  return apply_function<gelu_function>(a);
}

// a / 2 (1 + tanh(sqrt(2 / pi) (a + 0.044715 a^3))), the usual approximation of gelu. f32: 5 ulp, f64: 4 ulp.
template <device A>
constexpr auto gelu_tanh(const A& a) {
  return apply_function<gelu_tanh_function>(a);
}

}  // namespace kaio::dsl
