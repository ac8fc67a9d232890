#pragma once
// The functions that are one instruction: fma, min, max, abs and sqrt.

#include <kaio/dsl/expression/operators.hpp>

namespace kaio::dsl {

// a * b + c with one rounding, whatever the contraction policy. f32, f64; one of the operands may be a
// literal or two.
template <class A, class B, class C>
  requires(device<A> || device<B> || device<C>)
constexpr auto fma(const A& a, const B& b, const C& c) {
  require_same<A, B, C>();
  using T = typename common<A, B, C>::type;
  static_assert(floating<T>, "kaio: fma takes f32 or f64; write a * b + c for integers");
  return make_pure<T, fma_rule<T>>(operand_node<T>(a), operand_node<T>(b), operand_node<T>(c));
}

// The smaller operand. Floats: a NaN operand loses against a number, -0 is smaller than +0 (PTX min).
template <class A, class B>
  requires operands<A, B>
constexpr auto min(const A& a, const B& b) {
  return arithmetic<operation::min>(a, b);
}

// The larger operand. Floats: a NaN operand loses against a number (PTX max).
template <class A, class B>
  requires operands<A, B>
constexpr auto max(const A& a, const B& b) {
  return arithmetic<operation::max>(a, b);
}

// |a|; of the most negative integer, itself.
template <device A>
constexpr auto abs(const A& a) {
  using T = element<A>;
  require_computing<T>();
  static_assert(floating<T> || float8<T> || ptx::is_signed(ptx_type<T>),
                "kaio: abs of an unsigned or bool value is the value itself");
  return make_unary<T, unary_rule<operation::abs, T>>(a);
}

// The square root, correctly rounded (sqrt.rn). f32, f64.
template <device A>
constexpr auto sqrt(const A& a) {
  using T = element<A>;
  static_assert(floating<T>, "kaio: sqrt takes f32 or f64; write cast<f32>(x)");
  return make_unary<T, unary_rule<operation::sqrt, T>>(a);
}

}  // namespace kaio::dsl
