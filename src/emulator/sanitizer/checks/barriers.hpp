#pragma once
// Finds misused barriers: (1) lanes of a warp arrive at different instructions, or not all together at
// bar.sync; (2) threads have ended without a barrier that is for all; (3) a reduction meets another
// operation. The arrivals are kept until the barrier completes. Then its threads know what each of them knew
// (order.hpp). This holds for a cluster's barrier.cluster too.

#include "emulator/sanitizer/checks/order.hpp"
#include "emulator/sanitizer/state/watched.hpp"

#include <array>
#include <string>
#include <vector>

namespace kaio::emulator::sanitizing {

class barrier_check {
 public:
  barrier_check(watched_block& b, happens_before& order);

  void start();
  void arrived(warp& w, const instruction& i, u32 lanes, u32 number);
  void completed(u32 number);
  void cluster_arrived(const warp& w, const instruction& i, u32 lanes);
  void cluster_wait(const warp& w, u32 lanes);
  void cluster_completed();

 private:
  struct arrival {
    u32 lanes = 0;    // arrived lanes
    u32 waiting = 0;  // the waiting ones of them
    u32 pc = 0;       // pc of the first of them
  };
  struct barrier_view {
    std::vector<arrival> warps;  // by index
    std::vector<event_number> arrived;
    u32 op = 0;  // 0: no thread has arrived; otherwise the first thread's operation plus 1
    u32 pc = 0;  // of that operation
  };

  std::string out_of_branch() const;
  void check_completed(u32 number, const barrier_view& b);
  void report(const warp& w, const instruction& i, u32 lanes, std::string detail, std::string advice);

  watched_grid& grid_;
  watched_block& block_;
  happens_before& order_;
  std::array<barrier_view, barriers_of_a_block> barriers_;
  std::vector<event_number> cluster_arrivals_;
  event_number cluster_phase_ = 0;
  std::vector<u32> cluster_waiting_;  // per warp: its waiting lanes
};

}  // namespace kaio::emulator::sanitizing
