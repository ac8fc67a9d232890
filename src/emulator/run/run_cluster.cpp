#include "emulator/run/run_cluster.hpp"

#include "emulator/machine/lanes.hpp"
#include "emulator/run/deadlock.hpp"
#include "emulator/run/fingerprint.hpp"

#include <algorithm>

namespace kaio::emulator {
namespace {

constexpr std::size_t most_time_outs = 4096;  // waits that change registers only
constexpr u32 patience = 64;                  // turns until waits time out although others move

// Ends the waits for a phase of an mbarrier (mbarrier.try_wait) without success, as after their time limit.
void wake_waiting(cluster& c) {
  for (const auto& b : c.blocks)
    for (warp& w : b->warps)
      for (u32 k = 0; k < w.parked; ++k) {
        lane_group& f = w.lane_groups[k];
        if (f.reason != wait_reason::phase) continue;
        f.reason = wait_reason::none;
        w.limit = 0;
        put_mask(w, w.waiting_at(f).to[0], 0, f.lanes);
      }
}

// For when no thread can move: ends waits with a time limit, unless that was tried in this very state.
bool time_out(cluster& c) {
  if (c.changes() != c.timed_out_changes) {
    c.timed_out_changes = c.changes();
    c.timed_out.clear();
  }
  if (c.timed_out.size() >= most_time_outs || !c.timed_out.insert(fingerprint(c)).second) return false;
  wake_waiting(c);
  return c.somebody_is_ready();
}

}  // namespace

block_status run_cluster(cluster& c, u64 steps, work_meter& meter) {
  if (c.blocks.size() > 1) steps = std::min(steps, u64{4096});
  bool alive = false, moved = false;
  for (const auto& b : c.blocks) {
    const block_status status = run_block(*b, steps, meter);
    alive = alive || status != block_status::finished;
    moved = moved || status == block_status::paused;
  }
  if (!alive) {
    c.async.drain();
    return block_status::finished;
  }
  if (++c.turns % patience == 0) wake_waiting(c);
  // A block may have ended, or woken another one whose turn was over.
  if (moved || c.somebody_is_ready() || c.complete_pending() || time_out(c)) return block_status::paused;
  raise_deadlock(c);
  return block_status::blocked;
}

}  // namespace kaio::emulator
