#include "emulator/sanitizer/checks/barriers.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace kaio::emulator::sanitizing {

barrier_check::barrier_check(watched_block& b, happens_before& order)
    : grid_(b.grid), block_(b), order_(order) {
  cluster_waiting_.resize(b.warps);
  b.barriers = this;
}

void barrier_check::start() {
  for (barrier_view& v : barriers_) v = {};
  cluster_arrivals_.clear();
  std::fill(cluster_waiting_.begin(), cluster_waiting_.end(), 0u);
}

void barrier_check::report(const warp& w, const instruction& i, u32 lanes, std::string detail,
                           std::string advice) {
  if (!grid_.reports.wants(check::barriers)) return;
  fault_report r;
  r.kind = fault_kind::barrier;
  identify(w, i, static_cast<unsigned>(std::countr_zero(lanes)), r);
  r.detail = std::move(detail);
  r.advice = std::move(advice);
  grid_.reports.report(check::barriers, std::move(r));
}

std::string barrier_check::out_of_branch() const {
  return std::string(grid_.say(
      "call the barrier where all of its threads pass: outside of t.when, and of loops whose turns differ by thread",
      "move the barrier out of the branch, or use barrier.sync without .aligned"));
}

void barrier_check::arrived(warp& w, const instruction& i, u32 lanes, u32 number) {
  barrier_view& b = barriers_[number];
  if (b.warps.empty()) b.warps.resize(block_.of.warps.size());
  const u32 op = static_cast<u32>(i.op) + 1;
  const auto reduces = [](u32 o) { return o == static_cast<u32>(operation::bar_red) + 1; };
  if (b.op == 0) {
    b.op = op;
    b.pc = static_cast<u32>(&i - w.code);
  } else if (reduces(op) != reduces(b.op)) {
    report(w, i, lanes,
           fmt::format("threads meet at barrier {} with a reduction and without one: the other is at {}",
                       number, grid_.place_of(w.code[b.pc])),
           "use another barrier number, or let all threads reduce");
  }
  arrival& a = b.warps[w.index];
  const auto pc = static_cast<u32>(&i - w.code);
  if (a.lanes == 0) {
    a.pc = pc;
  } else if (a.pc != pc && (i.flags.aligned || w.code[a.pc].flags.aligned)) {
    report(
        w, i, lanes,
        fmt::format(
            "a divergent barrier: lanes of one warp arrive at barrier {} here, others at {}; {} wants all lanes of a warp at one {}",
            number, grid_.place_of(w.code[a.pc]), grid_.say("it", "bar.sync"),
            grid_.say("statement", "instruction")),
        out_of_branch());
  }
  a.lanes |= lanes;
  order_.arrive(w, lanes);
  // A thread that only arrives continues at once; the barrier does not cover what it does from here on.
  if (i.op == operation::bar_arrive)
    b.arrived.push_back(order_.release(w, lanes));
  else
    a.waiting |= lanes;
}

void barrier_check::check_completed(u32 number, const barrier_view& b) {
  const barrier& state = block_.of.barriers[number];
  for (const warp& w : block_.of.warps) {
    const arrival& a = b.warps[w.index];
    if (a.lanes == 0) continue;
    const instruction& i = w.code[a.pc];
    if (const u32 missing = w.live & ~a.lanes; missing != 0 && i.flags.aligned)
      report(
          w, i, a.lanes,
          fmt::format(
              "a divergent barrier: barrier {} completes without lanes {:#010x} of the warp; {} needs all lanes together",
              number, missing, grid_.say("it", "bar.sync")),
          out_of_branch());
  }
  if (state.counted) {
    for (const warp& w : block_.of.warps) {
      const arrival& a = b.warps[w.index];
      if (a.lanes == 0 || !w.code[a.pc].flags.aligned || (w.existing & ~w.live & ~a.lanes) == 0) continue;
      report(
          w, w.code[a.pc], a.lanes,
          fmt::format(
              "a divergent barrier: lanes {:#010x} of the warp have ended, and {} wants all of them at barrier {} together",
              w.existing & ~w.live & ~a.lanes, grid_.say("it", "bar.sync"), number),
          out_of_branch());
    }
    return;
  }
  for (const warp& w : block_.of.warps) {
    const u32 ended = w.existing & ~w.live & ~b.warps[w.index].lanes;
    if (ended == 0) continue;
    for (const warp& other : block_.of.warps) {
      const arrival& a = b.warps[other.index];
      if (a.lanes == 0) continue;
      report(
          other, other.code[a.pc], a.lanes,
          fmt::format(
              "barrier {} is for all threads of the block, and lanes {:#010x} of warp {} have ended without it",
              number, ended, w.index),
          fmt::format("let the threads that have nothing to do skip the work and not the barrier, or {}",
                      grid_.say("use a named_barrier of the others", "give the barrier a thread count")));
      return;
    }
  }
}

void barrier_check::completed(u32 number) {
  barrier_view& b = barriers_[number];
  if (b.warps.empty()) return;
  check_completed(number, b);
  bool everybody = b.arrived.empty();
  for (const warp& w : block_.of.warps) everybody = everybody && (w.live & ~b.warps[w.index].waiting) == 0;
  if (everybody) {
    grid_.reports.settle();
    grid_.early.report(block_.number);
    order_.join_block();
  } else {
    for (const warp& w : block_.of.warps)
      if (const u32 lanes = b.warps[w.index].waiting; lanes != 0)
        b.arrived.push_back(order_.release(w, lanes));
    const event_number all = grid_.order.add({}, b.arrived);
    for (const warp& w : block_.of.warps)
      if (const u32 lanes = b.warps[w.index].waiting; lanes != 0) {
        order_.acquire(w, lanes, all);
        if ((lanes & (lanes - 1)) != 0) order_.join_lanes(w, lanes);
      }
  }
  for (arrival& a : b.warps) a = {};
  b.arrived.clear();
  b.op = 0;
}

// ---- barrier.cluster ----

void barrier_check::cluster_arrived(const warp& w, const instruction& i, u32 lanes) {
  order_.arrive(w, lanes);
  if (i.order != memory_order::relaxed) cluster_arrivals_.push_back(order_.release(w, lanes));
}

void barrier_check::cluster_wait(const warp& w, u32 lanes) {
  const u32 open = lanes & w.cluster_arrived;
  cluster_waiting_[w.index] |= open;
  if ((lanes & ~open) != 0) order_.acquire(w, lanes & ~open, cluster_phase_);
}

void barrier_check::cluster_completed() {
  // Every block is notified, one after the other. The first one gathers the releases of all.
  if (block_.of.rank == 0) {
    std::vector<event_number> all;
    for (const auto& b : block_.of.group.blocks)
      if (watched_block* const other = grid_.watched(*b); other != nullptr) {
        std::vector<event_number>& arrivals = other->barriers->cluster_arrivals_;
        all.insert(all.end(), arrivals.begin(), arrivals.end());
        arrivals.clear();
      }
    const event_number phase = grid_.order.add({}, all);
    for (const auto& b : block_.of.group.blocks)
      if (watched_block* const other = grid_.watched(*b); other != nullptr)
        other->barriers->cluster_phase_ = phase;
  }
  for (const warp& w : block_.of.warps)
    if (u32& lanes = cluster_waiting_[w.index]; lanes != 0) {
      order_.acquire(w, lanes, cluster_phase_);
      lanes = 0;
    }
}

}  // namespace kaio::emulator::sanitizing
