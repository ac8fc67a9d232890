#include "emulator/barrier/cluster_barrier.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <bit>
#include <utility>

namespace kaio::emulator {

void arrive_at_cluster_barrier(warp& w, const instruction& i, u32 lanes) {
  if (const u32 twice = lanes & w.cluster_owed; twice != 0) {
    fault_report report;
    report.kind = fault_kind::barrier;
    report.detail = "a thread arrives at barrier.cluster a second time without waiting in between";
    raise_fault(w, i, static_cast<unsigned>(std::countr_zero(twice)), std::move(report));
  }
  for (const auto& o : w.owner->observers) o->cluster_arrived(w, i, lanes);
  w.cluster_arrived |= lanes;
  w.cluster_owed |= lanes;
  settle_cluster_barrier(w.owner->group);
}

void wait_at_cluster_barrier(warp& w, const instruction& i, u32 lanes) {
  if (const u32 never = lanes & ~w.cluster_owed; never != 0) {
    fault_report report;
    report.kind = fault_kind::barrier;
    report.detail = "a thread waits at barrier.cluster without having arrived";
    raise_fault(w, i, static_cast<unsigned>(std::countr_zero(never)), std::move(report));
  }
  w.cluster_owed &= ~lanes;
  const u32 waiting = lanes & w.cluster_arrived;
  if (waiting != 0) w.wait(waiting, wait_reason::cluster, 0);
  if (!w.owner->launched.explicit_cluster) settle_cluster_barrier(w.owner->group);
}

void settle_cluster_barrier(cluster& c) {
  bool somebody = false;
  for (const auto& b : c.blocks)
    for (const warp& w : b->warps) {
      if ((w.live & ~w.cluster_arrived) != 0) return;
      if (!c.launched.explicit_cluster && (w.live & w.cluster_owed) != 0) return;
      somebody = somebody || w.cluster_arrived != 0;
    }
  if (!somebody) return;
  for (const auto& b : c.blocks) {
    for (const auto& o : b->observers) o->cluster_completed(*b);
    for (warp& w : b->warps) {
      w.cluster_arrived = 0;
      w.wake(wait_reason::cluster, 0);
    }
  }
}

}  // namespace kaio::emulator
