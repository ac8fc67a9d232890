#pragma once
// The numbers in a struct of the host: type and offset of each, in the order of its members. Structs in
// registers need them; structured bindings find them.
//
//   fields_of<particle>.at[0].offset

#include <kaio/dsl/memory/member.hpp>

#include <cstdint>

namespace kaio::dsl {

// `vector`: how many numbers, from this one on, one instruction moves as a vector.
struct field {
  ptx::type type;
  std::uint32_t offset;
  std::uint32_t vector;
};

template <std::uint32_t N>
struct field_list {
  static constexpr std::uint32_t size = N;
  field at[N == 0 ? 1 : N] = {};
};

// The limits of a struct in registers: its numbers, and its members.
inline constexpr std::uint32_t max_fields = 32;
inline constexpr std::uint32_t max_record_members = 12;

namespace detail {

struct any_value {
  template <class T>
  operator T() const;
};

template <class S, std::uint32_t... I>
constexpr bool takes_values(index_list<I...>) {
  return requires { S{(static_cast<void>(I), any_value{})...}; };
}

// Counts the values that S takes if the braces of arrays are left out.
template <class S, std::uint32_t Try = max_fields>
constexpr std::uint32_t count_values() {
  if constexpr (Try == 0 || takes_values<S>(indices<Try>{}))
    return Try;
  else
    return count_values<S, Try - 1>();
}

// Whether S takes one value in braces between `Before` and `After` others.
template <class S, std::uint32_t... Before, std::uint32_t... After>
constexpr bool takes_braced(index_list<Before...>, index_list<After...>) {
  return requires {
    S{(static_cast<void>(Before), any_value{})..., {any_value{}}, (static_cast<void>(After), any_value{})...};
  };
}

// Counts the values that the member at value I takes: more than one for an array.
template <class S, std::uint32_t Values, std::uint32_t I, std::uint32_t After = Values - I - 1>
constexpr std::uint32_t values_at() {
  if constexpr (takes_braced<S>(indices<I>{}, indices<After>{}))
    return Values - I - After;
  else if constexpr (After == 0)
    return 1;
  else
    return values_at<S, Values, I, After - 1>();
}

template <class S, std::uint32_t Values, std::uint32_t I = 0, std::uint32_t Count = 0>
constexpr std::uint32_t count_record_members() {
  if constexpr (I >= Values)
    return Count;
  else
    return count_record_members<S, Values, I + values_at<S, Values, I>(), Count + 1>();
}

// The number of members of S; 0 if it has too many numbers.
template <class S>
struct record_size {
  static constexpr bool is_small = !takes_values<S>(indices<max_fields + 1>{});
  static constexpr std::uint32_t counted() {
    if constexpr (is_small)
      return count_record_members<S, count_values<S>()>();
    else
      return 0;
  }
  static constexpr std::uint32_t members = counted();
};

// f(the members of s)
template <class S, class F>
constexpr auto with_record_members(const S& s, const F& f) {
  constexpr std::uint32_t n = record_size<S>::members;
  if constexpr (n == 0) {
    return f();
  } else if constexpr (n == 1) {
    const auto& [a] = s;
    return f(a);
  } else if constexpr (n == 2) {
    const auto& [a, b] = s;
    return f(a, b);
  } else if constexpr (n == 3) {
    const auto& [a, b, c] = s;
    return f(a, b, c);
  } else if constexpr (n == 4) {
    const auto& [a, b, c, d] = s;
    return f(a, b, c, d);
  } else if constexpr (n == 5) {
    const auto& [a, b, c, d, e] = s;
    return f(a, b, c, d, e);
  } else if constexpr (n == 6) {
    const auto& [a, b, c, d, e, g] = s;
    return f(a, b, c, d, e, g);
  } else if constexpr (n == 7) {
    const auto& [a, b, c, d, e, g, h] = s;
    return f(a, b, c, d, e, g, h);
  } else if constexpr (n == 8) {
    const auto& [a, b, c, d, e, g, h, i] = s;
    return f(a, b, c, d, e, g, h, i);
  } else if constexpr (n == 9) {
    const auto& [a, b, c, d, e, g, h, i, j] = s;
    return f(a, b, c, d, e, g, h, i, j);
  } else if constexpr (n == 10) {
    const auto& [a, b, c, d, e, g, h, i, j, k] = s;
    return f(a, b, c, d, e, g, h, i, j, k);
  } else if constexpr (n == 11) {
    const auto& [a, b, c, d, e, g, h, i, j, k, l] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l);
  } else if constexpr (n == 12) {
    const auto& [a, b, c, d, e, g, h, i, j, k, l, m] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m);
  }
}

template <class M>
struct member_fields;

template <class... M>
struct members_of {
  static constexpr std::uint32_t count = sizeof...(M);
  static constexpr std::uint32_t numbers = (member_fields<M>::numbers + ... + 0);
  static constexpr void append(field*& next, std::uint32_t from, const std::uint32_t* offsets) {
    ((member_fields<M>::append(next, from + *offsets++)), ...);
  }
};

struct list_members {
  template <class... M>
  constexpr members_of<M...> operator()(const M&...) const {
    return {};
  }
};

template <class S>
using record_members = decltype(with_record_members(imagine<S>(), list_members{}));

// Finds where each member of S begins, by its bytes, as in offset_of.
template <class S, std::uint32_t... Bit>
constexpr auto find_offsets(const index_list<Bit...>&) {
  struct {
    std::uint32_t at[record_members<S>::count + 1] = {};
  } result;
  const auto add = [&](std::uint32_t bit, const auto&... m) {
    std::uint32_t* next = result.at;
    ((*next++ |= first_byte(m) != 0 ? 1u << bit : 0u), ...);
  };
  (with_record_members(marked<S, Bit>, [&](const auto&... m) { add(Bit, m...); }), ...);
  return result;
}
template <class S>
inline constexpr auto member_offsets = find_offsets<S>(indices<position_bits(sizeof(S))>{});

template <scalar T>
struct member_fields<T> {
  static constexpr std::uint32_t numbers = 1;
  static constexpr void append(field*& next, std::uint32_t from) { *next++ = {ptx_type<T>, from, 1}; }
};
template <class T, std::uint32_t N>
struct member_fields<vec<T, N>> {
  static constexpr std::uint32_t numbers = N;
  static constexpr void append(field*& next, std::uint32_t from) {
    for (std::uint32_t k = 0; k < N; ++k)
      *next++ = {ptx_type<T>, from + k * static_cast<std::uint32_t>(sizeof(T)), k == 0 && N <= 4 ? N : 1};
  }
};
template <class A>
  requires array_facts<A>::is_array
struct member_fields<A> {
  using element = typename array_facts<A>::element;
  static constexpr std::uint32_t numbers = array_facts<A>::size * member_fields<element>::numbers;
  static constexpr void append(field*& next, std::uint32_t from) {
    for (std::uint32_t k = 0; k < array_facts<A>::size; ++k)
      member_fields<element>::append(next, from + k * static_cast<std::uint32_t>(sizeof(element)));
  }
};
template <record S>
  requires(!array_facts<S>::is_array)
struct member_fields<S> {
  static_assert(
      made_of_bytes<S>,
      "kaio: a struct in a kernel is made of numbers, vectors, arrays and structs of them; pass memory as in<T>, out<T> or inout<T>");
  static_assert(
      record_size<S>::is_small,
      "kaio: a struct in a val or var has at most 32 numbers; leave it in memory, and take its members");
  static_assert(record_size<S>::members <= max_record_members,
                "kaio: a struct in a val or var has at most 12 members; nest structs for more");
  static constexpr std::uint32_t numbers = record_members<S>::numbers;
  static constexpr void append(field*& next, std::uint32_t from) {
    record_members<S>::append(next, from, member_offsets<S>.at);
  }
};

template <class S>
constexpr auto list_fields() {
  constexpr std::uint32_t n = member_fields<S>::numbers;
  static_assert(
      n <= max_fields,
      "kaio: a struct in a val or var has at most 32 numbers; leave it in memory, and take its members");
  field_list<n> list;
  field* next = list.at;
  member_fields<S>::append(next, 0);
  return list;
}

// Appends the bits of each number of a host struct.
template <class M>
constexpr void append_bits(const M& m, std::uint64_t*& next) {
  if constexpr (array_facts<M>::is_array) {
    for (const auto& e : m) append_bits(e, next);
  } else if constexpr (is_vec<M>) {
    for (const auto& e : m.elements) append_bits(e, next);
  } else if constexpr (packed<M>) {
    *next++ = __builtin_bit_cast(std::uint32_t, m);
  } else if constexpr (scalar<M>) {
    *next++ = bits_of_literal<M>(m);
  } else {
    with_record_members(m, [&](const auto&... part) { (append_bits(part, next), ...); });
  }
}

}  // namespace detail

template <record S>
inline constexpr auto fields_of = detail::list_fields<S>();

}  // namespace kaio::dsl
