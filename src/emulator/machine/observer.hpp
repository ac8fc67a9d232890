#pragma once
// Something that watches kernels run: the sanitizer, and the counters of a profile. A grid that is watched
// reports to its observers what its warps do; one that is not costs nothing but a test for it.

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
  block* home = nullptr;    // whose shared memory it is; nullptr: global memory
  std::byte* at = nullptr;  // in the host's memory
  u64 bytes = 0;
  access_kind access = access_kind::read;
};

// How the end of an asynchronous operation shows.
enum class async_completion : u8 {
  copy_group,   // cp.async: in a group of its thread
  bulk_group,   // cp.async.bulk: in a bulk group of its thread
  phase,        // of an mbarrier
  wgmma_group,  // wgmma: in a wgmma-group of its warp; what its lanes do, lane 0 does
};

// One lane's copy, reduction or store that runs concurrently with the program. Its memory is listed for grids
// that are watched.
struct async_operation {
  u64 number = 0;  // in the order of issue within the cluster
  warp* by = nullptr;
  const instruction* issued = nullptr;
  unsigned lane = 0;
  async_completion completion = async_completion::copy_group;
  u64 group = 0;             // of the lane, from 0; it is committed when the lane has committed more groups
  block* barrier = nullptr;  // whose mbarrier it completes
  u32 barrier_offset = 0;    // in that block's shared memory
  std::vector<async_range> ranges;
};

// Watches one block at a time. A block object is reused for the next index: `start` marks its new beginning.
// Calls come from the thread that runs the block; those of other blocks come from other threads at the same
// time. Any of them may throw fault.
class observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer() = default;

  virtual void start(block&) {}
  virtual void finish(block&) {}

  // Around an instruction of the warp's active lanes; `mask`: those that pass its guard, which may be none.
  // After an instruction at which lanes wait, `after` is called at once, while they wait.
  virtual void before(warp&, const instruction&, u32 mask) { static_cast<void>(mask); }
  virtual void after(warp&, const instruction&, u32 mask) { static_cast<void>(mask); }

  // An access of `bytes` by each lane of `mask`, at at[lane] in the host's memory, which was found to be
  // allowed by the bounds; before it is done.
  virtual void access(warp&, const instruction&, u32 mask, u32 bytes, access_kind,
                      const std::byte* const (&at)[warp_lanes]) {
    static_cast<void>(mask), static_cast<void>(bytes), static_cast<void>(at);
  }

  // The lanes call a function whose frame of local memory, `bytes` long, begins at frame[lane] in the host's
  // memory. Nothing in it is initialised; the accesses by which arguments are put there are reported next, as
  // are those that hand results back.
  virtual void called(warp&, const instruction&, u32 lanes, u32 bytes,
                      const std::byte* const (&frame)[warp_lanes]) {
    static_cast<void>(lanes), static_cast<void>(bytes), static_cast<void>(frame);
  }

  // Lanes of a warp have executed a .sync instruction together. `members`: its mask, which may name lanes that
  // have ended or never were.
  virtual void met(warp&, const instruction&, u32 lanes, u32 members) {
    static_cast<void>(lanes), static_cast<void>(members);
  }
  // Lanes arrive at a barrier of the block; those that it releases are reported when it is complete.
  virtual void arrived(warp&, const instruction&, u32 lanes, u32 barrier) {
    static_cast<void>(lanes), static_cast<void>(barrier);
  }
  virtual void completed(block&, u32 barrier) { static_cast<void>(barrier); }
  // The same for barrier.cluster, of which every block of the cluster is notified.
  virtual void cluster_arrived(warp&, const instruction&, u32 lanes) { static_cast<void>(lanes); }
  virtual void cluster_completed(block&) {}

  // ---- work concurrent with the program ----
  // An operation was issued: it reads and writes at any time from now until it has completed. The observer
  // of the block that issued it is notified.
  virtual void async_issued(const async_operation&) {}
  virtual void async_read(const async_operation&) {}  // it has read its sources, and will write
  virtual void async_completed(const async_operation&) {}
  // A lane has waited: its groups with numbers below `groups` are complete, or, where `read`, have read.
  virtual void async_waited(warp&, const instruction&, unsigned lane, async_completion, u64 groups,
                            bool read) {
    static_cast<void>(lane), static_cast<void>(groups), static_cast<void>(read);
  }
  // The life of the mbarrier at `offset` in the shared memory of `home`. The observer of the block whose lane
  // acts is notified; of the completion that of `home`.
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
  // True if its observers must be notified of one block after another, never of two at the same time.
  virtual bool in_turn() const { return false; }
  // True if it keeps memory's record of written bytes; otherwise all of them count as written.
  virtual bool follows_writes() const { return false; }
  // May return nullptr, and may be called by several threads.
  virtual std::unique_ptr<observer> watch(block&) = 0;
  // The grid has ended without a fault, or with this one; called before `end`, and may throw another.
  virtual void conclude(const grid&) {}
  virtual void conclude(const grid&, const fault&) {}
  // The grid has ended, or faulted.
  virtual void end(const grid&) {}
};

}  // namespace kaio::emulator
