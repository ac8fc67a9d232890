#pragma once
// The approximations of fast:: in the .ftz forms of their instructions: a subnormal f32 (below 2^-126), as
// argument or result, is a zero of its sign. The special function unit itself works so; the plain forms of
// sm_90 scale subnormal numbers. Instructions: ex2.approx, lg2.approx, sqrt.approx and rsqrt.approx four
// each, rcp.approx seven, each .ftz form one. The errors are those of fast::. f16 and bf16 are computed in
// f32, where a subnormal f16 is normal and a subnormal bf16 is not. tanh.approx has no .ftz form: fast::tanh
// is one instruction. Source: PTX ISA, "Floating point instructions".
//
//   val weight = fast::ftz::exp2(score - largest);      // ex2.approx.ftz.f32

#include <kaio/dsl/math/fast_unit.hpp>

namespace kaio::dsl::fast::ftz {

// e to the power a: mul, ex2.approx.ftz. The relative error grows with |a|, about 2 + 1.2 |a| units; 0 for a
// result below 2^-126.
template <device A>
constexpr auto exp(const A& a) {
  return apply_function<detail::fast_function<detail::fast_exp<true>>>(a);
}

// 2 to the power a: ex2.approx.ftz, relative error 2^-22.5; 0 for a below -126. 16-bit floats as fast::exp2.
template <device A>
constexpr auto exp2(const A& a) {
  return detail::apply_fast_unit<opcode::ex2, detail::fast_exp2<true>>(a);
}

// 10 to the power a: mul, ex2.approx.ftz. The relative error grows with |a|; 0 for a result below 2^-126.
template <device A>
constexpr auto exp10(const A& a) {
  return apply_function<detail::fast_function<detail::fast_exp10<true>>>(a);
}

// The natural logarithm: lg2.approx.ftz, mul. Absolute error 2^-22 near 1, relative 2^-22 elsewhere. An a
// below 2^-126 is a zero and gives -inf.
template <device A>
constexpr auto log(const A& a) {
  return apply_function<detail::fast_function<detail::fast_log<true>>>(a);
}

// The logarithm to base 2: lg2.approx.ftz. Absolute error 2^-22.6 in (1/2, 2), relative 2^-22.6 elsewhere; -inf
// for a below 2^-126.
template <device A>
constexpr auto log2(const A& a) {
  return apply_function<detail::fast_function<detail::fast_log2<true>>>(a);
}

// The logarithm to base 10: lg2.approx.ftz, mul; as log.
template <device A>
constexpr auto log10(const A& a) {
  return apply_function<detail::fast_function<detail::fast_log10<true>>>(a);
}

// 1 / (1 + exp(-a)): mul, ex2.approx.ftz, add, rcp.approx.ftz; 0 below about -87.
template <device A>
constexpr auto sigmoid(const A& a) {
  return apply_function<detail::fast_function<detail::fast_sigmoid<true>>>(a);
}

// The sine: sin.approx.ftz, absolute error 2^-20.5 on [-pi, pi], growing with the angle beyond.
template <device A>
constexpr auto sin(const A& a) {
  return apply_function<detail::fast_function<detail::fast_unit<opcode::sin, true>>>(a);
}

// The cosine: cos.approx.ftz, absolute error 2^-20.5 on [-pi, pi], growing with the angle beyond.
template <device A>
constexpr auto cos(const A& a) {
  return apply_function<detail::fast_function<detail::fast_unit<opcode::cos, true>>>(a);
}

// The sine over the cosine: sin.approx.ftz, cos.approx.ftz, div.approx.ftz.
template <device A>
constexpr auto tan(const A& a) {
  return apply_function<detail::fast_function<detail::fast_tan<true>>>(a);
}

// 1 / a: rcp.approx.ftz, 1 ulp; 0 for |a| above 2^126, infinite for |a| below 2^-126.
template <device A>
constexpr auto rcp(const A& a) {
  return apply_function<detail::fast_function<detail::fast_unit<opcode::rcp, true>>>(a);
}

// 1 / sqrt(a): rsqrt.approx.ftz, relative error 2^-22.9; infinite for a below 2^-126.
template <device A>
constexpr auto rsqrt(const A& a) {
  return apply_function<detail::fast_function<detail::fast_unit<opcode::rsqrt, true>>>(a);
}

// The square root: sqrt.approx.ftz, relative error 2^-23; 0 for a below 2^-126.
template <device A>
constexpr auto sqrt(const A& a) {
  return apply_function<detail::fast_function<detail::fast_unit<opcode::sqrt, true>>>(a);
}

// a to the power b for a >= 0: lg2.approx.ftz, mul, ex2.approx.ftz.
template <class A, class B>
  requires operands<A, B>
constexpr auto pow(const A& a, const B& b) {
  return apply_function<detail::fast_function<detail::fast_pow<true>>>(a, b);
}

// a / b: div.approx.ftz, 2 ulp for 2^-126 <= |b| <= 2^126. For a larger |b|: 0, or NaN if a is infinite.
template <class A, class B>
  requires operands<A, B>
constexpr auto div(const A& a, const B& b) {
  return apply_function<detail::fast_function<detail::fast_div<true>>>(a, b);
}

// fast::ftz::sin and fast::ftz::cos, as expressions.
template <device A>
constexpr auto sincos(const A& a) {
  return sine_cosine<decltype(ftz::sin(a)), decltype(ftz::cos(a))>{ftz::sin(a), ftz::cos(a)};
}

}  // namespace kaio::dsl::fast::ftz
