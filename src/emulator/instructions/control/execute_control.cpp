// Branches, the end of threads, and the barriers of a block (PTX ISA, "Control Flow Instructions" and
// "Parallel Synchronization and Communication Instructions").

#include "emulator/barrier/block_barrier.hpp"
#include "emulator/barrier/end_lanes.hpp"
#include "emulator/instructions/execute.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace kaio::emulator {
namespace {

void branch(warp& w, const instruction& i, u32 mask) {
  const auto target = static_cast<u32>(i.immediate);
  if (mask == w.active) {
    w.pc = target;
    return;
  }
  w.park(mask, target);
  w.leave(mask);
}

void branch_to_listed(warp& w, const instruction& i, u32 mask) {
  const std::byte* const row = w.file + i.from[0];
  for (u32 left = mask; left != 0;) {
    const auto first = static_cast<unsigned>(std::countr_zero(left));
    const u32 index = get<u32>(row, first);
    if (index >= i.rows) {
      fault_report report;
      report.kind = fault_kind::invalid_pc;
      report.detail = fmt::format("brx.idx with the index {} into a list of {} labels", index, i.rows);
      raise_fault(w, i, first, std::move(report));
    }
    u32 lanes = 0;
    for_lanes(left, [&](unsigned lane) {
      if (get<u32>(row, lane) == index) lanes |= 1u << lane;
    });
    left &= ~lanes;
    const u32 target = w.owner->launched.kernel.branch_targets[i.detail + index];
    if (lanes == w.active) {
      w.pc = target;
      return;
    }
    w.park(lanes, target);
    w.leave(lanes);
  }
}

void end(warp& w, const instruction&, u32 mask) { end_lanes(w, mask); }

void stop(warp& w, const instruction& i, u32 mask) {
  fault_report report;
  report.kind = fault_kind::trap;
  report.detail = i.op == operation::trap ? "a thread executed 'trap'" : "a thread executed 'brkpt'";
  raise_fault(w, i, static_cast<unsigned>(std::countr_zero(mask)), std::move(report));
}

void nothing(warp&, const instruction&, u32) {}

void sleep(warp& w, const instruction&, u32) { w.yield(); }

// Lanes may name different barriers in one instruction: the lanes of each barrier arrive separately.
void arrive(warp& w, const instruction& i, u32 mask) {
  const u32 predicate = i.op == operation::bar_red ? condition(w, i, 2) : all_lanes;
  for (u32 left = mask; left != 0;) {
    const auto first = static_cast<unsigned>(std::countr_zero(left));
    const u32 number = get<u32>(w.file + i.from[0], first);
    const u32 count = i.flags.counted ? get<u32>(w.file + i.from[1], first) : 0;
    u32 lanes = 0;
    for_lanes(left, [&](unsigned lane) {
      if (get<u32>(w.file + i.from[0], lane) != number) return;
      if (i.flags.counted && get<u32>(w.file + i.from[1], lane) != count) return;
      lanes |= 1u << lane;
    });
    // A count of zero means all threads, as if there were none.
    arrive_at_barrier(w, i, lanes, number, count != 0, count, predicate, i.op != operation::bar_arrive);
    left &= ~lanes;
  }
}

}  // namespace

handler control_handler(const instruction& i) {
  switch (i.op) {
    case operation::bra: return &branch;
    case operation::brx: return &branch_to_listed;
    case operation::exit: return &end;
    case operation::trap:
    case operation::brkpt: return &stop;
    case operation::nanosleep: return &sleep;
    case operation::nop:
    case operation::prefetch: return &nothing;
    case operation::bar_sync:
    case operation::bar_arrive:
    case operation::bar_red: return &arrive;
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
