#pragma once
// The state of a cluster: blocks that are resident together and see each other's shared memory. A grid
// without clusters has clusters of one block. The cluster does asynchronous work, such as a bulk copy,
// between the turns of warps. run_cluster makes it run.

#include "emulator/machine/asynchronous.hpp"
#include "emulator/machine/block.hpp"

#include <memory>
#include <unordered_set>
#include <vector>

namespace kaio::emulator {

// From this bit on, a shared address in another block of the cluster carries that block's rank + 1. Zero
// there means the block that uses the address.
inline constexpr unsigned cluster_rank_bit = 24;
inline constexpr u32 cluster_offset_mask = (1u << cluster_rank_bit) - 1;

struct cluster {
  explicit cluster(const grid& g);
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  // Sets everything back to the start of cluster `number`, counted from 0 in the order of its index.
  void start(u64 number);
  // How often the cluster's blocks have written to memory.
  u64 changes() const;
  bool somebody_is_ready() const;

  // The block that contains a shared address of `from`, and the offset in it; nullptr if there is none.
  block* find(block& from, u32 address, u32& offset) const;
  // Like find, for an access: the shared memory of an ended block no longer exists.
  block* find_running(block& from, u32 address, u32& offset) const;

  // ---- work concurrent with the warps ----
  // Does the work that is due after a warp's turn.
  void pass_time() {
    if (!async.idle()) async.pass_time();
  }
  // If no warp can move, does asynchronous work until one can. False if one can already move, or there was no
  // work.
  bool complete_pending();

  const grid& launched;
  std::vector<std::unique_ptr<block>> blocks;  // by rank
  random_source random;                        // for a random schedule
  asynchronous async;
  u32 turns = 0;                      // since the cluster's start
  std::unordered_set<u64> timed_out;  // states with timed-out waits, since the last memory change
  u64 timed_out_changes = 0;          // changes() at that time
};

}  // namespace kaio::emulator
