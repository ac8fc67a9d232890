#pragma once
// The cells that indexing names: a scalar in memory, read or written at that point of the kernel. Nothing
// writes the memory of an `in` while the kernel runs, so its loads are pure expressions.
//
//   y[i] = x[i] * 2.0f;      // x[i] is a load_node, y[i] an out_cell
//   sums[i] += x[i];         // sums[i] is a cell

#include <kaio/dsl/expression/compound.hpp>
#include <kaio/dsl/expression/statement.hpp>
#include <kaio/dsl/memory/location.hpp>

#include <cstdint>

namespace kaio::dsl {

// Stores to a place; common to all writable cells.
template <scalar T, class Location>
constexpr void store_at(const Location& at, statement<T>& s) {
  require_settled_index<Location>();
  tracer& t = *at.trace;
  s.enter(t);
  if (t.probing()) return at.see();
  const value v = s.get(t);
  t.store(plain_store<Location>, ptx_type<T>, at.find(), v);
}

template <class E>
constexpr auto refuse_reading() {
  static_assert(never<E>, "kaio: an out parameter cannot be read; make it inout<T>");
}
template <class E, bool IsTable>
constexpr auto refuse_writing() {
  static_assert(IsTable || never<E>, "kaio: an in parameter cannot be written; make it out<T> or inout<T>");
  static_assert(!IsTable || never<E>, "kaio: a constant table cannot be written; keep a local<T, N>");
}

// A number in memory has no parts.
struct no_elements {
  template <class I>
  constexpr auto operator[](const I&) const {
    static_assert(never<I>, "kaio: one index too many: the element is already a number");
    return refused{};
  }
};

// A cell of an out parameter: it can be written.
template <scalar T, class Location>
class out_cell : public no_increment, public no_elements {
 public:
  using device_type = T;
  using cell_type = T;
  static constexpr ptx::access access = ptx::access::out;
  constexpr explicit out_cell(const Location& at) : at_(at) {}
  out_cell(const out_cell&) = delete;

  constexpr void operator=(statement<T> s) const { store_at<T>(at_, s); }
  template <device E>
    requires(!node_of<E>::bound)
  constexpr void operator=(const E& e) const {
    statement<T> s = statement<T>::in(*at_.trace, e);
    store_at<T>(at_, s);
  }
  template <class C>
    requires std::is_same_v<C, out_cell>
  constexpr void operator=(const C&) const {
    refuse_reading<C>();
  }
  // Reading an out cell is an error.
  template <class V = T>
  constexpr leaf<T, true> node() const {
    refuse_reading<V>();
    return {};
  }

  template <class E>
  constexpr void operator+=(const E&) const {
    refuse_reading<E>();
  }
  template <class E>
  constexpr void operator-=(const E&) const {
    refuse_reading<E>();
  }
  template <class E>
  constexpr void operator*=(const E&) const {
    refuse_reading<E>();
  }
  template <class E>
  constexpr void operator/=(const E&) const {
    refuse_reading<E>();
  }
  template <class E>
  constexpr void operator%=(const E&) const {
    refuse_reading<E>();
  }
  template <class E>
  constexpr void operator&=(const E&) const {
    refuse_reading<E>();
  }
  template <class E>
  constexpr void operator|=(const E&) const {
    refuse_reading<E>();
  }
  template <class E>
  constexpr void operator^=(const E&) const {
    refuse_reading<E>();
  }
  template <class E>
  constexpr void operator<<=(const E&) const {
    refuse_reading<E>();
  }
  template <class E>
  constexpr void operator>>=(const E&) const {
    refuse_reading<E>();
  }

  constexpr const Location& location() const { return at_; }

 private:
  Location at_;
};

// A cell that can be read and written. Reading takes its value at that point of the kernel.
template <scalar T, class Location>
class cell : public no_host_bool, public no_increment, public no_elements {
 public:
  using device_type = T;
  using cell_type = T;
  using compound_type = T;
  static constexpr ptx::access access = ptx::access::inout;
  constexpr explicit cell(const Location& at) : at_(at) {}
  cell(const cell&) = delete;

  constexpr void operator=(statement<T> s) const { store_at<T>(at_, s); }
  constexpr void operator=(const cell& other) const { *this = statement<T>(other.node(), 0, nullptr); }
  template <device E>
    requires(!node_of<E>::bound)
  constexpr void operator=(const E& e) const {
    *this = statement<T>::in(*at_.trace, e);
  }

  constexpr void operator+=(statement<T> s) const {
    require_number<T>();
    combine(operation::add, s);
  }
  constexpr void operator-=(statement<T> s) const {
    require_number<T>();
    combine(operation::sub, s);
  }
  constexpr void operator*=(statement<T> s) const {
    require_number<T>();
    combine(operation::mul, s);
  }
  constexpr void operator/=(statement<T> s) const {
    require_number<T>();
    combine(operation::div, s);
  }
  constexpr void operator%=(statement<T> s) const {
    require_integer();
    combine(operation::rem, s);
  }
  constexpr void operator&=(statement<T> s) const {
    require_bits();
    combine(operation::and_, s);
  }
  constexpr void operator|=(statement<T> s) const {
    require_bits();
    combine(operation::or_, s);
  }
  constexpr void operator^=(statement<T> s) const {
    require_bits();
    combine(operation::xor_, s);
  }
  constexpr void operator<<=(statement<u32> s) const {
    require_integer();
    combine(operation::shl, s);
  }
  constexpr void operator>>=(statement<u32> s) const {
    require_integer();
    combine(operation::shr, s);
  }

  // Applies an operator to the cell and an operand that knows no kernel (compound.hpp).
  template <operation Op, class E>
  constexpr void change(const E& e) const {
    if constexpr (Op <= operation::div)
      require_number<T>();
    else if constexpr (Op >= operation::and_ && Op <= operation::xor_)
      require_bits();
    else
      require_integer();
    auto s = statement<std::conditional_t<Op >= operation::shl, u32, T>>::in(*at_.trace, e);
    combine(Op, s);
  }

  constexpr leaf<T, true> node() const {
    tracer& t = *at_.trace;
    t.read_ahead();
    const value loaded =
        t.probing() ? at_.seen_value() : t.load(plain_load<Location>, ptx_type<T>, at_.find());
    return {{}, &t, loaded, t.scope()};
  }

  constexpr const Location& location() const { return at_; }

 private:
  static constexpr auto require_integer() {
    static_assert(
        integer<T>,
        "kaio: %=, <<= and >>= on a cell that is no integer; write y[i] = fmod(y[i], b) for floats");
  }
  static constexpr auto require_bits() {
    static_assert(
        !floating<T> && !float8<T>,
        "kaio: a bit operation on a floating cell; write y[i] = bit_cast<f32>(bit_cast<u32>(y[i]) | bits)");
  }

  template <class S>
  constexpr void combine(operation op, S& s) const {
    require_settled_index<Location>();
    tracer& t = *at_.trace;
    s.enter(t);
    if (t.probing()) {
      t.see(static_cast<unsigned>(op));
      return at_.see();
    }
    const tracer::address at = at_.find();
    const value current = t.load(plain_load<Location>, ptx_type<T>, at);
    t.store(plain_store<Location>, ptx_type<T>, at, s.combine(t, op, current, ptx_type<T>));
  }
  Location at_;
};

// A load from memory that nothing writes: an expression like any other.
template <scalar T, class Location>
struct load_node : no_host_bool {
  using device_type = T;
  using cell_type = T;
  using location_index = typename Location::index_type;
  static constexpr ptx::access access = ptx::access::in;
  static constexpr bool bound = true;
  static constexpr bool reads_memory = location_index::reads_memory;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = 1 + location_index::loads;
  Location at;

  constexpr const load_node& node() const { return *this; }
  constexpr tracer* context() const { return at.trace; }
  constexpr std::uint64_t hash() const { return at.hash() * hash_factor + 1; }
  constexpr void load(tracer& t) const { lower(t); }
  constexpr value lower(tracer& t) const {
    const value i = at.index.lower(t);
    return t.load_read_only(Location::read_only, ptx_type<T>, at.place(t, i));
  }
  constexpr const Location& location() const { return at; }

  template <class I>
  constexpr auto operator[](const I&) const {
    static_assert(never<I>, "kaio: one index too many: the element is already a number");
    return refused{};
  }
  template <class E>
  constexpr void operator=(const E&) const {
    refuse_writing<E, Location::space == modifier::const_>();
  }
  template <class E>
  constexpr void operator+=(const E&) const {
    refuse_writing<E, Location::space == modifier::const_>();
  }
  template <class E>
  constexpr void operator-=(const E&) const {
    refuse_writing<E, Location::space == modifier::const_>();
  }
  template <class E>
  constexpr void operator*=(const E&) const {
    refuse_writing<E, Location::space == modifier::const_>();
  }
  template <class E>
  constexpr void operator/=(const E&) const {
    refuse_writing<E, Location::space == modifier::const_>();
  }
};

}  // namespace kaio::dsl
