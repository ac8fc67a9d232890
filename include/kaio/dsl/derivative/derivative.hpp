#pragma once
// The derivative of an expression with respect to a val that it was computed from. The compiler differentiates what
// the kernel has recorded; the result is a val.
//
//   val s = scale * score;
//   val capped = 30.0f * tanh(s / 30.0f);
//   val slope = derivative(capped, s);            // 1 - tanh(s / 30)^2

#include <kaio/dsl/derivative/walk.hpp>
#include <kaio/dsl/expression/val.hpp>

#include <cstdint>

namespace kaio::dsl {

template <class T>
inline constexpr bool has_derivatives = floating<T> && !packed<T>;

template <class X>
inline constexpr bool is_derivative_variable = false;
template <class T>
inline constexpr bool is_derivative_variable<val<T>> = has_derivatives<T>;

// d expression / d variable, in the type of the expression, computed where it is called. Both are f64, f32, f16 or bf16.
// It follows arithmetic, functions, select, and conversions between these types. What is read from memory, or was
// computed before the variable, is a constant. floor, ceil, trunc, rint and round have the derivative 0. Of two slopes:
//   abs(0)                   1
//   min and max of equals    that of the first operand; a number of the host comes second
//   saturate at 0 and at 1   that within [0, 1]
template <device E, class X>
constexpr auto derivative(const E& expression, const X& variable, std::uint32_t line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) {
  using T = element<E>;
  static_assert(has_derivatives<T>,
                "kaio: derivative takes an expression of f64, f32, f16 or bf16; write cast<f32>(x)");
  static_assert(
      is_derivative_variable<X>,
      "kaio: derivative is taken by a val of f64, f32, f16 or bf16 that knows its kernel; write val s = x[i] before the expression, and compute it from s");
  if constexpr (has_derivatives<T> && is_derivative_variable<X>) {
    tracer* const trace = variable.node().context();
    if (trace == nullptr)
      kernel_error(
          "kaio: derivative by a literal, which knows no kernel; take the variable from memory or a parameter");
    tracer& t = *trace;
    t.statement(line, file);
    const value y = lower(t, expression.node());
    const value x = lower(t, variable.node());
    if (!t.probing() && tracer::is_constant(x)) t.fail(detail::derivative_refusal.constant);
    value slope = 0;
    if (!t.probing()) slope = detail::differentiator<tracer>(t, y, x).run();
    if (t.probing()) return val<T>(t, t.new_identity());
    return val<T>(t, slope == 0 ? t.constant(ptx_type<T>, 0) : slope);
  } else {
    return refused{};
  }
}

}  // namespace kaio::dsl
