#pragma once
// The state of a cluster: blocks that are resident together and see each other's shared memory. A grid
// without clusters has clusters of one block. Asynchronous work, such as a bulk copy, is done by its
// cluster, between the turns of warps. run_cluster makes it run.

#include "emulator/machine/asynchronous.hpp"
#include "emulator/machine/block.hpp"

#include <memory>
#include <unordered_set>
#include <vector>

namespace kaio::emulator {

// A shared address that names another block of the cluster carries that block's rank + 1 from this bit on;
// without it, it is of the block that uses it.
inline constexpr unsigned cluster_rank_bit = 24;
inline constexpr u32 cluster_offset_mask = (1u << cluster_rank_bit) - 1;

struct cluster {
  explicit cluster(const grid& g);
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  // Sets everything back to the start of the cluster with this number, from 0 in the order of its index.
  void start(u64 number);
  // How often its blocks have written to memory.
  u64 changes() const;
  bool somebody_is_ready() const;

  // The block that a shared address of `from` is in, and its offset there; nullptr if there is none.
  block* find(block& from, u32 address, u32& offset) const;
  // The same for an access: the shared memory of a block that has ended is no longer there.
  block* find_running(block& from, u32 address, u32& offset) const;

  // ---- work concurrent with the warps ----
  // A warp has had its turn: does the work that is due.
  void pass_time() {
    if (!async.idle()) async.pass_time();
  }
  // Where no warp can move: does asynchronous work until one can. False if there was nothing to do, or one can
  // move.
  bool complete_pending();

  const grid& launched;
  std::vector<std::unique_ptr<block>> blocks;  // by rank
  random_source random;                        // of a random schedule
  asynchronous async;
  u32 turns = 0;                      // of the cluster, since its start
  std::unordered_set<u64> timed_out;  // states in which waits have timed out since the last change of memory
  u64 timed_out_changes = 0;          // changes() then
};

}  // namespace kaio::emulator
