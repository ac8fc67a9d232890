#pragma once
// The soundness check of a kernel's control flow. The compiler runs a kernel's C++ once, with every guard true
// and every loop's body once, while each thread of the device decides for itself. So C++ that such a run never
// reaches (an else), or drops (what follows a return in a guarded body), would silently be missing from the
// program, and a variable of the host that a body changes would have the changed value for threads that did
// not run the body, or ran it another number of times.
//
// So the kernel is probed: its C++ runs again, recording nothing. A probe sees each statement: its line, the
// operations, types and constants in its expressions, and which values, variables and places in memory they
// name. One probe leaves nothing out and runs the body of each device loop twice in a row, which must see the
// same; then, for each depth of guards and loops, one leaves out the bodies at that depth, and must see the
// same outside of them. What a body does to the host's variables is therefore an error where it shows in a
// statement elsewhere, and only there: what is computed on the host and never reaches the device, and the
// state of a loop of the host or of the copies of an unrolled loop, is C++ as anywhere.

#include <kaio/dsl/trace/trace.hpp>
#include <kaio/ptx/analysis/wgmma_order.hpp>

#include <cstdint>

namespace kaio::dsl {

// What a probe has seen at each depth of guards and loops.
struct probe_result {
  std::uint64_t events[tracer::max_depth] = {};
  std::uint32_t bodies = 0;  // of the depth that it was asked to leave out
  kernel_fault fault;
};

constexpr probe_result result_of(const tracer& t, std::uint32_t deepest) {
  probe_result r;
  r.bodies = t.bodies();
  r.fault = t.fault();
  for (std::uint32_t d = 0; d <= deepest; ++d) r.events[d] = t.events(d);
  return r;
}

// Whether a probe that left out bodies at `depth` (from 1) saw outside of them what the whole kernel has.
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
