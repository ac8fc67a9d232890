#pragma once
// Work concurrent with the threads: finds memory that is used before an operation on it is done, or that the
// operation may not see yet. An asynchronous operation is its own actor: it follows what its thread knew at
// issue. A thread knows of it once it has waited for a group or for a phase of an mbarrier. Groups end in
// order, so a lane's operations of one kind are one actor with one time. An operation that completes a phase
// ends by itself.
//
// A bulk copy, a tensor copy and wgmma see memory through the async proxy. They see a thread's writes only
// after fence.proxy.async, by the writing thread or by the one that issues the operation.

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
  // Shared memory ends with its block: reports copies out of it that no thread has waited for.
  void finish();
  void issued(const async_operation& o);
  void completed(const async_operation& o);
  // The lane's groups with numbers below `groups` are done, or have read their sources. After a wait for the
  // reads alone, the thread may not read the written bytes yet; only the operation's actor may.
  void waited(const warp& w, unsigned lane, async_completion kind, u64 groups);
  void fence_proxy(const warp& w, u32 lanes);

  void phase_initialized(const warp& w, const instruction& i, unsigned lane, const block& home, u32 offset);
  void phase_invalidated(const block& home, u32 offset);
  void phase_arrived(const warp& w, const instruction& i, unsigned lane, const block& home, u32 offset);
  void phase_completed(u32 offset);
  void phase_seen(const warp& w, const instruction& i, u32 lanes, const block& home, u32 offset);

 private:
  void report_second_init(const warp& w, const instruction& i, unsigned lane, const watched_block& home,
                          u32 offset);
  // The operations of a lane that end together.
  struct group_time {
    u64 group;
    u32 time;
    async_completion kind;
    u32 pc;  // first operation
  };
  // The arrivals at an mbarrier.
  struct phase_view {
    std::vector<event_number> arrived;  // in the current phase
    event_number last = 0;              // event for the earlier phases
    bool valid = false;                 // from its initialisation on
  };
  // Each lane's last fence.proxy.async: its time, and the floors of the warp and the block then.
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

  std::vector<proxy_fences> proxies_;                        // per warp
  std::unordered_map<u32, phase_view> phases_;               // by offset in shared memory
  std::unordered_map<u64, u32> operations_;                  // single operations, by number
  std::unordered_map<u32, std::vector<group_time>> groups_;  // by actor * 32 + lane
  std::unordered_map<u32, u32> multiplied_;  // by actor: the time until which its wgmma are known to be done
  std::unordered_map<u32, u32> copied_;      // time of a lane's last finished cp.async
  std::unordered_map<u64, u32> copies_;      // time of issue, by number
};

}  // namespace kaio::emulator::sanitizing
