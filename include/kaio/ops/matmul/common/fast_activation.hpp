#pragma once
// Activations for results that are rounded to 16 bits. The special function unit's approximations have a
// relative error of 2^-16 and take a third of the instructions of the exact versions (a few f32 ulp). Results
// below 2^-118 may be 0; NaN stays NaN.

#include <kaio/dsl/dsl.hpp>

#include <array>

namespace kaio::ops::fast_activation {

struct relu {
  constexpr val<f32> operator()(thread t, val<f32> x) const { return t.let(max_nan(x, 0.0f)); }
};

// x / (1 + e^-x). The clamp avoids -inf * 0, which is NaN.
struct silu {
  constexpr val<f32> operator()(thread t, val<f32> x) const {
    const val finite = t.let(max_nan(x, -128.0f));
    return t.let(finite * fast::ftz::sigmoid(finite));
  }
};

// x / 2 (1 + tanh u) = x / (1 + e^-2u), 2 u = x (b + c x^2), with log2(e) in b and c.
struct gelu_tanh {
  constexpr val<f32> operator()(thread t, val<f32> x) const {
    constexpr f32 b = -2.30220819f, c = -0.102943242f;
    const val finite = t.let(max_nan(x, -128.0f));
    const val power = t.let(fast::ftz::exp2(finite * fma(finite * finite, c, b)));
    return t.let(finite * fast::ftz::rcp(power + 1.0f));
  }
};

//   max(x, 0) - |x| e^(-x^2 / 2) r(|x|),   r(a) = e^(a^2 / 2) erfc(a / sqrt(2)) / 2
//
// r is approximated by a polynomial in 1 / (1 + scale a). The coefficients minimise the relative error:
// 4.1e-6 for a up to 14.5. Beyond 14.5 the product is 0.
struct gelu {
  static constexpr f32 scale = 0.308651223f, end = 14.5f, half_of_log2_e = 0.72134752f;
  static constexpr std::array<f32, 6> coefficients{0.123363726f,   0.119378287f, 0.13558019f,
                                                   0.00989802139f, 0.18678467f,  -0.0750069611f};

  constexpr val<f32> operator()(thread t, val<f32> x) const {
    const val a = t.let(min_nan(abs(x), end));
    const val u = t.let(fast::ftz::rcp(fma(a, scale, 1.0f)));
    var r(t, coefficients.back());
    for (std::size_t i = coefficients.size() - 1; i != 0; --i) r = fma(r, u, coefficients[i - 1]);
    const val power = t.let(fast::ftz::exp2(a * a * -half_of_log2_e));
    return t.let(fma(-a, r * u * power, max(x, 0.0f)));
  }
};

}  // namespace kaio::ops::fast_activation
