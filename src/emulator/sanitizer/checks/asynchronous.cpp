#include "emulator/sanitizer/checks/asynchronous.hpp"

#include "emulator/instructions/matrix/wgmma.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/mbarrier.hpp"
#include "emulator/machine/raise_fault.hpp"
#include "emulator/memory/bit_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace kaio::emulator::sanitizing {

async_check::async_check(watched_block& b, happens_before& order, memory_check& memory,
                         constant_load_check& constants, race_check& races, grid_check& grids)
    : grid_(b.grid),
      block_(b),
      order_(order),
      memory_(memory),
      constants_(constants),
      races_(races),
      grids_(grids) {
  proxies_.resize(b.warps);
  b.async = this;
}

void async_check::start() {
  std::fill(proxies_.begin(), proxies_.end(), proxy_fences{});
  phases_.clear();
  operations_.clear();
  groups_.clear();
  multiplied_.clear();
  copied_.clear();
  copies_.clear();
}

// The actor for all groups of one kind that a warp issues.
u32 async_check::group_actor(u32 by, async_completion kind) {
  return asynchronous_actor | (by * 4 + static_cast<u32>(kind));
}

u32 async_check::actor_of(const async_operation& o) {
  const u32 by = block_.actor_of(*o.by);
  if (o.completion != async_completion::phase) return group_actor(by, o.completion);
  u32& actor = operations_[o.number];
  if (actor == 0) {
    actor = single_operation | ++grid_.operations;
    grid_.issuers[actor] = by;
    actor |= asynchronous_actor;
  }
  return actor;
}

void async_check::issued(const async_operation& o) {
  warp& w = *o.by;
  const instruction& i = *o.issued;
  access_view a{w, i, {}, access_kind::read};
  a.what.time = grid_.order.now;
  a.what.actor = actor_of(o);
  a.what.lanes = 1u << o.lane;
  a.what.pc = static_cast<u32>(&i - w.code) & pc_mask;
  const bool other_proxy = o.completion != async_completion::copy_group;
  for (const async_range& range : o.ranges) {
    const piece* p = nullptr;
    if (range.home == nullptr)
      p = grid_.buffer_at(range.at);
    else if (const watched_block* const home = grid_.watched(*range.home); home != nullptr)
      p = &home->shared;
    if (p == nullptr || range.bytes == 0 || !p->contains(range.at)) continue;
    const u64 offset = static_cast<u64>(range.at - p->data);
    a.kind = range.access;
    a.what.write = range.access != access_kind::read;
    a.what.strength_bits =
        static_cast<u32>(range.access == access_kind::atomic ? strength::atomic : strength::weak) & 3u;
    a.what.reach_bits = static_cast<u32>(reach::device) & 3u;
    a.offset = offset;
    memory_.issued(o, range, *p, offset);
    constants_.issued(o, range, *p, offset);
    grids_.issued(o, range, *p, offset);
    if (p->lines == nullptr) continue;
    if (other_proxy && range.access != access_kind::write) check_proxy(a, *p, offset, range.bytes);
    for (u64 word = offset / 4; word < (offset + range.bytes + 3) / 4; ++word)
      races_.visit_cell(a, *p, word, 0xf);
  }
  if (o.completion == async_completion::copy_group) copies_[o.number] = grid_.order.now;
  if (o.completion != async_completion::phase) {
    std::vector<group_time>& times = groups_[block_.actor_of(w) * warp_lanes + o.lane];
    if (times.empty() || times.back().group != o.group || times.back().kind != o.completion)
      times.push_back({o.group, grid_.order.now, o.completion, a.what.pc});
    else
      times.back().time = grid_.order.now;
  }
  ++grid_.order.now;
}

// Reports writes of threads that the async proxy cannot see yet.
void async_check::check_proxy(const access_view& a, const piece& p, u64 offset, u64 bytes) {
  if (!grid_.reports.wants(check::async)) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(a.what.lanes));
  const u32 issuer = block_.actor_of(a.by);
  const proxy_fences& fences = proxies_[a.by.index];
  for (u64 word = offset / 4; word < (offset + bytes + 3) / 4; ++word) {
    const record r = races_.last_write(p, word);
    if (r.time <= p.origin || (r.actor & asynchronous_actor) != 0) continue;
    const u32 writer_block = block_.block_of(r.actor);
    const watched_block* home = nullptr;
    for (const auto& b : block_.of.group.blocks)
      if (const watched_block* const other = grid_.watched(*b);
          other != nullptr && other->number == writer_block)
        home = other;
    if (home == nullptr) continue;
    const unsigned writer = static_cast<unsigned>(std::countr_zero(r.lanes));
    if (home->async->proxies_[r.actor % block_.warps].time[writer] >= r.time) continue;
    // The issuing thread's own fence covers what that thread knew at the time.
    if (home == &block_ && fences.block_floor[lane] >= r.time) continue;
    if (r.actor == issuer && fences.warp_floor[lane] >= r.time) continue;
    fault_report report;
    report.kind = fault_kind::asynchronous;
    identify(a.by, a.i, lane, report);
    if (!grid_.reports.is_new(check::async, report.ptx_line)) return;
    races_.describe_other(r, writer, report);
    const std::string_view fence = grid_.say("fence_proxy_async(t)", "fence.proxy.async");
    report.detail = fmt::format(
        "an asynchronous operation reads memory that a thread wrote, with no {} in between", fence);
    report.advice = fmt::format(
        "let the threads that wrote execute {} after their stores, then meet the thread that starts the operation at {}",
        fence, grid_.say("t.barrier()", "a barrier"));
    block_.describe_place(p, word * 4, 4, access_kind::read, report);
    grid_.reports.report(check::async, std::move(report));
    return;
  }
}

void async_check::waited(const warp& w, unsigned lane, async_completion kind, u64 groups) {
  if (kind == async_completion::wgmma_group) {
    waited_for_products(w, groups);
    return;
  }
  const u32 by = block_.actor_of(w);
  const auto found = groups_.find(by * warp_lanes + lane);
  if (found == groups_.end()) return;
  u32 until = 0;
  std::erase_if(found->second, [&](const group_time& g) {
    if (g.kind != kind || g.group >= groups) return false;
    until = std::max(until, g.time);
    return true;
  });
  if (until == 0) return;
  const u32 actor = group_actor(by, kind);
  const known_until fact{lane_key(actor, lane), until};
  order_.acquire(w, 1u << lane, grid_.order.add({&fact, 1}, {}));
}

void async_check::finish() {
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
  const warp& w = block_.of.warps[by / warp_lanes % block_.warps];
  fault_report report;
  report.kind = fault_kind::asynchronous;
  identify(w, w.code[first->pc], by % warp_lanes, report);
  if (!grid_.reports.is_new(check::async, report.ptx_line)) return;
  report.detail = "a block ends while a bulk copy that no thread has waited for reads its shared memory";
  report.advice = fmt::format("execute {} after the copies and {} before the thread that started them ends",
                              grid_.say("bulk_commit_group(t)", "cp.async.bulk.commit_group"),
                              grid_.say("bulk_wait_group_read<0>(t)", "cp.async.bulk.wait_group.read 0"));
  grid_.reports.report(check::async, std::move(report));
}

// The four warps of a warpgroup make one product. A warp that has waited for its part knows that the other
// parts are done too. All four number their groups alike.
void async_check::waited_for_products(const warp& w, u64 groups) {
  constexpr auto kind = async_completion::wgmma_group;
  std::vector<known_until> facts;
  const u32 first = w.index - rank_in_warpgroup(w);
  for (u32 k = first; k < std::min(first + warps_of_a_warpgroup, block_.warps); ++k) {
    const u32 by = block_.first_actor + k;
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
    if (until != 0) facts.push_back({actor_key(group_actor(by, kind)), until});
  }
  if (!facts.empty()) order_.acquire(w, w.live, grid_.order.add(facts, {}));
}

void async_check::completed(const async_operation& o) {
  if (o.completion == async_completion::copy_group) {
    // An arrival at an mbarrier for these copies publishes that they are done.
    const auto issued = copies_.find(o.number);
    if (issued == copies_.end()) return;
    u32& until = copied_[block_.actor_of(*o.by) * warp_lanes + o.lane];
    until = std::max(until, issued->second);
    copies_.erase(issued);
    return;
  }
  if (o.completion != async_completion::phase || o.barrier == nullptr) return;
  const auto found = operations_.find(o.number);
  if (found == operations_.end()) return;
  const known_until fact{actor_key(found->second), grid_.order.now++};
  const event_number e = grid_.order.add({&fact, 1}, {});
  if (watched_block* const other = grid_.watched(*o.barrier); other != nullptr)
    other->async->phases_[o.barrier_offset].arrived.push_back(e);
  operations_.erase(found);
}

void async_check::fence_proxy(const warp& w, u32 lanes) {
  proxy_fences& p = proxies_[w.index];
  for_lanes(lanes, [&](unsigned lane) {
    p.time[lane] = grid_.order.now;
    p.warp_floor[lane] = order_.floor_of(w);
    p.block_floor[lane] = order_.floor();
  });
}

// ---- mbarriers ----

void async_check::phase_initialized(const warp& w, const instruction& i, unsigned lane, const block& home,
                                    u32 offset) {
  watched_block* const other = grid_.watched(home);
  if (other == nullptr) return;
  phase_view& phase = other->async->phases_[offset];
  if (phase.valid) report_second_init(w, i, lane, *other, offset);
  phase = {};
  phase.valid = true;
  if (offset + mbarrier_bytes <= other->shared.bytes)
    set_bits(other->shared.defined, offset, mbarrier_bytes, true);
}

void async_check::phase_invalidated(const block& home, u32 offset) {
  if (watched_block* const other = grid_.watched(home); other != nullptr)
    other->async->phases_[offset].valid = false;
}

void async_check::report_second_init(const warp& w, const instruction& i, unsigned lane,
                                     const watched_block& home, u32 offset) {
  if (!grid_.reports.wants(check::async)) return;
  fault_report report;
  report.kind = fault_kind::mbarrier;
  identify(w, i, lane, report);
  if (!grid_.reports.is_new(check::async, report.ptx_line)) return;
  report.detail = "a thread initialises an mbarrier a second time without mbarrier.inval in between";
  report.advice = fmt::format(
      "initialise it once, or execute {} when no thread waits for it any more, and then a barrier",
      grid_.say("invalidate()", "mbarrier.inval"));
  home.describe_place(home.shared, offset, mbarrier_bytes, access_kind::write, report);
  grid_.reports.report(check::async, std::move(report));
}

void async_check::phase_arrived(const warp& w, const instruction& i, unsigned lane, const block& home,
                                u32 offset) {
  watched_block* const other = grid_.watched(home);
  if (other == nullptr) return;
  std::vector<event_number>& events = other->async->phases_[offset].arrived;
  if (i.op == operation::mbarrier) {
    if (i.order != memory_order::relaxed) events.push_back(order_.release(w, 1u << lane));
    return;
  }
  const u32 by = block_.actor_of(w);
  const auto found = copied_.find(by * warp_lanes + lane);
  if (found == copied_.end()) return;
  const u32 actor = group_actor(by, async_completion::copy_group);
  const known_until fact{lane_key(actor, lane), found->second};
  events.push_back(grid_.order.add({&fact, 1}, {}));
}

void async_check::phase_completed(u32 offset) {
  phase_view& p = phases_[offset];
  if (p.last != 0) p.arrived.push_back(p.last);
  p.last = grid_.order.add({}, p.arrived);
  p.arrived.clear();
}

void async_check::phase_seen(const warp& w, const instruction& i, u32 lanes, const block& home, u32 offset) {
  if (i.order == memory_order::relaxed) return;
  if (watched_block* const other = grid_.watched(home); other != nullptr)
    order_.acquire(w, lanes, other->async->phases_[offset].last);
}

}  // namespace kaio::emulator::sanitizing
