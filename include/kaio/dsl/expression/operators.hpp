#pragma once
// C++'s operators on device values. Both sides have exactly one type; a literal takes the type of the other
// side. Operators that C++ would evaluate while the kernel is compiled (&&, ||, a condition) are refused,
// with what to write instead.
//
//   val y = x * 2 + 1.0f;          // f32 * 2.0f, one fma
//   val k = i + cast<u64>(j);      // i is u64, j is u32

#include <kaio/dsl/expression/conversion.hpp>
#include <kaio/dsl/expression/expression.hpp>

namespace kaio::dsl {

template <class A, class B>
concept operands = device<A> || device<B>;

// The element type of the first device value among the operands.
template <class First, class... Rest>
struct common : common<Rest...> {};
template <device First, class... Rest>
struct common<First, Rest...> {
  using type = element<First>;
};

// Requires operands of one type; a mismatch is reported at the operator.
template <class... E>
constexpr auto require_same() {
  static_assert(((device<E> || host_number<E> || host_constant<E>)&&...),
                "kaio: an operand is neither a device value nor a number; bind it to a val first");
  using T = typename common<E...>::type;
  static_assert(((!device<E> || device_of<E, T>)&&...),
                "kaio: the operands have different types; write cast<T>(x) on one of them");
}

template <class T>
constexpr auto require_computing() {
  static_assert(!float8<T>,
                "kaio: e4m3 and e5m2 hold numbers, they do not compute; write cast<f32>(x) or cast<f16>(x)");
}

// The operands of an operator, checked once for each pair of types.
template <class A, class B>
struct operand_pair {
  static_assert((device<A> || host_number<A> || host_constant<A>)&&(device<B> || host_number<B> ||
                                                                    host_constant<B>),
                "kaio: an operand is neither a device value nor a number; bind it to a val first");
  using type = typename common<A, B>::type;
  static_assert((!device<A> || device_of<A, type>)&&(!device<B> || device_of<B, type>),
                "kaio: the operands have different types; write cast<T>(x) on one of them");
  static_assert(!float8<type>,
                "kaio: e4m3 and e5m2 hold numbers, they do not compute; write cast<f32>(x) or cast<f16>(x)");
};

// The tree of an operator on operands of type T.
template <operation Op, class Result, class T, class A, class B>
constexpr auto make_binary(const A& a, const B& b) {
  if constexpr (device<A> && device<B>)
    return binary_node<Op, Result, T, node_of<A>, node_of<B>>{{}, a.node(), b.node()};
  else if constexpr (device<A>)
    return binary_node<Op, Result, T, node_of<A>, literal<T>>{{}, a.node(), operand_node<T>(b)};
  else
    return binary_node<Op, Result, T, literal<T>, node_of<B>>{{}, operand_node<T>(a), b.node()};
}

template <operation Op, class A, class B>
constexpr auto arithmetic(const A& a, const B& b) {
  using T = typename operand_pair<A, B>::type;
  static_assert(!std::is_same_v<T, bool>,
                "kaio: arithmetic on bool; write select(condition, a, b) or cast<T>(condition)");
  return make_binary<Op, T, T>(a, b);
}

template <operation Op, class A, class B>
constexpr auto comparison(const A& a, const B& b) {
  static_assert(Op == operation::eq || Op == operation::ne || !(device_of<A, bool> || device_of<B, bool>),
                "kaio: bool has no order; use ==, !=, &, | and !, and (a < b) & (b < c) for a < b < c");
  using T = typename operand_pair<A, B>::type;
  static_assert(!packed<T>,
                "kaio: a comparison of packed pairs; compare low(a) with low(b), high(a) with high(b)");
  return make_binary<Op, bool, T>(a, b);
}

template <operation Op, class A, class B>
constexpr auto bitwise(const A& a, const B& b) {
  require_same<A, B>();
  using T = typename common<A, B>::type;
  static_assert(!floating<T>,
                "kaio: a bit operation on a floating value; write bit_cast<u32>(x) or bit_cast<u64>(x)");
  static_assert(!float8<T>, "kaio: a bit operation on e4m3 or e5m2; write bit_cast<u8>(x)");
  return make_binary<Op, T, T>(a, b);
}

// Shifts take any 32-bit integer as the amount; an amount of the width or more shifts everything out.
template <operation Op, device A, class B>
constexpr auto shift_device(const A& a, const B& b) {
  using T = element<A>;
  static_assert(integer<T>, "kaio: a shift of a value that is no integer; write bit_cast<u32>(x)");
  if constexpr (device<B>) {
    static_assert(std::is_same_v<element<B>, u32> || std::is_same_v<element<B>, i32>,
                  "kaio: a shift amount is u32 or i32; write cast<u32>(amount)");
    return binary_node<Op, T, T, node_of<A>, node_of<B>>{{}, a.node(), b.node()};
  } else {
    static_assert(std::is_integral_v<B>, "kaio: a shift amount is an integer");
    return binary_node<Op, T, T, node_of<A>, literal<u32>>{{}, a.node(), make_literal<u32>(b)};
  }
}

// The type of the language with the width and the sign of a host's integer.
template <class A>
using integer_like = std::conditional_t<(sizeof(A) > 4), std::conditional_t<std::is_signed_v<A>, i64, u64>,
                                        std::conditional_t<std::is_signed_v<A>, i32, u32>>;

template <operation Op, class A, class B>
constexpr auto shift(const A& a, const B& b) {
  static_assert(device<A> || host_number<A>,
                "kaio: << into a stream of the host; write device_print(t, \"%u\\n\", x)");
  if constexpr (!device<A>) {  // 1u << n: a literal has its own type here
    static_assert(std::is_integral_v<A>, "kaio: a shifted literal is an integer, such as 1u");
    return shift_device<Op>(make_literal<integer_like<A>>(a), b);
  } else {
    return shift_device<Op>(a, b);
  }
}

template <class A>
constexpr void no_short_circuit() {
  static_assert(
      never<A>,
      "kaio: && and || on device values; write & and |, or all_of(a, b) and any_of(a, b), or nest t.when(...)");
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator+(const A& a, const B& b) {
  return arithmetic<operation::add>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator-(const A& a, const B& b) {
  return arithmetic<operation::sub>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator*(const A& a, const B& b) {
  return arithmetic<operation::mul>(a, b);
}

// A quotient or a remainder. A divisor that the host knows must not be 0.
template <operation Op, class A, class B>
constexpr auto divided(const A& a, const B& b) {
  auto tree = arithmetic<Op>(a, b);
  if constexpr (device<A> && std::is_integral_v<B>)
    if (integer<element<A>> && b == B{0})
      tree.b.fault = "kaio: an integer is divided by 0; PTX gives no meaning to it";
  return tree;
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator/(const A& a, const B& b) {
  return divided<operation::div>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator%(const A& a, const B& b) {
  static_assert(!floating<typename common<A, B>::type>,
                "kaio: % on floating values; cast<T>(x) to an integer");
  return divided<operation::rem>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator&(const A& a, const B& b) {
  return bitwise<operation::and_>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator|(const A& a, const B& b) {
  return bitwise<operation::or_>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator^(const A& a, const B& b) {
  return bitwise<operation::xor_>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator<<(const A& a, const B& b) {
  return shift<operation::shl>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator>>(const A& a, const B& b) {
  return shift<operation::shr>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator==(const A& a, const B& b) {
  return comparison<operation::eq>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator!=(const A& a, const B& b) {
  return comparison<operation::ne>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator<(const A& a, const B& b) {
  return comparison<operation::lt>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator<=(const A& a, const B& b) {
  return comparison<operation::le>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator>(const A& a, const B& b) {
  return comparison<operation::gt>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator>=(const A& a, const B& b) {
  return comparison<operation::ge>(a, b);
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator&&(const A& a, const B& b) {
  no_short_circuit<A>();
  return a & b;
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator||(const A& a, const B& b) {
  no_short_circuit<A>();
  return a | b;
}

template <device A>
constexpr auto operator+(const A& a) {
  static_assert(!std::is_same_v<element<A>, bool>, "kaio: arithmetic on bool; write cast<T>(condition)");
  require_computing<element<A>>();
  return a.node();
}

template <device A>
constexpr auto operator-(const A& a) {
  using T = element<A>;
  require_computing<T>();
  static_assert(floating<T> || float8<T> || (integer<T> && ptx::is_signed(ptx_type<T>)),
                "kaio: - on an unsigned or bool value; write cast<i32>(x) first, or 0u - x");
  return make_unary<T, unary_rule<operation::neg, T>>(a);
}

template <device A>
constexpr auto operator~(const A& a) {
  using T = element<A>;
  static_assert(integer<T>, "kaio: ~ on a value that is no integer; write !x for bool");
  return make_unary<T, unary_rule<operation::not_, T>>(a);
}

template <device A>
constexpr auto operator!(const A& a) {
  static_assert(std::is_same_v<element<A>, bool>, "kaio: ! on a number; write x == 0");
  return make_unary<bool, unary_rule<operation::not_, bool>>(a);
}

// Whether every condition holds; all are evaluated.
template <device A, device... Rest>
constexpr auto all_of(const A& a, const Rest&... rest) {
  if constexpr (sizeof...(Rest) == 0)
    return a.node();
  else
    return a & all_of(rest...);
}

// Whether any condition holds; all are evaluated.
template <device A, device... Rest>
constexpr auto any_of(const A& a, const Rest&... rest) {
  if constexpr (sizeof...(Rest) == 0)
    return a.node();
  else
    return a | any_of(rest...);
}

// The result type of select: that of the first device operand, otherwise that of both literals.
template <class A, class B>
struct choice : common<A, B> {
  static_assert((device<A> || host_number<A> || host_constant<A>)&&(device<B> || host_number<B> ||
                                                                    host_constant<B>),
                "kaio: an operand is neither a device value nor a number; bind it to a val first");
};
template <class A, class B>
  requires((host_number<A> || host_constant<A>) && (host_number<B> || host_constant<B>))
struct choice<A, B> {
  using type = literal_type<A>;
  static_assert(std::is_same_v<type, literal_type<B>>,
                "kaio: the two literals of select have different types; write both in one: 1.0f and 0.0f");
};

// condition ? a : b, without a branch. A literal takes the type of the other side; two literals must have one type.
template <device C, class A, class B>
constexpr auto select(const C& condition, const A& a, const B& b) {
  static_assert(std::is_same_v<element<C>, bool>, "kaio: select takes a condition first; write x != 0");
  using T = typename choice<A, B>::type;
  static_assert((!device<A> || device_of<A, T>)&&(!device<B> || device_of<B, T>),
                "kaio: the operands have different types; write cast<T>(x) on one of them");
  return make_pure<T, select_rule<T>>(condition.node(), operand_node<T>(a), operand_node<T>(b));
}

}  // namespace kaio::dsl
