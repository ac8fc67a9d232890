#pragma once
// Atomic operations on cells of inout parameters and shared arrays. Each replaces the value of the cell by a
// function of it and returns the old value. If the result is unused, ptxas makes a reduction (RED), which
// waits for nothing. The default order is relaxed, the default scope the device. Source: PTX ISA, "atom".
//
//   atomic_add(histogram[bin], 1u);
//   val ticket = atomic_inc(count[0], grid_dim_x() - 1, order::acq_rel, scope::device);
//
// Operations without a PTX instruction are loops of compare and exchange: min and max of floats, and all of
// 16 bits except sums (f16; bf16 from sm_90). Vectors are updated element by element, each atomically. sm_90
// has instructions in global memory: + of f32 (N <= 4), and +, min and max of 16-bit floats.

#include <kaio/dsl/memory/access.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <class C>
constexpr auto require_atomic_cell() {
  static_assert(memory_cell<C>, "kaio: this is no cell of memory; name one by indexing: x[i]");
  if constexpr (memory_cell<C>) {
    static_assert(C::access == ptx::access::inout,
                  "kaio: an atomic operation reads and writes its cell; make the parameter inout<T>");
    static_assert(
        location_of<C>::space == modifier::global || location_of<C>::space == modifier::shared ||
            location_of<C>::space == modifier::shared_cluster,
        "kaio: atomic operations are for global and shared memory; a local array is the thread's own");
    static_assert(!std::is_same_v<typename C::cell_type, bool>,
                  "kaio: there are no atomic operations on bool; use u32");
    require_settled_index<location_of<C>>();
  }
}
template <class C>
inline constexpr bool is_atomic_cell = false;
template <memory_cell C>
inline constexpr bool is_atomic_cell<C> =
    C::access == ptx::access::inout && !std::is_same_v<typename C::cell_type, bool>;

// The modifiers before and after the operation's name.
template <class Location, class... P>
struct atomic_access {
  using policies = access_policies<P...>;
  static_assert(policies::cache == modifier::none && policies::eviction == modifier::none &&
                    policies::prefetch == modifier::none && !policies::is_volatile,
                "kaio: an atomic operation takes an order and a scope, and no cache policy");
  static_assert(
      policies::order != modifier::sc,
      "kaio: an atomic operation is relaxed, acquire, release or acq_rel; put fence(t, order::sc, ...) before it");
  static constexpr bool has_scope = policies::scope != modifier::none;
  static constexpr modifier scope = has_scope ? policies::scope : modifier::gpu;
  static constexpr modifier written_scope = has_scope || policies::is_ordered ? scope : modifier::none;
  static constexpr modifier written_order =
      has_scope && !policies::is_ordered ? modifier::relaxed : policies::order;

  static constexpr modifier_list with(modifier name, modifier rest = modifier::none) {
    return in_order(written_order, written_scope, Location::space, name, rest);
  }
  static constexpr tracer::access first_load{opcode::ld, in_order(modifier::relaxed, scope, Location::space)};
};

constexpr modifier name_of(operation op) {
  switch (op) {
    case operation::add: return modifier::add;
    case operation::min: return modifier::min;
    case operation::max: return modifier::max;
    case operation::and_: return modifier::and_;
    case operation::or_: return modifier::or_;
    default: return modifier::xor_;
  }
}

// The type in PTX's own instruction for an operation on t; none if there is no instruction.
constexpr ptx::type native_atomic(operation op, ptx::type t, std::uint16_t sm) {
  const bool is_word = ptx::is_integer(t) && ptx::size_of(t) >= 4;
  if (op == operation::add) {
    if (t == ptx::type::bf16 || t == ptx::type::bf16x2) return sm >= 90 ? t : ptx::type::none;
    return t == ptx::type::s64 ? ptx::type::u64 : ptx::is_floating(t) || is_word ? t : ptx::type::none;
  }
  if (!is_word) return ptx::type::none;
  return op == operation::min || op == operation::max ? t : ptx::bits_of(t);
}

// The type that a loop of compare and exchange compares.
constexpr ptx::type compared(ptx::type t) {
  return ptx::size_of(t) == 8 ? ptx::type::u64 : ptx::size_of(t) == 4 ? ptx::type::u32 : ptx::type::f16;
}

template <class A>
constexpr value update_element(tracer& t, operation op, ptx::type type, const tracer::address& at, value v) {
  const ptx::type native = native_atomic(op, type, t.target.sm);
  if (native != ptx::type::none)
    return t.atomic(A::with(name_of(op), ptx::is_half(native) ? modifier::noftz : modifier::none), native,
                    type, at, ptx::is_floating(type) ? t.in_register(v) : v);
  const value old =
      t.atomic_loop(A::first_load, A::with(modifier::cas), compared(type), type, at, false, op, v);
  return t.reinterpret(type, old);
}

// Whether vectors of these elements have instructions of their own, in global memory. Source: PTX ISA,
// "atom", `.vec_16_bit`, `.vec_32_bit`.
template <class T, std::uint32_t N>
constexpr bool has_vector_atomic(operation op) {
  constexpr ptx::type type = ptx_type<T>;
  if (type == ptx::type::f32) return op == operation::add && N <= 4;
  return ptx::is_half(type) && (op == operation::add || op == operation::min || op == operation::max);
}

template <class T, std::uint32_t N, class A, class Location>
constexpr vector_leaf<T, N> update_vector(tracer& t, operation op, const Location& location, const value* v) {
  const tracer::address at = location.find();
  require_vector_alignment(t, at, sizeof(T) * N);
  vector_leaf<T, N> old{&t, {}, t.scope()};
  if (Location::space == modifier::global && has_vector_atomic<T, N>(op) && t.target.sm >= 90) {
    const modifier noftz = ptx::is_half(ptx_type<T>) ? modifier::noftz : modifier::none;
    const value first = t.atomic_vector(A::with(name_of(op), noftz), ptx_type<T>, N, at, v);
    for (std::uint32_t k = 0; k < N; ++k) old.ids[k] = first + k;
  } else {
    for (std::uint32_t k = 0; k < N; ++k)
      old.ids[k] = update_element<A>(t, op, ptx_type<T>,
                                     tracer::further(at, k * static_cast<std::int64_t>(sizeof(T))), v[k]);
  }
  return old;
}

// Checks the types that an operation takes.
template <bool Bitwise, class T>
constexpr auto require_atomic_operand() {
  static_assert(sizeof(T) > 1, "kaio: there are no atomic operations on 8 bits; use u32");
  if constexpr (Bitwise)
    static_assert(integer<T>, "kaio: a bit operation on a floating cell; use a cell of u32 or u64");
}

constexpr value negated(tracer& t, ptx::type type, value v) {
  if (ptx::is_unsigned(type)) return t.binary(operation::sub, type, t.constant(type, 0), v);
  return t.unary(operation::neg, type, v);
}

template <operation Op, bool Negated, class P1, class P2, class C, class E>
constexpr auto update(const C& cell, const E& e, std::uint32_t line, const char* file) {
  require_atomic_cell<C>();
  if constexpr (is_atomic_cell<C>) {
    using Location = location_of<C>;
    using A = atomic_access<Location, P1, P2>;
    using Place = typename C::cell_type;
    constexpr bool bitwise = Op == operation::and_ || Op == operation::or_ || Op == operation::xor_;
    tracer& t = *cell.location().trace;
    if constexpr (vector_source<E>) {
      using V = vector_of<E>;
      using T = typename V::value_type;
      constexpr std::uint32_t n = V::size();
      require_atomic_operand<bitwise, T>();
      static_assert(std::is_same_v<Place, V> || std::is_same_v<Place, T>,
                    "kaio: the vector has another type than its place; write map with cast<T>(x)");
      t.statement(line, file);
      if (t.probing()) {
        see_operands(t, cell, e);
        return no_vector<T, n>(t);
      }
      value v[n] = {};
      lower_vector(t, e.vector_node(), v);
      if (Negated)
        for (value& element : v) element = negated(t, ptx_type<T>, element);
      return val<V>(update_vector<T, n, A>(t, Op, cell.location(), v), 0, nullptr);
    } else {
      static_assert(scalar<Place>,
                    "kaio: a vector in memory is combined with a vector; write make_vec(a, b, ...)");
      if constexpr (scalar<Place>) {
        require_atomic_operand<bitwise, Place>();
        static_assert(
            !device<E> || device_of<E, Place>,
            "kaio: the operand of an atomic operation has another type than its cell; write cast<T>(x)");
        t.statement(line, file);
        if (t.probing()) {
          see_operands(t, cell, operand_node<Place>(e));
          return val<Place>(t, t.identity());
        }
        value v = lower(t, operand_node<Place>(e));
        if (Negated) v = negated(t, ptx_type<Place>, v);
        return val<Place>(t, update_element<A>(t, Op, ptx_type<Place>, cell.location().find(), v));
      } else {
        return refused{};
      }
    }
  } else {
    return refused{};
  }
}

// inc and dec, which wrap at a limit.
template <modifier Name, class P1, class P2, class C, class E>
constexpr auto wrap(const C& cell, const E& limit, std::uint32_t line, const char* file) {
  require_atomic_cell<C>();
  if constexpr (is_atomic_cell<C>) {
    using A = atomic_access<location_of<C>, P1, P2>;
    static_assert(std::is_same_v<typename C::cell_type, u32>,
                  "kaio: atomic_inc and atomic_dec are for cells of u32");
    static_assert(!device<E> || device_of<E, u32>,
                  "kaio: the limit of atomic_inc and atomic_dec is u32; write cast<u32>(x)");
    tracer& t = *cell.location().trace;
    t.statement(line, file);
    if (t.probing()) {
      see_operands(t, cell, operand_node<u32>(limit));
      return val<u32>(t, t.identity());
    }
    const value v = lower(t, operand_node<u32>(limit));
    return val<u32>(t, t.atomic(A::with(Name), ptx::type::u32, ptx::type::u32, cell.location().find(), v));
  }
}

template <class T>
constexpr auto require_exchangeable() {
  static_assert(!is_vec<T>, "kaio: a vector is not exchanged as a whole; exchange its elements, or a u64");
  if constexpr (!is_vec<T>)
    static_assert(sizeof(T) > 1, "kaio: there are no atomic operations on 8 bits; use u32");
}

}  // namespace detail

// cell += x, and so on; min and max are those of math/basic.hpp. x is a number, or a vector for the numbers
// from the cell on (an inout<vec<T, N>>, or consecutive elements whose address is a multiple of the vector's
// size).
template <class C, class E, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_add(const C& cell, const E& x, P1 = {}, P2 = {}, std::uint32_t line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) {
  return detail::update<operation::add, false, P1, P2>(cell, x, line, file);
}
template <class C, class E, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_sub(const C& cell, const E& x, P1 = {}, P2 = {}, std::uint32_t line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) {
  return detail::update<operation::add, true, P1, P2>(cell, x, line, file);
}
template <class C, class E, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_min(const C& cell, const E& x, P1 = {}, P2 = {}, std::uint32_t line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) {
  return detail::update<operation::min, false, P1, P2>(cell, x, line, file);
}
template <class C, class E, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_max(const C& cell, const E& x, P1 = {}, P2 = {}, std::uint32_t line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) {
  return detail::update<operation::max, false, P1, P2>(cell, x, line, file);
}
template <class C, class E, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_and(const C& cell, const E& x, P1 = {}, P2 = {}, std::uint32_t line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) {
  return detail::update<operation::and_, false, P1, P2>(cell, x, line, file);
}
template <class C, class E, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_or(const C& cell, const E& x, P1 = {}, P2 = {}, std::uint32_t line = __builtin_LINE(),
                         const char* file = __builtin_FILE()) {
  return detail::update<operation::or_, false, P1, P2>(cell, x, line, file);
}
template <class C, class E, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_xor(const C& cell, const E& x, P1 = {}, P2 = {}, std::uint32_t line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) {
  return detail::update<operation::xor_, false, P1, P2>(cell, x, line, file);
}

// cell = cell >= limit ? 0 : cell + 1
template <class C, class E, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_inc(const C& cell, const E& limit, P1 = {}, P2 = {},
                          std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::wrap<modifier::inc, P1, P2>(cell, limit, line, file);
}
// cell = cell == 0 || cell > limit ? limit : cell - 1
template <class C, class E, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_dec(const C& cell, const E& limit, P1 = {}, P2 = {},
                          std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::wrap<modifier::dec, P1, P2>(cell, limit, line, file);
}

// cell = x
template <class C, class E, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_exchange(const C& cell, const E& x, P1 = {}, P2 = {},
                               std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::require_atomic_cell<C>();
  if constexpr (detail::is_atomic_cell<C>) {
    using T = typename C::cell_type;
    using A = detail::atomic_access<location_of<C>, P1, P2>;
    detail::require_exchangeable<T>();
    if constexpr (scalar<T>) {
      static_assert(
          !device<E> || device_of<E, T>,
          "kaio: the operand of an atomic operation has another type than its cell; write cast<T>(x)");
      constexpr ptx::type type = ptx_type<T>;
      tracer& t = *cell.location().trace;
      t.statement(line, file);
      if (t.probing()) {
        see_operands(t, cell, operand_node<T>(x));
        return val<T>(t, t.identity());
      }
      const value v = t.in_register(lower(t, operand_node<T>(x)));
      const tracer::address at = cell.location().find();
      if constexpr (sizeof(T) != 2)
        return val<T>(t, t.atomic(A::with(modifier::exch), ptx::bits_of(type), type, at, v));
      else
        return val<T>(
            t, t.reinterpret(type, t.atomic_loop(A::first_load, A::with(modifier::cas), ptx::type::f16, type,
                                                 at, true, operation::add, v)));
    }
  }
}

// cell = cell == expected ? desired : cell, compared by bits. It succeeded if the result has the bits of
// `expected`.
template <class C, class E, class D, class P1 = no_policy, class P2 = no_policy>
constexpr auto atomic_compare_exchange(const C& cell, const E& expected, const D& desired, P1 = {}, P2 = {},
                                       std::uint32_t line = __builtin_LINE(),
                                       const char* file = __builtin_FILE()) {
  detail::require_atomic_cell<C>();
  if constexpr (detail::is_atomic_cell<C>) {
    using T = typename C::cell_type;
    using A = detail::atomic_access<location_of<C>, P1, P2>;
    detail::require_exchangeable<T>();
    if constexpr (scalar<T>) {
      static_assert(
          (!device<E> || device_of<E, T>)&&(!device<D> || device_of<D, T>),
          "kaio: the operand of an atomic operation has another type than its cell; write cast<T>(x)");
      constexpr ptx::type type = ptx_type<T>;
      constexpr ptx::type moved = tracer::is_small(type) ? ptx::type::f16 : type;
      tracer& t = *cell.location().trace;
      t.statement(line, file);
      if (t.probing()) {
        see_operands(t, cell, operand_node<T>(expected), operand_node<T>(desired));
        return val<T>(t, t.identity());
      }
      const value a = lower(t, operand_node<T>(expected));
      const value b = lower(t, operand_node<T>(desired));
      const value from = t.in_register(t.reinterpret(moved, a));
      const value to = t.in_register(t.reinterpret(moved, b));
      const value old =
          t.atomic(A::with(modifier::cas), ptx::bits_of(type), moved, cell.location().find(), from, to);
      return val<T>(t, t.reinterpret(type, old));
    }
  }
}

}  // namespace kaio::dsl
