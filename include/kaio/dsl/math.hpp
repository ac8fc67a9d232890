#pragma once
// Mathematical functions. Like operators they build pure expressions. sqrt and fma are correctly rounded; exp
// and log hold their bound over the whole range, infinities, NaN and subnormal numbers included.
//
//   val y = xi / (1.0f + exp(-xi));

#include <kaio/dsl/math/exponential.hpp>
#include <kaio/dsl/operators.hpp>

namespace kaio::dsl {

template <class T, class A, class B, class C>
struct fma_node : no_host_bool {
  using device_type = T;
  static constexpr bool bound = A::bound || B::bound || C::bound;
  static constexpr bool reads_memory = A::reads_memory || B::reads_memory || C::reads_memory;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = A::loads + B::loads + C::loads;
  A a;
  B b;
  C c;

  constexpr const fma_node& node() const { return *this; }
  constexpr tracer* context() const {
    tracer* t = a.context();
    if (t == nullptr) t = b.context();
    return t != nullptr ? t : c.context();
  }
  constexpr void load(tracer& t) const {
    a.load(t);
    b.load(t);
    c.load(t);
  }
  constexpr value lower(tracer& t) const {
    const value x = a.lower(t);
    const value y = b.lower(t);
    return t.multiply_add(ptx_type<T>, x, y, c.lower(t));
  }
};

// a * b + c with one rounding, whatever the contraction policy. f32, f64; one of the operands may be a
// literal or two.
template <class A, class B, class C>
  requires(device<A> || device<B> || device<C>)
constexpr auto fma(const A& a, const B& b, const C& c) {
  require_same<A, B, C>();
  using T = typename common<A, B, C>::type;
  static_assert(floating<T>, "kaio: fma takes f32 or f64; write a * b + c for integers");
  using x = decltype(operand_node<T>(a));
  using y = decltype(operand_node<T>(b));
  using z = decltype(operand_node<T>(c));
  return fma_node<T, x, y, z>{{}, operand_node<T>(a), operand_node<T>(b), operand_node<T>(c)};
}

// The smaller operand. Floats: a NaN operand loses against a number, -0 is smaller than +0 (PTX min).
template <class A, class B>
  requires operands<A, B>
constexpr auto min(const A& a, const B& b) {
  return arithmetic<operation::min>(a, b);
}

// The larger operand. Floats: a NaN operand loses against a number (PTX max).
template <class A, class B>
  requires operands<A, B>
constexpr auto max(const A& a, const B& b) {
  return arithmetic<operation::max>(a, b);
}

// |a|; of the most negative integer, itself.
template <device A>
constexpr auto abs(const A& a) {
  using T = element<A>;
  static_assert(floating<T> || ptx::is_signed(ptx_type<T>),
                "kaio: abs of an unsigned or bool value is the value itself");
  return unary_node<operation::abs, T, T, node_of<A>>{{}, a.node()};
}

// The square root, correctly rounded (sqrt.rn). f32, f64.
template <device A>
constexpr auto sqrt(const A& a) {
  using T = element<A>;
  static_assert(floating<T>, "kaio: sqrt takes f32 or f64; write cast<f32>(x)");
  return unary_node<operation::sqrt, T, T, node_of<A>>{{}, a.node()};
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::abs;
using dsl::exp;
using dsl::fma;
using dsl::log;
using dsl::max;
using dsl::min;
using dsl::sqrt;
}  // namespace kaio
