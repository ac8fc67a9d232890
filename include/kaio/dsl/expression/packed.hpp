#pragma once
// Packed pairs of 16-bit floats: making them, and taking them apart. The operators and functions of numbers
// work on both halves of a pair at once.
//
//   val both = pack<f16x2>(a, b);            // two f32, rounded: one instruction from sm_80 on
//   y[i] = low(both * 2.0f) + high(both);    // f16

#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/expression/pure.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <packed P>
struct pack_rule {
  static constexpr value apply(tracer& t, value low, value high) {
    if (t.is_constant(low) && t.is_constant(high))
      return t.constant(ptx_type<P>, t.bits_of(high) << 16 | t.bits_of(low));
    return t.join(ptx_type<P>, low, high);
  }
};

template <packed P>
struct pack_rounded_rule {
  static constexpr ptx::type half = ptx_type<half_of<P>>;
  static constexpr value apply(tracer& t, value low, value high) {
    if (t.target.sm >= 80)  // the upper half comes first
      return t.pure({opcode::cvt, in_order(modifier::rn), ptx_type<P>, ptx::type::f32, ptx_type<P>}, high,
                    low);
    const value first = t.cast(half, ptx::type::f32, low);
    return t.join(ptx_type<P>, first, t.cast(half, ptx::type::f32, high));
  }
};

template <packed P, bool High>
struct half_rule {
  static constexpr value apply(tracer& t, value x) {
    constexpr ptx::type half = ptx_type<half_of<P>>;
    if (t.is_constant(x)) return t.constant(half, (High ? t.bits_of(x) >> 16 : t.bits_of(x)) & 0xffffu);
    const tracer::halves parts = t.split(x, half);
    return High ? parts.high : parts.low;
  }
};

template <packed P>
struct swap_halves_rule {
  static constexpr value apply(tracer& t, value x) {
    return t.pure({opcode::prmt, 0, ptx::type::b32, ptx::type::none, ptx_type<P>}, x, x,
                  t.constant(ptx::type::u32, 0x1032));
  }
};

template <class T>
constexpr auto require_packed() {
  static_assert(packed<T>,
                "kaio: this function takes a packed pair, f16x2 or bf16x2; pack(low, high) makes one");
}

}  // namespace detail

// A pair of two f16 or two bf16; a literal takes the type of the other half.
template <class A, class B>
  requires operands<A, B>
constexpr auto pack(const A& low, const B& high) {
  require_same<A, B>();
  using T = typename common<A, B>::type;
  static_assert(std::is_same_v<T, f16> || std::is_same_v<T, bf16>,
                "kaio: pack takes two f16 or two bf16; write pack<f16x2>(low, high) for two f32");
  using P = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  return make_pure<P, detail::pack_rule<P>>(operand_node<T>(low), operand_node<T>(high));
}

// A pair of two f32, each rounded to the nearest even (cvt.rn.f16x2.f32).
template <packed P, class A, class B>
  requires operands<A, B>
constexpr auto pack(const A& low, const B& high) {
  require_same<A, B>();
  static_assert(std::is_same_v<typename common<A, B>::type, f32>,
                "kaio: pack<f16x2> and pack<bf16x2> take two f32; write pack(low, high) for two halves");
  return make_pure<P, detail::pack_rounded_rule<P>>(operand_node<f32>(low), operand_node<f32>(high));
}

// The half in the lower 16 bits.
template <device A>
constexpr auto low(const A& x) {
  detail::require_packed<element<A>>();
  return make_pure<half_of<element<A>>, detail::half_rule<element<A>, false>>(x.node());
}

// The half in the upper 16 bits.
template <device A>
constexpr auto high(const A& x) {
  detail::require_packed<element<A>>();
  return make_pure<half_of<element<A>>, detail::half_rule<element<A>, true>>(x.node());
}

// The pair with its halves exchanged (prmt).
template <device A>
constexpr auto swap_halves(const A& x) {
  detail::require_packed<element<A>>();
  return make_pure<element<A>, detail::swap_halves_rule<element<A>>>(x.node());
}

}  // namespace kaio::dsl
