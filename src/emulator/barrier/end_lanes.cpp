#include "emulator/barrier/end_lanes.hpp"

#include "emulator/barrier/block_barrier.hpp"
#include "emulator/barrier/cluster_barrier.hpp"
#include "emulator/barrier/members.hpp"
#include "emulator/machine/block.hpp"

namespace kaio::emulator {

void end_lanes(warp& w, u32 lanes) {
  w.live &= ~lanes;
  w.leave(lanes);
  settle_members(w);
  settle_barriers(*w.owner);
  settle_cluster_barrier(w.owner->group);
}

}  // namespace kaio::emulator
