#pragma once
// erf and erfc. Near 0, erf x = x + x P(x^2). Further out, erfc x = exp(-x^2) t Q(t) with t = 1 / (1 + c x),
// which maps all x > 0 into one short interval (Press et al., "Numerical Recipes", 6.2). The exponent
// includes the rounding error of x^2. erf x is 1 - erfc x; for f32, erfc x is then 2^L(x). The polynomials
// are minimax fits made for kaio.
//
//   val gelu = 0.5f * x * erfc(x * -0.70710678f);

#include <kaio/dsl/math/rare_path.hpp>
#include <kaio/dsl/math/special_unit.hpp>

namespace kaio::dsl {

namespace detail {

// exp(-a^2) t q (1 + correction), for 0 <= a^2 < 120; only the last operation rounds to a subnormal number.
constexpr value times_gaussian(const evaluator<f32>& e, value a, value t, value q, value correction) {
  const value magic = e.number(12583039.0f);  // 1.5 * 2^23 + 127
  const value square = e.mul(a, a);
  const value rest = e.fma(a, a, negate(e, square));
  // The exponent stays at -126 or above: the excess remains in the fraction.
  const value j = e.trace().binary(operation::max, e.type, e.fma(square, e.number(-1.44269502f), magic),
                                   e.number(12582913.0f));
  value fraction = e.fma(square, e.number(-1.44269502f), negate(e, e.sub(j, magic)));
  fraction = e.fma(square, e.number(-1.92596299e-8f), fraction);
  fraction = e.fma(rest, e.number(-1.44269502f), fraction);
  const value scale = e.from_bits(e.on_bits(operation::shl, e.bits(j), e.amount(23)));
  const value power = unit(e, opcode::ex2, fraction);
  const value product = e.mul(t, q);
  const value product_rest = e.fma(product, correction, e.fma(t, q, negate(e, product)));
  return e.mul(e.fma(power, product, e.mul(power, product_rest)), scale);
}

// exp(-a^2) t q for 0 <= a^2 < 760.
constexpr value times_gaussian(const evaluator<f64>& e, value a, value t, value q) {
  const value magic = e.number(6755399441055744.0_f64);  // 1.5 * 2^52
  const value square = e.mul(a, a);
  const value rest = e.fma(a, a, negate(e, square));
  const value j = e.fma(square, e.number(-1.4426950408889634_f64), magic);
  const value n = e.sub(j, magic);
  value r = e.fma(n, e.number(-0.6931471805599453_f64), negate(e, square));
  r = e.sub(e.fma(n, e.number(-2.3190468138462996e-17_f64), r), rest);
  constexpr f64 c[] = {0.500000000000000111_f64,     0.166666666666666741_f64,   0.0416666666666238306_f64,
                       0.00833333333332214078_f64,   0.00138888889173610966_f64, 0.00019841269886793875_f64,
                       0.0000248015210662798711_f64, 2.75572421053785076e-6_f64, 2.76201979378410094e-7_f64,
                       2.51101377167980203e-8_f64};
  const value square_of_r = e.mul(r, r);
  const value p = e.fma(square_of_r, e.polynomial(r, c), r);
  const value factor = e.mul(t, q);
  const value y = e.fma(p, factor, factor);
  const value bits = e.bits(j);
  const value exponent = e.on_bits(operation::sub, bits, e.bits(magic));
  const value half = e.on_bits(operation::shr, exponent, e.amount(1));
  const auto power = [&](value k) {
    return e.from_bits(
        e.on_bits(operation::shl, e.on_bits(operation::add, k, e.integer(1023)), e.amount(52)));
  };
  const value scaled = e.mul(y, power(half));
  return e.mul(scaled, power(e.on_bits(operation::sub, exponent, half)));
}

// Returns how much t = 1 / (1 + c a) is too small, relatively: 1 - t - t c a, which is nearly exact. For
// small a, erfc has more than twice the relative error of t.
template <host_floating T>
constexpr value residual(const evaluator<T>& e, value t, value a, T c) {
  const value minus_product = e.mul(t, e.number(-c));
  return e.fma(minus_product, a, e.sub(e.number(T{1}), t));
}

// erfc(a) times the factor, for a from 0 to the end of erfc. A subnormal result is rounded once.
constexpr value positive_erfc(const evaluator<f32>& e, value a, value factor) {
  constexpr f32 c[] = {0.28208828f,  0.282258004f,  0.245123088f,   0.18591322f,
                       0.053740032f, 0.0380900539f, -0.0262018722f, -0.285146534f,
                       0.378454983f, -0.189894617f, 0.0355753638f};
  const value t = quick_reciprocal(e, e.fma(a, e.number(0.5f), e.number(1.0f)));
  // The derivative of log(t Q(t)) by log t, within a twentieth.
  const value slope = e.fma(t, e.number(1.33f), e.number(0.98f));
  const value correction = e.mul(slope, residual(e, t, a, 0.5f));
  return times_gaussian(e, a, t, e.mul(e.polynomial(t, c), factor), correction);
}
constexpr value positive_erfc(const evaluator<f64>& e, value a, value factor) {
  constexpr f64 c[] = {0.169256875048784144_f64,    0.169256876100443182_f64,   0.161640283858099809_f64,
                       0.146407796022349629_f64,    0.124578003960749195_f64,   0.0983057267309331434_f64,
                       0.0696753906451277188_f64,   0.046602544994087787_f64,   0.00872282623914555529_f64,
                       0.0507165263767013208_f64,   -0.128183890090843078_f64,  0.273591066684065187_f64,
                       -0.496514605494552896_f64,   0.67578640430540271_f64,    -0.701117339224084368_f64,
                       0.517198772941606655_f64,    -0.221862627086826109_f64,  0.0075656093957767092_f64,
                       0.0524470360751234724_f64,   -0.0316441051560667833_f64, 0.00849812371413615104_f64,
                       -0.000927296040159174143_f64};
  const value first = quick_reciprocal(e, e.fma(a, e.number(0.3_f64), e.number(1.0_f64)));
  const value t = e.fma(first, residual(e, first, a, 0.3_f64), first);
  return times_gaussian(e, a, t, e.mul(e.polynomial(t, c), factor));
}

constexpr value lower_erf(const evaluator<f32>& e, value x) {
  constexpr f32 little[] = {0.128379151f,   -0.376125008f,  0.11281877f,
                            -0.0267685801f, 0.00499585457f, -0.000600381289f};
  // log2(erfc a)
  constexpr f32 large[] = {-0.000298677158f, -1.62682235f,    -0.919380307f,  -0.149832949f,
                           0.0320130363f,    -0.00437668944f, 0.000281249726f};
  const value nearby = e.fma(e.polynomial(e.mul(x, x), little), x, x);
  const value a = magnitude(e, x);
  const value bounded = e.trace().binary(operation::min, e.type, a, e.number(3.93f));
  const value tail = unit(e, opcode::ex2, e.polynomial(bounded, large));
  const value distant = with_sign(e, e.sub(e.number(1.0f), tail), x);
  return e.select(compare(e, operation::gt, a, 0.92f), distant, nearby);
}

constexpr value lower_erf(const evaluator<f64>& e, value x) {
  const value a = magnitude(e, x);
  const auto distant = [&] {
    constexpr f64 c[] = {0.169430580426081778_f64,  0.166116940722507989_f64, 0.187434605252873948_f64,
                         0.0193801554919869681_f64, 0.54070716498368987_f64,  -0.851501519771908466_f64,
                         1.60394666578044598_f64,   -1.6924071600531756_f64,  1.34417197279435752_f64,
                         -0.608143595795216263_f64, 0.129602031434039561_f64, -0.00873779779541041315_f64};
    const value bounded = e.trace().binary(operation::min, e.type, a, e.number(5.95_f64));
    const value t = quick_reciprocal(e, e.fma(bounded, e.number(0.3_f64), e.number(1.0_f64)));
    const value tail = times_gaussian(e, bounded, t, e.polynomial(t, c));
    return with_sign(e, e.sub(e.number(1.0_f64), tail), x);
  };
  const auto nearby = [&] {
    constexpr f64 c[] = {
        0.128379167095512559_f64,    -0.37612638903183343_f64,      0.11283791670936949_f64,
        -0.0268661706419586165_f64,  0.00522397759672870322_f64,    -0.000854832548450088002_f64,
        0.000120552804767170771_f64, -0.0000149244651576829132_f64, 1.64441433379580766e-6_f64,
        -1.61839257649443087e-7_f64, 1.36163728707228247e-8_f64,    -7.60712264175995048e-10_f64};
    return e.fma(e.polynomial(e.mul(x, x), c), x, x);
  };
  return either(e.trace(), compare(e, operation::gt, a, 1.0_f64), distant, nearby);
}

template <host_floating T>
constexpr value lower_erfc(const evaluator<T>& e, value x) {
  constexpr T end = std::is_same_v<T, f32> ? T(10.1_f64) : T(27.3_f64);  // erfc is 0 from here on
  const value a = magnitude(e, x);
  // A NaN stays one.
  const value bounded = e.select(compare(e, operation::gt, a, end), e.number(end), a);
  const value tail = positive_erfc(e, bounded, e.number(T{1}));
  const value negative = compare(e, operation::lt, x, T{0});
  return e.select(negative, e.sub(e.number(T{2}), tail), tail);
}

}  // namespace detail

struct erf_function {
  static constexpr known_function name = known_function::erf;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_erf(e, x);
  }
};
struct erfc_function {
  static constexpr known_function name = known_function::erfc;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_erfc(e, x);
  }
};

// The error function, 2 / sqrt(pi) times the integral of exp(-s^2) from 0 to a. f32 and f64:
// 2 ulp.
template <device A>
constexpr auto erf(const A& a) {
  return apply_function<erf_function>(a);
}

// 1 - erf(a), without its cancellation. f32: 4 ulp, f64: 5 ulp, subnormal results included.
template <device A>
constexpr auto erfc(const A& a) {
  return apply_function<erfc_function>(a);
}

}  // namespace kaio::dsl
