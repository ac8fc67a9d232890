#pragma once
// Programmatic dependent launch: a kernel that was launched as a dependent may start while the kernel before it in its
// stream still runs. Source: PTX ISA, "griddepcontrol". sm_90.
//
//   val i = t.global_id();           // work that does not read the previous kernel's results
//   grid_dependency_wait(t);         // the kernel before has ended, and its writes are seen
//   y[i] = x[i];
//   launch_dependents(t);            // the next kernel may start
//
// If the launch is not dependent, both do nothing. Loads through `in<T>` are ld.global.nc before the wait and plain
// ld.global after it, because ptxas moves .nc loads above the wait.

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

// Lets the grids that depend on this one start, once all its blocks have called it or ended. They see this grid's
// writes only after their grid_dependency_wait().
constexpr void launch_dependents(const thread& t, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::griddepcontrol, in_order(modifier::launch_dependents), line, file);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::grid_dependency_wait;
using dsl::launch_dependents;
}  // namespace kaio
