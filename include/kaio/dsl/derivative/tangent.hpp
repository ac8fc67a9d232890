#pragma once
// Arithmetic on tangents. The tangent of a value is its derivative by the variable, as a value of the same type. If the
// value does not depend on the variable, the tangent is 0, which is no value, and nothing is recorded for it.
// Factors of 1, 0 and -1 are folded, so that the derivative of `scale * s` is `scale` itself.
//
//   const tangent_arithmetic on(t, type);
//   const value dy = on.product_sum(a, db, on.product(b, da));     // of y = a * b

#include <kaio/dsl/math/special_unit.hpp>

#include <cstdint>

namespace kaio::dsl::detail {

class tangent_arithmetic {
 public:
  constexpr tangent_arithmetic(tracer& t, ptx::type type) : t_(t), type_(type) {}

  constexpr tracer& trace() const { return t_; }
  constexpr ptx::type type() const { return type_; }

  constexpr value number(f64 x) const {
    switch (type_) {
      case ptx::type::f16: return t_.constant(type_, f16(static_cast<f32>(x)).bits());
      case ptx::type::bf16: return t_.constant(type_, bf16(static_cast<f32>(x)).bits());
      case ptx::type::f32: return t_.constant(type_, bits_of_f32(static_cast<f32>(x)));
      default: return t_.constant(type_, __builtin_bit_cast(std::uint64_t, x));
    }
  }

  constexpr value add(value a, value b) const { return t_.binary(operation::add, type_, a, b); }
  constexpr value sub(value a, value b) const { return t_.binary(operation::sub, type_, a, b); }
  constexpr value mul(value a, value b) const { return t_.binary(operation::mul, type_, a, b); }
  constexpr value equal(value a, value b) const { return t_.compare(operation::eq, type_, a, b); }

  constexpr value negated(value d) const {
    if (d == 0) return 0;
    if (!tracer::is_constant(d)) return t_.unary(operation::neg, type_, d);
    return t_.constant(type_, t_.bits_of(d) ^ std::uint64_t{1} << (8 * ptx::size_of(type_) - 1));
  }

  // factor * d
  constexpr value product(value factor, value d) const {
    if (d == 0 || is_zero(factor)) return 0;
    if (d == t_.one(type_)) return factor;
    if (factor == t_.one(type_)) return d;
    if (d == number(-1)) return negated(factor);
    if (factor == number(-1)) return negated(d);
    return mul(factor, d);
  }

  constexpr value sum(value d, value e) const { return d == 0 ? e : e == 0 ? d : add(d, e); }

  // factor * d + e; one fma if the kernel contracts.
  constexpr value product_sum(value factor, value d, value e) const {
    const value one = t_.one(type_);
    const bool folds = d == 0 || d == one || factor == one || is_zero(factor) ||
                       (tracer::is_constant(factor) && tracer::is_constant(d));
    if (e == 0 || folds || !t_.contracts(type_)) return sum(product(factor, d), e);
    return t_.multiply_add(type_, factor, d, e);
  }

  // d / b
  constexpr value quotient(value d, value b) const {
    if (d == 0) return 0;
    if (!tracer::is_constant(d) || !tracer::is_constant(b) || ptx::is_half(type_) || is_zero(b))
      return t_.binary(operation::div, type_, d, b);
    return number(number_of(d) / number_of(b));  // for f32, the second rounding changes nothing
  }

  constexpr value chosen(value condition, value d, value e) const {
    if (d == e) return d;
    const value zero = number(0);
    return t_.select(type_, condition, d == 0 ? zero : d, e == 0 ? zero : e);
  }

 private:
  constexpr bool is_zero(value factor) const {
    return tracer::is_constant(factor) && (factor == number(0) || factor == number(-0.0_f64));
  }

  // A constant of f32 or f64.
  constexpr f64 number_of(value constant) const {
    const std::uint64_t bits = t_.bits_of(constant);
    if (type_ == ptx::type::f32) return static_cast<f64>(f32_of_bits(bits));
    return __builtin_bit_cast(f64, bits);
  }

  tracer& t_;
  ptx::type type_;
};

}  // namespace kaio::dsl::detail
