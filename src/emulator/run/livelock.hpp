#pragma once
// Detects a livelock of clusters of blocks that take turns: memory was not written, and all clusters are back
// in their states of some rounds ago. A kernel that reads a clock may wait for time, so it has no livelock.
// With a memory_wait, others may write: then it is asked, also for a kernel that has written nothing for long. Once
// a grid has waited, it asks after each round without a write.
// Source of the search for a cycle: R. P. Brent, "An improved Monte Carlo factorization algorithm" (1980).
//
//   livelock_watch watch(g);
//   ...                    // a cluster has had its turn
//   watch.turn(paused);    // throws fault at a livelock

#include "emulator/machine/cluster.hpp"
#include "emulator/waiting/memory_wait.hpp"

#include <cstddef>
#include <deque>
#include <memory>

namespace kaio::emulator {

class livelock_watch {
 public:
  explicit livelock_watch(const grid& g, memory_wait* wait = nullptr);

  // Call when a cluster has started or ended.
  void reset();
  // Call when a cluster, the last of `paused`, has had its turn. Throws fault at a livelock. True: the grid has waited.
  bool turn(const std::deque<std::unique_ptr<cluster>>& paused);
  // Whether the grid waits for others: then turns should be short.
  bool is_waiting() const { return waits_; }

 private:
  void forget_states();
  bool ask(poll_state state, const std::deque<std::unique_ptr<cluster>>& paused);

  memory_wait* const wait_;
  bool waits_ = false;  // asks after each round without a write
  bool wrote_ = true;   // since it was last asked
  unsigned samples_;    // comparisons of states after which it asks without a proof
  unsigned rounds_;     // without a write, between two comparisons of states
  bool reads_clock_;
  bool known_ = false;
  std::size_t turns_ = 0;  // in this round
  unsigned quiet_ = 0;     // rounds without a write
  u64 changes_ = 0;
  u64 state_ = 0, distance_ = 0, power_ = 1;  // Brent's kept state, its age, and its lifetime
};

}  // namespace kaio::emulator
