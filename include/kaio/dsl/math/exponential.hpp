#pragma once
// exp, exp2, exp10 and expm1. The reductions are the classical ones (Muller, "Elementary Functions", ch. 11);
// the polynomials are minimax fits made for kaio.
//
// f32: x log2(base) = n + z, 2^z by the special function unit (ex2.approx), times 2^n. n stays within [-126,
//      127]; the excess remains in z, so that overflow and subnormal results come out of one last
//      rounding.
// f64: base^r by a polynomial, and 2^n in two factors.
//
//   val weight = exp(score - largest);

#include <kaio/dsl/math/exponent.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// --- f32

// log2 of a base, in two parts.
struct log2_base {
  f32 high, low;
};
inline constexpr log2_base log2_e{1.44269502f, 1.92596303e-8f};
inline constexpr log2_base log2_ten{3.32192802f, 7.05953696e-8f};

// 2^(x log2(base) - shift), with n in the range.
constexpr value scaled_power(const evaluator<f32>& e, value x, const log2_base& base, int least, int most,
                             int shift = 0) {
  const power_split power =
      split_power(e, x, {.log2_base = base.high, .least = least, .most = most, .shift = shift});
  value z = e.fma(x, e.number(base.high), negate(e, power.n));
  z = e.fma(x, e.number(base.low), z);
  return e.mul(unit(e, opcode::ex2, z), power.scale);
}

constexpr value lower_exp(const evaluator<f32>& e, value x) { return scaled_power(e, x, log2_e, -126, 127); }
constexpr value lower_exp2(const evaluator<f32>& e, value x) { return e.approximate(opcode::ex2, x); }
constexpr value lower_exp10(const evaluator<f32>& e, value x) {
  return scaled_power(e, x, log2_ten, -126, 127);
}

// x = n ln 2 + r with r in [log(3/4), log(3/2)). There, one unit in the last place of e^r - 1,
// and of (e^r - 1) 2^n + (2^n - 1), is small compared with the result.
constexpr value lower_expm1(const evaluator<f32>& e, value x) {
  const value bounded = e.trace().binary(operation::max, e.type, x, e.number(-18.0f));
  const power_split power = split_power(
      e, bounded, {.log2_base = log2_e.high, .least = -27, .most = 128, .shift = 1, .bias = 0.0849625_f64});
  value r = e.fma(power.n, e.number(-0.693147182f), bounded);
  r = e.fma(power.n, e.number(1.90465421e-9f), r);
  constexpr f32 c[] = {0.5f, 0.166666687f, 0.0416664593f, 0.00833256077f, 0.00139343063f, 0.000204654149f};
  const value tail = e.polynomial(r, c);
  const value p = e.fma(tail, e.mul(r, r), r);
  const value half = e.fma(p, power.scale, e.add(power.scale, e.number(-0.5f)));
  // A small number is its own result, and so is NaN.
  const value large = compare(e, operation::gt, magnitude(e, x), 5.96046448e-8f);
  return e.select(large, e.add(half, half), x);
}

// --- f64

// x = n k + r, with n as a number and as an s32.
struct reduction {
  value r, n, exponent;
};
struct reducer {
  f64 per_x, high, low;  // 1 / k, and -k in two parts
};
inline constexpr reducer by_ln2{1.4426950408889634_f64, -0.6931471805599453_f64, -2.3190468138462996e-17_f64};
inline constexpr reducer by_log10_2{3.321928094887362_f64, -0.3010299956639812_f64,
                                    2.8037281277851704e-18_f64};

// n is the nearest integer of x / k - bias.
constexpr reduction reduce(const evaluator<f64>& e, value x, const reducer& by, f64 bias = 0) {
  const value magic = e.number(6755399441055744.0_f64);  // 1.5 * 2^52: adding it rounds to an integer
  const value j = bias == 0 ? e.fma(x, e.number(by.per_x), magic)
                            : e.add(e.fma(x, e.number(by.per_x), e.number(-bias)), magic);
  const value n = e.sub(j, magic);
  const value r = e.fma(n, e.number(by.low), e.fma(n, e.number(by.high), x));
  return {r, n, words_of(e, j).low};
}

// e^r for |r| < ln(2) / 2.
constexpr value exp_polynomial(const evaluator<f64>& e, value r) {
  constexpr f64 c[] = {1.0_f64,
                       1.0_f64,
                       0.5000000000000013_f64,
                       0.166666666666667_f64,
                       0.041666666666514966_f64,
                       0.008333333333306981_f64,
                       0.00138888889471468_f64,
                       0.00019841269917904558_f64,
                       2.4801489794995142e-05_f64,
                       2.7557215798968954e-06_f64,
                       2.763133680581867e-07_f64,
                       2.5118029366010295e-08_f64};
  return e.polynomial(r, c);
}

// `y` if |x| is below the limit, else 0, infinity or NaN.
constexpr value with_exponential_ends(const evaluator<f64>& e, value x, std::uint32_t limit, value y) {
  const value negative = compare(e, operation::lt, x, 0.0_f64);
  const value beyond = e.select(negative, e.number(0.0_f64), e.add(x, infinity(e)));
  return e.select(is_below(e, x, limit), y, beyond);
}

constexpr value lower_exp(const evaluator<f64>& e, value x) {
  const reduction by = reduce(e, x, by_ln2);
  const value y = scale(e, exp_polynomial(e, by.r), by.exponent);
  return with_exponential_ends(e, x, 0x40890000, y);  // 800
}

constexpr value lower_exp2(const evaluator<f64>& e, value x) {
  const value magic = e.number(6755399441055744.0_f64);
  const value j = e.add(x, magic);
  const value r = e.sub(x, e.sub(j, magic));
  constexpr f64 c[] = {1.0_f64,
                       0.6931471805599453_f64,
                       0.24022650695910133_f64,
                       0.05550410866482169_f64,
                       0.009618129107593458_f64,
                       0.0013333558146386279_f64,
                       0.00015403530457992791_f64,
                       1.5252733862971843e-05_f64,
                       1.3215434833910019e-06_f64,
                       1.0178047809997264e-07_f64,
                       7.073860760736374e-09_f64,
                       4.457236059439348e-10_f64};
  const value fraction = e.polynomial(r, c);
  const value y = scale(e, fraction, words_of(e, j).low);
  return with_exponential_ends(e, x, 0x40920000, y);  // 1152
}

// 10^r = 1 + (r c + r u(r)), where c is ln 10 rounded. u includes the rest of ln 10.
constexpr value lower_exp10(const evaluator<f64>& e, value x) {
  const reduction by = reduce(e, x, by_log10_2);
  constexpr f64 u[] = {-2.1707562233822494e-16_f64, 2.650949055239206_f64,     2.03467859229348_f64,
                       1.1712551489080025_f64,      0.5393829291938758_f64,    0.2069958495651266_f64,
                       0.06808936533742473_f64,     0.019597617578812423_f64,  0.005013910016064242_f64,
                       0.0011576007076908588_f64,   0.00024230263639348832_f64};
  const value rest = e.mul(by.r, e.polynomial(by.r, u));
  const value w = e.add(e.fma(by.r, e.number(2.302585092994046_f64), rest), e.number(1.0_f64));
  return with_exponential_ends(e, x, 0x40760000, scale(e, w, by.exponent));  // 352
}

// (e^x - 1) / 2 for -2^30 < x < 709.7832, NaN for NaN; the reduction is that of f32.
constexpr value half_expm1(const evaluator<f64>& e, value x) {
  const reduction by = reduce(e, x, by_ln2, 0.08496250072115619_f64);
  constexpr f64 c[] = {0.5_f64,
                       0.16666666666666666_f64,
                       0.041666666666667684_f64,
                       0.00833333333333421_f64,
                       0.0013888888888077065_f64,
                       0.00019841269842405296_f64,
                       2.4801589503240173e-05_f64,
                       2.7557302749059746e-06_f64,
                       2.7554821324465507e-07_f64,
                       2.508238153653037e-08_f64,
                       2.1906377443662696e-09_f64};
  const value tail = e.polynomial(by.r, c);
  const value p = e.fma(tail, e.mul(by.r, by.r), by.r);
  const value n = on_words(e, operation::max, by.exponent, word(e, static_cast<std::uint32_t>(-64)));
  const value power = power_of_two(e, on_words(e, operation::sub, n, word(e, 1)));
  return e.fma(p, power, e.add(power, e.number(-0.5_f64)));
}

constexpr value lower_expm1(const evaluator<f64>& e, value x) {
  const value half = half_expm1(e, x);
  const value negative = compare(e, operation::lt, x, 0.0_f64);
  const value beyond = e.select(negative, e.number(-1.0_f64), e.add(x, infinity(e)));
  const value below = is_below(e, x, 0x40862e43);  // 709.7832
  const value y = e.select(below, e.add(half, half), beyond);
  return e.select(is_below(e, x, 0x3c900000), x, y);  // 2^-54
}

}  // namespace detail

struct exp_function {
  static constexpr known_function name = known_function::exp;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_exp(e, x);
  }
};
struct exp2_function {
  static constexpr known_function name = known_function::exp2;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_exp2(e, x);
  }
};
struct exp10_function {
  static constexpr known_function name = known_function::exp10;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_exp10(e, x);
  }
};
struct expm1_function {
  static constexpr known_function name = known_function::expm1;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_expm1(e, x);
  }
};

// e to the power a. f32: 2 ulp, f64: 1 ulp, over the whole range.
template <device A>
constexpr auto exp(const A& a) {
  return apply_function<exp_function>(a);
}

// 2 to the power a. f32: 2.2 ulp, f64: 1 ulp.
template <device A>
constexpr auto exp2(const A& a) {
  return apply_function<exp2_function>(a);
}

// 10 to the power a. f32: 2.2 ulp, f64: 1.1 ulp.
template <device A>
constexpr auto exp10(const A& a) {
  return apply_function<exp10_function>(a);
}

// e to the power a, less 1, without the cancellation near 0. 1.5 ulp, the correctly rounded result or a
// neighbour of it.
template <device A>
constexpr auto expm1(const A& a) {
  return apply_function<expm1_function>(a);
}

}  // namespace kaio::dsl
