#pragma once
// sin, cos and tan, of angles in radians and in units of pi. The angle is reduced to [-pi/4, pi/4] and a
// quadrant (range_reduction.hpp); the polynomials are minimax fits made for kaio.
//
//   val y = amplitude * sin(phase);
//   const auto [s, c] = sincos(angle);   // one reduction for both

#include <kaio/dsl/expression/val.hpp>
#include <kaio/dsl/math/range_reduction.hpp>

#include <array>
#include <cstdint>

namespace kaio::dsl {

namespace detail {

constexpr value sine_near_zero(const evaluator<f32>& e, value r, value z) {
  constexpr f32 c[] = {-0.166666552f, 0.00833218824f, -0.000195180954f};
  const value cube = e.mul(z, r);
  return e.fma(cube, e.polynomial(z, c), r);
}
constexpr value cosine_near_zero(const evaluator<f32>& e, value z) {
  constexpr f32 c[] = {1.0f, -0.5f, 0.0416666456f, -0.00138873095f, 2.44323273e-5f};
  return e.polynomial(z, c);
}
constexpr value sine_near_zero(const evaluator<f64>& e, value r, value z) {
  constexpr f64 c[] = {-0.166666666666666297_f64,  0.00833333333332184241_f64,  -0.000198412698293609429_f64,
                       2.75573135396234744e-6_f64, -2.50507345966305975e-8_f64, 1.58954469124629615e-10_f64};
  const value cube = e.mul(z, r);
  return e.fma(cube, e.polynomial(z, c), r);
}
constexpr value cosine_near_zero(const evaluator<f64>& e, value z) {
  constexpr f64 c[] = {1.0_f64,
                       -0.5_f64,
                       0.041666666666666595_f64,
                       -0.00138888888888733246_f64,
                       0.0000248015872889837495_f64,
                       -2.75573142101182944e-7_f64,
                       2.08757042799030402e-9_f64,
                       -1.13586839364289175e-11_f64};
  return e.polynomial(z, c);
}

// tan r for |r| <= pi/4, or -1 / tan r if `inverted`.
constexpr value tangent_near_zero(const evaluator<f32>& e, value r, value inverted) {
  constexpr f32 c[] = {0.333331555f,  0.13338834f,    0.0534083769f,
                       0.0244406629f, 0.00310276402f, 0.00939571578f};
  const value z = e.mul(r, r);
  const value cube = e.mul(z, r);
  const value y = e.fma(cube, e.polynomial(z, c), r);
  return e.select(inverted, negate(e, unit(e, opcode::rcp, y)), y);
}
constexpr value tangent_near_zero(const evaluator<f64>& e, value r, value inverted) {
  constexpr f64 c[] = {
      0.333333333333327708_f64,      0.133333333334156284_f64,      0.0539682539261771288_f64,
      0.02186948962093474_f64,       0.00886321899433091358_f64,    0.00359229062536508626_f64,
      0.00145474849832093124_f64,    0.000595104867950644245_f64,   0.000222260733095938775_f64,
      0.000136772257771623583_f64,   -0.0000267357607142516894_f64, 0.0000897752078174939402_f64,
      -0.0000450516632563976928_f64, 0.0000209055565505849596_f64};
  const value z = e.mul(r, r);
  const value cube = e.mul(z, r);
  const value beyond = e.mul(cube, e.polynomial(z, c));
  const value y = e.add(beyond, r);
  const value rest = e.add(e.sub(r, y), beyond);
  // 1 / (y + rest)
  const value q = unit(e, opcode::rcp, y);
  const value minus_y = negate(e, y);
  value d = e.fma(minus_y, q, e.number(1.0_f64));
  const value first = e.fma(q, e.fma(d, d, d), q);
  const value minus_rest = negate(e, rest);
  d = e.fma(minus_rest, first, e.fma(minus_y, first, e.number(1.0_f64)));
  return e.select(inverted, negate(e, e.fma(first, d, first)), y);
}

// y with its sign flipped if bit 1 of the quadrant is set.
template <host_floating T>
constexpr value flip(const evaluator<T>& e, value y, value quadrant) {
  const value bit =
      e.trace().binary(operation::and_, ptx::type::s32,
                       e.trace().binary(operation::shl, ptx::type::s32, quadrant, e.amount(30)),
                       e.trace().constant(ptx::type::s32, canonical(ptx::type::s32, 0x80000000u)));
  if constexpr (std::is_same_v<T, f32>) {
    return e.from_bits(e.on_bits(operation::xor_, e.bits(y), bit));
  } else {
    const value high =
        e.on_bits(operation::shl, e.trace().cast(e.bits_type, ptx::type::s32, bit), e.amount(32));
    return e.from_bits(e.on_bits(operation::xor_, e.bits(y), high));
  }
}

// Flips y by the sign of x: for odd functions computed from |x|.
template <host_floating T>
constexpr value flip_by_sign(const evaluator<T>& e, value y, value x) {
  const value sign =
      e.on_bits(operation::and_, e.bits(x),
                e.trace().constant(
                    e.bits_type,
                    canonical(e.bits_type, std::is_same_v<T, f32> ? 0x80000000u : std::uint64_t{1} << 63)));
  return e.from_bits(e.on_bits(operation::xor_, e.bits(y), sign));
}

constexpr value is_odd(tracer& t, value quadrant) {
  return t.compare(operation::ne, ptx::type::s32,
                   t.binary(operation::and_, ptx::type::s32, quadrant, t.constant(ptx::type::s32, 1)),
                   t.constant(ptx::type::s32, 0));
}

// sin and cos of the angle; an unused one is not emitted.
template <host_floating T>
constexpr std::array<value, 2> sine_and_cosine(const evaluator<T>& e, const quadrant_angle& a, value x) {
  tracer& t = e.trace();
  const value z = e.mul(a.rest, a.rest);
  const value s = sine_near_zero(e, a.rest, z);
  const value c = cosine_near_zero(e, z);
  const value odd = is_odd(t, a.quadrant);
  const value next = t.binary(operation::add, ptx::type::s32, a.quadrant, t.constant(ptx::type::s32, 1));
  return {flip_by_sign(e, flip(e, e.select(odd, c, s), a.quadrant), x), flip(e, e.select(odd, s, c), next)};
}

// Both functions of a value of any floating type.
template <floating T>
struct sincos_rule {
  static constexpr ptx::type type = ptx_type<T>;

  static constexpr std::array<value, 2> apply(tracer& t, value x) {
    if constexpr (host_floating<T>) {
      const evaluator<T> e(t);
      const std::array y = sine_and_cosine(e, reduce(e, magnitude(e, x)), x);
      t.computed(known_function::sin, y[0], x);
      t.computed(known_function::cos, y[1], x);
      return y;
    } else if constexpr (packed<T>) {
      using half = sincos_rule<half_of<T>>;
      const tracer::halves parts = t.split(x, half::type);
      const std::array low = half::apply(t, parts.low);
      const std::array high = half::apply(t, parts.high);
      return {t.join(type, low[0], high[0]), t.join(type, low[1], high[1])};
    } else {
      const std::array y = sincos_rule<f32>::apply(t, t.cast(ptx::type::f32, type, x));
      return {t.cast(type, ptx::type::f32, y[0]), t.cast(type, ptx::type::f32, y[1])};
    }
  }
};

// |x| = 2 k + q / 2 + r / pi, exactly, whatever its size.
template <host_floating T>
constexpr quadrant_angle reduce_pi(const evaluator<T>& e, value x) {
  tracer& t = e.trace();
  const value turns =
      t.pure({opcode::cvt, in_order(modifier::rni), e.type, e.type, e.type}, e.mul(x, e.number(T(0.5_f64))));
  const value turn = e.fma(turns, e.number(T(-2)), x);
  const value magic = e.number(std::is_same_v<T, f32> ? T(12582912) : T(6755399441055744));
  const value j = e.fma(turn, e.number(T(2)), magic);
  const value part = e.fma(e.sub(j, magic), e.number(T(-0.5_f64)), turn);
  const value quadrant = t.cast(ptx::type::s32, e.bits_type, e.bits(j));
  if constexpr (std::is_same_v<T, f32>) {
    return {e.mul(part, e.number(3.14159274f)), quadrant};
  } else {
    const value low = e.mul(part, e.number(1.2246467991473532e-16_f64));
    return {e.fma(part, e.number(3.141592653589793_f64), low), quadrant};
  }
}

}  // namespace detail

struct sin_function {
  static constexpr known_function name = known_function::sin;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::sine_and_cosine(e, detail::reduce(e, detail::magnitude(e, x)), x)[0];
  }
};
struct cos_function {
  static constexpr known_function name = known_function::cos;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    return detail::sine_and_cosine(e, detail::reduce(e, detail::magnitude(e, x)), x)[1];
  }
};
struct tan_function {
  static constexpr known_function name = known_function::tan;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    const detail::quadrant_angle a = detail::reduce(e, detail::magnitude(e, x));
    return detail::flip_by_sign(
        e, detail::tangent_near_zero(e, a.rest, detail::is_odd(e.trace(), a.quadrant)), x);
  }
};
// Zeros of sinpi and cospi are positive; those of sinpi then get the sign of the argument.
struct sinpi_function {
  static constexpr known_function name = known_function::sinpi;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    const value a = detail::magnitude(e, x);
    const value y = detail::sine_and_cosine(e, detail::reduce_pi(e, a), a)[0];
    return detail::flip_by_sign(e, e.add(y, e.number(T{0})), x);
  }
};
struct cospi_function {
  static constexpr known_function name = known_function::cospi;
  template <host_floating T>
  static constexpr value lower(const detail::evaluator<T>& e, value x) {
    const value a = detail::magnitude(e, x);
    return e.add(detail::sine_and_cosine(e, detail::reduce_pi(e, a), a)[1], e.number(T{0}));
  }
};

// The sine of a, in radians. f32 and f64: 2 ulp.
template <device A>
constexpr auto sin(const A& a) {
  return apply_function<sin_function>(a);
}

// The cosine of a, in radians. f32 and f64: 2 ulp.
template <device A>
constexpr auto cos(const A& a) {
  return apply_function<cos_function>(a);
}

// The tangent of a, in radians. f32: 4 ulp, f64: 2.2 ulp.
template <device A>
constexpr auto tan(const A& a) {
  return apply_function<tan_function>(a);
}

template <class T>
struct sine_cosine {
  val<T> sin, cos;
};

// The sine and the cosine of a, each within 2 ulp, with one shared reduction. Computed where it is called.
template <device A>
constexpr auto sincos(const A& a, std::uint32_t line = __builtin_LINE(),
                      const char* file = __builtin_FILE()) {
  using T = element<A>;
  require_floating<T>();
  static_assert(node_of<A>::bound,
                "kaio: sincos of a value that knows no kernel yet; bind it to a val first");
  if constexpr (floating<T> && node_of<A>::bound) {
    const auto& node = a.node();
    tracer& t = kernel_of(node);
    t.statement(line, file);
    const value x = lower(t, node);
    std::array<value, 2> y{};
    if (t.probing())
      y = {t.new_identity(), t.new_identity()};
    else
      y = detail::sincos_rule<T>::apply(t, x);
    return sine_cosine<T>{val<T>(t, y[0]), val<T>(t, y[1])};
  }
}

// sin(pi a) and cos(pi a): exact if the result is 0, 1 or -1. f32 and f64: 2 ulp.
template <device A>
constexpr auto sinpi(const A& a) {
  return apply_function<sinpi_function>(a);
}
template <device A>
constexpr auto cospi(const A& a) {
  return apply_function<cospi_function>(a);
}

}  // namespace kaio::dsl
