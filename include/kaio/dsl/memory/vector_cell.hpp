#pragma once
// Vectors in memory: the cells that indexing an in<vec<T, N>> names, and how a vector moves through
// registers. PTX moves at most four registers, so vectors of more than four 8- or 16-bit elements go in words
// of 32 bits.
//
//   y[i] = x[i];      // in<f16x8> x, out<f16x8> y: ld.global.nc.v4.u32, st.global.v4.u32

#include <kaio/dsl/memory/cell.hpp>
#include <kaio/dsl/memory/vector.hpp>

#include <cstdint>

namespace kaio::dsl {

// How the elements of a vec<T, N> are moved.
template <class T, std::uint32_t N>
struct vector_transport {
  static constexpr bool in_words = N > 4;
  static constexpr std::uint32_t per_word = in_words ? 4 / sizeof(T) : 1;
  static constexpr std::uint32_t count = N / per_word;
  static constexpr ptx::type type = in_words ? ptx::type::u32 : ptx_type<T>;

  // The elements of `count` consecutive values, beginning with `first`.
  static constexpr void unpack(tracer& t, value first, value* out) {
    for (std::uint32_t w = 0; w < count; ++w) {
      const value word = first + w;
      if constexpr (!in_words) {
        out[w] = word;
      } else if constexpr (floating<T>) {
        const tracer::halves parts = t.split(word, ptx_type<T>);
        out[2 * w] = parts.low;
        out[2 * w + 1] = parts.high;
      } else {
        constexpr ptx::type wide = tracer::register_type(ptx_type<T>);
        for (std::uint32_t k = 0; k < per_word; ++k)
          out[w * per_word + k] = t.pure({opcode::bfe, 0, wide, ptx::type::none, ptx_type<T>}, word,
                                         t.constant(ptx::type::u32, k * 8 * sizeof(T)),
                                         t.constant(ptx::type::u32, 8 * sizeof(T)));
      }
    }
  }

  static constexpr void pack(tracer& t, const value* elements, value* out) {
    for (std::uint32_t w = 0; w < count; ++w) {
      const value* const e = elements + w * per_word;
      if constexpr (!in_words)
        out[w] = e[0];
      else if constexpr (floating<T>)
        out[w] = t.join(ptx::type::u32, e[0], e[1]);
      else if constexpr (sizeof(T) == 2)
        out[w] = permute(t, e[0], e[1], 0x5410);
      else
        out[w] = bytes(t, e);
    }
  }

 private:
  // Four bytes as a word. Bytes that are already adjacent in a word are not taken apart.
  static constexpr value bytes(tracer& t, const value* e) {
    unsigned low_at = 0, high_at = 0;
    const value low = t.common_word(e[0], e[1], low_at);
    const value high = t.common_word(e[2], e[3], high_at);
    if (low != 0 && low == high && low_at == 0 && high_at == 16) return low;
    const value first = low != 0 && low_at == 0 ? low : permute(t, e[0], e[1], 0x0040);
    const value second = high != 0 && high_at == 0 ? high : permute(t, e[2], e[3], 0x0040);
    return permute(t, first, second, 0x5410);
  }

  // Selects four of the eight bytes of a and b. Source: PTX ISA, "prmt".
  static constexpr value permute(tracer& t, value a, value b, std::uint32_t selector) {
    return t.pure({opcode::prmt, 0, ptx::type::b32, ptx::type::none, ptx::type::u32}, a, b,
                  t.constant(ptx::type::u32, selector));
  }
};

constexpr auto require_vector_alignment(tracer& t, const tracer::address& at, std::uint32_t bytes) {
  if (at.base == 0 && at.offset % bytes != 0)
    t.fail("kaio: a vector in an array begins at a multiple of its size; change the index");
}

template <class T, std::uint32_t N>
constexpr void load_elements(tracer& t, const tracer::access& how, const tracer::address& at, value* out) {
  using transport = vector_transport<T, N>;
  require_vector_alignment(t, at, sizeof(T) * N);
  transport::unpack(t, t.load_vector(how, transport::type, transport::count, at), out);
}

template <class T, std::uint32_t N>
constexpr void load_read_only_elements(tracer& t, const tracer::access& how, const tracer::address& at,
                                       value* out) {
  using transport = vector_transport<T, N>;
  require_vector_alignment(t, at, sizeof(T) * N);
  transport::unpack(t, t.load_vector_read_only(how, transport::type, transport::count, at), out);
}

template <class T, std::uint32_t N>
constexpr void store_elements(tracer& t, const tracer::access& how, const tracer::address& at,
                              const value* elements) {
  using transport = vector_transport<T, N>;
  require_vector_alignment(t, at, sizeof(T) * N);
  value words[4] = {};
  transport::pack(t, elements, words);
  t.store_vector(how, transport::type, transport::count, at, words);
}

template <class T, std::uint32_t N, class Location>
constexpr void store_at(const Location& at, const vector_statement<T, N>& s) {
  require_settled_index<Location>();
  if (at.trace->probing()) return at.see();
  store_elements<T, N>(*at.trace, plain_store<Location>, at.find(), s.elements());
}

// A vector that an out parameter points to.
template <class V, class Location>
class vector_out_cell;
template <class T, std::uint32_t N, class Location>
class vector_out_cell<vec<T, N>, Location> {
 public:
  using cell_type = vec<T, N>;
  static constexpr ptx::access access = ptx::access::out;
  constexpr explicit vector_out_cell(const Location& at) : at_(at) {}
  vector_out_cell(const vector_out_cell&) = delete;

  constexpr void operator=(const vector_statement<T, N>& s) const { store_at<T, N>(at_, s); }
  template <vector_source E>
    requires(!vector_node_of<E>::bound)
  constexpr void operator=(const E& e) const {
    store_at<T, N>(at_, vector_statement<T, N>(*at_.trace, e, 0, nullptr));
  }
  constexpr void operator=(const vector_out_cell&) const { refuse_reading<T>(); }
  template <class I>
  constexpr auto operator[](const I&) const {
    refuse_reading<I>();
    return refused{};
  }

  constexpr const Location& location() const { return at_; }

 private:
  Location at_;
};

// A vector that can be read and written.
template <class V, class Location>
class vector_cell;
template <class T, std::uint32_t N, class Location>
class vector_cell<vec<T, N>, Location> {
 public:
  using vector_type = vec<T, N>;
  using cell_type = vec<T, N>;
  static constexpr ptx::access access = ptx::access::inout;
  constexpr explicit vector_cell(const Location& at) : at_(at) {}
  vector_cell(const vector_cell&) = delete;

  constexpr void operator=(const vector_statement<T, N>& s) const { store_at<T, N>(at_, s); }
  constexpr void operator=(const vector_cell& other) const {
    store_at<T, N>(at_, vector_statement<T, N>(*at_.trace, other, 0, nullptr));
  }
  template <vector_source E>
    requires(!vector_node_of<E>::bound)
  constexpr void operator=(const E& e) const {
    store_at<T, N>(at_, vector_statement<T, N>(*at_.trace, e, 0, nullptr));
  }

  // Reads the whole vector at this point of the kernel.
  constexpr vector_leaf<T, N, true> vector_node() const {
    tracer& t = *at_.trace;
    vector_leaf<T, N, true> result{&t, {}, t.scope()};
    if (t.probing()) {
      at_.see();
      for (value& id : result.ids) id = t.new_identity();
    } else {
      t.read_ahead();
      load_elements<T, N>(t, plain_load<Location>, at_.find(), result.ids);
    }
    return result;
  }
  constexpr auto operator[](std::uint32_t k) const {
    return vector_node().at(checked_element<N>(*at_.trace, k));
  }

  constexpr const Location& location() const { return at_; }

 private:
  Location at_;
};

// A load of a vector from memory that nothing writes.
template <class V, class Location>
struct vector_load_node;
template <class T, std::uint32_t N, class Location>
struct vector_load_node<vec<T, N>, Location> {
  using vector_type = vec<T, N>;
  using cell_type = vec<T, N>;
  using location_index = typename Location::index_type;
  static constexpr ptx::access access = ptx::access::in;
  static constexpr bool bound = true;
  static constexpr bool reads_memory = location_index::reads_memory;
  static constexpr unsigned loads = 1 + location_index::loads;
  Location at;

  constexpr const vector_load_node& vector_node() const { return *this; }
  constexpr tracer* context() const { return at.trace; }
  constexpr void load(tracer& t) const {
    value elements[N] = {};
    lower(t, elements);
  }
  constexpr void lower(tracer& t, value* out) const {
    const value i = at.index.lower(t);
    load_read_only_elements<T, N>(t, Location::read_only, at.place(t, i), out);
  }
  constexpr std::uint64_t hash() const { return at.hash() * hash_factor + 1; }
  constexpr auto operator[](std::uint32_t k) const {
    return vector_element_node<vector_load_node>{{}, *this, checked_element<N>(*at.trace, k)};
  }
  constexpr const Location& location() const { return at; }

  template <class E>
  constexpr void operator=(const E&) const {
    refuse_writing<E>();
  }
};

}  // namespace kaio::dsl
