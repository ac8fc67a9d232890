#pragma once
// The lanes of a warp: the members of an exchange, the lanes below and above, the election of one.
//
//   val below = popc(ballot(keep) & lanemask_lt());
//   if (auto leader = t.when(elect(t))) queue[0] = x;

#include <kaio/dsl/control/thread.hpp>

#include <cstdint>

namespace kaio::dsl {

inline constexpr std::uint32_t all_lanes = 0xffffffffu;

// Masks of the lanes with a number equal to, less than, at most, greater than, at least that of this lane.
// Source: PTX ISA, "Special Registers" (%lanemask_eq ...).
constexpr special_node<special_register::lanemask_eq> lanemask_eq() { return {}; }
constexpr special_node<special_register::lanemask_lt> lanemask_lt() { return {}; }
constexpr special_node<special_register::lanemask_le> lanemask_le() { return {}; }
constexpr special_node<special_register::lanemask_gt> lanemask_gt() { return {}; }
constexpr special_node<special_register::lanemask_ge> lanemask_ge() { return {}; }

// The lanes that are executing this very instruction. Lanes that could be together need not be: ask ballot()
// which lanes take part in an exchange.
constexpr val<u32> activemask(const thread& t, std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) {
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (trace.probing()) return val<u32>(trace, trace.new_identity());
  trace.begin(opcode::activemask, 0, ptx::type::b32);
  return val<u32>(trace, trace.define(ptx::type::u32));
}

// True in exactly one member lane. Every lane that `members` names must reach the call. elect.sync from sm_90
// on; older architectures take the lowest lane.
template <class M = std::uint32_t>
constexpr val<bool> elect(const thread& t, const M& members = all_lanes,
                          std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  tracer& trace = t.trace();
  trace.statement(line, file);
  using enum ptx::type;
  const value who = lower(trace, operand_node<std::uint32_t>(members));
  if (trace.probing()) return val<bool>(trace, who);
  if (trace.target.sm >= 90) {
    trace.begin(opcode::elect_sync, 0, none);
    trace.add({operand_kind::pair, none, 2, 0});
    trace.add({operand_kind::sink, none, 0, 0});
    const value elected = trace.define(pred);
    trace.use(who);
    return val<bool>(trace, elected);
  }
  // elect.sync waits for the members too.
  trace.begin(opcode::bar_warp_sync, 0, none);
  trace.use(who);
  const value lower_lanes = trace.special(special_register::lanemask_lt);
  const value before = trace.binary(operation::and_, u32, lower_lanes, who);
  return val<bool>(trace, trace.compare(operation::eq, u32, before, trace.constant(u32, 0)));
}

// Waits for the member lanes and orders their accesses to memory (bar.warp.sync).
template <class M = std::uint32_t>
constexpr void sync_warp(const thread& t, const M& members = all_lanes, std::uint32_t line = __builtin_LINE(),
                         const char* file = __builtin_FILE()) {
  tracer& trace = t.trace();
  trace.statement(line, file);
  const value who = lower(trace, operand_node<u32>(members));
  if (trace.probing()) return;
  trace.begin(opcode::bar_warp_sync, 0, ptx::type::none);
  trace.use(who);
}

namespace detail {

// The lanes of this thread's warp that exist. Only the last warp of a block may have fewer than 32.
struct warp_lanes {
  std::uint32_t rest = 0;   // lanes of the last warp if it is partial
  std::uint32_t known = 0;  // lanes of this warp if all warps have equally many
  value count = 0;          // the number of lanes, as a value
  value members = 0;        // their mask
};

constexpr value lane_of(const thread& t) {
  return t.block_size() <= 32 ? lower(t.trace(), t.thread_rank().node())
                              : lower(t.trace(), t.lane_rank().node());
}

constexpr warp_lanes lanes_of(const thread& t) {
  using enum ptx::type;
  tracer& trace = t.trace();
  const std::uint32_t rest = t.block_size() % 32;
  const std::uint32_t mask = (1u << rest) - 1;
  if (rest == 0) return {0, 32, trace.constant(u32, 32), trace.constant(u32, all_lanes)};
  if (t.block_size() < 32) return {rest, rest, trace.constant(u32, rest), trace.constant(u32, mask)};
  const value warp = lower(trace, t.warp_rank().node());
  const value last = trace.compare(operation::eq, u32, warp, trace.constant(u32, t.block_size() / 32));
  const value members = trace.select(u32, last, trace.constant(u32, mask), trace.constant(u32, all_lanes));
  const value count = trace.select(u32, last, trace.constant(u32, rest), trace.constant(u32, 32));
  return {rest, 0, count, members};
}

}  // namespace detail

}  // namespace kaio::dsl

namespace kaio {
using dsl::activemask;
using dsl::all_lanes;
using dsl::lanemask_eq;
using dsl::lanemask_ge;
using dsl::lanemask_gt;
using dsl::lanemask_le;
using dsl::lanemask_lt;
using dsl::sync_warp;
}  // namespace kaio
