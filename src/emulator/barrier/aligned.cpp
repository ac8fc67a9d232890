#include "emulator/barrier/aligned.hpp"

#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace kaio::emulator {

bool is_aligned(operation op) {
  switch (op) {
    case operation::mma:
    case operation::mma_sparse:
    case operation::ldmatrix:
    case operation::stmatrix:
    case operation::movmatrix:
    case operation::wmma_load:
    case operation::wmma_store:
    case operation::wmma_mma:
    case operation::wgmma_mma:
    case operation::wgmma_fence:
    case operation::wgmma_commit:
    case operation::wgmma_wait: return true;
    default: return false;
  }
}

void raise_not_aligned(warp& w, const instruction& i, u32 lanes) {
  fault_report report;
  report.kind = fault_kind::member_mask;
  report.detail = fmt::format(
      "only the lanes {:#010x} of a warp execute an .aligned instruction, which all 32 lanes must execute together; {}",
      lanes,
      w.existing == all_lanes ? "the others have ended or went another way" : "the block has no others");
  raise_fault(w, i, static_cast<unsigned>(std::countr_zero(lanes)), std::move(report));
}

bool assemble(warp& w, const instruction& i, u32 lanes) {
  if (lanes == all_lanes) return true;
  if (w.live != all_lanes) raise_not_aligned(w, i, lanes);
  u32 waiting = 0;
  const auto waits_here = [&](const lane_group& f) {
    return f.reason == wait_reason::members && &w.waiting_at(f) == &i;
  };
  for (u32 k = 0; k < w.parked; ++k)
    if (waits_here(w.lane_groups[k])) waiting |= w.lane_groups[k].lanes;
  if ((lanes | waiting) != all_lanes) {
    w.wait(lanes, wait_reason::members, all_lanes);
    return false;
  }
  for (u32 k = 0; k < w.parked; ++k)
    if (waits_here(w.lane_groups[k])) w.lane_groups[k].reason = wait_reason::none;
  w.limit = 0;  // the woken lanes are at the same next instruction
  return true;
}

}  // namespace kaio::emulator
