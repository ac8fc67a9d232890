#pragma once
// Makes an expression of a mathematical function. Its instructions are written once for f32 and f64
// (Function::lower on an evaluator). f16 and bf16 are computed in f32 and rounded once more: the error is a
// little above half a unit in their last place. Packed pairs go half by half. Function::name selects the rule
// of derivative(); `none`: derivative() differentiates the instructions.
//
//   struct square {
//     static constexpr known_function name = known_function::none;
//     template <host_floating T>
//     static constexpr value lower(const detail::evaluator<T>& e, value x) { return e.mul(x, x); }
//   };
//   const auto y = apply_function<square>(x);

#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/math/evaluator.hpp>

#include <cstdint>

namespace kaio::dsl {

template <class Function, floating T>
struct function_rule {
  static constexpr ptx::type type = ptx_type<T>;

  static constexpr value apply(tracer& t, value x) {
    if constexpr (host_floating<T>) {
      const value y = Function::template lower<T>(detail::evaluator<T>(t), x);
      if constexpr (Function::name != known_function::none) t.computed(Function::name, y, x);
      return y;
    } else if constexpr (packed<T>) {
      using half = function_rule<Function, half_of<T>>;
      const tracer::halves parts = t.split(x, half::type);
      const value low = half::apply(t, parts.low);
      return t.join(type, low, half::apply(t, parts.high));
    } else {
      const value wide = t.cast(ptx::type::f32, type, x);
      return t.cast(type, ptx::type::f32, function_rule<Function, f32>::apply(t, wide));
    }
  }

  static constexpr value apply(tracer& t, value x, value y) {
    if constexpr (host_floating<T>) {
      const value z = Function::template lower<T>(detail::evaluator<T>(t), x, y);
      if constexpr (Function::name != known_function::none) t.computed(Function::name, z, x, y);
      return z;
    } else if constexpr (packed<T>) {
      using half = function_rule<Function, half_of<T>>;
      const tracer::halves left = t.split(x, half::type);
      const tracer::halves right = t.split(y, half::type);
      const value low = half::apply(t, left.low, right.low);
      return t.join(type, low, half::apply(t, left.high, right.high));
    } else {
      const value left = t.cast(ptx::type::f32, type, x);
      const value right = t.cast(ptx::type::f32, type, y);
      return t.cast(type, ptx::type::f32, function_rule<Function, f32>::apply(t, left, right));
    }
  }
};

template <class T>
constexpr auto require_floating() {
  static_assert(
      floating<T>,
      "kaio: a mathematical function takes a floating value: f64, f32, f16, bf16 or a packed pair; write cast<f32>(x)");
}

template <class Function, device A>
constexpr auto apply_function(const A& a) {
  using T = element<A>;
  require_floating<T>();
  if constexpr (floating<T>)
    return make_unary<T, function_rule<Function, T>>(a);
  else
    return refused{};
}

// Both operands have one type; one may be a literal.
template <class Function, class A, class B>
constexpr auto apply_function(const A& a, const B& b) {
  require_same<A, B>();
  using T = typename common<A, B>::type;
  require_floating<T>();
  if constexpr (floating<T>) {
    const auto left = operand_node<T>(a);
    const auto right = operand_node<T>(b);
    return make_pure<T, function_rule<Function, T>>(left, right);
  } else {
    return refused{};
  }
}

}  // namespace kaio::dsl
