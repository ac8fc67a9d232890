#pragma once
// rsqrt, rcp, cbrt and hypot: one fma gives the exact residual of an approximation, which refines it. (sqrt
// is an instruction: basic.hpp.)
//
//   val length = hypot(x, y);
//   val unit_x = x * rsqrt(x * x + y * y);

#include <kaio/dsl/math/special_unit.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <host_floating T>
constexpr value lower_rsqrt(const evaluator<T>& e, value x) {
  constexpr bool single = std::is_same_v<T, f32>;
  // Powers of 4 bring x, and the square of its root, among the normal numbers.
  constexpr T low = single ? T(0x1p-100_f64) : T(0x1p-900_f64);
  constexpr T up = single ? T(0x1p48_f64) : T(0x1p200_f64), up_root = single ? T(0x1p24_f64) : T(0x1p100_f64);
  constexpr T down = single ? T(0x1p-24_f64) : T(0x1p-54_f64),
              down_root = single ? T(0x1p-12_f64) : T(0x1p-27_f64);
  const value tiny = compare(e, operation::lt, x, low);
  const value a = e.mul(x, e.select(tiny, e.number(up), e.number(down)));
  const value y = unit(e, opcode::rsqrt, a);
  const value square = e.mul(y, y);
  const value d = e.fma(square, negate(e, a), e.number(T(1)));
  value refined = 0;
  if constexpr (single) {
    refined = e.fma(e.mul(y, e.number(0.5f)), d, y);
  } else {
    const value step = e.mul(y, d);
    refined = e.fma(step, e.fma(d, e.number(0.375_f64), e.number(0.5_f64)), y);
  }
  // At 0 and infinity the residual is NaN, and the approximation is exact.
  const value found = e.select(compare(e, operation::lt, magnitude(e, d), T(1)), refined, y);
  return e.mul(found, e.select(tiny, e.number(up_root), e.number(down_root)));
}

// a = b^3 (1 + d): one cubic step from b, an approximation by logarithms.
constexpr value lower_cbrt(const evaluator<f32>& e, value x) {
  const value a = magnitude(e, x);
  const value tiny = compare(e, operation::lt, a, 1.17549435e-38f);
  const value scaled = e.select(tiny, e.mul(a, e.number(16777216.0f)), a);
  const value b = unit(e, opcode::ex2, e.mul(unit(e, opcode::lg2, scaled), e.number(0.333333343f)));
  const value square = e.mul(b, b);
  const value step = e.mul(unit(e, opcode::rcp, square), e.number(0.333333343f));
  const value y = e.fma(e.fma(negate(e, square), b, scaled), step, b);
  const value root = e.select(tiny, e.mul(y, e.number(0.00390625f)), y);
  // For 0, infinity and NaN the step is NaN; they are their own roots.
  const value is_number = compare(e, operation::eq, y, y);
  return e.select(is_number, with_sign(e, root, x), x);
}

constexpr value lower_cbrt(const evaluator<f64>& e, value x) {
  tracer& t = e.trace();
  const evaluator<f32> single(t);
  const value a = magnitude(e, x);
  const value tiny = compare(e, operation::lt, a, 2.2250738585072014e-308_f64);
  const value scaled = e.select(tiny, e.mul(a, e.number(18014398509481984.0_f64)), a);  // 2^54
  const value bits = e.bits(scaled);
  // scaled = 2^(3 k) m, m in [1, 8)
  const value exponent = t.cast(ptx::type::u32, e.bits_type, e.on_bits(operation::shr, bits, e.amount(52)));
  const value third = t.binary(operation::div, ptx::type::u32, exponent, e.amount(3));
  const value part = t.binary(operation::sub, ptx::type::u32, exponent,
                              t.binary(operation::mul, ptx::type::u32, third, e.amount(3)));
  const auto in_place = [&](value n) {
    return e.on_bits(operation::shl, t.cast(e.bits_type, ptx::type::u32, n), e.amount(52));
  };
  const value fraction = e.on_bits(operation::and_, bits, e.integer(0x000fffffffffffff));
  const value m = e.from_bits(e.on_bits(
      operation::or_, fraction, in_place(t.binary(operation::add, ptx::type::u32, part, e.amount(1023)))));
  const value logarithm = unit(single, opcode::lg2, t.cast(ptx::type::f32, e.type, m));
  const value seed = unit(single, opcode::ex2, single.mul(logarithm, single.number(0.333333343f)));
  const value b = t.cast(e.type, ptx::type::f32, seed);
  const value square = e.mul(b, b);
  const value rest = e.fma(negate(e, square), b, m);
  const value d = e.mul(rest, quick_reciprocal(e, e.mul(square, b)));
  const value step = e.mul(b, d);
  const value y =
      e.fma(step, e.fma(d, e.number(-0.1111111111111111_f64), e.number(0.3333333333333333_f64)), b);
  // 2^(k): exponent = 1023 + 3 k + part, and 1023 = 3 * 341; the 2^54 of tiny numbers is 2^18 here.
  const value lift = t.select(ptx::type::u32, tiny, e.amount(1023 - 341 - 18), e.amount(1023 - 341));
  const value root = e.mul(y, e.from_bits(in_place(t.binary(operation::add, ptx::type::u32, third, lift))));
  const value is_special = compare(e, operation::ge, scaled, infinity(e));
  const value is_number = compare(e, operation::gt, scaled, 0.0_f64);
  const value finite = e.select(is_special, x, with_sign(e, root, x));
  return e.select(is_number, finite, x);
}

// sqrt(x^2 + y^2). A power of two scales both, so that the larger is near 1.
template <host_floating T>
constexpr value lower_hypot(const evaluator<T>& e, value x, value y) {
  constexpr bool single = std::is_same_v<T, f32>;
  tracer& t = e.trace();
  const value a = magnitude(e, x);
  const value b = magnitude(e, y);
  const value steep = compare(e, operation::gt, b, a);
  const value large = e.select(steep, b, a);
  const value little = e.select(steep, a, b);
  const value power =
      e.on_bits(operation::and_, e.bits(large), e.integer(single ? 0x7f800000u : 0x7ff0000000000000u));
  const value bounded = e.on_bits(
      operation::min, e.on_bits(operation::max, power, e.integer(single ? 0x0c800000u : 0x0640000000000000u)),
      e.integer(single ? 0x7e000000u : 0x7fc0000000000000u));
  const value scale =
      e.from_bits(e.on_bits(operation::sub, e.integer(single ? 0x7f000000u : 0x7fe0000000000000u), bounded));
  const value u = e.mul(large, scale);
  const value v = e.mul(little, scale);
  const value square = e.fma(u, u, e.fma(v, v, e.number(single ? T(1e-37_f64) : T(1e-300_f64))));
  value h = 0;
  if constexpr (single) {
    const value r = unit(e, opcode::rsqrt, square);
    const value s = e.mul(square, r);
    const value rest = e.fma(negate(e, s), s, square);
    h = e.fma(rest, e.mul(r, e.number(0.5f)), s);
  } else {
    const value r = unit(e, opcode::rsqrt, square);
    const value product = e.mul(square, r);
    const value d = e.fma(product, negate(e, r), e.number(1.0_f64));
    const value step = e.mul(r, d);
    const value root = e.fma(step, e.fma(d, e.number(0.375_f64), e.number(0.5_f64)), r);
    const value s = e.mul(square, root);
    const value rest = e.fma(negate(e, s), s, square);
    h = e.fma(rest, e.mul(root, e.number(0.5_f64)), s);
  }
  const value length = e.mul(h, e.from_bits(bounded));
  const value a_infinite = compare(e, operation::eq, a, infinity(e));
  const value b_infinite = compare(e, operation::eq, b, infinity(e));
  const value infinite = t.binary(operation::or_, ptx::type::pred, a_infinite, b_infinite);
  return e.select(infinite, infinity(e), length);
}

}  // namespace detail

struct rsqrt_function {
  static constexpr known_function name = known_function::rsqrt;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_rsqrt(e, x);
  }
};
struct rcp_function {
  static constexpr known_function name = known_function::none;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return e.trace().pure({opcode::rcp, in_order(modifier::rn), e.type, ptx::type::none, e.type}, x);
  }
};
struct cbrt_function {
  static constexpr known_function name = known_function::cbrt;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_cbrt(e, x);
  }
};
struct hypot_function {
  static constexpr known_function name = known_function::hypot;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x, value y) {
    return detail::lower_hypot(e, x, y);
  }
};

// 1 / sqrt(a). f32 and f64: 1 ulp.
template <device A>
constexpr auto rsqrt(const A& a) {
  return apply_function<rsqrt_function>(a);
}

// 1 / a, correctly rounded in f32 and f64 (rcp.rn).
template <device A>
constexpr auto rcp(const A& a) {
  return apply_function<rcp_function>(a);
}

// The cube root, of negative numbers too. f32 and f64: 1 ulp.
template <device A>
constexpr auto cbrt(const A& a) {
  return apply_function<cbrt_function>(a);
}

// sqrt(a^2 + b^2) without overflow or underflow in between; infinite if one of them is. f32 and f64: 2 ulp.
template <class A, class B>
  requires operands<A, B>
constexpr auto hypot(const A& a, const B& b) {
  return apply_function<hypot_function>(a, b);
}

}  // namespace kaio::dsl
