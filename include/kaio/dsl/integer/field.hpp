#pragma once
// Bit fields, permutations of bytes, any function of three bits, funnel shifts and rotations.
//
//   val exponent = bit_extract(bit_cast<u32>(x), 23, 8);
//   val either = lop3(a, b, c, [](auto a, auto b, auto c) { return (a & b) | (~a & c); });
//   val mixed = rotate_left(h, 13) * 5;

#include <kaio/dsl/integer/support.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// The register of a small value is wider: above the value it holds copies of the sign, or zeros. bfe gives the same
// bits beyond the end of a value.
template <integer T>
struct bit_extract_rule {
  static constexpr value apply(tracer& t, value x, value start, value length) {
    return t.pure({opcode::bfe, 0, computed_in<T>, ptx::type::none, ptx_type<T>}, x, start, length);
  }
};

template <integer T>
struct bit_insert_rule {
  static constexpr value apply(tracer& t, value x, value field, value start, value length) {
    return t.narrow(ptx_type<T>,
                    t.pure({opcode::bfi, 0, ptx::bits_of(computed_in<T>), ptx::type::none, computed_in<T>},
                           field, x, start, length));
  }
};

struct byte_perm_rule {
  static constexpr value apply(tracer& t, value a, value b, value selector) {
    return t.pure({opcode::prmt, 0, ptx::type::b32, ptx::type::none, ptx::type::u32}, a, b, selector);
  }
};

template <integer T, std::uint8_t Table>
struct lop3_rule {
  static constexpr value apply(tracer& t, value a, value b, value c) {
    constexpr ptx::type type = ptx_type<T>;
    if constexpr (sizeof(T) == 8) {
      const tracer::halves x = t.split(a, ptx::type::u32);
      const tracer::halves y = t.split(b, ptx::type::u32);
      const tracer::halves z = t.split(c, ptx::type::u32);
      const value low = one(t, ptx::type::u32, x.low, y.low, z.low);
      return t.join(type, low, one(t, ptx::type::u32, x.high, y.high, z.high));
    } else {
      return t.narrow(type, one(t, computed_in<T>, a, b, c));
    }
  }

 private:
  static constexpr value one(tracer& t, ptx::type type, value a, value b, value c) {
    return t.pure({opcode::lop3, 0, ptx::type::b32, ptx::type::none, type}, a, b, c,
                  t.constant(ptx::type::u32, Table));
  }
};

// The results of a function for the eight combinations of three bits.
template <class F>
constexpr std::uint8_t lop3_table() {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "kaio: the function of lop3 captures something; write its table: lop3<0xE8>(a, b, c)");
  return static_cast<std::uint8_t>(F{}(std::uint32_t{0xf0}, std::uint32_t{0xcc}, std::uint32_t{0xaa}));
}

template <integer T, modifier Direction, modifier Mode>
struct funnel_rule {
  static constexpr value apply(tracer& t, value low, value high, value amount) {
    return t.pure({opcode::shf, in_order(Direction, Mode), ptx::type::b32, ptx::type::none, ptx_type<T>}, low,
                  high, amount);
  }
};

template <modifier Direction, modifier Mode, class A, class B, class N>
constexpr auto funnel(const A& low, const B& high, const N& amount) {
  require_same<A, B>();
  using T = typename common<A, B>::type;
  static_assert(std::is_same_v<T, u32> || std::is_same_v<T, i32>,
                "kaio: a funnel shift takes u32 or i32; write bit_cast<u32>(x)");
  return make_pure<T, funnel_rule<T, Direction, Mode>>(operand_node<T>(low), operand_node<T>(high),
                                                       amount_node(amount));
}

// Rotates to the left if `Left`, otherwise to the right. The amount counts modulo the width.
template <integer T, bool Left>
struct rotate_rule {
  static constexpr value apply(tracer& t, value x, value n) {
    constexpr ptx::type type = ptx_type<T>;
    constexpr ptx::type u = ptx::type::u32;
    constexpr modifier direction = Left ? modifier::l : modifier::r;
    if constexpr (sizeof(T) == 8) {
      // Each half of the result comes from both halves; an amount of 32 or more exchanges them first.
      const tracer::halves parts = t.split(x, u);
      const value distant = t.binary(operation::and_, u, in_u32(t, n), t.constant(u, 32));
      const value exchanged = t.compare(operation::ne, u, distant, t.constant(u, 0));
      const value low = t.select(u, exchanged, parts.high, parts.low);
      const value high = t.select(u, exchanged, parts.low, parts.high);
      const value first =
          funnel_rule<u32, direction, modifier::wrap>::apply(t, Left ? high : low, Left ? low : high, n);
      return t.join(
          type, first,
          funnel_rule<u32, direction, modifier::wrap>::apply(t, Left ? low : high, Left ? high : low, n));
    } else {
      // A small value is repeated over the register, where it rotates in step with its copies.
      if constexpr (is_small<T>)
        x = byte_perm_rule::apply(t, x, t.constant(u, 0), t.constant(u, sizeof(T) == 1 ? 0 : 0x1010));
      return t.narrow(type, t.pure({opcode::shf, in_order(direction, modifier::wrap), ptx::type::b32,
                                    ptx::type::none, computed_in<T>},
                                   x, x, n));
    }
  }

 private:
  static constexpr value in_u32(tracer& t, value n) {
    return t.type_of(n) == ptx::type::u32 ? n : t.cast(ptx::type::u32, t.type_of(n), n);
  }
};

template <bool Left, class A, class N>
constexpr auto rotate(const A& x, const N& n) {
  static_assert(device<A>, "kaio: a rotated literal has no type; bind it first: val one = 1u");
  using T = element<A>;
  require_integer<T>();
  return make_pure<T, rotate_rule<T, Left>>(x.node(), amount_node(n));
}

}  // namespace detail

// The `length` bits of x from place `start` on (bfe). If x is signed, the highest of them is the sign. Places beyond the
// end hold zeros, or the sign of a signed x; a length of 0 gives 0. Only the lowest 8 bits of start and length count.
template <device A, class S, class L>
constexpr auto bit_extract(const A& x, const S& start, const L& length) {
  using T = element<A>;
  detail::require_integer<T>();
  return make_pure<T, detail::bit_extract_rule<T>>(x.node(), detail::amount_node(start),
                                                   detail::amount_node(length));
}

// x with its `length` bits from place `start` on replaced by the lowest ones of `field` (bfi). Bits past the end are
// dropped. Only the lowest 8 bits of start and length count.
template <class A, class B, class S, class L>
  requires operands<A, B>
constexpr auto bit_insert(const A& x, const B& field, const S& start, const L& length) {
  require_same<A, B>();
  using T = typename common<A, B>::type;
  detail::require_integer<T>();
  return make_pure<T, detail::bit_insert_rule<T>>(operand_node<T>(x), operand_node<T>(field),
                                                  detail::amount_node(start), detail::amount_node(length));
}

// Four of the eight bytes of a (0 to 3) and b (4 to 7) (prmt). Each four bits of the selector name one, the lowest byte
// first. If the top one of the four is set, the sign of the named byte fills the byte.
template <class A, class B, class S>
  requires(device<A> || device<B> || device<S>)
constexpr auto byte_perm(const A& a, const B& b, const S& selector) {
  require_same<A, B, S>();
  static_assert(std::is_same_v<typename common<A, B, S>::type, u32>,
                "kaio: byte_perm takes u32; write bit_cast<u32>(x)");
  return make_pure<u32, detail::byte_perm_rule>(operand_node<u32>(a), operand_node<u32>(b),
                                                operand_node<u32>(selector));
}

// Any function of three operands, bit by bit (lop3). Bit 4a + 2b + c of the table is the result for the bits a, b, c.
// So the table is the function's result for a = 0xF0, b = 0xCC, c = 0xAA.
template <std::uint8_t Table, class A, class B, class C>
  requires(device<A> || device<B> || device<C>)
constexpr auto lop3(const A& a, const B& b, const C& c) {
  require_same<A, B, C>();
  using T = typename common<A, B, C>::type;
  detail::require_integer<T>();
  return make_pure<T, detail::lop3_rule<T, Table>>(operand_node<T>(a), operand_node<T>(b),
                                                   operand_node<T>(c));
}

// lop3 with the table of a function of three numbers that uses & | ^ ~ alone.
template <class A, class B, class C, class F>
  requires(device<A> || device<B> || device<C>)
constexpr auto lop3(const A& a, const B& b, const C& c, const F&) {
  return lop3<detail::lop3_table<F>()>(a, b, c);
}

// The upper word of high:low << (n mod 32) (shf.l.wrap).
template <class A, class B, class N>
  requires operands<A, B>
constexpr auto funnel_shift_left(const A& low, const B& high, const N& n) {
  return detail::funnel<modifier::l, modifier::wrap>(low, high, n);
}

// The lower word of high:low >> (n mod 32) (shf.r.wrap).
template <class A, class B, class N>
  requires operands<A, B>
constexpr auto funnel_shift_right(const A& low, const B& high, const N& n) {
  return detail::funnel<modifier::r, modifier::wrap>(low, high, n);
}

// The upper word of high:low << min(n, 32), n taken as unsigned (shf.l.clamp).
template <class A, class B, class N>
  requires operands<A, B>
constexpr auto funnel_shift_left_clamped(const A& low, const B& high, const N& n) {
  return detail::funnel<modifier::l, modifier::clamp>(low, high, n);
}

// The lower word of high:low >> min(n, 32), n taken as unsigned (shf.r.clamp).
template <class A, class B, class N>
  requires operands<A, B>
constexpr auto funnel_shift_right_clamped(const A& low, const B& high, const N& n) {
  return detail::funnel<modifier::r, modifier::clamp>(low, high, n);
}

// The bits of x moved up by n modulo the width; bits that leave at the top come back below. Any integer type.
template <class A, class N>
constexpr auto rotate_left(const A& x, const N& n) {
  return detail::rotate<true>(x, n);
}

// The bits of x moved down by n modulo the width; bits that leave below come back at the top. Any integer type.
template <class A, class N>
constexpr auto rotate_right(const A& x, const N& n) {
  return detail::rotate<false>(x, n);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::lop3;
}  // namespace kaio
