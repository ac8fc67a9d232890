#include "emulator/sanitizer/watcher.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"

#include <bit>

namespace kaio::emulator::sanitizing {

watcher::watcher(watched_grid& g, block& b)
    : grid_(g),
      block_(g, b),
      registers_(block_),
      matrices_(block_),
      memory_(block_, registers_),
      constants_(block_),
      order_(block_),
      races_(block_, order_),
      grids_(block_, order_),
      barriers_(block_, order_),
      warps_(block_),
      indices_(block_),
      async_(block_, order_, memory_, constants_, races_, grids_) {}

void watcher::start(block&) {
  block_.start();
  registers_.start();
  matrices_.start();
  order_.start();
  barriers_.start();
  warps_.start();
  indices_.start();
  async_.start();
}

void watcher::finish(block&) {
  async_.finish();
  grid_.reports.settle();
  grid_.early.report(block_.number);
}

void watcher::before(warp& w, const instruction& i, u32 mask) {
  if (grid_.reports.wants(check::uninitialised)) registers_.before(w, i, mask);
  warps_.before(w, i, mask);
  indices_.before(w, i, mask);
  if (mask == 0) return;
  if (matrices_.needed()) matrices_.before(w, i);
  switch (i.op) {
    case operation::fence: order_.fence(w, i, mask); break;
    case operation::griddepcontrol:
      if (static_cast<grid_dependency_form>(i.form) == grid_dependency_form::wait)
        order_.wait_for_grids(w, mask);
      break;
    case operation::proxy_fence:
      if (static_cast<proxy_form>(i.form) == proxy_form::async) async_.fence_proxy(w, mask);
      break;
    case operation::cluster_wait: barriers_.cluster_wait(w, mask); break;
    default: break;
  }
}

void watcher::access(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind,
                     const std::byte* const (&at)[warp_lanes]) {
  if (mask == 0) return;
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  u32 left = mask;
  // Usually one turn, but a generic address may be in a different piece for each lane.
  for (unsigned lead = first; left != 0; lead = static_cast<unsigned>(std::countr_zero(left))) {
    const piece* const p = memory_.find(at[lead], i.site);
    if (p == nullptr) {  // constants and parameters
      left &= ~(1u << lead);
      continue;
    }
    u32 apart = 0;
    const u64 last = p->bytes - bytes;
    for_lanes(left, [&](unsigned lane) {
      if (static_cast<u64>(at[lane] - p->data) > last) apart |= 1u << lane;
    });
    const u32 here = left & ~apart;
    left &= ~here;
    bool consecutive = here == all_lanes;
    for (unsigned lane = 1; consecutive && lane < warp_lanes; ++lane)
      consecutive = at[lane] == at[0] + lane * bytes;
    memory_.access(w, i, here, bytes, kind, *p, at, consecutive);
    constants_.access(w, i, here, bytes, kind, *p, at);
    grids_.access(w, i, here, bytes, kind, *p, at);
    const bool of_mbarrier = i.op == operation::mbarrier;  // it has rules of its own
    if (p->lines != nullptr && !of_mbarrier) races_.access(w, i, here, bytes, kind, *p, at);
  }
}

void watcher::called(warp&, const instruction&, u32 lanes, u32 bytes,
                     const std::byte* const (&frame)[warp_lanes]) {
  memory_.called(lanes, bytes, frame);
}

void watcher::met(warp& w, const instruction& i, u32 lanes, u32 members) {
  warps_.met(w, i, lanes, members);
  if ((lanes & (lanes - 1)) != 0) order_.join_lanes(w, lanes);
}

// ---- barriers ----

void watcher::arrived(warp& w, const instruction& i, u32 lanes, u32 barrier) {
  barriers_.arrived(w, i, lanes, barrier);
}

void watcher::completed(block&, u32 barrier) { barriers_.completed(barrier); }

void watcher::cluster_arrived(warp& w, const instruction& i, u32 lanes) {
  barriers_.cluster_arrived(w, i, lanes);
}

void watcher::cluster_completed(block&) { barriers_.cluster_completed(); }

// ---- work concurrent with the threads ----

void watcher::async_issued(const async_operation& o) { async_.issued(o); }

void watcher::async_completed(const async_operation& o) { async_.completed(o); }

void watcher::async_waited(warp& w, const instruction&, unsigned lane, async_completion kind, u64 groups,
                           bool) {
  async_.waited(w, lane, kind, groups);
}

void watcher::phase_initialized(warp& w, const instruction& i, unsigned lane, block& home, u32 offset) {
  async_.phase_initialized(w, i, lane, home, offset);
}

void watcher::phase_invalidated(warp&, const instruction&, unsigned, block& home, u32 offset) {
  async_.phase_invalidated(home, offset);
}

void watcher::phase_arrived(warp& w, const instruction& i, unsigned lane, block& home, u32 offset, u64) {
  async_.phase_arrived(w, i, lane, home, offset);
}

void watcher::phase_completed(block&, u32 offset, u64) { async_.phase_completed(offset); }

void watcher::phase_seen(warp& w, const instruction& i, u32 lanes, block& home, u32 offset, u64) {
  async_.phase_seen(w, i, lanes, home, offset);
}

}  // namespace kaio::emulator::sanitizing
