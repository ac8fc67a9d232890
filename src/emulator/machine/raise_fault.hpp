#pragma once
// Faults of a thread: the report names the kernel, the instruction, the block and the thread.
//
//   fault_report report;
//   report.kind = fault_kind::barrier;
//   report.detail = "...";
//   raise_fault(w, i, lane, std::move(report));

#include "emulator/machine/block.hpp"
#include "emulator/program/error.hpp"

namespace kaio::emulator {

// Fills in the parts of a report that name the thread and the instruction.
void identify(const warp& w, const instruction& i, unsigned lane, fault_report& report);
[[noreturn]] void raise_fault(const warp& w, const instruction& i, unsigned lane, fault_report report);
// A lane uses the shared memory of a block that has ended.
[[noreturn]] void raise_ended(const warp& w, const instruction& i, unsigned lane, const block& other,
                              fault_report report = {});

}  // namespace kaio::emulator
