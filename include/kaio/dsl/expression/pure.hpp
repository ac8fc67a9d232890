#pragma once
// How a pure operation becomes an expression: make_pure picks the node for one to four operands. A rule is a
// type with apply(tracer&, value...), which records the instructions and gives the result.
//
//   struct popc_rule { static constexpr value apply(tracer& t, value a) { ... } };
//   const auto bits_set = make_pure<u32, popc_rule>(x.node());

#include <kaio/dsl/expression/expression.hpp>

#include <cstdint>

namespace kaio::dsl {

// Two operands. Rule::apply(tracer&, value, value) gives the instructions.
template <class T, class Rule, class A, class B>
struct pair_node : no_host_bool {
  using device_type = T;
  static constexpr bool bound = A::bound || B::bound;
  static constexpr bool reads_memory = A::reads_memory || B::reads_memory;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = A::loads + B::loads;
  A a;
  B b;

  constexpr const pair_node& node() const { return *this; }
  constexpr tracer* context() const {
    tracer* const t = a.context();
    return t != nullptr ? t : b.context();
  }
  constexpr void load(tracer& t) const {
    a.load(t);
    b.load(t);
  }
  constexpr std::uint64_t hash() const {
    return (a.hash() * hash_factor + b.hash()) * hash_factor + number_of_rule<Rule>;
  }
  constexpr value lower(tracer& t) const {
    const value x = a.lower(t);
    return Rule::apply(t, x, b.lower(t));
  }
};

// Three operands. Rule::apply(tracer&, value, value, value) gives the instructions.
template <class T, class Rule, class A, class B, class C>
struct ternary_node : no_host_bool {
  using device_type = T;
  static constexpr bool bound = A::bound || B::bound || C::bound;
  static constexpr bool reads_memory = A::reads_memory || B::reads_memory || C::reads_memory;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = A::loads + B::loads + C::loads;
  A a;
  B b;
  C c;

  constexpr const ternary_node& node() const { return *this; }
  constexpr tracer* context() const {
    tracer* t = a.context();
    if (t == nullptr) t = b.context();
    return t != nullptr ? t : c.context();
  }
  constexpr void load(tracer& t) const {
    a.load(t);
    b.load(t);
    c.load(t);
  }
  constexpr std::uint64_t hash() const {
    return ((a.hash() * hash_factor + b.hash()) * hash_factor + c.hash()) * hash_factor +
           number_of_rule<Rule>;
  }
  constexpr value lower(tracer& t) const {
    const value x = a.lower(t);
    const value y = b.lower(t);
    return Rule::apply(t, x, y, c.lower(t));
  }
};

// Four operands. Rule::apply(tracer&, value, value, value, value) gives the instructions.
template <class T, class Rule, class A, class B, class C, class D>
struct quaternary_node : no_host_bool {
  using device_type = T;
  static constexpr bool bound = A::bound || B::bound || C::bound || D::bound;
  static constexpr bool reads_memory =
      A::reads_memory || B::reads_memory || C::reads_memory || D::reads_memory;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = A::loads + B::loads + C::loads + D::loads;
  A a;
  B b;
  C c;
  D d;

  constexpr const quaternary_node& node() const { return *this; }
  constexpr tracer* context() const {
    tracer* t = a.context();
    if (t == nullptr) t = b.context();
    if (t == nullptr) t = c.context();
    return t != nullptr ? t : d.context();
  }
  constexpr void load(tracer& t) const {
    a.load(t);
    b.load(t);
    c.load(t);
    d.load(t);
  }
  constexpr std::uint64_t hash() const {
    return (((a.hash() * hash_factor + b.hash()) * hash_factor + c.hash()) * hash_factor + d.hash()) *
               hash_factor +
           number_of_rule<Rule>;
  }
  constexpr value lower(tracer& t) const {
    const value x = a.lower(t);
    const value y = b.lower(t);
    const value z = c.lower(t);
    return Rule::apply(t, x, y, z, d.lower(t));
  }
};

template <class T, class Rule, class A>
constexpr auto make_pure(const A& a) {
  return unary_node<T, Rule, A>{{}, a};
}
template <class T, class Rule, class A, class B>
constexpr auto make_pure(const A& a, const B& b) {
  return pair_node<T, Rule, A, B>{{}, a, b};
}
template <class T, class Rule, class A, class B, class C>
constexpr auto make_pure(const A& a, const B& b, const C& c) {
  return ternary_node<T, Rule, A, B, C>{{}, a, b, c};
}
template <class T, class Rule, class A, class B, class C, class D>
constexpr auto make_pure(const A& a, const B& b, const C& c, const D& d) {
  return quaternary_node<T, Rule, A, B, C, D>{{}, a, b, c, d};
}

}  // namespace kaio::dsl
