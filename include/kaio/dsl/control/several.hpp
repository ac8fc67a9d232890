#pragma once
// The result of t.vals(...) and t.vars(...): an aggregate, for structured bindings.
//
//   auto [sum, count] = t.vars(0.0f, 0u);
//   sum += x[i];

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::dsl {

// The place of a call, as a type that no number converts to.
struct call_site {
  std::uint32_t line;
  const char* file;
};

// Several values, for structured bindings: 2 to 6.
template <class... V>
struct several;
template <class A, class B>
struct several<A, B> {
  A a;
  B b;
};
template <class A, class B, class C>
struct several<A, B, C> {
  A a;
  B b;
  C c;
};
template <class A, class B, class C, class D>
struct several<A, B, C, D> {
  A a;
  B b;
  C c;
  D d;
};
template <class A, class B, class C, class D, class E>
struct several<A, B, C, D, E> {
  A a;
  B b;
  C c;
  D d;
  E e;
};
template <class A, class B, class C, class D, class E, class F>
struct several<A, B, C, D, E, F> {
  A a;
  B b;
  C c;
  D d;
  E e;
  F f;
};

}  // namespace kaio::dsl
