#pragma once
// The curves of activations and their derivatives, in f32. Three cover all kinds, by two numbers a and b:
//
//   curve             f(x)                       kinds
//   by_sigmoid        x / (1 + e^-p)             silu, gelu_sigmoid, gelu_tanh; p = x (a + b x^2)
//   by_ramp           r (a + b r), r = max(x,0)  relu, relu2
//   by_normal         x Phi(x)                   gelu; Phi: the distribution function of the normal one
//
// Results that are rounded to 16 bits come from the special function unit, with a relative error of 2^-16.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/fast_activation.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::ops::curve {

inline constexpr u32 by_sigmoid = 0, by_ramp = 1, by_normal = 2, count = 3;

// The value and the derivative.
struct point {
  val<f32> value, slope;
};

constexpr val<f32> clamped(thread t, const val<f32>& x, f32 end) {
  return t.let(min_nan(max_nan(x, -end), end));
}

// 1 / (1 + e^-p).
template <bool Fast>
constexpr val<f32> share(thread t, const val<f32>& p) {
  if constexpr (Fast)
    return t.let(fast::ftz::sigmoid(p));
  else
    return t.let(sigmoid(p));
}

// Phi(x) and e^(-x^2 / 2), for |x| <= 14.5.
struct normal {
  val<f32> below, density;
};
template <bool Fast>
constexpr normal normal_at(thread t, const val<f32>& x) {
  constexpr f32 root_of_half = 0.707106769f;
  if constexpr (!Fast) {
    const val below = t.let(erfc(x * -root_of_half) * 0.5f);
    return {below, t.let(exp(x * x * -0.5f))};
  } else {
    using constants = fast_activation::gelu;  // Phi(-|x|) = u r(u) e^(-x^2 / 2)
    const val u = t.let(fast::ftz::rcp(fma(abs(x), constants::scale, 1.0f)));
    var r(t, constants::coefficients.back());
    for (std::size_t i = constants::coefficients.size() - 1; i != 0; --i)
      r = fma(r, u, constants::coefficients[i - 1]);
    const val power = t.let(fast::ftz::exp2(x * x * -constants::half_of_log2_e));
    const val tail = t.let(r * u * power);
    return {t.let(select(x > 0.0f, 1.0f - tail, tail)), power};
  }
}

template <bool Fast, u32 Curve>
constexpr val<f32> value(thread t, const val<f32>& x, const val<f32>& a, const val<f32>& b) {
  if constexpr (Curve == by_sigmoid) {
    const val finite = clamped(t, x, 128.0f);  // inf * 0 is NaN
    const val p = t.let(finite * fma(finite * finite, b, a));
    return t.let(max_nan(x, -128.0f) * share<Fast>(t, p));
  } else if constexpr (Curve == by_ramp) {
    const val r = t.let(max_nan(x, 0.0f));
    return t.let(select(b == 0.0f, r * a, r * r));
  } else if constexpr (Fast) {
    return fast_activation::gelu{}(t, x);
  } else {
    return t.let(gelu(x));
  }
}

template <bool Fast, u32 Curve>
constexpr point value_and_slope(thread t, const val<f32>& x, const val<f32>& a, const val<f32>& b) {
  if constexpr (Curve == by_sigmoid) {
    const val finite = clamped(t, x, 128.0f);
    const val square = t.let(finite * finite);
    const val s = share<Fast>(t, t.let(finite * fma(square, b, a)));
    const val inner = t.let(finite * fma(square, b * 3.0f, a));
    return {t.let(max_nan(x, -128.0f) * s), t.let(fma(s * (1.0f - s), inner, s))};
  } else if constexpr (Curve == by_ramp) {
    const val r = t.let(max_nan(x, 0.0f));
    const val is_linear = t.let(b == 0.0f);
    const val rising = t.let(select(is_linear, a, r * 2.0f));
    return {t.let(select(is_linear, r * a, r * r)), t.let(select(x <= 0.0f, 0.0f, rising))};
  } else {
    constexpr f32 density_at_0 = 0.398942280f;
    const val finite = clamped(t, x, 14.5f);
    const normal at = normal_at<Fast>(t, finite);
    const val slope = t.let(fma(finite * density_at_0, at.density, at.below));
    return {t.let(max_nan(x, -14.5f) * at.below), slope};
  }
}

}  // namespace kaio::ops::curve
