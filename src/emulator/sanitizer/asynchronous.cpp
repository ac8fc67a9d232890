// Work concurrent with the threads. An asynchronous operation is an actor of its own: it follows what its
// thread knew when it was issued, and a thread knows of it when it has waited, for a group or for a phase of
// an mbarrier. Groups end in order, so the operations of one kind that a lane issues are one actor with one
// time; an operation that completes a phase ends by itself.
//
// A bulk copy, a tensor copy and wgmma see memory through the async proxy: what threads wrote there is seen
// only after fence.proxy.async, of the thread that wrote or of the one that issues the operation.

#include "emulator/instructions/matrix/wgmma.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/mbarrier.hpp"
#include "emulator/machine/raise_fault.hpp"
#include "emulator/memory/bit_ranges.hpp"
#include "emulator/sanitizer/watcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace kaio::emulator::sanitizing {

u32 watcher::actor_of(const async_operation& o) {
  const u32 by = views_[o.by->index].actor;
  if (o.completion != async_completion::phase)
    return asynchronous_actor | (by * 4 + static_cast<u32>(o.completion));
  u32& actor = operations_[o.number];
  if (actor == 0) {
    actor = single_operation | ++grid_.operations;
    grid_.issuers[actor] = by;
    actor |= asynchronous_actor;
  }
  return actor;
}

void watcher::async_issued(const async_operation& o) {
  warp& w = *o.by;
  const instruction& i = *o.issued;
  access_view a{w, i, {}, access_kind::read};
  a.what.time = grid_.order.now;
  a.what.actor = actor_of(o);
  a.what.lanes = 1u << o.lane;
  a.what.pc = static_cast<u32>(&i - w.code) & pc_mask;
  const bool other_proxy = o.completion != async_completion::copy_group;
  for (const async_range& range : o.ranges) {
    const piece* const p = range.home != nullptr ? shared_of(*range.home) : grid_.buffer_at(range.at);
    if (p == nullptr || range.bytes == 0 || !p->contains(range.at)) continue;
    const u64 offset = static_cast<u64>(range.at - p->data);
    a.kind = range.access;
    a.what.write = range.access != access_kind::read;
    a.what.strength_bits =
        static_cast<u32>(range.access == access_kind::atomic ? strength::atomic : strength::weak) & 3u;
    a.what.reach_bits = static_cast<u32>(reach::device) & 3u;
    a.offset = offset;
    if (p->defined != nullptr) {
      if (range.access != access_kind::write && grid_.reports.wants(check::uninitialised)) {
        bool any = false;
        for (u64 k = 0; k < range.bytes && !any; ++k) any = test_bit(p->defined, offset + k);
        if (!any) report_read(w, i, o.lane, static_cast<u32>(range.bytes), *p, offset);
      }
      if (range.access != access_kind::read) set_bits(p->defined, offset, range.bytes, true);
    }
    if (range.access != access_kind::read && p->input != nullptr && grid_.reports.wants(check::memory))
      report_input(w, i, o.lane, static_cast<u32>(range.bytes), range.access, *p, offset);
    if (p->lines == nullptr) continue;
    if (other_proxy && range.access != access_kind::write) check_proxy(a, *p, offset, range.bytes);
    for (u64 word = offset / 4; word < (offset + range.bytes + 3) / 4; ++word) visit_cell(a, *p, word, 0xf);
  }
  if (o.completion == async_completion::copy_group) copies_[o.number] = grid_.order.now;
  if (o.completion != async_completion::phase) {
    std::vector<group_time>& times = groups_[views_[w.index].actor * warp_lanes + o.lane];
    if (times.empty() || times.back().group != o.group || times.back().kind != o.completion)
      times.push_back({o.group, grid_.order.now, o.completion, a.what.pc});
    else
      times.back().time = grid_.order.now;
  }
  ++grid_.order.now;
}

// The writes of threads that the async proxy cannot see yet.
void watcher::check_proxy(const access_view& a, const piece& p, u64 offset, u64 bytes) {
  if (!grid_.reports.wants(check::async)) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(a.what.lanes));
  const warp_view& issuer = views_[a.by.index];
  for (u64 word = offset / 4; word < (offset + bytes + 3) / 4; ++word) {
    const record r = last_write(p, word);
    if (r.time <= p.origin || (r.actor & asynchronous_actor) != 0) continue;
    const u32 writer_block = block_of(r.actor);
    const watcher* home = nullptr;
    for (const auto& b : block_.group.blocks)
      if (const watcher* const other = grid_.watcher_of(*b);
          other != nullptr && other->number_ == writer_block)
        home = other;
    if (home == nullptr) continue;
    const unsigned writer = static_cast<unsigned>(std::countr_zero(r.lanes));
    if (home->views_[r.actor % warps_].proxy_fenced[writer] >= r.time) continue;
    // The issuing thread's own fence covers what it knew of then.
    if (home == this && issuer.proxy_block[lane] >= r.time) continue;
    if (r.actor == issuer.actor && issuer.proxy_own[lane] >= r.time) continue;
    fault_report report;
    report.kind = fault_kind::asynchronous;
    identify(a.by, a.i, lane, report);
    if (!grid_.reports.is_new(check::async, report.ptx_line)) return;
    describe_other(r, writer, report);
    report.detail =
        "an asynchronous operation reads memory that a thread wrote, with no fence.proxy.async in between";
    report.advice =
        "let the threads that wrote execute fence.proxy.async after their stores, then meet the thread that "
        "starts the operation at a barrier";
    describe_place(p, word * 4, 4, access_kind::read, report);
    grid_.reports.report(check::async, std::move(report));
    return;
  }
}

void watcher::async_waited(warp& w, const instruction&, unsigned lane, async_completion kind, u64 groups,
                           bool read) {
  // A thread that waits for the reads alone may not yet read the written bytes, which only the same actor
  // does.
  static_cast<void>(read);
  if (kind == async_completion::wgmma_group) {
    waited_for_products(w, groups);
    return;
  }
  const u32 by = views_[w.index].actor;
  const auto found = groups_.find(by * warp_lanes + lane);
  if (found == groups_.end()) return;
  u32 until = 0;
  std::erase_if(found->second, [&](const group_time& g) {
    if (g.kind != kind || g.group >= groups) return false;
    until = std::max(until, g.time);
    return true;
  });
  if (until == 0) return;
  const u32 actor = asynchronous_actor | (by * 4 + static_cast<u32>(kind));
  const known_until fact{lane_key(actor, lane), until};
  acquire(w, 1u << lane, grid_.order.add({&fact, 1}, {}));
}

// Shared memory is gone with its block: a thread that copies out of it waits until it has been read.
void watcher::report_unread_at_end() {
  if (!grid_.reports.wants(check::async)) return;
  const group_time* first = nullptr;
  u32 by = 0;
  for (const auto& [lane, times] : groups_)
    for (const group_time& g : times)
      if (g.kind == async_completion::bulk_group && (first == nullptr || g.time < first->time)) {
        first = &g;
        by = lane;
      }
  if (first == nullptr) return;
  const warp& w = block_.warps[by / warp_lanes % warps_];
  fault_report report;
  report.kind = fault_kind::asynchronous;
  identify(w, w.code[first->pc], by % warp_lanes, report);
  if (!grid_.reports.is_new(check::async, report.ptx_line)) return;
  report.detail = "a block ends while a bulk copy that no thread has waited for reads its shared memory";
  report.advice =
      "execute cp.async.bulk.commit_group after the copies and cp.async.bulk.wait_group.read 0 before the "
      "thread that started them ends";
  grid_.reports.report(check::async, std::move(report));
}

// The four warps of a warpgroup make one product, so a warp that has waited for its part of it knows that the
// parts of the others are done too. They name their groups alike.
void watcher::waited_for_products(warp& w, u64 groups) {
  constexpr auto kind = async_completion::wgmma_group;
  std::vector<known_until> facts;
  const u32 first = w.index - rank_in_warpgroup(w);
  for (u32 k = first; k < std::min(first + warps_of_a_warpgroup, warps_); ++k) {
    const u32 by = views_[k].actor;
    u32& last = multiplied_[by];
    u32 until = last;
    const auto found = groups_.find(by * warp_lanes);
    if (found != groups_.end())
      std::erase_if(found->second, [&](const group_time& g) {
        if (g.kind != kind || g.group >= groups) return false;
        until = std::max(until, g.time);
        return k == w.index;
      });
    if (k == w.index) last = until;
    if (until != 0)
      facts.push_back({actor_key(asynchronous_actor | (by * 4 + static_cast<u32>(kind))), until});
  }
  if (!facts.empty()) acquire(w, w.live, grid_.order.add(facts, {}));
}

void watcher::async_completed(const async_operation& o) {
  if (o.completion == async_completion::copy_group) {
    // Who arrives at an mbarrier on behalf of these copies lets know that they are done.
    const auto issued = copies_.find(o.number);
    if (issued == copies_.end()) return;
    u32& until = copied_[views_[o.by->index].actor * warp_lanes + o.lane];
    until = std::max(until, issued->second);
    copies_.erase(issued);
    return;
  }
  if (o.completion != async_completion::phase || o.barrier == nullptr) return;
  const auto found = operations_.find(o.number);
  if (found == operations_.end()) return;
  const known_until fact{actor_key(found->second), grid_.order.now++};
  const event_number e = grid_.order.add({&fact, 1}, {});
  if (watcher* const other = grid_.watcher_of(*o.barrier); other != nullptr)
    other->phases_[o.barrier_offset].arrived.push_back(e);
  operations_.erase(found);
}

// ---- wgmma ----

void watcher::report_matrix(warp& w, const instruction& i, u32 row, std::string detail, std::string advice) {
  fault_report r;
  r.kind = fault_kind::asynchronous;
  identify(w, i, static_cast<unsigned>(std::countr_zero(w.active)), r);
  const u32 reg = grid_.uses.register_at(row);
  r.detail = fmt::format("register {} {}",
                         reg == no_register ? "" : block_.launched.kernel.register_names[reg], detail);
  r.advice = std::move(advice);
  grid_.reports.report(check::async, std::move(r));
}

// The registers of products that are under way belong to them; those that the warp wrote belong to products
// after the next wgmma.fence.
void watcher::check_matrix_registers(warp& w, const instruction& i) {
  const entry& kernel = block_.launched.kernel;
  const u32* const reads = kernel.uses.data() + i.uses;
  const auto touched = [&](u32 reg) -> u32& {
    return matrix_touched_[std::size_t{w.index} * register_count_ + reg];
  };
  u32& fences = matrix_fences_[w.index];
  if (i.op == operation::wgmma_fence) {
    ++fences;
    return;
  }
  if (i.op == operation::wgmma_mma) {
    const wgmma_form form = form_of(i);
    const u32 count = form.registers() + (form.has(wgmma_form::a_registers) ? 4 : 0);
    for (u32 k = 0; k < count; ++k) {
      const u32 row = kernel.rows[i.rows + k], reg = grid_.uses.register_at(row);
      if (reg != no_register && touched(reg) == fences)
        report_matrix(w, i, row,
                      fences == 1
                          ? "is given to the first wgmma.mma_async of the kernel without a wgmma.fence"
                          : "was written since the last wgmma.fence and is given to wgmma.mma_async",
                      "execute wgmma.fence.sync.aligned between the last write of the registers of a product "
                      "and its wgmma.mma_async, and before the first one");
    }
    return;
  }
  const bool busy = w.matrices != nullptr && !w.matrices->members[rank_in_warpgroup(w)].registers.empty();
  for (u32 k = 0; k < u32{i.reads} + i.writes; ++k) {
    const u32 reg = reads[k];
    if (k >= i.reads) touched(reg) = fences;
    if (!busy) continue;
    const u32 row = kernel.register_rows[reg];
    const auto& registers = w.matrices->members[rank_in_warpgroup(w)].registers;
    const auto found = registers.find(row);
    if (found == registers.end() || (k < i.reads && !found->second.destination)) continue;
    report_matrix(w, i, row,
                  fmt::format("is {} while a wgmma.mma_async that uses it is under way",
                              k < i.reads ? "read" : "written"),
                  "commit the product with wgmma.commit_group and wait for it with wgmma.wait_group first");
  }
}

// ---- mbarriers ----

void watcher::phase_initialized(warp&, const instruction&, unsigned, block& home, u32 offset) {
  watcher* const other = grid_.watcher_of(home);
  if (other == nullptr) return;
  other->phases_[offset] = {};
  if (offset + mbarrier_bytes <= other->shared_.bytes)
    set_bits(other->shared_.defined, offset, mbarrier_bytes, true);
}

void watcher::phase_arrived(warp& w, const instruction& i, unsigned lane, block& home, u32 offset, u64) {
  watcher* const other = grid_.watcher_of(home);
  if (other == nullptr) return;
  std::vector<event_number>& events = other->phases_[offset].arrived;
  if (i.op == operation::mbarrier) {
    if (i.order != memory_order::relaxed) events.push_back(release(w, 1u << lane));
    return;
  }
  const u32 by = views_[w.index].actor;
  const auto found = copied_.find(by * warp_lanes + lane);
  if (found == copied_.end()) return;
  const u32 actor = asynchronous_actor | (by * 4 + static_cast<u32>(async_completion::copy_group));
  const known_until fact{lane_key(actor, lane), found->second};
  events.push_back(grid_.order.add({&fact, 1}, {}));
}

void watcher::phase_completed(block& home, u32 offset, u64) {
  static_cast<void>(home);
  phase_view& p = phases_[offset];
  if (p.last != 0) p.arrived.push_back(p.last);
  p.last = grid_.order.add({}, p.arrived);
  p.arrived.clear();
}

void watcher::phase_seen(warp& w, const instruction& i, u32 lanes, block& home, u32 offset, u64) {
  if (i.order == memory_order::relaxed) return;
  if (watcher* const other = grid_.watcher_of(home); other != nullptr)
    acquire(w, lanes, other->phases_[offset].last);
}

}  // namespace kaio::emulator::sanitizing
