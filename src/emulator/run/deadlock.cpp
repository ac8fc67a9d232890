#include "emulator/run/deadlock.hpp"

#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr unsigned waits_listed = 16;
constexpr unsigned missing_listed = 4;

// The state of some lanes of a warp, such as "waits at PTX line 7".
std::string occupation(const warp& w, u32 lanes) {
  if ((lanes & w.live) == 0) return "has ended";
  for (u32 k = 0; k < w.parked; ++k) {
    const lane_group& f = w.lane_groups[k];
    if ((f.lanes & lanes) == 0 || f.reason == wait_reason::none) continue;
    return fmt::format("waits at PTX line {}", w.waiting_at(f).line);
  }
  return "runs";
}

// The threads missing where a lane group waits, and their state, as the rest of a sentence; empty if not
// known.
std::string missing_at(const block& b, const warp& w, const lane_group& f) {
  if (f.reason == wait_reason::members) {
    const u32 missing = f.key & w.existing & ~f.lanes;
    return missing == 0 ? std::string{}
                        : fmt::format("; missing: lanes {:#010x}; the first of them {}", missing,
                                      occupation(w, 1u << static_cast<unsigned>(std::countr_zero(missing))));
  }
  if (f.reason != wait_reason::barrier) return {};
  const barrier& at = b.barriers[f.key];
  std::string result;
  unsigned listed = 0;
  for (const warp& other : b.warps) {
    const u32 missing = other.existing & ~at.arrived[other.index];
    if (missing == 0) continue;
    if (++listed > missing_listed) return result + ", ...";
    result += listed == 1 ? "; missing: " : ", ";
    result += missing == other.existing ? fmt::format("warp {}", other.index)
                                        : fmt::format("warp {} lanes {:#010x}", other.index, missing);
    result += fmt::format(" ({})", occupation(other, missing));
  }
  return result;
}

// Appends a line of text for each waiting group of lanes, with the threads that it waits for.
void list_waits(const block& b, std::string& to, unsigned& listed) {
  for (const warp& w : b.warps)
    for (u32 k = 0; k < w.parked; ++k) {
      const lane_group& f = w.lane_groups[k];
      if (f.reason == wait_reason::none) continue;
      if (++listed > waits_listed) continue;
      const instruction& i = w.waiting_at(f);
      const auto what = [&]() -> std::string {
        switch (f.reason) {
          case wait_reason::matrix: return "the other warps of the warpgroup to issue their wgmma.mma_async";
          case wait_reason::barrier:
            return fmt::format("barrier {} ({} of {} threads have arrived)", f.key,
                               b.barriers[f.key].arrivals,
                               b.barriers[f.key].counted ? b.barriers[f.key].expected
                                                         : static_cast<u32>(b.launched.threads.count()));
          case wait_reason::cluster:
            return b.launched.explicit_cluster
                       ? "the other threads of the cluster"
                       : "all threads of the block to wait, since the launch is without clusters";
          case wait_reason::phase: return b.group.async.phases(b).describe(f.key);
          default: return fmt::format("lanes {:#010x}", f.key);
        }
      }();
      const std::string where =
          b.group.blocks.size() == 1 ? "" : fmt::format("block {} of the cluster, ", b.rank);
      to += fmt::format("\n  {}warp {} lanes {:#010x} wait for {} at PTX line {}: {}{}", where, w.index,
                        f.lanes, what, i.line, text_of(b.launched, i), missing_at(b, w, f));
    }
}

}  // namespace

void raise_deadlock(const cluster& c) {
  std::string who;
  unsigned listed = 0;
  for (const auto& b : c.blocks) list_waits(*b, who, listed);
  if (listed > waits_listed) who += fmt::format("\n  and {} more", listed - waits_listed);
  for (const auto& b : c.blocks)
    for (const warp& w : b->warps)
      for (u32 k = 0; k < w.parked; ++k) {
        const lane_group& f = w.lane_groups[k];
        if (f.reason == wait_reason::none) continue;
        fault_report report;
        report.kind = fault_kind::deadlock;
        report.detail = "threads wait for each other for ever:" + who;
        raise_fault(w, w.waiting_at(f), static_cast<unsigned>(std::countr_zero(f.lanes)), std::move(report));
      }
}

}  // namespace kaio::emulator
