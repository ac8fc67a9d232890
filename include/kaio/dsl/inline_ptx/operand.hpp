#pragma once
// The operands of a ptx_op: a number of the host becomes an immediate, a device value a register, a place in memory an
// address.

#include <kaio/dsl/async/operand.hpp>
#include <kaio/dsl/inline_ptx/signature.hpp>

#include <cstdint>

namespace kaio::dsl::detail {

template <class Node>
inline constexpr bool is_literal_node = false;
template <class T>
inline constexpr bool is_literal_node<literal<T>> = true;

// The tracer keeps 16-bit integers in 32-bit registers; an instruction of PTX takes registers of 16 bits.
constexpr bool is_widened(ptx::type t) { return t == ptx::type::u16 || t == ptx::type::s16; }
constexpr ptx::type text_register(ptx::type t) { return is_widened(t) ? ptx::type::f16 : t; }

// A value of type T for the text. PTX has no immediates that are predicates or floats of 16 bits.
template <class T>
constexpr value number_for_text(tracer& t, value v, bool is_literal) {
  constexpr ptx::type type = ptx_type<T>;
  if (is_literal && type != ptx::type::pred && !ptx::is_half(type)) return v;
  if constexpr (is_widened(type)) v = t.reinterpret(ptx::type::f16, v);
  return t.in_register(v);
}

template <class T, class A>
constexpr auto require_text_operand() {
  if constexpr (!is_ptx_address<T>) {
    static_assert(
        device<A> || host_number<A> || host_constant<A>,
        "kaio: an operand of a ptx_op is neither a device value nor a number; an address is a ptx_global or ptx_shared of its signature");
    static_assert(!device<A> || device_of<A, T>,
                  "kaio: an operand of a ptx_op has another type than its signature says; write cast<T>(x)");
  }
}

// An operand of an instruction that is being written: a value, or an address.
struct text_source {
  value id = 0;
  tracer::address at;
  bool is_address = false;
};

template <class T, class A>
constexpr text_source text_source_of(tracer& t, const A& argument) {
  require_text_operand<T, A>();
  if constexpr (std::is_same_v<T, ptx_global>) {
    return {0, global_address(t, argument), true};
  } else if constexpr (std::is_same_v<T, ptx_shared>) {
    return {0, shared_place(t, argument), true};
  } else {
    const auto node = operand_node<T>(argument);
    const value v = lower(t, node);
    return {number_for_text<T>(t, v, is_literal_node<std::remove_const_t<decltype(node)>>), {}, false};
  }
}

// The operands of an expression.
template <class... Node>
struct text_nodes {
  static constexpr bool bound = false;
  static constexpr bool reads_memory = false;
  static constexpr unsigned loads = 0;
  constexpr tracer* context() const { return nullptr; }
  constexpr void load(tracer&) const {}
  constexpr std::uint64_t hash() const { return 0; }
  template <class... T>
  constexpr void lower(tracer&, value*) const {}
};
template <class First, class... Rest>
struct text_nodes<First, Rest...> {
  static constexpr bool bound = First::bound || text_nodes<Rest...>::bound;
  static constexpr bool reads_memory = First::reads_memory || text_nodes<Rest...>::reads_memory;
  static constexpr unsigned loads = First::loads + text_nodes<Rest...>::loads;
  First first;
  text_nodes<Rest...> rest;

  constexpr tracer* context() const {
    tracer* const t = first.context();
    return t != nullptr ? t : rest.context();
  }
  constexpr void load(tracer& t) const {
    first.load(t);
    rest.load(t);
  }
  constexpr std::uint64_t hash() const { return first.hash() + rest.hash() * hash_factor; }
  template <class T, class... U>
  constexpr void lower(tracer& t, value* to) const {
    *to = number_for_text<T>(t, first.lower(t), is_literal_node<First>);
    rest.template lower<U...>(t, to + 1);
  }
};

constexpr text_nodes<> make_text_nodes() { return {}; }
template <class First, class... Rest>
constexpr text_nodes<First, Rest...> make_text_nodes(const First& first, const Rest&... rest) {
  return {first, make_text_nodes(rest...)};
}

}  // namespace kaio::dsl::detail
