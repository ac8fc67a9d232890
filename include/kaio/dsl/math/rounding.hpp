#pragma once
// Rounding to whole numbers, the parts and classes of a floating number, and small compositions of them. All
// are exact or rounded once.
//
//   val cell = floor(x * scale);
//   if (auto bad = t.when(!isfinite(loss))) { ... }

#include <kaio/dsl/math/special_unit.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <modifier Mode>
struct round_function {
  static constexpr known_function name = known_function::none;
  template <host_floating T>
  static constexpr value lower(const evaluator<T>& e, value x) {
    return e.trace().pure({opcode::cvt, in_order(Mode), e.type, e.type, e.type}, x);
  }
};

struct round_half_away {
  static constexpr known_function name = known_function::none;
  template <host_floating T>
  static constexpr value lower(const evaluator<T>& e, value x) {
    // The largest number below 1/2: its sum with a number just below 1/2 stays below 1.
    constexpr T half = std::is_same_v<T, f32> ? T(0.49999997f) : T(0.49999999999999994_f64);
    return round_function<modifier::rzi>::lower(e, e.add(x, with_sign(e, e.number(half), x)));
  }
};

struct copysign_function {
  static constexpr known_function name = known_function::none;
  template <host_floating T>
  static constexpr value lower(const evaluator<T>& e, value x, value sign) {
    return with_sign(e, x, sign);
  }
};

// A condition on a floating value: T as such, 16-bit types as f32.
template <class Condition, class T>
struct condition_rule {
  static constexpr value apply(tracer& t, value x) {
    static_assert(floating<T> && !packed<T>,
                  "kaio: isnan, isinf, isfinite and signbit take f64, f32, f16 or bf16; write cast<f32>(x)");
    if constexpr (host_floating<T>)
      return Condition::lower(evaluator<T>(t), x);
    else
      return Condition::lower(evaluator<f32>(t), t.cast(ptx::type::f32, ptx_type<T>, x));
  }
};

struct is_nan {
  template <class E>
  static constexpr value lower(const E& e, value x) {
    return compare(e, operation::ne, x, x);
  }
};
struct is_infinite {
  template <class E>
  static constexpr value lower(const E& e, value x) {
    return compare(e, operation::eq, magnitude(e, x), infinity(e));
  }
};
struct is_finite {
  template <class E>
  static constexpr value lower(const E& e, value x) {
    return compare(e, operation::lt, magnitude(e, x), infinity(e));
  }
};
struct has_sign {
  template <class E>
  static constexpr value lower(const E& e, value x) {
    return e.trace().compare(operation::lt, e.bits_type, e.bits(x), e.integer(0));
  }
};

}  // namespace detail

// The next whole number below, above, toward zero.
template <device A>
constexpr auto floor(const A& a) {
  return apply_function<detail::round_function<modifier::rmi>>(a);
}
template <device A>
constexpr auto ceil(const A& a) {
  return apply_function<detail::round_function<modifier::rpi>>(a);
}
template <device A>
constexpr auto trunc(const A& a) {
  return apply_function<detail::round_function<modifier::rzi>>(a);
}

// The nearest whole number; halves go to the even one.
template <device A>
constexpr auto rint(const A& a) {
  return apply_function<detail::round_function<modifier::rni>>(a);
}
template <device A>
constexpr auto nearbyint(const A& a) {
  return rint(a);
}

// The nearest whole number; halves go away from zero.
template <device A>
constexpr auto round(const A& a) {
  return apply_function<detail::round_half_away>(a);
}

// |a| with the sign of b, also for zeros and NaN.
template <class A, class B>
  requires operands<A, B>
constexpr auto copysign(const A& a, const B& b) {
  return apply_function<detail::copysign_function>(a, b);
}

// Conditions, as in <cmath>.
template <device A>
constexpr auto isnan(const A& a) {
  return make_unary<bool, detail::condition_rule<detail::is_nan, element<A>>>(a);
}
template <device A>
constexpr auto isinf(const A& a) {
  return make_unary<bool, detail::condition_rule<detail::is_infinite, element<A>>>(a);
}
template <device A>
constexpr auto isfinite(const A& a) {
  return make_unary<bool, detail::condition_rule<detail::is_finite, element<A>>>(a);
}
template <device A>
constexpr auto signbit(const A& a) {
  return make_unary<bool, detail::condition_rule<detail::has_sign, element<A>>>(a);
}

}  // namespace kaio::dsl
