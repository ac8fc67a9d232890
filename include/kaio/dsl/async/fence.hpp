#pragma once
// Fences between a thread's two ways to shared memory: its own loads and stores (the generic proxy), and engines that
// work for it (the async proxy: bulk and tensor copies, wgmma). A copy is ordered by its mbarrier. If an engine reads
// what a thread has stored, that thread needs a fence, and then a barrier.
// Source: PTX ISA, "fence.proxy.async", "fence.mbarrier_init", "Async proxy".
//
//   tile[i] = x;
//   fence_proxy_async(t);
//   t.barrier();
//   if (auto one = t.when(t.thread_rank() == 0)) store_tensor(map, coordinates(0, 0), tile);

#include <kaio/dsl/control/thread.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

constexpr void emit_bare(const thread& t, opcode op, modifier_list modifiers, std::uint32_t line,
                         const char* file) {
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (!trace.probing()) trace.begin(op, modifiers, ptx::type::none);
}

}  // namespace detail

// Makes this thread's stores to shared memory visible to later copies and wgmma. This thread issues them, or one that a
// barrier orders after it. sm_90.
constexpr void fence_proxy_async(const thread& t, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::fence_proxy, in_order(modifier::async, modifier::shared_cta), line, file);
}

// Does so for this thread's stores to global memory.
constexpr void fence_proxy_async_global(const thread& t, std::uint32_t line = __builtin_LINE(),
                                        const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::fence_proxy, in_order(modifier::async, modifier::global), line, file);
}

// Makes this thread's initialisation of mbarriers visible to copies and to the other blocks of the cluster. Next comes
// t.barrier(), or cluster_barrier(t) in a cluster. sm_90.
constexpr void fence_mbarrier_init(const thread& t, std::uint32_t line = __builtin_LINE(),
                                   const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::fence_mbarrier_init, in_order(modifier::release, modifier::cluster), line,
                    file);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::fence_mbarrier_init;
using dsl::fence_proxy_async;
using dsl::fence_proxy_async_global;
}  // namespace kaio
