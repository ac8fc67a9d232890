#pragma once
// Products that keep what a * b drops, saturating sums, distances, and dot products of packed bytes.
//
//   val area = mul_wide(width, height);        // u32 * u32 is u64
//   val total = dp4a(a, b, total_before);      // four products of bytes, added

#include <kaio/dsl/integer/support.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// An instruction in the registers of T, on two or three of its values, before the result is wrapped.
template <integer T>
constexpr value raw(tracer& t, opcode op, modifier m, value a, value b, value c = 0) {
  return t.pure({op, in_order(m), computed_in<T>, ptx::type::none, computed_in<T>}, a, b, c);
}

template <integer T>
struct mul_hi_rule {
  static constexpr value apply(tracer& t, value a, value b) {
    if constexpr (is_small<T>) {
      const value product = raw<T>(t, opcode::mul, modifier::lo, a, b);
      return t.pure({opcode::shr, 0, computed_in<T>, ptx::type::none, ptx_type<T>}, product,
                    t.constant(ptx::type::u32, width_of<T>));
    } else {
      return raw<T>(t, opcode::mul, modifier::hi, a, b);
    }
  }
};

template <integer T>
struct mul_wide_rule {
  static constexpr value apply(tracer& t, value a, value b) {
    constexpr ptx::type result = ptx_type<wide_of<T>>;
    return t.pure({opcode::mul, in_order(is_small<T> ? modifier::lo : modifier::wide), computed_in<T>,
                   ptx::type::none, result},
                  a, b);
  }
};

template <integer T>
struct mad_hi_rule {
  static constexpr value apply(tracer& t, value a, value b, value c) {
    if constexpr (is_small<T>)
      return t.binary(operation::add, ptx_type<T>, mul_hi_rule<T>::apply(t, a, b), c);
    else
      return raw<T>(t, opcode::mad, modifier::hi, a, b, c);
  }
};

template <integer T>
struct mad_wide_rule {
  static constexpr value apply(tracer& t, value a, value b, value c) {
    if constexpr (is_small<T>)
      return t.narrow(ptx_type<wide_of<T>>, raw<T>(t, opcode::mad, modifier::lo, a, b, c));
    else
      return t.pure(
          {opcode::mad, in_order(modifier::wide), computed_in<T>, ptx::type::none, ptx_type<wide_of<T>>}, a,
          b, c);
  }
};

template <integer T>
struct sad_rule {
  static constexpr ptx::type result = computed_in<unsigned_of<T>>;
  static constexpr value apply(tracer& t, value a, value b, value c) {
    return t.narrow(ptx_type<unsigned_of<T>>,
                    t.pure({opcode::sad, 0, computed_in<T>, ptx::type::none, result}, a, b, c));
  }
};
template <integer T>
struct abs_diff_rule {
  static constexpr value apply(tracer& t, value a, value b) {
    constexpr ptx::type type = ptx_type<unsigned_of<T>>;
    return t.pure({opcode::sad, 0, computed_in<T>, ptx::type::none, type}, a, b,
                  t.constant(computed_in<unsigned_of<T>>, 0));
  }
};

// a + b or a - b, clamped to the range of T.
template <integer T, operation Op>
struct saturating_rule {
  static constexpr ptx::type type = ptx_type<T>;
  static constexpr bool adds = Op == operation::add;
  static constexpr value apply(tracer& t, value a, value b) {
    constexpr opcode op = adds ? opcode::add : opcode::sub;
    if constexpr (is_small<T>) {
      // 32 bits hold the sum, which is then clamped to the range of T.
      constexpr ptx::type s32 = ptx::type::s32;
      const value sum = t.pure({op, 0, s32, ptx::type::none, s32}, a, b);
      const value low =
          t.constant(s32, static_cast<std::uint64_t>(std::int64_t{std::is_signed_v<T> ? least : 0}));
      const value bounded = t.pure({opcode::max, 0, s32, ptx::type::none, s32}, sum, low);
      return t.pure({opcode::min, 0, s32, ptx::type::none, type}, bounded, t.constant(s32, largest));
    } else if constexpr (std::is_unsigned_v<T>) {
      if constexpr (adds)  // without a carry, b adds at most ~a
        return t.binary(operation::add, type, a,
                        t.binary(operation::min, type, b, t.unary(operation::not_, type, a)));
      else
        return t.binary(operation::sub, type, t.binary(operation::max, type, a, b), b);
    } else if constexpr (sizeof(T) == 4) {
      return t.pure({op, in_order(modifier::sat), type, ptx::type::none, type}, a, b);
    } else {
      // It overflowed if the sign of the result is neither that of a nor that of b (-b for a difference).
      const value sum = t.binary(Op, type, a, b);
      const value turned = t.binary(operation::xor_, type, a, sum);
      const value against = t.binary(operation::xor_, type, adds ? sum : a, b);
      const value both = t.binary(operation::and_, type, turned, against);
      const value overflow = t.compare(operation::lt, type, both, t.constant(type, 0));
      const value sign = t.binary(operation::shr, type, a, t.constant(ptx::type::u32, 63));
      const value bound = t.binary(operation::xor_, type, sign, t.constant(type, largest));
      return t.select(type, overflow, bound, sum);
    }
  }

 private:
  static constexpr auto largest = static_cast<std::uint64_t>(
      std::is_signed_v<T> ? static_cast<unsigned_of<T>>(~T{0}) >> 1 : static_cast<unsigned_of<T>>(~T{0}));
  static constexpr auto least = static_cast<std::int64_t>(~largest);
};

// dp4a and dp2a; A and B are the packed operands, R the sum.
template <opcode Op, modifier Half, class A, class B, class R>
struct dot_rule {
  static constexpr value apply(tracer& t, value a, value b, value c) {
    return t.pure({Op, in_order(Half), ptx_type<A>, ptx_type<B>, ptx_type<R>}, a, b, c);
  }
};

template <opcode Op, modifier Half, class A, class B, class C>
constexpr auto dot(const A& a, const B& b, const C& c) {
  static_assert(device<A> && device<B>, "kaio: the packed operands of dp4a and dp2a are device values");
  using X = element<A>;
  using Y = element<B>;
  static_assert(
      (std::is_same_v<X, u32> || std::is_same_v<X, i32>)&&(std::is_same_v<Y, u32> || std::is_same_v<Y, i32>),
      "kaio: dp4a and dp2a take u32 (unsigned parts) or i32 (signed parts)");
  using R = std::conditional_t<std::is_same_v<X, u32> && std::is_same_v<Y, u32>, u32, i32>;
  if constexpr (device<C>)
    static_assert(std::is_same_v<element<C>, R>,
                  "kaio: the sum of dp4a and dp2a is u32 if both operands are u32, otherwise i32");
  return make_pure<R, dot_rule<Op, Half, X, Y, R>>(a.node(), b.node(), operand_node<R>(c));
}

template <class... E>
constexpr auto require_integers() {
  require_same<E...>();
  require_integer<typename common<E...>::type>();
}

template <class T>
constexpr auto require_wide() {
  static_assert(sizeof(T) < 8,
                "kaio: there is no integer of 128 bits; mul_hi(a, b) gives the upper half of a product");
}

}  // namespace detail

// The upper half of the whole product (mul.hi).
template <class A, class B>
  requires operands<A, B>
constexpr auto mul_hi(const A& a, const B& b) {
  detail::require_integers<A, B>();
  using T = typename common<A, B>::type;
  return make_pure<T, detail::mul_hi_rule<T>>(operand_node<T>(a), operand_node<T>(b));
}

// The whole product of i8 to u32, in the integer of twice the size (mul.wide).
template <class A, class B>
  requires operands<A, B>
constexpr auto mul_wide(const A& a, const B& b) {
  detail::require_integers<A, B>();
  using T = typename common<A, B>::type;
  detail::require_wide<T>();
  return make_pure<wide_of<T>, detail::mul_wide_rule<T>>(operand_node<T>(a), operand_node<T>(b));
}

// mul_hi(a, b) + c, modulo 2^n (mad.hi).
template <class A, class B, class C>
  requires(device<A> || device<B> || device<C>)
constexpr auto mad_hi(const A& a, const B& b, const C& c) {
  detail::require_integers<A, B, C>();
  using T = typename common<A, B, C>::type;
  return make_pure<T, detail::mad_hi_rule<T>>(operand_node<T>(a), operand_node<T>(b), operand_node<T>(c));
}

// mul_wide(a, b) + c, where c has twice the size of a and b (mad.wide).
template <class A, class B, class C>
  requires operands<A, B>
constexpr auto mad_wide(const A& a, const B& b, const C& c) {
  detail::require_integers<A, B>();
  using T = typename common<A, B>::type;
  detail::require_wide<T>();
  using W = wide_of<T>;
  if constexpr (device<C>)
    static_assert(std::is_same_v<element<C>, W>,
                  "kaio: the addend of mad_wide has twice the size of the factors; write cast<T>(c)");
  return make_pure<W, detail::mad_wide_rule<T>>(operand_node<T>(a), operand_node<T>(b), operand_node<W>(c));
}

// |a - b|, as an unsigned number of the same size (sad).
template <class A, class B>
  requires operands<A, B>
constexpr auto abs_diff(const A& a, const B& b) {
  detail::require_integers<A, B>();
  using T = typename common<A, B>::type;
  return make_pure<unsigned_of<T>, detail::abs_diff_rule<T>>(operand_node<T>(a), operand_node<T>(b));
}

// |a - b| + c, where c is unsigned; modulo 2^n (sad).
template <class A, class B, class C>
  requires operands<A, B>
constexpr auto sad(const A& a, const B& b, const C& c) {
  detail::require_integers<A, B>();
  using T = typename common<A, B>::type;
  using U = unsigned_of<T>;
  if constexpr (device<C>)
    static_assert(
        std::is_same_v<element<C>, U>,
        "kaio: the addend of sad is the unsigned integer of the size of its operands; write cast<u32>(c)");
  return make_pure<U, detail::sad_rule<T>>(operand_node<T>(a), operand_node<T>(b), operand_node<U>(c));
}

// c plus the four products of the bytes of a and b, modulo 2^32 (dp4a, sm_61). u32 holds unsigned bytes, i32 signed
// ones. The sum is u32 if both are u32, otherwise i32.
template <class A, class B, class C>
constexpr auto dp4a(const A& a, const B& b, const C& c) {
  return detail::dot<opcode::dp4a, modifier::none>(a, b, c);
}

// c plus two products: the 16-bit halves of a with the two lower bytes of b (dp2a.lo, sm_61).
template <class A, class B, class C>
constexpr auto dp2a_lo(const A& a, const B& b, const C& c) {
  return detail::dot<opcode::dp2a, modifier::lo>(a, b, c);
}

// c plus two products: the 16-bit halves of a with the two upper bytes of b (dp2a.hi, sm_61).
template <class A, class B, class C>
constexpr auto dp2a_hi(const A& a, const B& b, const C& c) {
  return detail::dot<opcode::dp2a, modifier::hi>(a, b, c);
}

}  // namespace kaio::dsl
