#pragma once
// Programmatic dependent launch: a kernel that was launched as the dependent of the one before it in its
// stream may start while that one still runs. Source: PTX ISA, "griddepcontrol". sm_90.
//
//   val i = t.global_id();           // work that does not read the previous kernel's results
//   grid_dependency_wait(t);         // the kernel before has ended, and its writes are seen
//   y[i] = x[i];
//   launch_dependents(t);            // the next kernel may start
//
// In a launch that is not dependent both do nothing. What `in<T>` parameters point to is read by ld.global.nc before the
// wait and by plain ld.global after it: ptxas moves loads that are .nc above the wait.

#include <kaio/dsl/async/fence.hpp>

#include <cstdint>

namespace kaio::dsl {

// Waits until the grids that this one depends on have ended and their writes are seen.
constexpr void grid_dependency_wait(const thread& t, std::uint32_t line = __builtin_LINE(),
                                    const char* file = __builtin_FILE()) {
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (!trace.probing()) trace.wait_for_grids();
}

// When all blocks have called it or ended, the grids that depend on this one may start. What those read is
// still only seen after their grid_dependency_wait().
constexpr void launch_dependents(const thread& t, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::griddepcontrol, in_order(modifier::launch_dependents), line, file);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::grid_dependency_wait;
using dsl::launch_dependents;
}  // namespace kaio
