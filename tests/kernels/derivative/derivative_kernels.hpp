#pragma once
// The kernels that compute the derivatives of a list of cases, and their values in f64.

#include "tests/kernels/derivative/derivative_cases.hpp"

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::tests {

template <fixed_string Name, class... Cases>
struct case_list {
  static constexpr auto name = Name;
};

using arithmetic_cases =
    case_list<"arithmetic", sum_case, difference_case, product_case, contracted_case, quotient_case,
              reciprocal_case, divided_case, negated_case, fma_all_case, fma_second_case, add_down_case,
              sub_up_case, mul_toward_zero_case, div_down_case, fma_up_case, sqrt_down_case, rcp_up_case,
              lerp_weight_case, lerp_end_case>;
using choice_cases =
    case_list<"choices", abs_case, min_case, max_case, min_nan_case, max_nan_case, clamp_case, chosen_case,
              chosen_constant_case, of_condition_case, fdim_case, copysign_case, copysign_negative_case,
              saturate_case, add_sat_case, sub_sat_case, mul_sat_case, fma_sat_case, floor_case, ceil_case,
              trunc_case, rint_case, nearbyint_case, round_case>;
using root_cases =
    case_list<"roots", sqrt_case, rsqrt_case, rcp_case, cbrt_case, hypot_case, hypot_both_case>;
using exponential_cases = case_list<"exponentials", exp_case, exp2_case, exp10_case, expm1_case, log_case,
                                    log2_case, log10_case, log1p_case>;
using power_cases =
    case_list<"powers", pow_base_case, pow_square_case, pow_one_case, pow_exponent_case, pow_both_case>;
using trigonometric_cases = case_list<"trigonometric", sin_case, cos_case, tan_case, sinpi_case, cospi_case,
                                      sincos_case, sincos_cos_case>;
using inverse_cases = case_list<"inverse", asin_case, acos_case, atan_case, atan2_above_case,
                                atan2_beside_case, atan2_both_case, fmod_dividend_case, fmod_both_case>;
using hyperbolic_cases = case_list<"hyperbolic", sinh_case, cosh_case, tanh_case, sigmoid_case>;
using activation_cases = case_list<"activations", erf_case, erfc_case, gelu_case, gelu_tanh_case>;
using fast_cases = case_list<"fast", fast_exp_case, fast_exp2_case, fast_exp10_case, fast_log_case,
                             fast_log2_case, fast_log10_case, fast_sigmoid_case, fast_pow_case, fast_sin_case,
                             fast_cos_case, fast_tan_case, fast_rcp_case, fast_rsqrt_case, fast_sqrt_case,
                             fast_div_case, fast_sincos_case, fast_tanh_case>;
using ftz_cases =
    case_list<"ftz", ftz_exp_case, ftz_exp2_case, ftz_exp10_case, ftz_log_case, ftz_log2_case, ftz_log10_case,
              ftz_sigmoid_case, ftz_pow_case, ftz_sin_case, ftz_cos_case, ftz_tan_case, ftz_rcp_case,
              ftz_rsqrt_case, ftz_sqrt_case, ftz_div_case, ftz_sincos_case>;

template <class Case, class T, class I>
constexpr void put_slope(in<T> x, out<T> y, const I& i) {
  val place = i;
  val point = x[place];
  val result = Case::of(point);
  y[place] = derivative(result, point);
}
template <class Case, class T, class I>
constexpr void put_value(in<T> x, out<T> y, const I& i) {
  val place = i;
  val point = x[place];
  y[place] = Case::exact(point);
}

template <class T, fixed_string Name, class... Cases>
constexpr void put_slopes(in<T> x, out<T> y, const val<u32>& i, const val<u32>& n,
                          case_list<Name, Cases...>) {
  u32 k = 0;
  (put_slope<Cases, T>(x, y, i + n * k++), ...);
}
template <class T, fixed_string Name, class... Cases>
constexpr void put_values(in<T> x, out<T> y, const val<u32>& i, const val<u32>& n,
                          case_list<Name, Cases...>) {
  u32 k = 0;
  (put_value<Cases, T>(x, y, i + n * k++), ...);
}

// Case number k has the points x[k * n] to x[k * n + n - 1].
template <class List, class T>
inline constexpr auto case_slopes = kernel<"derivative_of_" + List::name + "_" + type_name<T>, 64>(
    [](thread t, in<T> x, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) put_slopes(x, y, i, n, List{});
    });
template <class List>
inline constexpr auto case_values =
    kernel<"values_of_" + List::name, 64>([](thread t, in<f64> x, out<f64> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) put_values(x, y, i, n, List{});
    });

}  // namespace kaio::tests
