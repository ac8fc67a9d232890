#pragma once
// asin, acos, atan and atan2. One odd polynomial serves each: beyond 1/2, asin a = pi/2 - 2 asin(sqrt((1 - a)
// / 2)), and beyond 1, atan a = pi/2 - atan(1 / a). The polynomials are minimax fits made for kaio.
//
//   val angle = atan2(y, x);   // in (-pi, pi]

#include <kaio/dsl/math/rare_path.hpp>
#include <kaio/dsl/math/special_unit.hpp>

#include <array>

namespace kaio::dsl {

namespace detail {

// asin u - u, for z = u^2 <= 1/4.
constexpr value beyond_argument(const evaluator<f32>& e, value u, value z) {
  constexpr f32 c[] = {0.16666995f, 0.0748578161f, 0.0466137268f, 0.0188215896f, 0.0507586338f};
  const value cube = e.mul(u, z);
  return e.mul(cube, e.polynomial(z, c));
}
constexpr value beyond_argument(const evaluator<f64>& e, value u, value z) {
  constexpr f64 c[] = {0.166666666666654112_f64,  0.0750000000033672343_f64,  0.0446428568284839913_f64,
                       0.030381959132305663_f64,  0.0223717581371672518_f64,  0.017359703705943693_f64,
                       0.0138852441465181446_f64, 0.0121691633033374925_f64,  0.00652815531339420978_f64,
                       0.0195278356094949167_f64, -0.0162236587262400839_f64, 0.0319119074032054723_f64};
  const value cube = e.mul(u, z);
  return e.mul(cube, e.polynomial(z, c));
}

// atan u = u + u z P(z) for z = u^2 <= 1.
constexpr value arctangent(const evaluator<f32>& e, value u) {
  constexpr f32 c[] = {-0.333331525f,  0.199937671f,  -0.14211002f,   0.106657676f,
                       -0.0755165219f, 0.0432045646f, -0.0163630415f, 0.0029193724f};
  const value z = e.mul(u, u);
  const value cube = e.mul(u, z);
  return e.fma(cube, e.polynomial(z, c), u);
}
constexpr value arctangent(const evaluator<f64>& e, value u) {
  constexpr f64 c[] = {-0.333333333333318604_f64,    0.199999999997550526_f64,    -0.142857142713330665_f64,
                       0.111111106787240219_f64,     -0.0909090123606355605_f64,  0.076922129512433296_f64,
                       -0.066658606170608467_f64,    0.058773096406062382_f64,    -0.0523924231273923333_f64,
                       0.0467398278885829202_f64,    -0.0409272538133423416_f64,  0.0340695248120460314_f64,
                       -0.0258293322363544013_f64,   0.0169808449482388539_f64,   -0.00918685476515111905_f64,
                       0.0038573174179505859_f64,    -0.00116460327785164464_f64, 0.0002231500026847227_f64,
                       -0.0000202725773560908012_f64};
  const value z = e.mul(u, u);
  const value cube = e.mul(u, z);
  return e.fma(cube, e.polynomial(z, c), u);
}

// n * pi/2 + a; in f32 by two factors whose product is pi/2 to 43 bits.
constexpr value after_quarters(const evaluator<f32>& e, f32 n, value a) {
  return e.fma(e.number(n * 0.904525936f), e.number(1.73659623f), a);
}
constexpr value after_quarters(const evaluator<f64>& e, f64 n, value a) {
  return e.add(e.number(n * 1.5707963267948966_f64), e.add(a, e.number(n * 6.123233995736766e-17_f64)));
}

// A number as a sum, whose second part is small.
struct pair {
  value a, tail;
};

// The square root of 0, or of 2^-100 to 1; NaN below 0.
constexpr pair square_root(const evaluator<f32>& e, value z) {
  const value y = unit(e, opcode::rsqrt, e.add(z, e.number(1e-37f)));  // keeps 0 away from infinity
  const value s = e.mul(z, y);
  const value rest = e.fma(negate(e, s), s, z);
  return {s, e.mul(rest, e.mul(y, e.number(0.5f)))};
}
constexpr pair square_root(const evaluator<f64>& e, value z) {
  const value y = unit(e, opcode::rsqrt, e.add(z, e.number(1e-200_f64)));
  const value product = e.mul(z, y);
  const value d = e.fma(product, negate(e, y), e.number(1.0_f64));
  const value step = e.mul(y, d);
  const value root = e.fma(step, e.fma(d, e.number(0.375_f64), e.number(0.5_f64)), y);
  const value s = e.mul(z, root);
  const value rest = e.fma(negate(e, s), s, z);
  return {s, e.mul(rest, e.mul(root, e.number(0.5_f64)))};
}

// asin a for a <= 1/2; beyond, half of pi/2 - asin a.
constexpr value reduced_arcsine(const evaluator<f32>& e, value a, value is_far) {
  const value distant = e.fma(a, e.number(-0.5f), e.number(0.5f));
  const value z = e.select(is_far, distant, e.mul(a, a));
  const pair root = square_root(e, z);
  const value u = e.select(is_far, e.add(root.a, root.tail), a);
  return e.add(u, beyond_argument(e, u, z));
}
// In two parts: subtracting it from pi/2 can double its error.
constexpr pair reduced_arcsine(const evaluator<f64>& e, value a, value is_far) {
  const auto found = either(
      e.trace(), is_far,
      [&] {
        const value z = e.fma(a, e.number(-0.5_f64), e.number(0.5_f64));
        const pair root = square_root(e, z);
        return std::array{root.a, e.add(beyond_argument(e, root.a, z), root.tail)};
      },
      [&] {
        return std::array{a, beyond_argument(e, a, e.mul(a, a))};
      });
  return {found[0], found[1]};
}

// n * pi/2 - m * (a + tail)
constexpr value quarters_less(const evaluator<f32>& e, f32 n, f32 m, value a) {
  return after_quarters(e, n, e.mul(a, e.number(-m)));
}
constexpr value quarters_less(const evaluator<f64>& e, f64 n, f64 m, const pair& p) {
  const value first = e.fma(p.a, e.number(-m), e.number(n * 1.5707963267948966_f64));
  return e.add(first, e.fma(p.tail, e.number(-m), e.number(n * 6.123233995736766e-17_f64)));
}
constexpr value whole(const evaluator<f32>&, value a) { return a; }
constexpr value whole(const evaluator<f64>& e, const pair& p) { return e.add(p.a, p.tail); }

template <host_floating T>
constexpr value lower_asin(const evaluator<T>& e, value x) {
  const value a = magnitude(e, x);
  const value is_far = compare(e, operation::gt, a, T(0.5_f64));
  const auto y = reduced_arcsine(e, a, is_far);
  const value distant = quarters_less(e, T(1), T(2), y);
  return with_sign(e, e.select(is_far, distant, whole(e, y)), x);
}

constexpr value lower_acos(const evaluator<f32>& e, value x) {
  const value a = magnitude(e, x);
  const value is_far = compare(e, operation::gt, a, 0.5f);
  const value below = compare(e, operation::lt, x, 0.0f);
  const value y = reduced_arcsine(e, a, is_far);
  const value angle = e.select(is_far, e.add(y, y), y);
  // pi/2 - y, pi/2 + y, 2 y, or pi - 2 y
  const value subtracts = e.trace().compare(operation::eq, ptx::type::pred, is_far, below);
  const value quarters =
      e.select(is_far, e.select(below, e.number(2 * 0.904525936f), e.number(0.0f)), e.number(0.904525936f));
  return e.fma(quarters, e.number(1.73659623f), e.select(subtracts, negate(e, angle), angle));
}
constexpr value lower_acos(const evaluator<f64>& e, value x) {
  const value a = magnitude(e, x);
  const value is_far = compare(e, operation::gt, a, 0.5_f64);
  const value below = compare(e, operation::lt, x, 0.0_f64);
  const pair y = reduced_arcsine(e, a, is_far);
  const value far_below = quarters_less(e, 2, 2, y);
  const value distant = e.select(below, far_below, e.mul(whole(e, y), e.number(2.0_f64)));
  const value near_below = quarters_less(e, 1, -1, y);
  const value nearby = e.select(below, near_below, quarters_less(e, 1, 1, y));
  return e.select(is_far, distant, nearby);
}

template <host_floating T>
constexpr value lower_atan(const evaluator<T>& e, value x) {
  const value a = magnitude(e, x);
  const value is_far = compare(e, operation::gt, a, T{1});
  const value inverse = [&] {
    if constexpr (std::is_same_v<T, f32>) return unit(e, opcode::rcp, a);
    // Beyond 2^60 the angle rounds to pi/2.
    const value bounded = e.trace().binary(operation::min, e.type, a, e.number(T(1152921504606846976.0_f64)));
    return quick_reciprocal(e, bounded);
  }();
  const value y = arctangent(e, e.select(is_far, inverse, a));
  const value distant = after_quarters(e, T(1), negate(e, y));
  return with_sign(e, e.select(is_far, distant, y), x);
}

// y / x for 0 <= y <= x; NaN for 0 / 0, inf / inf and NaN.
template <host_floating T>
constexpr value bounded_quotient(const evaluator<T>& e, value y, value x) {
  constexpr bool single = std::is_same_v<T, f32>;
  // Scales away from the ends of the exponent: bits that y loses here are not in the quotient either.
  const value is_large =
      compare(e, operation::gt, x, single ? T(7.9228162514264338e28_f64) : T(8.4527e270_f64));
  const value scale =
      e.select(is_large, e.number(single ? T(5.4210108624275222e-20_f64) : T(2.409919865102884e-181_f64)),
               e.number(single ? T(16777216) : T(1152921504606846976.0_f64)));
  const value dividend = e.mul(y, scale);
  const value divisor = e.mul(x, scale);
  const value r = quick_reciprocal(e, divisor);
  const value q = e.mul(dividend, r);
  return e.fma(e.fma(negate(e, q), divisor, dividend), r, q);
}

template <host_floating T>
constexpr value lower_atan2(const evaluator<T>& e, value y, value x) {
  tracer& t = e.trace();
  const value rise = magnitude(e, y);
  const value run = magnitude(e, x);
  const value steep = compare(e, operation::gt, rise, run);
  const value little = e.select(steep, run, rise);
  const value large = e.select(steep, rise, run);
  value q = bounded_quotient(e, little, large);
  q = rare(t, compare(e, operation::ne, q, q), q, [&] {
    const value sum = e.add(little, large);
    const value both = compare(e, operation::eq, little, infinity(e));
    const value unordered = compare(e, operation::ne, sum, sum);
    return e.select(unordered, sum, e.select(both, e.number(T{1}), e.number(T{0})));
  });
  const value octant = arctangent(e, q);
  const value quarter = e.select(steep, after_quarters(e, T(1), negate(e, octant)), octant);
  const value left = t.compare(operation::lt, e.bits_type, e.bits(x), e.integer(0));
  return with_sign(e, e.select(left, after_quarters(e, T(2), negate(e, quarter)), quarter), y);
}

}  // namespace detail

struct asin_function {
  static constexpr known_function name = known_function::asin;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_asin(e, x);
  }
};
struct acos_function {
  static constexpr known_function name = known_function::acos;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_acos(e, x);
  }
};
struct atan_function {
  static constexpr known_function name = known_function::atan;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::lower_atan(e, x);
  }
};
struct atan2_function {
  static constexpr known_function name = known_function::atan2;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value y, value x) {
    return detail::lower_atan2(e, y, x);
  }
};

// The angle in [-pi/2, pi/2] whose sine is a; NaN beyond 1. f32 and f64: 2 ulp.
template <device A>
constexpr auto asin(const A& a) {
  return apply_function<asin_function>(a);
}

// The angle in [0, pi] whose cosine is a; NaN beyond 1. f32 and f64: 2 ulp.
template <device A>
constexpr auto acos(const A& a) {
  return apply_function<acos_function>(a);
}

// The angle in [-pi/2, pi/2] whose tangent is a. f32 and f64: 2 ulp.
template <device A>
constexpr auto atan(const A& a) {
  return apply_function<atan_function>(a);
}

// The angle of the point (x, y) from the x axis, in [-pi, pi], with C's values for zeros and
// infinities. f32: 3 ulp, f64: 2 ulp.
template <class Y, class X>
  requires operands<Y, X>
constexpr auto atan2(const Y& y, const X& x) {
  return apply_function<atan2_function>(y, x);
}

}  // namespace kaio::dsl
