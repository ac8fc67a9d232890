#include "emulator/machine/warp.hpp"

namespace kaio::emulator {

void warp::start(u32 lanes, u32 first) {
  existing = live = active = lanes;
  pc = first;
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

}  // namespace kaio::emulator
