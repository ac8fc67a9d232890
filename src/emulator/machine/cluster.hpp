#pragma once
// Blocks that are resident together and see each other's shared memory. A grid without clusters has clusters
// of one block. Asynchronous work, as a bulk copy, is done by its cluster, between the turns of
// warps.

#include "emulator/machine/asynchronous.hpp"
#include "emulator/machine/block.hpp"

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace kaio::emulator {

// A shared address that names another block of the cluster carries that block's rank + 1 from this bit on;
// without it, it is of the block that uses it.
inline constexpr unsigned cluster_rank_bit = 24;
inline constexpr u32 cluster_offset_mask = (1u << cluster_rank_bit) - 1;

// All threads of the block have ended.
bool has_ended(const block& b);

struct cluster {
  explicit cluster(const grid& g);
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  // Sets everything back to the start of the cluster with this number, from 0 in the order of its index.
  void start(u64 number);
  // As block::run; `blocked` is reported as a deadlock before it gets here.
  block_status run(u64 budget);

  u64 changes() const;
  u64 fingerprint() const;
  std::string whereabouts() const;
  [[noreturn]] void report_standstill(const std::string& others) const;

  // The block that a shared address of `from` is in, and its offset there; nullptr if there is none.
  block* find(block& from, u32 address, u32& offset) const;
  // The same for an access: the shared memory of a block that has ended is no longer there.
  block* find_running(block& from, u32 address, u32& offset) const;
  // A lane uses the shared memory of a block that has ended.
  [[noreturn]] void raise_ended(const warp& w, const instruction& i, unsigned lane, const block& other,
                                fault_report report = {}) const;

  // ---- barrier.cluster ----
  void arrive(warp& w, const instruction& i, u32 lanes);
  void wait(warp& w, const instruction& i, u32 lanes);
  void settle();  // after the end of some lanes

  // ---- work concurrent with the warps ----
  // Something to do later: not before the turn of the warp that asks for it is over.
  void defer(std::function<void()> operation) { pending.push_back(std::move(operation)); }
  // A warp has had its turn: does the work that is due.
  void pass_time() {
    if (!pending.empty() || !async.idle()) do_what_is_due();
  }
  // Where no warp can move: does deferred and asynchronous work until one can. False if there
  // was nothing to do, or one can move.
  bool complete_pending();

  const grid& launched;
  std::vector<std::unique_ptr<block>> blocks;  // by rank
  std::vector<std::function<void()>> pending;
  asynchronous async;
  random_source random;  // of a random schedule

 private:
  void do_what_is_due();
  bool run_deferred();
  bool somebody_is_ready() const;
  void wake_waiting();
  bool time_out();

  std::unordered_set<u64> timed_out_;  // states in which waits have timed out since the last change of memory
  u64 changes_ = 0;
  u32 turns_ = 0;
};

}  // namespace kaio::emulator
