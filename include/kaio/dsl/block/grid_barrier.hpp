#pragma once
// The barrier of the whole grid. A kernel that has one is launched cooperatively: all its blocks are resident at once.
// A grid that is too large for that does not start. The caller sets its state, one word of global memory, to zero
// once. The barrier can be passed any number of times, in loops too, and leaves the word ready for the next launch. Two
// launches that may run at the same time need two words.
//
//   kernel<"relax", 256>([](thread t, inout<f32> x, inout<u32> state, val<u32> rounds) {
//     for (auto k : t.range(0u, rounds)) {
//       step(t, x, k);
//       grid_barrier(t, state);
//     }
//   });

#include <kaio/dsl/control/control.hpp>
#include <kaio/dsl/control/thread.hpp>
#include <kaio/dsl/memory/pointer.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// Every block adds 1 to the word, but the first adds 2^31 - (blocks - 1). When all blocks have come, the lower bits
// are 0 again and the highest bit has flipped: it distinguishes the rounds.
constexpr void meet_all_blocks(const thread& t, const inout<u32>& state) {
  using enum ptx::type;
  tracer& trace = t.trace();
  const value blocks = lower(trace, (grid_dim_x() * grid_dim_y() * grid_dim_z()).node());
  const value place = lower(trace, (block_idx_x() | block_idx_y() | block_idx_z()).node());
  const value is_first_block = trace.compare(operation::eq, u32, place, trace.constant(u32, 0));
  const value rest = trace.binary(operation::sub, u32, trace.constant(u32, 0x80000001u), blocks);
  const value mine = trace.select(u32, is_first_block, rest, trace.constant(u32, 1));
  const tracer::address word{state.base, state.offset, 0};
  // A thread that sees the word change sees what this block wrote: acq_rel, at the scope of the GPU.
  trace.begin(opcode::atom, in_order(modifier::acq_rel, modifier::gpu, modifier::global, modifier::add), u32);
  const value before = trace.define(u32);
  trace.add_address(word);
  trace.use(mine);
  const std::uint32_t again = trace.new_label();
  trace.enter_loop();
  trace.place(again);
  const tracer::access acquire{opcode::ld, in_order(modifier::acquire, modifier::gpu, modifier::global)};
  const value current = trace.load(acquire, u32, word);
  const value turned = trace.binary(operation::xor_, u32, before, current);
  const value bit = trace.binary(operation::and_, u32, turned, trace.constant(u32, 0x80000000u));
  const value has_turned = trace.compare(operation::ne, u32, bit, trace.constant(u32, 0));
  trace.leave_loop();
  trace.branch_if(has_turned, true, again);
}

}  // namespace detail

// Waits until every thread of the grid has come; orders memory among all of them. All threads of the grid
// must reach the call. state[0] is 0 before the first launch; nothing else writes it.
constexpr void grid_barrier(const thread& t, const inout<u32>& state, std::uint32_t line = __builtin_LINE(),
                            const char* file = __builtin_FILE()) {
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (trace.probing()) return trace.see(state.base);
  trace.begin_lowering();
  trace.require_cooperative();
  trace.barrier();
  {
    const value rank = lower(trace, t.thread_rank().node());
    const value zero = trace.constant(ptx::type::u32, 0);
    const guard first_thread(trace, trace.compare(operation::eq, ptx::type::u32, rank, zero));
    detail::meet_all_blocks(t, state);
  }
  trace.barrier();
  trace.end_lowering();
}

}  // namespace kaio::dsl
