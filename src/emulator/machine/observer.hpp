#pragma once
// Watches kernels run: the sanitizer, and the counters of a profile. A watched grid reports to its observers
// what its warps do. An unwatched grid pays only for a test.

#include "emulator/program/error.hpp"
#include "emulator/program/scalar.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace kaio::emulator {

struct block;
struct grid;
struct instruction;
struct warp;

// A piece of memory that an asynchronous operation reads or writes.
struct async_range {
  block* home = nullptr;    // the block of the shared memory; nullptr: global memory
  std::byte* at = nullptr;  // in the host's memory
  u64 bytes = 0;
  access_kind access = access_kind::read;
};

// Where the end of an asynchronous operation becomes visible.
enum class async_completion : u8 {
  copy_group,   // cp.async: in a group of its thread
  bulk_group,   // cp.async.bulk: in a bulk group of its thread
  phase,        // a phase of an mbarrier
  wgmma_group,  // wgmma: in a wgmma-group of its warp; lane 0 represents all lanes
};

// One lane's copy, reduction or store that runs concurrently with the program. A watched grid lists its
// memory.
struct async_operation {
  u64 number = 0;  // in the order of issue within the cluster
  warp* by = nullptr;
  const instruction* issued = nullptr;
  unsigned lane = 0;
  async_completion completion = async_completion::copy_group;
  u64 group = 0;             // counted per lane, from 0; committed once the lane has committed more groups
  block* barrier = nullptr;  // the block whose mbarrier it completes
  u32 barrier_offset = 0;    // in that block's shared memory
  std::vector<async_range> ranges;
};

// Watches one block at a time. A block object is reused for the next index: `start` marks its new beginning.
// Calls come from the thread that runs the block. Other blocks' threads may call at the same time. Any call
// may throw fault.
class observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer() = default;

  virtual void start(block&) {}
  virtual void finish(block&) {}

  // Calls around an instruction of the warp's active lanes; `mask`: the lanes that pass its guard, possibly
  // none. After an instruction at which lanes wait, `after` is called at once, while they wait.
  virtual void before(warp&, const instruction&, u32 mask) { static_cast<void>(mask); }
  virtual void after(warp&, const instruction&, u32 mask) { static_cast<void>(mask); }

  // Each lane of `mask` accesses `bytes` at at[lane] in the host's memory. Called before the access, after
  // its bounds check.
  virtual void access(warp&, const instruction&, u32 mask, u32 bytes, access_kind,
                      const std::byte* const (&at)[warp_lanes]) {
    static_cast<void>(mask), static_cast<void>(bytes), static_cast<void>(at);
  }

  // The lanes call a function whose frame of local memory, `bytes` long, begins at frame[lane] in the host's
  // memory. Nothing in it is initialised. The accesses that store arguments there are reported next, as are
  // the ones that return results.
  virtual void called(warp&, const instruction&, u32 lanes, u32 bytes,
                      const std::byte* const (&frame)[warp_lanes]) {
    static_cast<void>(lanes), static_cast<void>(bytes), static_cast<void>(frame);
  }

  // Lanes of a warp have executed a .sync instruction together. `members`: its mask, which may name ended or
  // missing lanes.
  virtual void met(warp&, const instruction&, u32 lanes, u32 members) {
    static_cast<void>(lanes), static_cast<void>(members);
  }
  // Lanes arrive at a barrier of the block. Released lanes are reported when it completes.
  virtual void arrived(warp&, const instruction&, u32 lanes, u32 barrier) {
    static_cast<void>(lanes), static_cast<void>(barrier);
  }
  virtual void completed(block&, u32 barrier) { static_cast<void>(barrier); }
  // Like arrived, for barrier.cluster: every block of the cluster is notified.
  virtual void cluster_arrived(warp&, const instruction&, u32 lanes) { static_cast<void>(lanes); }
  virtual void cluster_completed(block&) {}

  // ---- work concurrent with the program ----
  // An operation was issued: from now until it completes it may read and write at any time. The observer of
  // the issuing block is notified.
  virtual void async_issued(const async_operation&) {}
  virtual void async_read(const async_operation&) {}  // it has read its sources, and will write
  virtual void async_completed(const async_operation&) {}
  // A lane has waited: its groups with numbers below `groups` are complete, or, if `read`, have read.
  virtual void async_waited(warp&, const instruction&, unsigned lane, async_completion, u64 groups,
                            bool read) {
    static_cast<void>(lane), static_cast<void>(groups), static_cast<void>(read);
  }
  // The life of the mbarrier at `offset` in the shared memory of `home`. The observer of the acting lane's
  // block is notified; for a completion, the observer of `home`.
  virtual void phase_initialized(warp&, const instruction&, unsigned lane, block& home, u32 offset) {
    static_cast<void>(lane), static_cast<void>(home), static_cast<void>(offset);
  }
  virtual void phase_invalidated(warp&, const instruction&, unsigned lane, block& home, u32 offset) {
    static_cast<void>(lane), static_cast<void>(home), static_cast<void>(offset);
  }
  virtual void phase_arrived(warp&, const instruction&, unsigned lane, block& home, u32 offset, u64 phase) {
    static_cast<void>(lane), static_cast<void>(home), static_cast<void>(offset), static_cast<void>(phase);
  }
  virtual void phase_completed(block& home, u32 offset, u64 phase) {
    static_cast<void>(home), static_cast<void>(offset), static_cast<void>(phase);
  }
  // A wait of these lanes has seen that the phase is complete.
  virtual void phase_seen(warp&, const instruction&, u32 lanes, block& home, u32 offset, u64 phase) {
    static_cast<void>(lanes), static_cast<void>(home), static_cast<void>(offset), static_cast<void>(phase);
  }
};

// Makes the observers of a grid's blocks, and is notified of the grid as a whole.
class grid_observer {
 public:
  grid_observer() = default;
  grid_observer(const grid_observer&) = delete;
  grid_observer& operator=(const grid_observer&) = delete;
  virtual ~grid_observer() = default;

  virtual void begin(const grid&) {}
  // True if its observers must be notified of one block after another, never of two at a time.
  virtual bool in_turn() const { return false; }
  // True if it keeps memory's record of written bytes; otherwise all bytes count as written.
  virtual bool follows_writes() const { return false; }
  // May return nullptr, and may be called by several threads.
  virtual std::unique_ptr<observer> watch(block&) = 0;
  // The grid has ended without a fault, or with this one. Called before `end`; may throw another fault.
  virtual void conclude(const grid&) {}
  virtual void conclude(const grid&, const fault&) {}
  // The grid has ended, or faulted.
  virtual void end(const grid&) {}
};

}  // namespace kaio::emulator
