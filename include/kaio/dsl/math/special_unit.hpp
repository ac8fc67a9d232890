#pragma once
// Shared pieces of the mathematical functions: the special function unit without scaling of subnormal numbers
// (rules keep arguments and results normal), reciprocals refined from it, and operations on the sign.
//
//   const value t = unit(e, opcode::rcp, x);      // rcp.approx.ftz.f32
//   const value q = quick_reciprocal(e, x);       // f64, within 1 ulp for moderate x

#include <kaio/dsl/math/function.hpp>

#include <cstdint>

namespace kaio::dsl::detail {

// ex2, lg2, rcp, rsqrt, sqrt: .approx.ftz.f32.
constexpr value unit(const evaluator<f32>& e, opcode op, value a) {
  return e.trace().pure(
      {op, in_order(modifier::approx, modifier::ftz), ptx::type::f32, ptx::type::none, ptx::type::f32}, a);
}
// rcp and rsqrt: .approx.ftz.f64, good for 20 bits.
constexpr value unit(const evaluator<f64>& e, opcode op, value a) {
  return e.trace().pure(
      {op, in_order(modifier::approx, modifier::ftz), ptx::type::f64, ptx::type::none, ptx::type::f64}, a);
}

template <host_floating T>
constexpr value negate(const evaluator<T>& e, value a) {
  return e.trace().unary(operation::neg, e.type, a);
}
template <host_floating T>
constexpr value magnitude(const evaluator<T>& e, value a) {
  return e.trace().unary(operation::abs, e.type, a);
}
// |a| with the sign of `sign`.
template <host_floating T>
constexpr value with_sign(const evaluator<T>& e, value a, value sign) {
  return e.trace().pure({opcode::copysign, 0, e.type, ptx::type::none, e.type}, sign, a);
}
template <host_floating T>
constexpr value infinity(const evaluator<T>& e) {
  return e.trace().constant(e.type, std::is_same_v<T, f32> ? 0x7f800000u : 0x7ff0000000000000u);
}
template <host_floating T>
constexpr value compare(const evaluator<T>& e, operation op, value a, value b) {
  return e.trace().compare(op, e.type, a, b);
}
template <host_floating T>
constexpr value compare(const evaluator<T>& e, operation op, value a, T b) {
  return e.trace().compare(op, e.type, a, e.number(b));
}

// 1 / a within 1 ulp, for 2^-1000 < |a| < 2^1000. One cubic step lifts the 20 bits of the unit to 60.
constexpr value quick_reciprocal(const evaluator<f64>& e, value a) {
  const value y = unit(e, opcode::rcp, a);
  const value minus_a = negate(e, a);
  const value d = e.fma(minus_a, y, e.number(1.0_f64));
  const value z = e.fma(y, e.fma(d, d, d), y);
  return e.fma(z, e.fma(minus_a, z, e.number(1.0_f64)), z);
}
constexpr value quick_reciprocal(const evaluator<f32>& e, value a) { return unit(e, opcode::rcp, a); }

}  // namespace kaio::dsl::detail
