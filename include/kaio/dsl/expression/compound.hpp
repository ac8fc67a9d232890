#pragma once
// Compound assignments whose right side knows no kernel: a literal in a val, the index of a block. The variable or cell
// on the left knows it.
//
//   const val factor = 3.0f;
//   v *= factor;                     // var<f32> v
//   y[i] += block_idx_x();           // inout<u32> y

#include <kaio/dsl/expression/expression.hpp>

#include <type_traits>

namespace kaio::dsl {

// Requires a type that +=, -=, *= and /= can change.
template <scalar T>
constexpr auto require_number() {
  static_assert(!std::is_same_v<T, bool>,
                "kaio: arithmetic on bool; write select(condition, a, b) or cast<T>(condition)");
  static_assert(!float8<T>,
                "kaio: e4m3 and e5m2 hold numbers, they do not compute; write cast<f32>(x) or cast<f16>(x)");
}

// A var, or a cell that can be read and written.
template <class V>
concept compound_target = requires { typename std::remove_cvref_t<V>::compound_type; };

template <class V, class E>
concept compound_assignment = compound_target<V> && device<E> && !node_of<E>::bound;

template <class V, class E>
  requires compound_assignment<V, E>
constexpr void operator+=(V&& to, const E& e) {
  to.template change<operation::add>(e);
}
template <class V, class E>
  requires compound_assignment<V, E>
constexpr void operator-=(V&& to, const E& e) {
  to.template change<operation::sub>(e);
}
template <class V, class E>
  requires compound_assignment<V, E>
constexpr void operator*=(V&& to, const E& e) {
  to.template change<operation::mul>(e);
}
template <class V, class E>
  requires compound_assignment<V, E>
constexpr void operator/=(V&& to, const E& e) {
  to.template change<operation::div>(e);
}
template <class V, class E>
  requires compound_assignment<V, E>
constexpr void operator%=(V&& to, const E& e) {
  to.template change<operation::rem>(e);
}
template <class V, class E>
  requires compound_assignment<V, E>
constexpr void operator&=(V&& to, const E& e) {
  to.template change<operation::and_>(e);
}
template <class V, class E>
  requires compound_assignment<V, E>
constexpr void operator|=(V&& to, const E& e) {
  to.template change<operation::or_>(e);
}
template <class V, class E>
  requires compound_assignment<V, E>
constexpr void operator^=(V&& to, const E& e) {
  to.template change<operation::xor_>(e);
}
template <class V, class E>
  requires compound_assignment<V, E>
constexpr void operator<<=(V&& to, const E& e) {
  to.template change<operation::shl>(e);
}
template <class V, class E>
  requires compound_assignment<V, E>
constexpr void operator>>=(V&& to, const E& e) {
  to.template change<operation::shr>(e);
}

// The error for a variable of the host on the left side: it has no value that a kernel could change.
template <class E>
constexpr void refuse_host_variable() {
  static_assert(
      never<E>,
      "kaio: a variable of the host cannot collect device values; declare a var: var s(t, 0.0f), then s += x");
}
template <class H, class E>
concept host_assignment = std::is_arithmetic_v<H> && device<E>;

template <class H, class E>
  requires host_assignment<H, E>
constexpr void operator+=(H&, const E&) {
  refuse_host_variable<E>();
}
template <class H, class E>
  requires host_assignment<H, E>
constexpr void operator-=(H&, const E&) {
  refuse_host_variable<E>();
}
template <class H, class E>
  requires host_assignment<H, E>
constexpr void operator*=(H&, const E&) {
  refuse_host_variable<E>();
}
template <class H, class E>
  requires host_assignment<H, E>
constexpr void operator/=(H&, const E&) {
  refuse_host_variable<E>();
}
template <class H, class E>
  requires host_assignment<H, E>
constexpr void operator&=(H&, const E&) {
  refuse_host_variable<E>();
}
template <class H, class E>
  requires host_assignment<H, E>
constexpr void operator|=(H&, const E&) {
  refuse_host_variable<E>();
}
template <class H, class E>
  requires host_assignment<H, E>
constexpr void operator%=(H&, const E&) {
  refuse_host_variable<E>();
}
template <class H, class E>
  requires host_assignment<H, E>
constexpr void operator^=(H&, const E&) {
  refuse_host_variable<E>();
}
template <class H, class E>
  requires host_assignment<H, E>
constexpr void operator<<=(H&, const E&) {
  refuse_host_variable<E>();
}
template <class H, class E>
  requires host_assignment<H, E>
constexpr void operator>>=(H&, const E&) {
  refuse_host_variable<E>();
}

}  // namespace kaio::dsl
