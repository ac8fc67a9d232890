#pragma once
// The common part of the integer operations: the types related to a type, the checks of operands, and amounts. The
// amount of a shift or a field is u32, i32 or a literal.

#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/expression/pure.hpp>

#include <cstdint>

namespace kaio::dsl {

template <integer T>
using unsigned_of = std::make_unsigned_t<T>;

// The integer of twice the size and the same sign; void if there is none.
template <integer T>
struct twice {
  using type = void;
};
template <>
struct twice<i8> {
  using type = i16;
};
template <>
struct twice<u8> {
  using type = u16;
};
template <>
struct twice<i16> {
  using type = i32;
};
template <>
struct twice<u16> {
  using type = u32;
};
template <>
struct twice<i32> {
  using type = i64;
};
template <>
struct twice<u32> {
  using type = u64;
};
template <integer T>
using wide_of = typename twice<T>::type;

namespace detail {

template <class T>
constexpr auto require_integer() {
  static_assert(integer<T>, "kaio: this operation takes integers; write bit_cast<u32>(x) or cast<i32>(x)");
}

template <class E>
constexpr auto amount_node(const E& e) {
  if constexpr (device<E>) {
    static_assert(std::is_same_v<element<E>, u32> || std::is_same_v<element<E>, i32>,
                  "kaio: a position, a length or an amount is u32 or i32; write cast<u32>(n)");
    return e.node();
  } else if constexpr (host_constant<E>) {
    return make_literal<u32>(E::value);
  } else {
    static_assert(std::is_integral_v<E>, "kaio: a position, a length or an amount is an integer");
    return make_literal<u32>(e);
  }
}

template <integer T>
inline constexpr unsigned width_of = sizeof(T) * 8;

// The type that the instructions on T compute in: 32 bits for the small ones.
template <integer T>
inline constexpr ptx::type computed_in = tracer::register_type(ptx_type<T>);

template <integer T>
inline constexpr bool is_small = sizeof(T) < 4;

template <integer T>
constexpr std::uint64_t unsigned_bits(std::uint64_t bits) {
  return static_cast<std::uint64_t>(static_cast<unsigned_of<T>>(bits));
}

// The bits of a small signed number without the copies of its sign.
template <integer T>
constexpr value without_sign(tracer& t, value a) {
  if constexpr (is_small<T> && std::is_signed_v<T>)
    return t.cast(ptx_type<unsigned_of<T>>, ptx_type<T>, a);
  else
    return a;
}

}  // namespace detail
}  // namespace kaio::dsl
