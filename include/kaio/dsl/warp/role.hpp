#pragma once
// Warp roles: the parts of a block that do different work, by warps or warpgroups (4 warps), their register
// counts, and the election of one lane. Ranks are read from lane 0, so that ptxas knows that they are equal
// in the whole warp: guards with them branch without divergence.
//
//   val role = warpgroup_rank(t);
//   if (auto producer = t.when(role == 0)) {
//     decrease_registers<40>(t);
//     if (auto one = t.when(warp_rank(t) == 0 & elect_one(t))) { ... }
//   }
//   if (auto consumer = t.otherwise()) {
//     increase_registers<232>(t);
//   }

#include <kaio/dsl/warp/shuffle.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

constexpr val<u32> group_rank(const thread& t, std::uint32_t threads, std::uint32_t shift, std::uint32_t line,
                              const char* file) {
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (trace.probing()) return val<u32>(trace, trace.new_identity());
  constexpr ptx::type word = ptx::type::u32;
  if (t.block_size() <= threads) return val<u32>(trace, trace.constant(word, 0));
  trace.begin_lowering();
  const value rank = t.thread_rank(0, nullptr).node().lower(trace);
  trace.end_lowering();
  const value group = trace.binary(operation::shr, word, rank, trace.constant(word, shift));
  const shuffle_source from =
      source_of(trace, modifier::idx, trace.constant(word, 0), 32, trace.constant(word, all_lanes));
  return val<u32>(trace, shuffle_word(trace, from, group, nullptr));
}

}  // namespace detail

// The rank of this thread's warp in its block, known to be equal in all lanes. The warp must be whole, and
// all its lanes reach the call together; keep the result in a val.
constexpr val<u32> warp_rank(const thread& t, std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) {
  return detail::group_rank(t, 32, 5, line, file);
}

// The rank of this thread's warpgroup: 128 threads of a block of one dimension.
constexpr val<u32> warpgroup_rank(const thread& t, std::uint32_t line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) {
  return detail::group_rank(t, 128, 7, line, file);
}

// True in one lane of the warp, whose lanes all reach the call together: for copies, arrivals and other work
// of one thread.
constexpr val<bool> elect_one(const thread& t, std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) {
  return elect(t, all_lanes, line, file);
}

namespace detail {

template <std::uint32_t Count>
constexpr void set_registers(const thread& t, modifier direction, std::uint32_t line, const char* file) {
  static_assert(Count >= 24 && Count <= 256 && Count % 8 == 0,
                "kaio: the registers of a thread are a multiple of 8 from 24 to 256");
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (trace.probing()) return;
  trace.begin(opcode::setmaxnreg, in_order(direction), ptx::type::u32);
  trace.add({operand_kind::immediate, ptx::type::u32, 0, Count});
}

}  // namespace detail

// From here on each thread of the warpgroup has Count registers, more than before. Waits until others have
// given them back. All warps of a warpgroup reach it. It takes effect if the kernel bounds its registers at
// entry: kernel_options{.min_blocks = 1, .target = {90, true}}. Source: PTX ISA, "setmaxnreg". sm_90a.
template <std::uint32_t Count>
constexpr void increase_registers(const thread& t, std::uint32_t line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) {
  detail::set_registers<Count>(t, modifier::inc_sync_aligned, line, file);
}

// From here on each thread of the warpgroup has Count registers, fewer than before.
template <std::uint32_t Count>
constexpr void decrease_registers(const thread& t, std::uint32_t line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) {
  detail::set_registers<Count>(t, modifier::dec_sync_aligned, line, file);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::decrease_registers;
using dsl::increase_registers;
}  // namespace kaio
