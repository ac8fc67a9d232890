#pragma once
// Functions of one number that derivative() is tested with: every pure operation of the language on floats, at
// points of a range. tests/derivatives.py compares these files with the functions that the language has.

#include <kaio/dsl/dsl.hpp>

namespace kaio::tests {

// `of` is differentiated in f32 and f64; finite differences are those of `exact` in f64.
#define KAIO_CASE(Name, Low, High, Tolerance, Expression, Exact)           \
  struct Name##_case {                                                     \
    static constexpr const char* name = #Name;                             \
    static constexpr double low = Low, high = High, tolerance = Tolerance; \
    template <class A>                                                     \
    static constexpr auto of(const A& x) {                                 \
      return Expression;                                                   \
    }                                                                      \
    template <class A>                                                     \
    static constexpr auto exact(const A& x) {                              \
      return Exact;                                                        \
    }                                                                      \
  };
#define KAIO_FUNCTION(Name, Low, High, Expression) KAIO_CASE(Name, Low, High, 2e-5, Expression, Expression)

// clang-format off: it takes x * x for a pointer.

// Arithmetic.
KAIO_FUNCTION(sum, -4, 4, x + 1.5f + x)
KAIO_FUNCTION(difference, -4, 4, 2.5f - x - (x - 1.0f))
KAIO_FUNCTION(product, -4, 4, x* x * 0.75f)
KAIO_FUNCTION(contracted, -4, 4, x * 3.0f + x)
KAIO_FUNCTION(quotient, 0.5, 4, (x + 1.0f) / (x * x))
KAIO_FUNCTION(reciprocal, 0.5, 4, 1.0f / x)
KAIO_FUNCTION(divided, -4, 4, x / 3.0f)
KAIO_FUNCTION(negated, -4, 4, -(x* x))
KAIO_FUNCTION(fma_all, -4, 4, fma(x, x + 1.0f, x))
KAIO_FUNCTION(fma_second, -4, 4, fma(2.0f, x, 1.0f))
KAIO_FUNCTION(add_down, -4, 4, add(x, x* x, round_down))
KAIO_FUNCTION(sub_up, -4, 4, sub(x, x* x, round_up))
KAIO_FUNCTION(mul_toward_zero, -4, 4, mul(x, x, round_toward_zero))
KAIO_FUNCTION(div_down, 1, 4, div(1.5f, x, round_down))
KAIO_FUNCTION(fma_up, -4, 4, fma(x, x, x, round_up))
KAIO_FUNCTION(sqrt_down, 0.5, 4, sqrt(x, round_down))
KAIO_FUNCTION(rcp_up, 0.5, 4, rcp(x, round_up))
KAIO_FUNCTION(lerp_weight, -2, 2, lerp(1.5f, x* x, x))
KAIO_FUNCTION(lerp_end, -2, 2, lerp(x, 2.0f, 0.25f))

// Choices, and functions that are constant between jumps.
KAIO_FUNCTION(abs, -4, 4, abs(x) * x)
KAIO_FUNCTION(min, -4, 4, min(x* x, x + 1.0f))
KAIO_FUNCTION(max, -4, 4, max(x* x, 2.0f))
KAIO_FUNCTION(min_nan, -4, 4, min_nan(x* x, x + 1.0f))
KAIO_FUNCTION(max_nan, -4, 4, max_nan(x, -x* x))
KAIO_FUNCTION(clamp, -4, 4, clamp(x * 2.0f, -3.0f, 5.0f))
KAIO_FUNCTION(chosen, -4, 4, select(x > 0.5f, x* x, -x))
KAIO_FUNCTION(chosen_constant, -4, 4, select(x > 0.5f, 0.0f, x * 3.0f))
KAIO_FUNCTION(of_condition, -4, 4, cast<dsl::element<A>>(x > 0.5f) * x)
KAIO_FUNCTION(fdim, -4, 4, fdim(x* x, x + 2.0f))
KAIO_FUNCTION(copysign, -4, 4, copysign(x* x, x))
KAIO_FUNCTION(copysign_negative, -4, 4, copysign(x, -2.0f))
KAIO_FUNCTION(saturate, -1, 2, saturate(x))
KAIO_FUNCTION(add_sat, -1, 2, add_sat(x, x* x))
KAIO_FUNCTION(sub_sat, -1, 2, sub_sat(x, 0.25f))
KAIO_FUNCTION(mul_sat, -1, 2, mul_sat(x, x))
KAIO_FUNCTION(fma_sat, -1, 2, fma_sat(x, x, 0.125f))
KAIO_FUNCTION(floor, -4, 4, floor(x) * x)
KAIO_FUNCTION(ceil, -4, 4, ceil(x) + x)
KAIO_FUNCTION(trunc, -4, 4, trunc(x * 2.0f))
KAIO_FUNCTION(rint, -4, 4, x - rint(x))
KAIO_FUNCTION(nearbyint, -4, 4, x - nearbyint(x))
KAIO_FUNCTION(round, -4, 4, x* round(x))

// Roots and reciprocals.
KAIO_FUNCTION(sqrt, 0.25, 9, sqrt(x))
KAIO_FUNCTION(rsqrt, 0.25, 9, rsqrt(x * 2.0f))
KAIO_FUNCTION(rcp, 0.5, 9, rcp(x))
KAIO_FUNCTION(cbrt, 0.5, 9, cbrt(-x))
KAIO_FUNCTION(hypot, -4, 4, hypot(x, 1.5f))
KAIO_FUNCTION(hypot_both, -4, 4, hypot(x + 1.0f, x* x))

// Exponentials and logarithms.
KAIO_FUNCTION(exp, -6, 3, exp(x))
KAIO_FUNCTION(exp2, -6, 3, exp2(x))
KAIO_FUNCTION(exp10, -3, 1, exp10(x))
KAIO_FUNCTION(expm1, -6, 3, expm1(x))
KAIO_FUNCTION(log, 0.25, 9, log(x))
KAIO_FUNCTION(log2, 0.25, 9, log2(x))
KAIO_FUNCTION(log10, 0.25, 9, log10(x * 2.0f))
KAIO_FUNCTION(log1p, -0.5, 9, log1p(x))
KAIO_FUNCTION(pow_base, 0.25, 4, pow(x, 2.5f))
KAIO_FUNCTION(pow_square, -4, 4, pow(x, 2.0f))
KAIO_FUNCTION(pow_one, -4, 4, pow(x, 1.0f))
KAIO_FUNCTION(pow_exponent, -4, 2, pow(1.75f, x))
KAIO_FUNCTION(pow_both, 0.5, 2.5, pow(x, x + 0.5f))

// Trigonometry.
KAIO_FUNCTION(sin, -6, 6, sin(x))
KAIO_FUNCTION(cos, -6, 6, cos(x * 0.5f))
KAIO_FUNCTION(tan, -1.2, 1.2, tan(x))
KAIO_FUNCTION(sinpi, -2, 2, sinpi(x))
KAIO_FUNCTION(cospi, -2, 2, cospi(x))
KAIO_FUNCTION(sincos, -6, 6, sincos(x).sin)
KAIO_FUNCTION(sincos_cos, -6, 6, sincos(x).cos)
KAIO_FUNCTION(asin, -0.9, 0.9, asin(x))
KAIO_FUNCTION(acos, -0.9, 0.9, acos(x))
KAIO_FUNCTION(atan, -4, 4, atan(x))
KAIO_FUNCTION(atan2_above, -4, 4, atan2(x, 1.5f))
KAIO_FUNCTION(atan2_beside, -4, 4, atan2(1.5f, x))
KAIO_FUNCTION(atan2_both, -4, 4, atan2(x, x* x + 1.0f))
KAIO_FUNCTION(fmod_dividend, -9, 9, fmod(x, 2.5f))
KAIO_FUNCTION(fmod_both, 1, 4, fmod(x* x* x, x))
KAIO_FUNCTION(sinh, -3, 3, sinh(x))
KAIO_FUNCTION(cosh, -3, 3, cosh(x))
KAIO_FUNCTION(tanh, -3, 3, tanh(x))

// Activations.
KAIO_FUNCTION(erf, -3, 3, erf(x))
KAIO_FUNCTION(erfc, -3, 3, erfc(x))
KAIO_FUNCTION(sigmoid, -8, 8, sigmoid(x))
KAIO_FUNCTION(gelu, -4, 4, gelu(x))
KAIO_FUNCTION(gelu_tanh, -4, 4, gelu_tanh(x))

// The special function unit, f32 alone.
#define KAIO_FAST(Name, Low, High, Tolerance, Expression, Exact)        \
  KAIO_CASE(fast_##Name, Low, High, Tolerance, fast::Expression, Exact) \
  KAIO_CASE(ftz_##Name, Low, High, Tolerance, fast::ftz::Expression, Exact)
KAIO_FAST(exp, -6, 3, 2e-5, exp(x), exp(x))
KAIO_FAST(exp2, -6, 3, 2e-5, exp2(x), exp2(x))
KAIO_FAST(exp10, -3, 1, 2e-5, exp10(x), exp10(x))
KAIO_FAST(log, 0.25, 9, 2e-5, log(x), log(x))
KAIO_FAST(log2, 0.25, 9, 2e-5, log2(x), log2(x))
KAIO_FAST(log10, 0.25, 9, 2e-5, log10(x), log10(x))
KAIO_FAST(sigmoid, -8, 8, 2e-5, sigmoid(x), sigmoid(x))
KAIO_FAST(pow, 0.5, 2.5, 1e-4, pow(x, x + 0.5f), pow(x, x + 0.5f))
KAIO_FAST(sin, -3, 3, 2e-5, sin(x), sin(x))
KAIO_FAST(cos, -3, 3, 2e-5, cos(x), cos(x))
KAIO_FAST(tan, -1.2, 1.2, 1e-4, tan(x), tan(x))
KAIO_FAST(rcp, 0.5, 9, 2e-5, rcp(x), rcp(x))
KAIO_FAST(rsqrt, 0.25, 9, 2e-5, rsqrt(x), rsqrt(x))
KAIO_FAST(sqrt, 0.25, 9, 2e-5, sqrt(x), sqrt(x))
KAIO_FAST(div, 0.5, 4, 2e-5, div(x + 1.0f, x* x), (x + 1.0f) / (x * x))
KAIO_FAST(sincos, -3, 3, 2e-5, sincos(x).cos, cos(x))
KAIO_CASE(fast_tanh, -3, 3, 2e-3, fast::tanh(x), tanh(x))

// clang-format on

#undef KAIO_FAST
#undef KAIO_FUNCTION
#undef KAIO_CASE

}  // namespace kaio::tests
