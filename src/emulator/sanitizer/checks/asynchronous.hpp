#pragma once
// Work concurrent with the threads: finds memory that is used before an operation on it is done, or that the
// operation may not see yet. An asynchronous operation is an actor of its own: it follows what its thread
// knew when it was issued, and a thread knows of it when it has waited, for a group or for a phase of an
// mbarrier. Groups end in order, so the operations of one kind that a lane issues are one actor with one
// time; an operation that completes a phase ends by itself.
//
// A bulk copy, a tensor copy and wgmma see memory through the async proxy: what threads wrote there is seen
// only after fence.proxy.async, of the thread that wrote or of the one that issues the operation.

#include "emulator/machine/observer.hpp"
#include "emulator/sanitizer/checks/constant_loads.hpp"
#include "emulator/sanitizer/checks/grids.hpp"
#include "emulator/sanitizer/checks/memory.hpp"
#include "emulator/sanitizer/checks/order.hpp"
#include "emulator/sanitizer/checks/races.hpp"
#include "emulator/sanitizer/state/watched.hpp"

#include <array>
#include <unordered_map>
#include <vector>

namespace kaio::emulator::sanitizing {

class async_check {
 public:
  async_check(watched_block& b, happens_before& order, memory_check& memory, constant_load_check& constants,
              race_check& races, grid_check& grids);

  void start();
  // Shared memory is gone with its block: reports the copies out of it that no thread has waited for.
  void finish();
  void issued(const async_operation& o);
  void completed(const async_operation& o);
  // The groups of the lane with numbers below `groups` are done, or have read their sources. A thread that
  // waits for the reads alone may not yet read the written bytes, which only the same actor does.
  void waited(const warp& w, unsigned lane, async_completion kind, u64 groups);
  void fence_proxy(const warp& w, u32 lanes);

  void phase_initialized(const block& home, u32 offset);
  void phase_arrived(const warp& w, const instruction& i, unsigned lane, const block& home, u32 offset);
  void phase_completed(u32 offset);
  void phase_seen(const warp& w, const instruction& i, u32 lanes, const block& home, u32 offset);

 private:
  // The operations of a lane that end as one.
  struct group_time {
    u64 group;
    u32 time;
    async_completion kind;
    u32 pc;  // of its first operation
  };
  // Of an mbarrier.
  struct phase_view {
    std::vector<event_number> arrived;  // in the present phase
    event_number last = 0;              // of the phases before
  };
  // Of each lane's last fence.proxy.async: its time, and the warp's and the block's floor then.
  struct proxy_fences {
    std::array<u32, warp_lanes> time{}, warp_floor{}, block_floor{};
  };

  u32 actor_of(const async_operation& o);
  static u32 group_actor(u32 by, async_completion kind);
  void check_proxy(const access_view& a, const piece& p, u64 offset, u64 bytes);
  void waited_for_products(const warp& w, u64 groups);

  watched_grid& grid_;
  watched_block& block_;
  happens_before& order_;
  memory_check& memory_;
  constant_load_check& constants_;
  race_check& races_;
  grid_check& grids_;

  std::vector<proxy_fences> proxies_;                        // of each warp
  std::unordered_map<u32, phase_view> phases_;               // by offset in shared memory
  std::unordered_map<u64, u32> operations_;                  // single ones, by their number
  std::unordered_map<u32, std::vector<group_time>> groups_;  // of actor * 32 + lane
  std::unordered_map<u32, u32> multiplied_;  // of an actor: until when its wgmma are known to be done
  std::unordered_map<u32, u32> copied_;      // time of the last cp.async of a lane that is done
  std::unordered_map<u64, u32> copies_;      // time of issue, by their number
};

}  // namespace kaio::emulator::sanitizing
