#pragma once
// The functions that are one instruction: fma, min, max, min_nan, max_nan, abs and sqrt.

#include <kaio/dsl/expression/operators.hpp>

namespace kaio::dsl {

namespace detail {

// min.NaN and max.NaN. If the architecture or the type has none, selects pick the NaN.
template <operation Op, floating T>
struct nan_extreme_rule {
  static constexpr ptx::type type = ptx_type<T>;
  static constexpr value apply(tracer& t, value a, value b) {
    constexpr opcode op = Op == operation::min ? opcode::min : opcode::max;
    if (t.target.sm >= 80 && type != ptx::type::f64)
      return t.pure({op, in_order(modifier::nan_wins), type, ptx::type::none, type}, a, b);
    if constexpr (packed<T>) {
      using half = nan_extreme_rule<Op, half_of<T>>;
      const tracer::halves x = t.split(a, half::type);
      const tracer::halves y = t.split(b, half::type);
      const value low = half::apply(t, x.low, y.low);
      return t.join(type, low, half::apply(t, x.high, y.high));
    } else {
      const value number = t.binary(Op, type, a, b);
      const value or_b = t.select(type, t.compare(operation::ne, type, b, b), b, number);
      return t.select(type, t.compare(operation::ne, type, a, a), a, or_b);
    }
  }
};

template <operation Op, class A, class B>
constexpr auto nan_extreme(const A& a, const B& b) {
  using T = typename operand_pair<A, B>::type;
  static_assert(floating<T>, "kaio: min_nan and max_nan take floats; write min(a, b) for integers");
  if constexpr (floating<T>)
    return make_pure<T, nan_extreme_rule<Op, T>>(operand_node<T>(a), operand_node<T>(b));
  else
    return refused{};
}

}  // namespace detail

// a * b + c with one rounding, whatever the contraction policy. f32, f64; one or two operands may be
// literals.
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

// The smaller operand, or NaN if one is NaN (min.NaN, with a target of sm_80). Floats and pairs.
template <class A, class B>
  requires operands<A, B>
constexpr auto min_nan(const A& a, const B& b) {
  return detail::nan_extreme<operation::min>(a, b);
}

// The larger operand, or NaN if one is NaN (max.NaN, with a target of sm_80). Floats and pairs.
template <class A, class B>
  requires operands<A, B>
constexpr auto max_nan(const A& a, const B& b) {
  return detail::nan_extreme<operation::max>(a, b);
}

// |a|. The most negative integer stays itself.
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
