#pragma once
// Accesses with policies, vectors out of arrays of numbers, prefetches and fences. Indexing names a cell; the
// policies follow it.
//
//   val v = load(x[i], cache::cs);
//   val four = load_vec<4>(x[4 * i]);             // in<f32> x, whose memory is aligned to 16 bytes there
//   store_vec(y[4 * i], four, evict::first);
//   prefetch(x[i + 1024], cache_level::l2);
//   fence(t, order::acq_rel, scope::device);

#include <kaio/dsl/memory/place.hpp>
#include <kaio/dsl/memory/policy.hpp>

#include <cstdint>

namespace kaio::dsl {

template <class C>
concept memory_cell = requires(const C& c) {
  typename C::cell_type;
  c.location();
};

template <class C>
using location_of = std::remove_cvref_t<decltype(imagine<C>().location())>;

template <class C>
constexpr auto require_readable() {
  static_assert(memory_cell<C>, "kaio: this is no cell of memory; name one by indexing: x[i]");
  if constexpr (memory_cell<C>)
    static_assert(C::access != ptx::access::out, "kaio: an out parameter cannot be read; make it inout<T>");
}

template <class C>
constexpr auto require_writable() {
  static_assert(memory_cell<C>, "kaio: this is no cell of memory; name one by indexing: y[i]");
  if constexpr (memory_cell<C>) {
    static_assert(C::access != ptx::access::in,
                  "kaio: an in parameter cannot be written; make it out<T> or inout<T>");
    require_settled_index<location_of<C>>();
  }
}

namespace detail {

template <class T, std::uint32_t N, bool ReadOnly>
constexpr val<vec<T, N>> load_vector(tracer& t, const tracer::access& how, const tracer::address& at) {
  vector_leaf<T, N> loaded{&t, {}, t.scope()};
  if constexpr (ReadOnly)
    load_read_only_elements<T, N>(t, how, at, loaded.ids);
  else
    load_elements<T, N>(t, how, at, loaded.ids);
  return val<vec<T, N>>(loaded, 0, nullptr);
}

// A vector of new identities, for a probe.
template <class T, std::uint32_t N>
constexpr val<vec<T, N>> no_vector(tracer& t) {
  vector_leaf<T, N> named{&t, {}, 0};
  for (value& id : named.ids) id = t.new_identity();
  return val<vec<T, N>>(named, 0, nullptr);
}

}  // namespace detail

// Reads a cell, a number or a vector, at this point of the kernel.
template <class C, class P1 = no_policy, class P2 = no_policy, class P3 = no_policy, class P4 = no_policy>
constexpr auto load(const C& from, P1 = {}, P2 = {}, P3 = {}, P4 = {}, std::uint32_t line = __builtin_LINE(),
                    const char* file = __builtin_FILE()) {
  require_readable<C>();
  if constexpr (memory_cell<C>) {
    using T = typename C::cell_type;
    using Location = location_of<C>;
    constexpr bool read_only = C::access == ptx::access::in;
    constexpr tracer::access how = load_with<Location, read_only, P1, P2, P3, P4>();
    const Location& at = from.location();
    tracer& t = *at.trace;
    t.statement(line, file);
    if constexpr (is_vec<T>) {
      constexpr std::uint32_t n = T::size();
      if (t.probing()) {
        at.see();
        return detail::no_vector<typename T::value_type, n>(t);
      }
      return detail::load_vector<typename T::value_type, n, read_only>(t, how, at.find());
    } else {
      if (t.probing()) return val<T>(t, at.seen_value());
      const tracer::address found = at.find();
      return val<T>(t,
                    read_only ? t.load_read_only(how, ptx_type<T>, found) : t.load(how, ptx_type<T>, found));
    }
  }
}

// Reads N consecutive numbers, from the cell on, as a vector. The address must be a multiple of the vector's
// size. An allocation, its element N * k, and a shared array of 16 bytes or more are aligned.
template <std::uint32_t N, class C, class P1 = no_policy, class P2 = no_policy, class P3 = no_policy,
          class P4 = no_policy>
constexpr auto load_vec(const C& from, P1 = {}, P2 = {}, P3 = {}, P4 = {},
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  require_readable<C>();
  if constexpr (memory_cell<C>) {
    using T = typename C::cell_type;
    static_assert(scalar<T>, "kaio: load_vec reads numbers as a vector; a vector is read by load(x[i])");
    using Location = location_of<C>;
    constexpr bool read_only = C::access == ptx::access::in;
    constexpr tracer::access how = load_with<Location, read_only, P1, P2, P3, P4>();
    const Location& at = from.location();
    tracer& t = *at.trace;
    t.statement(line, file);
    if (t.probing()) {
      at.see();
      return detail::no_vector<T, N>(t);
    }
    return detail::load_vector<T, N, read_only>(t, how, at.find());
  }
}

// Writes a number or a vector to a cell.
template <class C, class E, class P1 = no_policy, class P2 = no_policy, class P3 = no_policy,
          class P4 = no_policy>
constexpr void store(const C& to, const E& e, P1 = {}, P2 = {}, P3 = {}, P4 = {},
                     std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  require_writable<C>();
  if constexpr (memory_cell<C>) {
    using T = typename C::cell_type;
    using Location = location_of<C>;
    constexpr tracer::access how = store_with<Location, P1, P2, P3, P4>();
    const Location& at = to.location();
    tracer& t = *at.trace;
    if constexpr (is_vec<T>) {
      static_assert(vector_source<E>, "kaio: a number is stored to a vector; write make_vec(a, b, ...)");
      if constexpr (vector_source<E>) {
        const vector_statement<typename T::value_type, T::size()> s(t, e, line, file);
        if (t.probing()) return at.see();
        store_elements<typename T::value_type, T::size()>(t, how, at.find(), s.elements());
      }
    } else {
      static_assert(!vector_source<E>, "kaio: a vector is stored to a number; write store_vec(y[i], v)");
      if constexpr (!vector_source<E>) {
        static_assert(!device<E> || device_of<E, T>,
                      "kaio: the value stored has another type than its place; write cast<T>(x)");
        t.statement(line, file);
        const value v = lower(t, operand_node<T>(e));
        if (t.probing()) return at.see();
        t.store(how, ptx_type<T>, at.find(), v);
      }
    }
  }
}

// Writes a vector to consecutive numbers, from the cell on; aligned as for load_vec.
template <class C, class E, class P1 = no_policy, class P2 = no_policy, class P3 = no_policy,
          class P4 = no_policy>
constexpr void store_vec(const C& to, const E& e, P1 = {}, P2 = {}, P3 = {}, P4 = {},
                         std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  require_writable<C>();
  static_assert(vector_source<E>, "kaio: store_vec stores a vector; write make_vec(a, b, ...)");
  if constexpr (memory_cell<C> && vector_source<E>) {
    using T = typename C::cell_type;
    using V = vector_of<E>;
    static_assert(
        std::is_same_v<typename V::value_type, T>,
        "kaio: the elements of the vector have another type than the cell; write map with cast<T>(x)");
    using Location = location_of<C>;
    constexpr tracer::access how = store_with<Location, P1, P2, P3, P4>();
    const Location& at = to.location();
    tracer& t = *at.trace;
    if constexpr (std::is_same_v<typename V::value_type, T>) {
      const vector_statement<T, V::size()> s(t, e, line, file);
      if (t.probing()) return at.see();
      store_elements<T, V::size()>(t, how, at.find(), s.elements());
    }
  }
}

// Fetches the cache line of a cell ahead of its use; no value is read.
template <class C, policy_kind Kind, modifier Level>
constexpr void prefetch(const C& cell, policy<Kind, Level>, std::uint32_t line = __builtin_LINE(),
                        const char* file = __builtin_FILE()) {
  static_assert(Kind == policy_kind::level, "kaio: prefetch takes cache_level::l1 or cache_level::l2");
  static_assert(memory_cell<C>, "kaio: this is no cell of memory; name one by indexing: x[i]");
  if constexpr (memory_cell<C> && Kind == policy_kind::level) {
    static_assert(location_of<C>::space == modifier::global, "kaio: prefetch is for global memory");
    const auto& at = cell.location();
    tracer& t = *at.trace;
    t.statement(line, file);
    if (t.probing()) return at.see();
    t.prefetch(Level, at.find());
  }
}

// Orders this thread's accesses before and after it, as the threads of the scope see them: order::acq_rel or
// order::sc.
template <is_thread Thread, policy_kind K1, modifier Order, policy_kind K2, modifier Scope>
constexpr void fence(const Thread& thread, policy<K1, Order>, policy<K2, Scope>,
                     std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  static_assert(K1 == policy_kind::order && K2 == policy_kind::scope,
                "kaio: write fence(t, order::acq_rel, scope::device)");
  static_assert(K1 != policy_kind::order || Order == modifier::acq_rel || Order == modifier::sc,
                "kaio: a fence is order::acq_rel or order::sc");
  tracer& t = thread.trace();
  t.statement(line, file);
  if (!t.probing()) t.fence(Order, Scope);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::load_vec;
}  // namespace kaio
