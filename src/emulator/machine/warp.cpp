#include "emulator/machine/warp.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"

#include <algorithm>
#include <cstring>

namespace kaio::emulator {
namespace {

// A fragment that keeps others waiting, as in a loop that spins on a lock which they hold, runs this long at
// a time.
constexpr u64 fair_steps = 2048;

}  // namespace

void warp::start(u32 lanes) {
  existing = live = active = lanes;
  pc = owner->launched.kernel.start;
  for (call_stack& c : calls) {
    c.frames.clear();
    c.kept.clear();
  }
  matrices.reset();
  limit = 0;
  rotate = yielded = false;
  executed = chosen_steps = steps = 0;
  parked = 0;
  cluster_arrived = cluster_owed = 0;
}

void warp::wake(wait_reason reason, u32 key) {
  for (u32 k = 0; k < parked; ++k)
    if (fragments[k].reason == reason && fragments[k].key == key) {
      fragments[k].reason = wait_reason::none;
      limit = 0;
    }
}

void warp::park(u32 lanes, u32 at) { fragments[parked++] = {lanes, at, wait_reason::none, 0}; }

void warp::wait(u32 lanes, wait_reason reason, u32 key) {
  fragments[parked++] = {lanes, pc, reason, key};
  leave(lanes);
}

bool warp::ready() const {
  if (active != 0) return true;
  for (u32 i = 0; i < parked; ++i)
    if (fragments[i].reason == wait_reason::none) return true;
  return false;
}

// The program counter of one of the fragments that are ready, any of them.
u32 warp::any_ready() const {
  u32 ready_count = 0;
  for (u32 i = 0; i < parked; ++i)
    if (fragments[i].reason == wait_reason::none) ++ready_count;
  u64 chosen = owner->group.random.below(ready_count);
  for (u32 i = 0;; ++i)
    if (fragments[i].reason == wait_reason::none && chosen-- == 0) return fragments[i].pc;
}

bool warp::select() {
  if (parked == 0) {
    limit = no_limit;
    return active != 0;
  }
  const u32 last = pc;
  if (active != 0) park(active, pc);
  active = 0;
  u32 first = no_limit, after_last = no_limit;
  for (u32 i = 0; i < parked; ++i) {
    if (fragments[i].reason != wait_reason::none) continue;
    first = std::min(first, fragments[i].pc);
    if (fragments[i].pc > last) after_last = std::min(after_last, fragments[i].pc);
  }
  if (first == no_limit) return false;
  pc = rotate && after_last != no_limit ? after_last : first;
  if (owner->launched.order.kind == schedule_kind::random) pc = any_ready();
  rotate = false;
  limit = no_limit;
  for (u32 i = 0; i < parked;) {
    if (fragments[i].reason == wait_reason::none) {
      if (fragments[i].pc == pc) {
        active |= fragments[i].lanes;
        fragments[i] = fragments[--parked];
        continue;
      }
      if (fragments[i].pc > pc) limit = std::min(limit, fragments[i].pc);
    }
    ++i;
  }
  return true;
}

namespace {

// Runs the chosen fragment until it leaves its stretch of the text.
template <bool Observed>
void run_fragment(warp& w) {
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
  while (left != 0 && !w.yielded && w.select()) {
    w.chosen_steps = w.steps = w.parked == 0 ? left : std::min(left, fair_steps);
    if (observed)
      run_fragment<true>(w);
    else
      run_fragment<false>(w);
    const u64 done = w.chosen_steps - w.steps;
    w.executed += done;
    left -= done;
    w.rotate = w.steps == 0 && w.parked != 0;
    w.chosen_steps = w.steps = 0;
  }
  return budget - left;
}

}  // namespace kaio::emulator
