#pragma once
// index(row, pitch, column): an index that cannot wrap. `x[row * pitch + column]` computes a product of two
// u32 modulo 2^32, which is the wrong element of a larger buffer; this one is exact.
//
//   y[index(row, pitch, column)] = ...;                       // row * pitch + column as a u64: mad.wide.u32
//   y[index(batch, rows, row, columns, column)] = ...;        // (batch * rows + row) * columns + column

#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/expression/pure.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// The 64-bit integer as signed as T.
template <class T>
using index_result = std::conditional_t<std::is_signed_v<T>, i64, u64>;

// row * pitch + column in W; A, B and C are the types of the operands.
template <class W, class A, class B, class C>
struct index_rule {
  static constexpr ptx::type wide = ptx_type<W>;
  static constexpr ptx::type half = std::is_signed_v<W> ? ptx::type::s32 : ptx::type::u32;

  static constexpr value apply(tracer& t, value row, value pitch, value column) {
    const value addend = t.cast(wide, ptx_type<C>, column);
    if (!t.is_constant(addend)) {
      const value a = in_half<A>(t, row);
      const value b = in_half<B>(t, pitch);
      if (a != 0 && b != 0 && !(t.is_constant(a) && t.is_constant(b)))
        return t.pure({opcode::mad, in_order(modifier::wide), half, ptx::type::none, wide}, a, b, addend);
    }
    const value x = t.cast(wide, ptx_type<A>, row);
    const value y = t.cast(wide, ptx_type<B>, pitch);
    // A constant addend stays apart: it goes into the offset of the memory instruction.
    if (t.is_constant(addend))
      return t.binary(operation::add, wide, t.binary(operation::mul, wide, x, y), addend);
    return t.multiply_add(wide, x, y, addend);
  }

 private:
  // v as a factor of 32 bits; 0 if it may need more.
  template <class T>
  static constexpr value in_half(tracer& t, value v) {
    if (t.is_constant(v))
      return canonical(half, t.bits_of(v)) == t.bits_of(v) ? t.constant(half, t.bits_of(v)) : 0;
    if constexpr (sizeof(T) < 8)
      return t.cast(half, ptx_type<T>, v);
    else
      return 0;
  }
};

template <class W, class E>
constexpr auto require_index_operand() {
  if constexpr (device<E>) {
    static_assert(integer<element<E>>, "kaio: index() takes integers; write cast<u32>(x)");
    static_assert(!integer<element<E>> || std::is_same_v<index_result<element<E>>, W>,
                  "kaio: the operands of index() are all signed or all unsigned; write cast<u32>(x)");
  } else {
    static_assert(std::is_integral_v<E> || host_constant<E>,
                  "kaio: index() takes integers; write cast<u32>(x)");
  }
}

// A literal takes the 64-bit type of the result.
template <class W, class E>
struct index_operand_type {
  using type = W;
};
template <class W, device E>
struct index_operand_type<W, E> {
  using type = element<E>;
};

template <class W, class A, class B, class C>
constexpr auto index_of(const A& row, const B& pitch, const C& column) {
  using rule = index_rule<W, typename index_operand_type<W, A>::type, typename index_operand_type<W, B>::type,
                          typename index_operand_type<W, C>::type>;
  return make_pure<W, rule>(operand_node<W>(row), operand_node<W>(pitch), operand_node<W>(column));
}

template <class W, class A, class B, class C, class... Rest>
constexpr auto index_of(const A& row, const B& pitch, const C& column, const Rest&... rest) {
  return index_of<W>(index_of<W>(row, pitch, column), rest...);
}

}  // namespace detail

// row * pitch + column, exact: u64 of unsigned operands, i64 of signed ones; modulo 2^64 if operands have 64
// bits. More dimensions: index(i, n, j, m, k) is (i * n + j) * m + k. Operands are literals and integers of
// any size, all unsigned or all signed; at least one is a device value.
template <class Row, class Pitch, class Column, class... Rest>
constexpr auto index(const Row& row, const Pitch& pitch, const Column& column, const Rest&... rest) {
  static_assert(sizeof...(Rest) % 2 == 0,
                "kaio: index() takes an index, and a size and an index for each further dimension");
  using T = typename common<Row, Pitch, Column, Rest..., literal<i64>>::type;
  using W = detail::index_result<T>;
  detail::require_index_operand<W, Row>();
  detail::require_index_operand<W, Pitch>();
  detail::require_index_operand<W, Column>();
  (detail::require_index_operand<W, Rest>(), ...);
  return detail::index_of<W>(row, pitch, column, rest...);
}

}  // namespace kaio::dsl
