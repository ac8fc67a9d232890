#pragma once
// Mathematical functions. Like operators they build pure expressions. sqrt and fma are correctly rounded; the
// others hold the bound that each states over the whole range, infinities, NaN and subnormal numbers included.
//
//   val y = xi / (1.0f + exp(-xi));

#include <kaio/dsl/math/activation.hpp>
#include <kaio/dsl/math/blend.hpp>
#include <kaio/dsl/math/error_function.hpp>
#include <kaio/dsl/math/exponential.hpp>
#include <kaio/dsl/math/fast.hpp>
#include <kaio/dsl/math/fast_unit.hpp>
#include <kaio/dsl/math/hyperbolic.hpp>
#include <kaio/dsl/math/inverse_trigonometric.hpp>
#include <kaio/dsl/math/logarithm.hpp>
#include <kaio/dsl/math/power.hpp>
#include <kaio/dsl/math/remainder.hpp>
#include <kaio/dsl/math/root.hpp>
#include <kaio/dsl/math/rounding.hpp>
#include <kaio/dsl/math/trigonometric.hpp>
#include <kaio/dsl/operators.hpp>

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

namespace kaio {
using dsl::abs;
using dsl::acos;
using dsl::asin;
using dsl::atan;
using dsl::atan2;
using dsl::cbrt;
using dsl::ceil;
using dsl::clamp;
using dsl::copysign;
using dsl::cos;
using dsl::cosh;
using dsl::cospi;
using dsl::erf;
using dsl::erfc;
using dsl::exp;
using dsl::exp10;
using dsl::exp2;
using dsl::expm1;
using dsl::fdim;
using dsl::floor;
using dsl::fma;
using dsl::fmod;
using dsl::gelu;
using dsl::gelu_tanh;
using dsl::hypot;
using dsl::isfinite;
using dsl::isinf;
using dsl::isnan;
using dsl::lerp;
using dsl::log;
using dsl::log10;
using dsl::log1p;
using dsl::log2;
using dsl::max;
using dsl::min;
using dsl::nearbyint;
using dsl::pow;
using dsl::rcp;
using dsl::rint;
using dsl::round;
using dsl::rsqrt;
using dsl::sigmoid;
using dsl::signbit;
using dsl::sin;
using dsl::sincos;
using dsl::sinh;
using dsl::sinpi;
using dsl::sqrt;
using dsl::tan;
using dsl::tanh;
using dsl::trunc;

namespace fast = dsl::fast;
}  // namespace kaio
