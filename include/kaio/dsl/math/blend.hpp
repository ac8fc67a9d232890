#pragma once
// Small compositions of arithmetic that have names of their own.
//
//   val y = lerp(a, b, 0.25f);

#include <kaio/dsl/math/function.hpp>

namespace kaio::dsl {

namespace detail {

struct positive_difference {
  static constexpr known_function name = known_function::none;
  template <host_floating T>
  static constexpr value lower(const evaluator<T>& e, value a, value b) {
    const value below = e.trace().compare(operation::le, e.type, a, b);
    return e.select(below, e.number(T{0}), e.sub(a, b));
  }
};

template <class T>
struct lerp_rule {
  static constexpr value apply(tracer& t, value a, value b, value w) {
    constexpr ptx::type type = ptx_type<T>;
    const value rest = t.multiply_add(type, t.unary(operation::neg, type, w), a, a);
    return t.multiply_add(type, w, b, rest);
  }
};

}  // namespace detail

// a - b if a > b, else +0; NaN if an operand is NaN.
template <class A, class B>
  requires operands<A, B>
constexpr auto fdim(const A& a, const B& b) {
  return apply_function<detail::positive_difference>(a, b);
}

// a + w (b - a) by two fma: exactly a for w = 0 and b for w = 1.
template <class A, class B, class W>
  requires(device<A> || device<B> || device<W>)
constexpr auto lerp(const A& a, const B& b, const W& w) {
  require_same<A, B, W>();
  using T = typename common<A, B, W>::type;
  static_assert(floating<T>, "kaio: lerp takes floating values; write cast<f32>(x)");
  return make_pure<T, detail::lerp_rule<T>>(operand_node<T>(a), operand_node<T>(b), operand_node<T>(w));
}

// x limited to [low, high]; low if x is NaN.
template <class X, class L, class H>
  requires(device<X> || device<L> || device<H>)
constexpr auto clamp(const X& x, const L& low, const H& high) {
  require_same<X, L, H>();
  using T = typename common<X, L, H>::type;
  const auto bounded = make_binary<operation::max, T, T>(x, low);
  return make_binary<operation::min, T, T>(bounded, high);
}

}  // namespace kaio::dsl
