#pragma once
// The derivatives of the mathematical functions, written with functions of the language, so that a derivative
// can be differentiated again. If a function's value gives its derivative, the value is used: exp, tanh.
//
//   const value dy = function_tangent<f32>(t).of(call, da, 0);     // call: y is tanh of a

#include <kaio/dsl/derivative/tangent.hpp>
#include <kaio/dsl/math/activation.hpp>
#include <kaio/dsl/math/error_function.hpp>
#include <kaio/dsl/math/exponential.hpp>
#include <kaio/dsl/math/hyperbolic.hpp>
#include <kaio/dsl/math/logarithm.hpp>
#include <kaio/dsl/math/power.hpp>
#include <kaio/dsl/math/trigonometric.hpp>

#include <cstdint>

namespace kaio::dsl::detail {

template <host_floating T>
class function_tangent {
 public:
  constexpr explicit function_tangent(tracer& t) : e_(t), on_(t, ptx_type<T>) {}

  // The tangent of a call's result. da and db are the tangents of its operands; at least one is not 0.
  constexpr value of(const tracer::call& c, value da, value db) const {
    switch (c.function) {
      case known_function::hypot:
        return on_.quotient(on_.product_sum(c.b, db, on_.product(c.a, da)), c.result);
      case known_function::pow: return of_pow(c, da, db);
      case known_function::atan2: {  // the angle of the point (b, a)
        const value square = e_.fma(c.a, c.a, e_.mul(c.b, c.b));
        return on_.quotient(on_.product_sum(c.b, da, on_.product(negate(e_, c.a), db)), square);
      }
      case known_function::fmod: {  // a - q b
        if (db == 0) return da;
        const value q = e_.div(e_.sub(c.a, c.result), c.b);
        const value whole =
            e_.trace().pure({opcode::cvt, in_order(modifier::rni), e_.type, e_.type, e_.type}, q);
        return on_.product_sum(negate(e_, whole), db, da);
      }
      case known_function::cbrt: return on_.quotient(da, e_.mul(e_.mul(c.result, c.result), number(3)));
      case known_function::tan: return on_.product(e_.fma(c.result, c.result, number(1)), da);
      case known_function::atan: return on_.quotient(da, e_.fma(c.a, c.a, number(1)));
      case known_function::asin: return on_.quotient(da, side(c.a));
      case known_function::acos: return on_.quotient(on_.negated(da), side(c.a));
      case known_function::log: return on_.quotient(da, c.a);
      case known_function::log2: return on_.quotient(on_.product(number(1.4426950408889634_f64), da), c.a);
      case known_function::log10: return on_.quotient(on_.product(number(0.43429448190325182_f64), da), c.a);
      case known_function::log1p: return on_.quotient(da, e_.add(c.a, number(1)));
      case known_function::none:
      case known_function::rsqrt:
      case known_function::sigmoid:
      case known_function::gelu:
      case known_function::gelu_tanh:
      case known_function::sin:
      case known_function::cos:
      case known_function::sinpi:
      case known_function::cospi:
      case known_function::erf:
      case known_function::erfc:
      case known_function::exp:
      case known_function::exp2:
      case known_function::exp10:
      case known_function::expm1:
      case known_function::sinh:
      case known_function::cosh:
      case known_function::tanh: return on_.product(factor_of(c.function, c.result, c.a), da);
    }
    return 0;
  }

 private:
  // f'(a), for y = f(a).
  constexpr value factor_of(known_function f, value y, value a) const {
    switch (f) {
      case known_function::rsqrt: return e_.mul(e_.mul(y, number(-0.5_f64)), e_.mul(y, y));
      case known_function::sigmoid: return e_.fma(negate(e_, y), y, y);
      case known_function::gelu: return of_gelu(a);
      case known_function::gelu_tanh: return of_gelu_tanh(a);
      case known_function::sin: return call<cos_function>(a);
      case known_function::cos: return negate(e_, call<sin_function>(a));
      case known_function::sinpi: return e_.mul(call<cospi_function>(a), number(3.1415926535897932_f64));
      case known_function::cospi: return e_.mul(call<sinpi_function>(a), number(-3.1415926535897932_f64));
      case known_function::erf: return e_.mul(bell(a, -1), number(1.1283791670955126_f64));
      case known_function::erfc: return e_.mul(bell(a, -1), number(-1.1283791670955126_f64));
      case known_function::exp: return y;
      case known_function::exp2: return e_.mul(y, number(0.69314718055994531_f64));
      case known_function::exp10: return e_.mul(y, number(2.3025850929940457_f64));
      case known_function::expm1: return call<exp_function>(a);
      case known_function::sinh: return call<cosh_function>(a);
      case known_function::cosh: return call<sinh_function>(a);
      default: return e_.fma(negate(e_, y), y, number(1));  // tanh
    }
  }

  // sqrt(1 - a^2)
  constexpr value side(value a) const {
    return e_.trace().unary(operation::sqrt, e_.type, e_.mul(e_.sub(number(1), a), e_.add(a, number(1))));
  }

  // e^(c a^2)
  constexpr value bell(value a, f64 c) const { return call<exp_function>(e_.mul(e_.mul(a, a), number(c))); }

  // P(a) + a p(a), where P is the normal distribution and p its density.
  constexpr value of_gelu(value a) const {
    const value below =
        e_.mul(call<erfc_function>(e_.mul(a, number(-0.70710678118654752_f64))), number(0.5_f64));
    return e_.fma(e_.mul(a, number(0.39894228040143268_f64)), bell(a, -0.5_f64), below);
  }

  // For a s(u), u = 2 sqrt(2 / pi) (a + 0.044715 a^3): s + a s (1 - s) u'.
  constexpr value of_gelu_tanh(value a) const {
    const value square = e_.mul(a, a);
    const value u =
        e_.mul(a, e_.fma(square, number(0.071354816272600252_f64), number(1.5957691216057308_f64)));
    const value slope = e_.fma(square, number(3 * 0.071354816272600252_f64), number(1.5957691216057308_f64));
    const value s = call<sigmoid_function>(u);
    return e_.fma(e_.mul(a, slope), e_.fma(negate(e_, s), s, s), s);
  }

  // b a^(b - 1) da + a^b log(a) db. If a^b is 0, so is the second term.
  constexpr value of_pow(const tracer::call& c, value da, value db) const {
    value by_exponent = 0;
    if (db != 0) {
      const value partial = e_.mul(c.result, call<log_function>(c.a));
      by_exponent =
          on_.product(e_.select(compare(e_, operation::eq, c.result, T{0}), number(0), partial), db);
    }
    if (da == 0) return by_exponent;
    // a^0 is 1, at a = 0 too.
    const value partial = e_.mul(c.b, power_before(c));
    const value by_base = tracer::is_constant(c.b) && e_.trace().bits_of(c.b) != 0
                              ? partial
                              : e_.select(compare(e_, operation::eq, c.b, T{0}), number(0), partial);
    return on_.product_sum(by_base, da, by_exponent);
  }

  // a^(b - 1)
  constexpr value power_before(const tracer::call& c) const {
    if (!tracer::is_constant(c.b)) return power(c.a, e_.sub(c.b, number(1)));
    const auto bits = e_.trace().bits_of(c.b);
    const T exponent = [&] {
      if constexpr (std::is_same_v<T, f32>)
        return f32_of_bits(bits);
      else
        return __builtin_bit_cast(T, bits);
    }();
    if (exponent == T{1}) return number(1);
    if (exponent == T{2}) return c.a;
    return power(c.a, number(static_cast<f64>(exponent - T{1})));
  }
  constexpr value power(value a, value b) const {
    return function_rule<pow_function, T>::apply(e_.trace(), a, b);
  }

  template <class Function>
  constexpr value call(value a) const {
    return function_rule<Function, T>::apply(e_.trace(), a);
  }
  constexpr value number(f64 x) const { return e_.number(static_cast<T>(x)); }

  evaluator<T> e_;
  tangent_arithmetic on_;
};

}  // namespace kaio::dsl::detail
