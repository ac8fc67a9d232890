#pragma once
// The soundness check of a kernel's control flow. The compiler runs a kernel's C++ once, with every guard
// true and every loop's body once; each thread of the device decides for itself. C++ that such a run never
// reaches (an else) or drops (after a return in a guarded body) would silently be missing from the program. A
// body may also change a variable of the host. Threads that skip the body, or run it another number of times,
// would have the changed value too.
//
// So the kernel is probed: its C++ runs again, recording nothing. A probe sees the line of each statement,
// and the operations, types and constants in its expressions. It sees the values, variables and places in
// memory that they name. One probe leaves nothing out and runs the body of each device loop twice in a row;
// both rounds must see the same. Then, for each depth of guards and loops, a probe leaves out the bodies at
// that depth, and must see the same outside of them. A body's change of a host variable is an error only if a
// statement elsewhere shows it. Host results that never reach the device, and the state of host loops or of
// the copies of an unrolled loop, are ordinary C++.

#include <kaio/dsl/trace/trace.hpp>
#include <kaio/ptx/analysis/wgmma_order.hpp>

#include <cstdint>

namespace kaio::dsl {

// The events that a probe has seen at each depth of guards and loops.
struct probe_result {
  std::uint64_t events[tracer::max_depth] = {};
  std::uint32_t bodies = 0;  // of the depth that is left out
  kernel_fault fault;
};

constexpr probe_result result_of(const tracer& t, std::uint32_t deepest) {
  probe_result r;
  r.bodies = t.bodies();
  r.fault = t.fault();
  for (std::uint32_t d = 0; d <= deepest; ++d) r.events[d] = t.events(d);
  return r;
}

// Whether a probe that left out bodies at `depth` (from 1) saw the whole kernel's events outside of them.
constexpr bool agree(const probe_result& whole, const probe_result& probe, std::uint32_t depth) {
  for (std::uint32_t d = 0; d < depth; ++d)
    if (whole.events[d] != probe.events[d]) return false;
  return true;
}

// The rules of wgmma for the order of a kernel's statements.
constexpr kernel_fault fault_of(const ptx::wgmma_fault& f) {
  if (f.many_owners)
    return {"kaio: wgmma has more than 64 accumulators and operands in registers; reuse some of them"};
  if (f.many_labels) return {"kaio: a kernel with wgmma has too many loops and guards (4096 labels)"};
  if (f.accumulator != 0)
    return {"kaio: an accumulator is read or written while wgmma may still write it; wgmma_wait<0>(t) first",
            nullptr, f.accumulator};
  if (f.operand != 0)
    return {
        "kaio: the registers of A are written while wgmma may still read them; wgmma_wait<0>(t) first, or take other registers",
        nullptr, f.operand};
  if (f.unfenced != 0)
    return {
        "kaio: the product uses registers that were read or written inside its wgmma_batch; do so before the batch",
        nullptr, f.unfenced};
  return {};
}

}  // namespace kaio::dsl
