#pragma once
// exp and log. The reductions are the classical ones (Muller, "Elementary Functions", ch. 11); the
// polynomials are minimax fits made for kaio.
//
// exp f32: x = n ln 2 + r, 2^(r log2 e) by ex2.approx, times 2^n. n stays within [-126, 126]; what is beyond
// remains in r, so
//          that overflow and subnormal results come out of one last rounding.
// exp f64: the same with a polynomial, and 2^n in two factors.
// log:     x = 2^e m with m in [2/3, 4/3), a polynomial for log m, plus e ln 2.
//
// Bounds: exp f32 2 ulp, exp f64 1.1 ulp, log 1 ulp. Largest errors met on an H200, on 10^6 points spread
// over all bit patterns: 1.78, 1.02; log f32 0.83, log f64 0.71.

#include <kaio/dsl/expression.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::dsl {

namespace detail {

// Writes the instructions of one function over one type.
template <floating T>
class evaluator {
 public:
  constexpr explicit evaluator(tracer& t) : t_(t) {}

  constexpr value number(T x) const { return t_.constant(type, literal_bits(x)); }
  constexpr value integer(std::uint64_t bits) const {
    return t_.constant(bits_type, canonical(bits_type, bits));
  }
  constexpr value amount(std::uint32_t bits) const { return t_.constant(ptx::type::u32, bits); }
  constexpr value add(value a, value b) const { return t_.binary(operation::add, type, a, b); }
  constexpr value sub(value a, value b) const { return t_.binary(operation::sub, type, a, b); }
  constexpr value mul(value a, value b) const { return t_.binary(operation::mul, type, a, b); }
  constexpr value div(value a, value b) const { return t_.binary(operation::div, type, a, b); }
  constexpr value fma(value a, value b, value c) const { return t_.multiply_add(type, a, b, c); }
  constexpr value clamp(value a, T low, T high) const {
    return t_.binary(operation::min, type, t_.binary(operation::max, type, a, number(low)), number(high));
  }
  constexpr value bits(value a) const { return t_.reinterpret(bits_type, a); }
  constexpr value from_bits(value a) const { return t_.reinterpret(type, a); }
  constexpr value on_bits(operation op, value a, value b) const { return t_.binary(op, bits_type, a, b); }
  constexpr value select(value condition, value a, value b) const { return t_.select(type, condition, a, b); }

  // c[0] + x (c[1] + x (c[2] + ...))
  template <std::size_t N>
  constexpr value polynomial(value x, const T (&c)[N]) const {
    value sum = number(c[N - 1]);
    for (std::size_t i = N - 1; i-- != 0;) sum = fma(sum, x, number(c[i]));
    return sum;
  }

  static constexpr std::uint64_t literal_bits(T x) {
    if constexpr (std::is_same_v<T, f32>)
      return __builtin_bit_cast(std::uint32_t, x);
    else
      return __builtin_bit_cast(std::uint64_t, x);
  }

  static constexpr ptx::type type = ptx_type<T>;
  static constexpr ptx::type bits_type = std::is_same_v<T, f32> ? ptx::type::s32 : ptx::type::s64;

 private:
  tracer& t_;
};

constexpr value lower_exp_f32(tracer& t, value x) {
  const evaluator<f32> e(t);
  // 1.5 * 2^23 + 127: adding it rounds to an integer and leaves n + 127, an exponent, in the low bits.
  const value magic = e.number(12583039.0f);
  const value j = e.fma(e.clamp(x, -87.336f, 87.336f), e.number(1.44269504f), magic);
  const value n = e.sub(j, magic);
  value r = e.fma(n, e.number(-0.693147182f), x);
  r = e.fma(n, e.number(1.90465421e-9f), r);
  const value fraction = t.approximate(opcode::ex2_approx, e.mul(r, e.number(1.44269504f)));
  const value scale = e.from_bits(e.on_bits(operation::shl, e.bits(j), e.amount(23)));
  return e.mul(fraction, scale);
}

constexpr value lower_exp_f64(tracer& t, value x) {
  const evaluator<f64> e(t);
  const value magic = e.number(6755399441055744.0);  // 1.5 * 2^52
  const value j = e.fma(e.clamp(x, -746.0, 710.0), e.number(1.4426950408889634), magic);
  const value n = e.sub(j, magic);
  value r = e.fma(n, e.number(-0.6931471805599453), x);
  r = e.fma(n, e.number(-2.3190468138462996e-17), r);
  constexpr f64 c[] = {0.5000000000000011,     0.16666666666666413,    0.04166666666653016,
                       0.00833333333349446,    0.0013888888943628865,  0.000198412695065788,
                       2.4801493100063875e-05, 2.7557586375574562e-06, 2.763024800263849e-07,
                       2.5000060618755118e-08};
  const value p = e.fma(e.mul(r, r), e.polynomial(r, c), r);
  // Out of range, r is large: the polynomial must not turn -inf into NaN, so those ends are chosen below.
  const value whole = e.add(p, e.number(1.0));
  const value exponent = e.on_bits(operation::sub, e.bits(j), e.bits(magic));
  const value half = e.on_bits(operation::shr, exponent, e.amount(1));
  const value rest = e.on_bits(operation::sub, exponent, half);
  const auto power = [&](value k) {
    return e.from_bits(
        e.on_bits(operation::shl, e.on_bits(operation::add, k, e.integer(1023)), e.amount(52)));
  };
  const value y = e.mul(e.mul(whole, power(half)), power(rest));
  const value low = t.compare(operation::lt, ptx::type::f64, x, e.number(-746.0));
  const value high = t.compare(operation::gt, ptx::type::f64, x, e.number(710.0));
  const value infinity = t.constant(ptx::type::f64, 0x7ff0000000000000u);
  return e.select(high, infinity, e.select(low, e.number(0.0), y));
}

// What log needs to know of a floating format.
template <floating T>
struct log_format;
template <>
struct log_format<f32> {
  static constexpr std::uint64_t two_thirds = 0x3f2aaaab, exponent_mask = 0xff800000, infinity = 0x7f800000;
  static constexpr unsigned mantissa_bits = 23;
  static constexpr f32 least_normal = 1.17549435e-38f, scale = 8388608.0f;
  static constexpr ptx::type unsigned_type = ptx::type::u32;
};
template <>
struct log_format<f64> {
  static constexpr std::uint64_t two_thirds = 0x3fe5555555555555, exponent_mask = 0xfff0000000000000,
                                 infinity = 0x7ff0000000000000;
  static constexpr unsigned mantissa_bits = 52;
  static constexpr f64 least_normal = 2.2250738585072014e-308, scale = 4503599627370496.0;
  static constexpr ptx::type unsigned_type = ptx::type::u64;
};

// log(1 + f) + n ln 2 for f in [-1/3, 1/3).
constexpr value log_sum(const evaluator<f32>& e, value f, value n) {
  constexpr f32 c[] = {0.333332238553f, -0.249996887373f, 0.200100432681f, -0.166854668018f,
                       0.140109301406f, -0.121151100795f, 0.13962400911f,  -0.131917325585f};
  const value p = e.fma(e.polynomial(f, c), f, e.number(-0.5f));
  return e.fma(n, e.number(0.693147182f), e.fma(p, e.mul(f, f), f));
}

// In s = f / (2 + f), log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))), which loses nothing to cancellation.
constexpr value log_sum(const evaluator<f64>& e, value f, value n) {
  constexpr f64 c[] = {0.666666666666666,  0.4000000000005695,  0.2857142855576819,  0.22222224302822405,
                       0.1818166551368943, 0.15391123327077838, 0.13173413610271528, 0.13844267100372232};
  const value s = e.div(f, e.add(f, e.number(2.0)));
  const value z = e.mul(s, s);
  const value half_square = e.mul(e.number(0.5), e.mul(f, f));
  const value rest = e.fma(e.polynomial(z, c), z, half_square);
  const value low = e.fma(n, e.number(2.3190468138462996e-17), e.mul(s, rest));
  return e.fma(n, e.number(0.6931471805599453), e.sub(f, e.sub(half_square, low)));
}

template <floating T>
constexpr value lower_log(tracer& t, value x) {
  using format = log_format<T>;
  const evaluator<T> e(t);
  const value subnormal = t.compare(operation::lt, e.type, x, e.number(format::least_normal));
  const value a = e.select(subnormal, e.mul(x, e.number(format::scale)), x);
  const value lift = e.select(subnormal, e.number(-T{format::mantissa_bits}), e.number(T{0}));
  const value bits = e.bits(a);
  const value power =
      e.on_bits(operation::and_, e.on_bits(operation::sub, bits, e.integer(format::two_thirds)),
                e.integer(format::exponent_mask));
  const value f = e.add(e.from_bits(e.on_bits(operation::sub, bits, power)), e.number(T{-1}));
  const value whole = e.on_bits(operation::shr, power, e.amount(format::mantissa_bits));
  const value n = e.add(t.cast(e.type, e.bits_type, whole), lift);
  const value y = log_sum(e, f, n);
  // Negative numbers, infinity and NaN have the largest bit patterns; x * inf + inf is what log is there.
  const value pattern = t.reinterpret(format::unsigned_type, bits);
  const value special = t.compare(operation::ge, format::unsigned_type, pattern,
                                  t.constant(format::unsigned_type, format::infinity));
  const value infinity = t.constant(e.type, format::infinity);
  const value zero = t.compare(operation::eq, e.type, x, e.number(T{0}));
  const value minus_infinity = t.constant(e.type, format::exponent_mask);
  return e.select(zero, minus_infinity, e.select(special, e.fma(a, infinity, infinity), y));
}

}  // namespace detail

template <floating T>
struct exp_rule {
  static constexpr value apply(tracer& t, value x) {
    if constexpr (std::is_same_v<T, f32>)
      return detail::lower_exp_f32(t, x);
    else
      return detail::lower_exp_f64(t, x);
  }
};
template <floating T>
struct log_rule {
  static constexpr value apply(tracer& t, value x) { return detail::lower_log<T>(t, x); }
};

// e to the power a. f32: 2 ulp, f64: 1.1 ulp, over the whole range.
template <device A>
constexpr auto exp(const A& a) {
  using T = element<A>;
  static_assert(floating<T>, "kaio: exp takes f32 or f64; write cast<f32>(x)");
  if constexpr (floating<T>) return make_unary<T, exp_rule<T>>(a);
}

// The natural logarithm. 1 ulp over the whole range; -infinity at 0, NaN below.
template <device A>
constexpr auto log(const A& a) {
  using T = element<A>;
  static_assert(floating<T>, "kaio: log takes f32 or f64; write cast<f32>(x)");
  if constexpr (floating<T>) return make_unary<T, log_rule<T>>(a);
}

}  // namespace kaio::dsl
