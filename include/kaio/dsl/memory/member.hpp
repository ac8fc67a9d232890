#pragma once
// The offset of a struct member, named by a pointer to member. Each byte of the struct holds one bit of its
// own position. The first byte of the member then gives that bit of the member's position.
//
//   struct view { u64 rows, columns; f32 scale[2]; };
//   static_assert(offset_of<view>(&view::scale) == 16);

#include <kaio/dsl/memory/location.hpp>
#include <kaio/dsl/memory/vector.hpp>
#include <kaio/dsl/number/index_list.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace kaio::dsl {

namespace detail {

template <std::size_t N>
struct object_bytes {
  unsigned char data[N];
};

template <class M>
constexpr unsigned char first_byte(const M& m) {
  if constexpr (std::is_array_v<M>)
    return first_byte(m[0]);
  else
    return __builtin_bit_cast(object_bytes<sizeof(M)>, m).data[0];
}

// Whether a constant expression can make an S of bytes. It cannot if S contains pointers, references, unions
// or bit-fields.
template <class S>
concept made_of_bytes =
    requires { typename std::bool_constant<(__builtin_bit_cast(S, object_bytes<sizeof(S)>{}), true)>; };

// Each byte holds one bit of its own position; a constant, so that naming a member costs little.
template <class S, std::uint32_t Bit>
inline constexpr S marked = [] {
  object_bytes<sizeof(S)> bytes{};
  for (std::size_t i = 0; i < sizeof(S); ++i) bytes.data[i] = static_cast<unsigned char>(i >> Bit & 1);
  return __builtin_bit_cast(S, bytes);
}();

// The number of bits in positions below `size`.
constexpr std::uint32_t position_bits(std::size_t size) {
  std::uint32_t bits = 0;
  while ((size - 1) >> bits != 0) ++bits;
  return bits;
}

template <class S, class M, std::uint32_t... Bit>
constexpr std::uint32_t byte_of([[maybe_unused]] M S::*member, const index_list<Bit...>&) {
  const std::uint32_t offset = ((first_byte(marked<S, Bit>.*member) != 0 ? 1u << Bit : 0u) | ... | 0u);
  if (offset % alignof(std::remove_all_extents_t<M>) != 0)
    kernel_error("kaio: a member of a packed struct is not aligned; copy it into a struct of natural layout");
  return offset;
}

}  // namespace detail

// The offset of a member in S, in bytes; a base of S may declare the member.
template <class S, class M, class C>
constexpr std::uint32_t offset_of(M C::*member) {
  static_assert(
      detail::made_of_bytes<S>,
      "kaio: a struct in a kernel is made of numbers, vectors, arrays and structs of them; pass memory as in<T>, out<T> or inout<T>");
  if constexpr (detail::made_of_bytes<S>)
    return detail::byte_of<S, M>(static_cast<M S::*>(member), indices<detail::position_bits(sizeof(S))>{});
  else
    return 0;
}

// The elements of an array: E[N], std::array<E, N>.
template <class A>
struct array_facts {
  static constexpr bool is_array = false;
};
template <class E, std::size_t N>
struct array_facts<E[N]> {
  static constexpr bool is_array = true;
  static constexpr std::size_t size = N;
  using element = E;
};
template <class E, std::size_t N>
struct array_facts<std::array<E, N>> : array_facts<E[N]> {};

// The types that a member may have.
template <class M>
concept member = array_facts<M>::is_array || memory_element<M>;

template <class M>
constexpr auto require_member() {
  static_assert(
      member<M>,
      "kaio: this member of a struct is no number of the language, no vector, array or struct of them");
}

template <std::size_t N>
constexpr std::uint32_t checked_array_index(tracer& t, std::uint64_t i) {
  if (i < N) return static_cast<std::uint32_t>(i);
  t.fail_next("kaio: the index of an array in a struct is beyond its end; it goes from 0 to N - 1");
  return 0;
}

}  // namespace kaio::dsl
