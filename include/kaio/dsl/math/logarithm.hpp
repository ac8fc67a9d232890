#pragma once
// log, log2, log10 and log1p: x = 2^n (1 + f) with 1 + f near 1. The logarithm of 1 + f is a minimax
// polynomial made for kaio (f32), or one in s = f / (2 + f) (f64; Muller, "Elementary Functions", ch. 11).
// The borders of f are chosen so that n and log(1 + f) never cancel deeply.
//
//   val entropy = -p * log2(p);

#include <kaio/dsl/math/exponent.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// `normal` is x, times a power of two if x is subnormal; n accounts for it. `pattern` is its upper 32 bits.
struct log_parts {
  value f, n, normal, pattern;
};

// 1 + f is in [border, 2 border), border in (1/2, 1] given by its bits (f64: the upper 32).
constexpr log_parts split_log(const evaluator<f32>& e, value x, std::uint32_t border) {
  const value subnormal = compare(e, operation::lt, x, 1.17549435e-38f);
  const value a = e.select(subnormal, e.mul(x, e.number(8388608.0f)), x);  // 2^23
  const value lift = e.select(subnormal, e.number(-23.0f), e.number(0.0f));
  const value bits = e.bits(a);
  const value power =
      e.on_bits(operation::and_, e.on_bits(operation::sub, bits, e.integer(border)), e.integer(0xff800000));
  const value f = e.add(e.from_bits(e.on_bits(operation::sub, bits, power)), e.number(-1.0f));
  const value n = e.fma(e.trace().cast(e.type, e.bits_type, power), e.number(1.1920929e-7f), lift);
  return {f, n, a, bits};
}
constexpr log_parts split_log(const evaluator<f64>& e, value x, std::uint32_t border) {
  const value subnormal = compare(e, operation::lt, x, 2.2250738585072014e-308_f64);
  const value a = e.select(subnormal, e.mul(x, e.number(4503599627370496.0_f64)), x);  // 2^52
  const value lift =
      e.trace().select(ptx::type::s32, subnormal, word(e, static_cast<std::uint32_t>(-52)), word(e, 0));
  const words parts = words_of(e, a);
  const value power = on_words(e, operation::and_, on_words(e, operation::sub, parts.high, word(e, border)),
                               word(e, 0xfff00000));
  const value m = from_words(e, parts.low, on_words(e, operation::sub, parts.high, power));
  const value n = on_words(e, operation::add, on_words(e, operation::shr, power, e.amount(20)), lift);
  return {e.add(m, e.number(-1.0_f64)), to_f64(e, n), a, parts.high};
}

// Negative numbers, infinity and NaN have the largest bit patterns; x * inf + inf is the log of these.
// `zero` is the argument that gives -infinity.
template <host_floating T>
constexpr value with_log_ends(const evaluator<T>& e, value a, value pattern, value zero, value y) {
  tracer& t = e.trace();
  const std::uint32_t least = std::is_same_v<T, f32> ? 0x7f800000 : 0x7ff00000;
  const value special = t.compare(operation::ge, ptx::type::u32, t.reinterpret(ptx::type::u32, pattern),
                                  t.constant(ptx::type::u32, least));
  const value ordinary = e.select(special, e.fma(a, infinity(e), infinity(e)), y);
  const value is_zero = compare(e, operation::eq, zero, T{0});
  return e.select(is_zero, negate(e, infinity(e)), ordinary);
}

// log(1 + f) + n ln 2.
constexpr value log_sum(const evaluator<f32>& e, value f, value n) {
  constexpr f32 c[] = {0.333332151f, -0.249997973f, 0.20010446f,  -0.166805014f,
                       0.140053079f, -0.12184076f,  0.139868855f, -0.128924504f};
  const value p = e.fma(e.polynomial(f, c), f, e.number(-0.5f));
  return e.fma(n, e.number(0.693147182f), e.fma(p, e.mul(f, f), f));
}

// log(1 + f) = f - (f^2/2 - s (f^2/2 + R)), R a polynomial in s^2: nothing is lost to
// cancellation. |s| <= 0.2.
struct log_terms {
  value half_square, product;  // f^2 / 2, and s (f^2/2 + R)
};
constexpr log_terms log_series(const evaluator<f64>& e, value f) {
  constexpr f64 c[] = {0.666666666666666_f64,   0.4000000000005644_f64,  0.2857142855591492_f64,
                       0.222222242846503_f64,   0.18181666663768206_f64, 0.15391084373772568_f64,
                       0.13174085548163816_f64, 0.13839630543808448_f64};
  const value s = e.mul(f, near_reciprocal(e, e.add(f, e.number(2.0_f64))));
  const value z = e.mul(s, s);
  const value half_square = e.mul(e.mul(f, e.number(0.5_f64)), f);
  return {half_square, e.mul(s, e.fma(e.polynomial(z, c), z, half_square))};
}
constexpr value log_sum(const evaluator<f64>& e, value f, value n) {
  const log_terms terms = log_series(e, f);
  const value low = e.fma(n, e.number(2.3190468138462996e-17_f64), terms.product);
  return e.fma(n, e.number(0.6931471805599453_f64), e.sub(f, e.sub(terms.half_square, low)));
}

template <host_floating T>
constexpr value lower_log(const evaluator<T>& e, value x) {
  const log_parts parts = split_log(e, x, std::is_same_v<T, f32> ? 0x3f2aaaab : 0x3fe55555);  // 2/3
  return with_log_ends(e, parts.normal, parts.pattern, x, log_sum(e, parts.f, parts.n));
}

constexpr value lower_log2(const evaluator<f32>& e, value x) {
  const log_parts parts = split_log(e, x, 0x3f3504f3);  // sqrt(1/2)
  const value f = parts.f;
  constexpr f32 c[] = {0.442695051f,  -0.721347332f, 0.480896771f,  -0.36069724f, 0.288623363f,
                       -0.239645213f, 0.203795597f,  -0.190140784f, 0.190111414f, -0.116379462f};
  const value y = e.add(e.fma(f, e.polynomial(f, c), f), parts.n);
  return with_log_ends(e, parts.normal, parts.pattern, x, y);
}
constexpr value lower_log10(const evaluator<f32>& e, value x) {
  const log_parts parts = split_log(e, x, 0x3f2aaaab);  // 2/3
  const value f = parts.f;
  constexpr f32 c[] = {-8.55745519e-9f, -0.217146948f, 0.14476411f,    -0.108608387f, 0.0869108513f,
                       -0.0712813511f,  0.0607466027f, -0.0668882579f, 0.0610489585f};
  const value rest = e.fma(parts.n, e.number(-1.43209888e-8f), e.mul(f, e.polynomial(f, c)));
  const value y = e.fma(parts.n, e.number(0.30103001f), e.fma(f, e.number(0.434294492f), rest));
  return with_log_ends(e, parts.normal, parts.pattern, x, y);
}

// log(1 + f) in two parts times a constant in two parts, plus n times another constant. The first part of
// that constant has 42 bits, so its product with n is exact.
struct log_base {
  f64 scale, scale_low, per_n, per_n_low;
};
constexpr value log_in_base(const evaluator<f64>& e, value x, const log_base& base) {
  const log_parts parts = split_log(e, x, 0x3fe6a09e);  // sqrt(1/2)
  const log_terms terms = log_series(e, parts.f);
  const value q = e.sub(terms.half_square, terms.product);
  const value high = e.sub(parts.f, q);
  const value low = e.sub(e.sub(parts.f, high), q);
  const value scale = e.number(base.scale);
  const value w = e.mul(high, scale);
  value rest = e.fma(high, scale, negate(e, w));
  rest = e.fma(high, e.number(base.scale_low), rest);
  rest = e.fma(low, scale, rest);
  if (base.per_n_low != 0) rest = e.fma(parts.n, e.number(base.per_n_low), rest);
  const value whole = e.mul(parts.n, e.number(base.per_n));
  const value sum = e.add(whole, w);
  const value y = e.add(sum, e.add(e.sub(w, e.sub(sum, whole)), rest));
  return with_log_ends(e, parts.normal, parts.pattern, x, y);
}
constexpr value lower_log2(const evaluator<f64>& e, value x) {
  return log_in_base(e, x, {1.4426950408889634_f64, 2.0355273740931033e-17_f64, 1.0_f64, 0.0_f64});
}
constexpr value lower_log10(const evaluator<f64>& e, value x) {
  return log_in_base(
      e, x,
      {0.4342944819032518_f64, 1.098319650216765e-17_f64, 0.30102999566383914_f64, 1.42050232272661e-13_f64});
}

// 1 + x = 2^n (1 + f), f = x 2^-n + (2^-n - 1) with one rounding, 1 + f in [3/4, 3/2).
constexpr log_parts split_log1p(const evaluator<f32>& e, value x) {
  const value u = e.add(x, e.number(1.0f));
  const value bits = e.bits(u);
  const value power = e.on_bits(operation::and_, e.on_bits(operation::sub, bits, e.integer(0x3f400000)),
                                e.integer(0xff800000));
  // 4 * 2^-n, which is a normal number for every n.
  const value four = e.from_bits(e.on_bits(operation::sub, e.integer(0x40800000), power));
  const value scaled = e.from_bits(e.on_bits(operation::sub, e.bits(x), power));
  const value f = e.add(scaled, e.fma(four, e.number(0.25f), e.number(-1.0f)));
  return {f, e.mul(e.trace().cast(e.type, e.bits_type, power), e.number(1.1920929e-7f)), u, bits};
}
constexpr log_parts split_log1p(const evaluator<f64>& e, value x) {
  const value u = e.add(x, e.number(1.0_f64));
  const value high = words_of(e, u).high;
  const value power = on_words(e, operation::and_, on_words(e, operation::sub, high, word(e, 0x3fe80000)),
                               word(e, 0xfff00000));
  const value four = from_words(e, word(e, 0), on_words(e, operation::sub, word(e, 0x40100000), power));
  const words parts = words_of(e, x);
  const value scaled = from_words(e, parts.low, on_words(e, operation::sub, parts.high, power));
  const value f = e.add(scaled, e.fma(four, e.number(0.25_f64), e.number(-1.0_f64)));
  return {f, to_f64(e, on_words(e, operation::shr, power, e.amount(20))), u, high};
}

constexpr value log1p_sum(const evaluator<f32>& e, value f, value n) {
  constexpr f32 c[] = {0.333334506f, -0.250000983f, 0.199908063f, -0.166471645f,
                       0.144788206f, -0.131629944f, 0.10464555f,  -0.0450737923f};
  const value p = e.fma(e.polynomial(f, c), f, e.number(-0.5f));
  return e.fma(n, e.number(0.693147182f), e.fma(p, e.mul(f, f), f));
}
constexpr value log1p_sum(const evaluator<f64>& e, value f, value n) { return log_sum(e, f, n); }

template <host_floating T>
constexpr value lower_log1p(const evaluator<T>& e, value x) {
  const log_parts parts = split_log1p(e, x);
  const value y = with_log_ends(e, parts.normal, parts.pattern, parts.normal, log1p_sum(e, parts.f, parts.n));
  return with_sign(e, y, x);
}

}  // namespace detail

struct log_function {
  static constexpr known_function name = known_function::log;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_log(e, x);
  }
};
struct log2_function {
  static constexpr known_function name = known_function::log2;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_log2(e, x);
  }
};
struct log10_function {
  static constexpr known_function name = known_function::log10;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_log10(e, x);
  }
};
struct log1p_function {
  static constexpr known_function name = known_function::log1p;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_log1p(e, x);
  }
};

// The natural logarithm. 1 ulp over the whole range; -infinity at 0, NaN below.
template <device A>
constexpr auto log(const A& a) {
  return apply_function<log_function>(a);
}

// The logarithm to base 2. 1 ulp; exact for powers of two.
template <device A>
constexpr auto log2(const A& a) {
  return apply_function<log2_function>(a);
}

// The logarithm to base 10. f32: 2 ulp, f64: 1 ulp.
template <device A>
constexpr auto log10(const A& a) {
  return apply_function<log10_function>(a);
}

// The natural logarithm of 1 + a, accurate near 0. 1 ulp; -infinity at -1, NaN below.
template <device A>
constexpr auto log1p(const A& a) {
  return apply_function<log1p_function>(a);
}

}  // namespace kaio::dsl
