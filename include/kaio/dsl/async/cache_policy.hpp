#pragma once
// L2 cache policies: what L2 evicts first, or last. A policy is a u64, which copies take by cache_hint(policy). Making
// one is a pure instruction that depends on nothing: make it once, at the top of the kernel.
// Source: PTX ISA, "createpolicy". sm_80.
//
//   val once = l2_evict_first(t);                       // streamed data
//   copy_tensor(tile, map, coordinates(k, row), full[0], cache_hint(once));

#include <kaio/dsl/control/thread.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

constexpr val<u64> make_policy(const thread& t, modifier primary, modifier secondary, f32 fraction,
                               std::uint32_t line, const char* file) {
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (trace.probing()) {
    trace.see(float_bits(fraction));
    return val<u64>(trace, trace.identity());
  }
  const form made{opcode::createpolicy, in_order(modifier::fractional, primary, secondary), ptx::type::b64,
                  ptx::type::none, ptx::type::u64};
  return val<u64>(trace, trace.pure(made, trace.constant(ptx::type::f32, float_bits(fraction))));
}

}  // namespace detail

// Streamed data, likely used once: the first to go.
constexpr val<u64> l2_evict_first(const thread& t, std::uint32_t line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) {
  return detail::make_policy(t, modifier::l2_evict_first, modifier::none, 1.0f, line, file);
}
// Data that will be used again: the last to go.
constexpr val<u64> l2_evict_last(const thread& t, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  return detail::make_policy(t, modifier::l2_evict_last, modifier::none, 1.0f, line, file);
}
// The priority of an access without a hint.
constexpr val<u64> l2_evict_normal(const thread& t, std::uint32_t line = __builtin_LINE(),
                                   const char* file = __builtin_FILE()) {
  return detail::make_policy(t, modifier::l2_evict_normal, modifier::none, 1.0f, line, file);
}

enum class l2_priority : std::uint8_t { evict_last, evict_normal, evict_first, evict_unchanged };

// A share `fraction` of the cache lines, in (0, 1], has the priority `primary`. The rest has `others`: evict_first or
// evict_unchanged.
constexpr val<u64> l2_fraction(const thread& t, l2_priority primary, f32 fraction,
                               l2_priority others = l2_priority::evict_unchanged,
                               std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  constexpr modifier priorities[] = {modifier::l2_evict_last, modifier::l2_evict_normal,
                                     modifier::l2_evict_first, modifier::l2_evict_unchanged};
  if (!(fraction > 0 && fraction <= 1))
    t.trace().fail_next("kaio: the fraction of an L2 policy must be in (0, 1]");
  if (others != l2_priority::evict_first && others != l2_priority::evict_unchanged)
    t.trace().fail_next("kaio: the other cache lines of an L2 policy are evict_first or evict_unchanged");
  return detail::make_policy(t, priorities[static_cast<unsigned>(primary)],
                             priorities[static_cast<unsigned>(others)], fraction, line, file);
}

// --- the options of a copy

struct no_copy_option {
  static constexpr bool is_hint = false;
  static constexpr bool is_multicast = false;
};

template <class Node>
struct cache_hint_option {
  static constexpr bool is_hint = true;
  static constexpr bool is_multicast = false;
  Node policy;
  constexpr std::uint64_t hash() const { return policy.hash(); }
};
template <class Node>
struct multicast_option {
  static constexpr bool is_hint = false;
  static constexpr bool is_multicast = true;
  Node mask;
  constexpr std::uint64_t hash() const { return mask.hash(); }
};

template <class O>
concept copy_option = requires {
  { O::is_hint } -> std::convertible_to<bool>;
  { O::is_multicast } -> std::convertible_to<bool>;
};

// The copy uses L2 as this policy says.
template <device P>
constexpr auto cache_hint(const P& policy) {
  static_assert(std::is_same_v<element<P>, u64>, "kaio: a cache hint is a policy: l2_evict_first(t)");
  return cache_hint_option<node_of<P>>{policy.node()};
}

// Copies to each block of the cluster whose bit in the mask is set. In each, the data goes to the same place of its
// shared memory, and the mbarrier at the same place counts the bytes.
template <class M>
constexpr auto multicast(const M& mask) {
  auto node = operand_node<u32>(mask);
  static_assert(
      std::is_same_v<element<decltype(node)>, u32>,
      "kaio: a multicast mask is an integer or a value of u32, a bit for each block of the cluster");
  if constexpr (!device<M>)
    if (node.bits == 0 || node.bits > 0xffff)
      node.fault = "kaio: a multicast mask has 16 bits, and one or more of them are set";
  return multicast_option<decltype(node)>{node};
}

namespace detail {

template <class A, class B, bool AllowsMulticast>
constexpr auto require_options() {
  static_assert(copy_option<A> && copy_option<B>,
                "kaio: a copy takes multicast(mask) and cache_hint(policy)");
  static_assert(!(A::is_hint && B::is_hint) && !(A::is_multicast && B::is_multicast),
                "kaio: an option of a copy was given twice");
  static_assert(AllowsMulticast || !(A::is_multicast || B::is_multicast),
                "kaio: multicast is for copies to shared memory");
}

// The options as values; 0: not given.
struct copy_options {
  value mask = 0;
  value policy = 0;

  constexpr modifier multicast_modifier() const {
    return mask != 0 ? modifier::multicast_cluster : modifier::none;
  }
  constexpr modifier hint_modifier() const { return policy != 0 ? modifier::l2_cache_hint : modifier::none; }
  constexpr void use(tracer& t) const {
    if (mask != 0) t.use(mask);
    if (policy != 0) t.use(policy);
  }
};

template <class O>
constexpr void lower_option(tracer& t, const O& option, copy_options& result) {
  if constexpr (O::is_hint) {
    result.policy = t.in_register(lower(t, option.policy));
  } else if constexpr (O::is_multicast) {
    const value mask = t.in_register(lower(t, option.mask));  // PTX takes a register of 16 bits
    result.mask = t.pure({opcode::cvt, 0, ptx::type::u16, ptx::type::u32, ptx::type::b16}, mask);
  }
}

template <class A, class B>
constexpr copy_options lower_options(tracer& t, const A& a, const B& b) {
  copy_options result;
  lower_option(t, a, result);
  lower_option(t, b, result);
  return result;
}

}  // namespace detail

}  // namespace kaio::dsl

namespace kaio {
using dsl::cache_hint;
using dsl::l2_evict_first;
using dsl::l2_evict_last;
using dsl::l2_evict_normal;
using dsl::l2_fraction;
using dsl::l2_priority;
using dsl::multicast;
}  // namespace kaio
