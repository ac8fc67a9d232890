#pragma once
// The special function unit's own sine, cosine, reciprocals and roots: one or a few instructions. f32, f16
// and bf16 (computed in f32). Source of the bounds: PTX ISA, "Floating point instructions".
//
//   val scale = fast::rsqrt(mean_square + epsilon);

#include <kaio/dsl/math/fast.hpp>

namespace kaio::dsl {

namespace detail {

template <opcode Op, bool Ftz>
struct fast_unit {
  static constexpr value apply(const evaluator<f32>& e, value x) { return e.approximate(Op, x, Ftz); }
};
template <bool Ftz>
struct fast_div {
  static constexpr value apply(const evaluator<f32>& e, value a, value b) {
    const modifier flush = Ftz ? modifier::ftz : modifier::none;
    return e.trace().pure({opcode::div, in_order(modifier::approx, flush), e.type, ptx::type::none, e.type},
                          a, b);
  }
};
template <bool Ftz>
struct fast_tan {
  static constexpr value apply(const evaluator<f32>& e, value x) {
    const value s = e.approximate(opcode::sin, x, Ftz);
    return fast_div<Ftz>::apply(e, s, e.approximate(opcode::cos, x, Ftz));
  }
};

}  // namespace detail

namespace fast {

// The sine: sin.approx, absolute error 2^-20.5 on [-pi, pi], growing with the angle beyond.
template <device A>
constexpr auto sin(const A& a) {
  return apply_function<detail::fast_function<detail::fast_unit<opcode::sin, false>>>(a);
}

// The cosine: cos.approx, absolute error 2^-20.5 on [-pi, pi], growing with the angle beyond.
template <device A>
constexpr auto cos(const A& a) {
  return apply_function<detail::fast_function<detail::fast_unit<opcode::cos, false>>>(a);
}

// fast::sin over fast::cos.
template <device A>
constexpr auto tan(const A& a) {
  return apply_function<detail::fast_function<detail::fast_tan<false>>>(a);
}

// 1 / a: rcp.approx, 1 ulp.
template <device A>
constexpr auto rcp(const A& a) {
  return apply_function<detail::fast_function<detail::fast_unit<opcode::rcp, false>>>(a);
}

// 1 / sqrt(a): rsqrt.approx, relative error 2^-22.9.
template <device A>
constexpr auto rsqrt(const A& a) {
  return apply_function<detail::fast_function<detail::fast_unit<opcode::rsqrt, false>>>(a);
}

// The square root: sqrt.approx, relative error 2^-23.
template <device A>
constexpr auto sqrt(const A& a) {
  return apply_function<detail::fast_function<detail::fast_unit<opcode::sqrt, false>>>(a);
}

// a / b: div.approx, 2 ulp for 2^-126 <= |b| <= 2^126. For a larger |b|: 0, or NaN if a is infinite.
template <class A, class B>
  requires operands<A, B>
constexpr auto div(const A& a, const B& b) {
  return apply_function<detail::fast_function<detail::fast_div<false>>>(a, b);
}

template <class Sine, class Cosine>
struct sine_cosine {
  Sine sin;
  Cosine cos;
};

// fast::sin and fast::cos, as expressions.
template <device A>
constexpr auto sincos(const A& a) {
  return sine_cosine<decltype(fast::sin(a)), decltype(fast::cos(a))>{fast::sin(a), fast::cos(a)};
}

}  // namespace fast

}  // namespace kaio::dsl
