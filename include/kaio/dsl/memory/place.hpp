#pragma once
// The result of indexing memory, by what is stored there: a number, a vector, a struct, an array in a struct.
//
//   x[i]                      // in<f32>: a load; in<f32x4>: a load of a vector
//   bodies[i][&body::mass]    // inout<body>: a cell of f32

#include <kaio/dsl/memory/member.hpp>
#include <kaio/dsl/memory/vector_cell.hpp>

#include <cstdint>

namespace kaio::dsl {

template <ptx::access Access, class T, class Location>
constexpr auto place_of(const Location& at);

// A struct in memory.
template <ptx::access Access, record S, class Location>
class record_place {
 public:
  constexpr explicit record_place(const Location& at) : at_(at) {}

  template <class M, class C>
    requires std::is_base_of_v<C, S>
  constexpr auto operator[](M C::*m) const {
    require_member<M>();
    if constexpr (member<M>)
      return place_of<Access, M>(further(at_, offset_of<S>(m)));
    else
      return refused{};
  }
  template <class E>
  constexpr void operator=(const E&) const {
    static_assert(never<E>, "kaio: a struct in memory is written member by member: y[i][&S::member] = value");
  }

 private:
  Location at_;
};

// An array in a struct in memory; indexed by the host's numbers.
template <ptx::access Access, class E, std::size_t N, class Location>
class array_place {
 public:
  constexpr explicit array_place(const Location& at) : at_(at) {}
  constexpr auto operator[](std::uint64_t i) const {
    return place_of<Access, E>(
        further(at_, checked_array_index<N>(*at_.trace, i) * static_cast<std::int64_t>(sizeof(E))));
  }
  template <device I>
  constexpr auto operator[](const I&) const {
    static_assert(never<I>,
                  "kaio: an array in a struct is indexed by numbers of the host; take a buffer of its own");
    return refused{};
  }
  static constexpr std::size_t size() { return N; }

 private:
  Location at_;
};

template <ptx::access Access, class T, class Location>
constexpr auto place_of(const Location& at) {
  if constexpr (array_facts<T>::is_array)
    return array_place<Access, typename array_facts<T>::element, array_facts<T>::size, Location>(at);
  else if constexpr (record<T>)
    return record_place<Access, T, Location>(at);
  else if constexpr (is_vec<T> && Access == ptx::access::in)
    return vector_load_node<T, Location>{at};
  else if constexpr (is_vec<T> && Access == ptx::access::out)
    return vector_out_cell<T, Location>(at);
  else if constexpr (is_vec<T>)
    return vector_cell<T, Location>(at);
  else if constexpr (Access == ptx::access::in)
    return load_node<T, Location>{{}, at};
  else if constexpr (Access == ptx::access::out)
    return out_cell<T, Location>(at);
  else
    return cell<T, Location>(at);
}

}  // namespace kaio::dsl
