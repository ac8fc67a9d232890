#pragma once
// The result of indexing memory, by type: a number, a vector, a struct, an array in a struct.
//
//   x[i]                      // in<f32>: a load; in<f32x4>: a load of a vector
//   bodies[i][&body::mass]    // inout<body>: a cell of f32

#include <kaio/dsl/memory/record_variable.hpp>
#include <kaio/dsl/memory/vector_cell.hpp>

#include <cstdint>

namespace kaio::dsl {

template <ptx::access Access, class T, class Location>
constexpr auto place_of(const Location& at);

// A struct in memory. As a whole it is read and written number by number.
template <ptx::access Access, record S, class Location>
class record_place {
 public:
  using record_type = S;
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

  constexpr void operator=(record_statement<S> s) const { store(s); }
  constexpr void operator=(const record_place& other) const {
    *this = record_statement<S>(other, 0, nullptr);
  }

  constexpr tracer* context() const { return at_.trace; }
  constexpr std::uint64_t hash() const { return at_.hash(); }
  constexpr void read(tracer& t, value* out) const {
    if constexpr (Access == ptx::access::out) {
      refuse_reading<S>();
    } else {
      const tracer::address place = at_.find();
      for (const field* f = fields_of<S>.at; f != fields_of<S>.at + fields_of<S>.size;) {
        const tracer::address at = t.further(place, f->offset);
        const bool is_vector = f->vector != 1;
        const std::uint32_t count = f->vector;
        value first = 0;
        if constexpr (Access == ptx::access::in)
          first = is_vector ? t.load_vector_read_only(Location::read_only, f->type, count, at)
                            : t.load_read_only(Location::read_only, f->type, at);
        else
          first = is_vector ? t.load_vector(plain_load<Location>, f->type, count, at)
                            : t.load(plain_load<Location>, f->type, at);
        for (std::uint32_t k = 0; k < count; ++k) *out++ = first + k;
        f += count;
      }
    }
  }

 private:
  constexpr void store(record_statement<S>& s) const {
    if constexpr (Access == ptx::access::in) {
      refuse_writing<S, Location::space == modifier::const_>();
    } else {
      require_settled_index<Location>();
      tracer& t = *at_.trace;
      s.enter(t);
      const value* number = s.numbers();
      if (t.probing()) {
        for (std::uint32_t k = 0; k < fields_of<S>.size; ++k) t.see(number[k]);
        return at_.see();
      }
      const tracer::address place = at_.find();
      for (const field* f = fields_of<S>.at; f != fields_of<S>.at + fields_of<S>.size;) {
        const tracer::address at = t.further(place, f->offset);
        if (f->vector != 1)
          t.store_vector(plain_store<Location>, f->type, f->vector, at, number);
        else
          t.store(plain_store<Location>, f->type, at, *number);
        number += f->vector;
        f += f->vector;
      }
    }
  }

  Location at_;
};

// An array in a struct in memory; host constants index it.
template <ptx::access Access, class E, std::size_t N, class Location>
class array_place {
 public:
  constexpr explicit array_place(const Location& at) : at_(at) {}
  constexpr array_place(const array_place&) = default;
  template <class A>
  constexpr void operator=(const A&) const {
    refuse_array<A>();
  }
  constexpr void operator=(const array_place&) const { refuse_array<E>(); }
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
