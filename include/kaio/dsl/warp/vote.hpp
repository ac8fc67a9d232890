#pragma once
// Votes of the lanes of a warp on a condition (PTX vote.sync). Every lane that `members` names must reach the
// call.
//
//   l.break_if(warp_all(done));
//   val hits = ballot(x > limit);         // a bit for each lane

#include <kaio/dsl/warp/lanes.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

constexpr value vote(tracer& t, modifier mode, value condition, value members) {
  const bool is_ballot = mode == modifier::ballot;
  condition = t.in_register(condition);
  t.begin(opcode::vote_sync, in_order(mode), is_ballot ? ptx::type::b32 : ptx::type::pred);
  const value result = t.define(is_ballot ? ptx::type::u32 : ptx::type::pred);
  t.use(condition);
  t.use(members);
  return result;
}

template <scalar T, class C, class M>
constexpr auto vote(modifier mode, const C& condition, const M& members, std::uint32_t line,
                    const char* file) {
  static_assert(std::is_same_v<element<C>, bool>, "kaio: a vote takes a condition; write x != 0");
  static_assert(node_of<C>::bound, "kaio: the condition knows no kernel yet; bind it with t.let(condition)");
  const auto node = condition.node();
  tracer& t = kernel_of(node);
  t.statement(line, file);
  const value c = lower(t, node);
  const value who = lower(t, operand_node<u32>(members));
  if (t.probing()) return val<T>(t, who);
  return val<T>(t, vote(t, mode, c, who));
}

}  // namespace detail

// Whether the condition holds in every member lane.
template <device C, class M = std::uint32_t>
constexpr auto warp_all(const C& condition, const M& members = all_lanes,
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::vote<bool>(modifier::all, condition, members, line, file);
}

// Whether the condition holds in some member lane.
template <device C, class M = std::uint32_t>
constexpr auto warp_any(const C& condition, const M& members = all_lanes,
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::vote<bool>(modifier::any, condition, members, line, file);
}

// Whether the condition is the same in every member lane (vote.uni).
template <device C, class M = std::uint32_t>
constexpr auto warp_uniform(const C& condition, const M& members = all_lanes,
                            std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::vote<bool>(modifier::uni, condition, members, line, file);
}

// The mask of the member lanes where the condition holds.
template <device C, class M = std::uint32_t>
constexpr auto ballot(const C& condition, const M& members = all_lanes, std::uint32_t line = __builtin_LINE(),
                      const char* file = __builtin_FILE()) {
  return detail::vote<u32>(modifier::ballot, condition, members, line, file);
}

}  // namespace kaio::dsl
