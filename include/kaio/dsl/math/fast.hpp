#pragma once
// The special function unit's own approximations: one or a few instructions, without the steps that make the
// default functions accurate. f32, f16 and bf16 (computed in f32). Source of the bounds: PTX ISA, "Floating
// point instructions".
//
//   y[i] = x[i] * fast::sigmoid(x[i]);

#include <kaio/dsl/math/function.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

inline constexpr f32 log2_of_e = 1.44269502f, log2_of_ten = 3.32192802f;
inline constexpr f32 ln_of_two = 0.693147182f, log10_of_two = 0.30103001f;

// `Ftz`: the instructions of the unit are their .ftz forms.
template <bool Ftz>
struct fast_exp2 {
  static constexpr value apply(const evaluator<f32>& e, value x) {
    return e.approximate(opcode::ex2, x, Ftz);
  }
};
template <bool Ftz>
struct fast_exp {
  static constexpr value apply(const evaluator<f32>& e, value x) {
    return fast_exp2<Ftz>::apply(e, e.mul(x, e.number(log2_of_e)));
  }
};
template <bool Ftz>
struct fast_exp10 {
  static constexpr value apply(const evaluator<f32>& e, value x) {
    return fast_exp2<Ftz>::apply(e, e.mul(x, e.number(log2_of_ten)));
  }
};
template <bool Ftz>
struct fast_log2 {
  static constexpr value apply(const evaluator<f32>& e, value x) {
    return e.approximate(opcode::lg2, x, Ftz);
  }
};
template <bool Ftz>
struct fast_log {
  static constexpr value apply(const evaluator<f32>& e, value x) {
    return e.mul(fast_log2<Ftz>::apply(e, x), e.number(ln_of_two));
  }
};
template <bool Ftz>
struct fast_log10 {
  static constexpr value apply(const evaluator<f32>& e, value x) {
    return e.mul(fast_log2<Ftz>::apply(e, x), e.number(log10_of_two));
  }
};
struct fast_tanh {
  static constexpr value apply(const evaluator<f32>& e, value x) { return e.approximate(opcode::tanh, x); }
};
template <bool Ftz>
struct fast_sigmoid {
  // Differentiated one by one, its instructions give 0 * inf if e^-x is beyond f32.
  static constexpr known_function name = known_function::sigmoid;
  static constexpr value apply(const evaluator<f32>& e, value x) {
    const value power = fast_exp2<Ftz>::apply(e, e.mul(x, e.number(-log2_of_e)));
    return e.approximate(opcode::rcp, e.add(power, e.number(1.0f)), Ftz);
  }
};
template <bool Ftz>
struct fast_pow {
  static constexpr value apply(const evaluator<f32>& e, value x, value y) {
    return fast_exp2<Ftz>::apply(e, e.mul(y, fast_log2<Ftz>::apply(e, x)));
  }
};

// A fast function in the form that function.hpp takes.
template <class Function>
struct fast_function {
  static constexpr known_function name = [] {
    if constexpr (requires { Function::name; })
      return Function::name;
    else
      return known_function::none;
  }();
  template <host_floating T, class... Values>
  static constexpr value lower(const evaluator<T>& e, Values... x) {
    static_assert(
        std::is_same_v<T, f32>,
        "kaio: a fast function takes f32, f16 or bf16; f64 has no approximation: write exp(x) instead of fast::exp(x), or cast<f32>(x)");
    if constexpr (std::is_same_v<T, f32>)
      return Function::apply(e, x...);
    else
      return e.number(T{0});
  }
};

// ex2 and tanh are also instructions on 16-bit floats, alone and in pairs: f16 from sm_75 on, bf16 from sm_90
// on. There ex2 of bf16 always has .ftz. Older architectures use f32, as for any fast function.
template <opcode Op, class Function, floating T>
struct fast_half_rule {
  static constexpr bool is_brain = ptx::element_of(ptx_type<T>) == ptx::type::bf16;
  static constexpr modifier flush = is_brain && Op == opcode::ex2 ? modifier::ftz : modifier::none;
  static constexpr form instruction{Op, in_order(modifier::approx, flush), ptx_type<T>, ptx::type::none,
                                    ptx_type<T>};
  static constexpr value apply(tracer& t, value x) {
    if (t.target.sm >= (is_brain ? 90 : 75)) return t.pure(instruction, x);
    return function_rule<fast_function<Function>, T>::apply(t, x);
  }
};

template <opcode Op, class Function, device A>
constexpr auto apply_fast_unit(const A& a) {
  if constexpr (ptx::is_half(ptx_type<element<A>>))
    return make_unary<element<A>, fast_half_rule<Op, Function, element<A>>>(a);
  else
    return apply_function<fast_function<Function>>(a);
}

}  // namespace detail

namespace fast {

// e to the power a: ex2.approx of a log2(e). The relative error grows with |a|, about 2 + 1.2 |a| units.
template <device A>
constexpr auto exp(const A& a) {
  return apply_function<detail::fast_function<detail::fast_exp<false>>>(a);
}

// 2 to the power a: ex2.approx, relative error 2^-22.5. f16, bf16 and pairs with a target that has it (sm_75;
// sm_90): ex2.approx.f16, relative error 2^-9.9; ex2.approx.ftz.bf16, 2^-7, subnormal numbers are flushed.
template <device A>
constexpr auto exp2(const A& a) {
  return detail::apply_fast_unit<opcode::ex2, detail::fast_exp2<false>>(a);
}

// 10 to the power a: ex2.approx of a log2(10). The relative error grows with |a|.
template <device A>
constexpr auto exp10(const A& a) {
  return apply_function<detail::fast_function<detail::fast_exp10<false>>>(a);
}

// The natural logarithm: lg2.approx times ln 2. Absolute error 2^-22 near 1, relative 2^-22 elsewhere.
template <device A>
constexpr auto log(const A& a) {
  return apply_function<detail::fast_function<detail::fast_log<false>>>(a);
}

// The logarithm to base 2: lg2.approx. Absolute error 2^-22.6 in (1/2, 2), relative 2^-22.6 elsewhere.
template <device A>
constexpr auto log2(const A& a) {
  return apply_function<detail::fast_function<detail::fast_log2<false>>>(a);
}

// The logarithm to base 10: lg2.approx times log10(2).
template <device A>
constexpr auto log10(const A& a) {
  return apply_function<detail::fast_function<detail::fast_log10<false>>>(a);
}

// The hyperbolic tangent: tanh.approx, relative error 2^-11. Needs sm_75. f16, bf16 and pairs with a target that
// has it (sm_75; sm_90): tanh.approx.f16, absolute error 2^-10.987; tanh.approx.bf16, 2^-7.99.
template <device A>
constexpr auto tanh(const A& a) {
  return detail::apply_fast_unit<opcode::tanh, detail::fast_tanh>(a);
}

// 1 / (1 + exp(-a)) by ex2.approx and rcp.approx; 0 below about -88.
template <device A>
constexpr auto sigmoid(const A& a) {
  return apply_function<detail::fast_function<detail::fast_sigmoid<false>>>(a);
}

// a to the power b for a >= 0: ex2.approx(b lg2.approx(a)).
template <class A, class B>
  requires operands<A, B>
constexpr auto pow(const A& a, const B& b) {
  return apply_function<detail::fast_function<detail::fast_pow<false>>>(a, b);
}

}  // namespace fast
}  // namespace kaio::dsl
