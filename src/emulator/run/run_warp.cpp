#include "emulator/run/run_warp.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"

#include <algorithm>
#include <cstring>

namespace kaio::emulator {
namespace {

// The steps of a lane group that keeps others waiting, for example in a spin loop on a lock that they hold.
constexpr u64 fair_steps = 2048;

// The program counter of a random ready lane group.
u32 any_ready(const warp& w) {
  u32 ready_count = 0;
  for (u32 i = 0; i < w.parked; ++i)
    if (w.lane_groups[i].reason == wait_reason::none) ++ready_count;
  u64 chosen = w.owner->group.random.below(ready_count);
  for (u32 i = 0;; ++i)
    if (w.lane_groups[i].reason == wait_reason::none && chosen-- == 0) return w.lane_groups[i].pc;
}

// Chooses the lane group to run. False if none is ready.
bool select(warp& w) {
  if (w.parked == 0) {
    w.limit = no_limit;
    return w.active != 0;
  }
  const u32 last = w.pc;
  if (w.active != 0) w.park(w.active, w.pc);
  w.active = 0;
  u32 first = no_limit, after_last = no_limit;
  for (u32 i = 0; i < w.parked; ++i) {
    if (w.lane_groups[i].reason != wait_reason::none) continue;
    first = std::min(first, w.lane_groups[i].pc);
    if (w.lane_groups[i].pc > last) after_last = std::min(after_last, w.lane_groups[i].pc);
  }
  if (first == no_limit) return false;
  w.pc = w.rotate && after_last != no_limit ? after_last : first;
  if (w.owner->launched.order.kind == schedule_kind::random) w.pc = any_ready(w);
  w.rotate = false;
  w.limit = no_limit;
  for (u32 i = 0; i < w.parked;) {
    if (w.lane_groups[i].reason == wait_reason::none) {
      if (w.lane_groups[i].pc == w.pc) {
        w.active |= w.lane_groups[i].lanes;
        w.lane_groups[i] = w.lane_groups[--w.parked];
        continue;
      }
      if (w.lane_groups[i].pc > w.pc) w.limit = std::min(w.limit, w.lane_groups[i].pc);
    }
    ++i;
  }
  return true;
}

// Runs the chosen lane group until it leaves its range of the text.
template <bool Observed>
void run_lane_group(warp& w) {
  do {
    const instruction& i = w.code[w.pc++];
    u32 guard;
    std::memcpy(&guard, w.file + i.guard, sizeof guard);
    const u32 mask = w.active & (guard ^ i.guard_inverted);
    if constexpr (Observed)
      for (const auto& o : w.owner->observers) o->before(w, i, mask);
    if (mask != 0) i.execute(w, i, mask);
    if constexpr (Observed)
      for (const auto& o : w.owner->observers) o->after(w, i, mask);
  } while (--w.steps != 0 && w.pc < w.limit);
}

}  // namespace

u64 run_warp(warp& w, u64 budget) {
  u64 left = budget;
  w.yielded = false;
  const bool observed = !w.owner->observers.empty();
  while (left != 0 && !w.yielded && select(w)) {
    w.chosen_steps = w.steps = w.parked == 0 ? left : std::min(left, fair_steps);
    if (observed)
      run_lane_group<true>(w);
    else
      run_lane_group<false>(w);
    const u64 done = w.chosen_steps - w.steps;
    w.executed += done;
    left -= done;
    w.rotate = w.steps == 0 && w.parked != 0;
    w.chosen_steps = w.steps = 0;
  }
  return budget - left;
}

}  // namespace kaio::emulator
