#pragma once
// Arithmetic with a stated rounding or a clamped result. The operators round to the nearest even and may be
// contracted into an fma; these forms are exactly one operation, rounded once.
//
//   val low = add(a, b, round_down), high = add(a, b, round_up);    // bounds of a + b
//   val level = fma_sat(x, scale, offset);                          // within [0, 1]
//   val total = add_sat(sum, cast<i16>(sample));                    // within [-32768, 32767]

#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/expression/pure.hpp>
#include <kaio/dsl/integer/product.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <class T, opcode Op, modifier Rounding>
struct rounded_rule {
  template <class... Rest>
  static constexpr value apply(tracer& t, value a, Rest... rest) {
    return t.pure({Op, in_order(Rounding), ptx_type<T>, ptx::type::none, ptx_type<T>}, a, rest...);
  }
};

template <opcode Op, modifier Rounding, class... E>
constexpr auto rounded(const E&... operands) {
  require_same<E...>();
  using T = typename common<E...>::type;
  static_assert(host_floating<T>, "kaio: a rounding is stated for f32 and f64; write cast<f32>(x)");
  return make_pure<T, rounded_rule<T, Op, Rounding>>(operand_node<T>(operands)...);
}

// Clamps to [0, 1] in two steps that every type has; max turns a NaN into 0.
template <floating T>
constexpr value clamp_to_one(tracer& t, value x) {
  constexpr ptx::type type = ptx_type<T>;
  return t.binary(operation::min, type, t.binary(operation::max, type, x, t.constant(type, 0)), t.one(type));
}

template <class T>
inline constexpr bool has_sat = std::is_same_v<T, f32> || std::is_same_v<T, f16> || std::is_same_v<T, f16x2>;

template <floating T, opcode Op>
constexpr value saturated(tracer& t, value a, value b, value c = 0) {
  return t.pure({Op, in_order(modifier::rn, modifier::sat), ptx_type<T>, ptx::type::none, ptx_type<T>}, a, b,
                c);
}

template <floating T>
struct saturate_rule {
  static constexpr value apply(tracer& t, value x) {
    if constexpr (has_sat<T>)  // x + -0 is x
      return saturated<T, opcode::add>(t, x, t.constant(ptx_type<T>, make_literal<T>(-0.0f).bits));
    else
      return clamp_to_one<T>(t, x);
  }
};

template <floating T, operation Op>
struct saturated_rule {
  static constexpr value apply(tracer& t, value a, value b) {
    constexpr opcode op = Op == operation::add   ? opcode::add
                          : Op == operation::sub ? opcode::sub
                                                 : opcode::mul;
    if constexpr (has_sat<T>)
      return saturated<T, op>(t, a, b);
    else
      return clamp_to_one<T>(t, t.binary(Op, ptx_type<T>, a, b));
  }
};

template <floating T>
struct saturated_fma_rule {
  static constexpr value apply(tracer& t, value a, value b, value c) {
    if constexpr (has_sat<T>)
      return saturated<T, opcode::fma>(t, a, b, c);
    else
      return clamp_to_one<T>(t, t.multiply_add(ptx_type<T>, a, b, c));
  }
};

template <operation Op, class A, class B>
constexpr auto saturated(const A& a, const B& b) {
  require_same<A, B>();
  using T = typename common<A, B>::type;
  static_assert(integer<T> || floating<T>, "kaio: saturating arithmetic on bool; write cast<T>(condition)");
  const auto x = operand_node<T>(a);
  const auto y = operand_node<T>(b);
  if constexpr (integer<T>)
    return make_pure<T, saturating_rule<T, Op>>(x, y);
  else
    return make_pure<T, saturated_rule<T, Op>>(x, y);
}

}  // namespace detail

// a + b in one rounding of the stated kind: f32, f64 (add.rn, .rz, .rm, .rp).
template <class A, class B, modifier R>
  requires operands<A, B>
constexpr auto add(const A& a, const B& b, rounding<R>) {
  return detail::rounded<opcode::add, R>(a, b);
}

// a - b in one rounding of the stated kind: f32, f64 (sub).
template <class A, class B, modifier R>
  requires operands<A, B>
constexpr auto sub(const A& a, const B& b, rounding<R>) {
  return detail::rounded<opcode::sub, R>(a, b);
}

// a * b in one rounding of the stated kind: f32, f64 (mul).
template <class A, class B, modifier R>
  requires operands<A, B>
constexpr auto mul(const A& a, const B& b, rounding<R>) {
  return detail::rounded<opcode::mul, R>(a, b);
}

// a / b in one rounding of the stated kind: f32, f64 (div).
template <class A, class B, modifier R>
  requires operands<A, B>
constexpr auto div(const A& a, const B& b, rounding<R>) {
  return detail::rounded<opcode::div, R>(a, b);
}

// a * b + c in one rounding of the stated kind: f32, f64 (fma).
template <class A, class B, class C, modifier R>
  requires(device<A> || device<B> || device<C>)
constexpr auto fma(const A& a, const B& b, const C& c, rounding<R>) {
  return detail::rounded<opcode::fma, R>(a, b, c);
}

// The square root in one rounding of the stated kind: f32, f64 (sqrt).
template <device A, modifier R>
constexpr auto sqrt(const A& a, rounding<R>) {
  return detail::rounded<opcode::sqrt, R>(a);
}

// 1 / a in one rounding of the stated kind: f32, f64 (rcp).
template <device A, modifier R>
constexpr auto rcp(const A& a, rounding<R>) {
  return detail::rounded<opcode::rcp, R>(a);
}

// A floating value clamped to [0, 1], NaN to 0 (.sat; the sign of a zero is not defined).
template <device A>
constexpr auto saturate(const A& a) {
  using T = element<A>;
  static_assert(floating<T>,
                "kaio: saturate takes a floating value; write clamp with the bounds for an integer");
  return make_pure<T, detail::saturate_rule<T>>(a.node());
}

// a + b clamped (add.sat): integers to the range of their type; floats, after one rounding, as saturate does.
template <class A, class B>
  requires operands<A, B>
constexpr auto add_sat(const A& a, const B& b) {
  return detail::saturated<operation::add>(a, b);
}

// a - b clamped, as add_sat (sub.sat).
template <class A, class B>
  requires operands<A, B>
constexpr auto sub_sat(const A& a, const B& b) {
  return detail::saturated<operation::sub>(a, b);
}

// a * b clamped to [0, 1], as saturate (mul.sat).
template <class A, class B>
  requires operands<A, B>
constexpr auto mul_sat(const A& a, const B& b) {
  static_assert(floating<typename common<A, B>::type>,
                "kaio: mul_sat takes floating values; it clamps to [0, 1]");
  return detail::saturated<operation::mul>(a, b);
}

// a * b + c in one rounding, clamped to [0, 1], as saturate (fma.sat).
template <class A, class B, class C>
  requires(device<A> || device<B> || device<C>)
constexpr auto fma_sat(const A& a, const B& b, const C& c) {
  require_same<A, B, C>();
  using T = typename common<A, B, C>::type;
  static_assert(floating<T>, "kaio: fma_sat takes floating values; it clamps to [0, 1]");
  return make_pure<T, detail::saturated_fma_rule<T>>(operand_node<T>(a), operand_node<T>(b),
                                                     operand_node<T>(c));
}

}  // namespace kaio::dsl
