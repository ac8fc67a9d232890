#pragma once
// Votes of the threads of a block on a condition, together with its barrier (PTX bar.red). All threads of the
// block must reach the call; accesses to memory are ordered as by t.barrier().
//
//   l.break_if(block_all(t, done));

#include <kaio/dsl/control/thread.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <scalar T, class C>
constexpr val<T> block_vote(const thread& t, modifier mode, const C& condition, std::uint32_t line,
                            const char* file) {
  static_assert(std::is_same_v<element<C>, bool>, "kaio: a vote takes a condition; write x != 0");
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (trace.probing()) return val<T>(trace, lower(trace, condition.node()));
  const value c = trace.in_register(lower(trace, condition.node()));
  trace.begin(opcode::bar_red, in_order(mode), ptx_type<T>);
  const value result = trace.define(ptx_type<T>);
  trace.add({operand_kind::immediate, ptx::type::u32, 0, 0});
  trace.use(c);
  trace.barrier_passed(trace.loop_depth());
  return val<T>(trace, result);
}

}  // namespace detail

// Whether the condition holds in every thread of the block.
template <device C>
constexpr val<bool> block_all(const thread& t, const C& condition, std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) {
  return detail::block_vote<bool>(t, modifier::and_, condition, line, file);
}

// Whether the condition holds in some thread of the block.
template <device C>
constexpr val<bool> block_any(const thread& t, const C& condition, std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) {
  return detail::block_vote<bool>(t, modifier::or_, condition, line, file);
}

// The number of threads of the block where the condition holds.
template <device C>
constexpr val<u32> block_count(const thread& t, const C& condition, std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) {
  return detail::block_vote<u32>(t, modifier::popc, condition, line, file);
}

}  // namespace kaio::dsl
