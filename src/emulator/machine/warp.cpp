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
    if (lane_groups[k].reason == reason && lane_groups[k].key == key) {
      lane_groups[k].reason = wait_reason::none;
      limit = 0;
    }
}

void warp::wait(u32 lanes, wait_reason reason, u32 key) {
  lane_groups[parked++] = {lanes, pc, reason, key};
  leave(lanes);
}

bool warp::ready() const {
  if (active != 0) return true;
  for (u32 i = 0; i < parked; ++i)
    if (lane_groups[i].reason == wait_reason::none) return true;
  return false;
}

}  // namespace kaio::emulator
