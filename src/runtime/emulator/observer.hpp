#pragma once
// Something that watches kernels run: the sanitizer, and the counters of a profile. A grid that is watched
// tells its observers what its warps do; one that is not pays nothing but a test for it.

#include "runtime/emulator/error.hpp"
#include "runtime/emulator/scalar.hpp"

#include <cstddef>
#include <memory>

namespace kaio::runtime::emulator {

struct block;
struct grid;
struct instruction;
struct warp;

// Watches one block at a time. A block lives on for the next index: `start` tells that it begins anew. Calls
// come from the thread that runs the block; those of other blocks come from other threads at the same time.
// Any of them may throw fault.
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

  // Lanes of a warp have met at a .sync instruction.
  virtual void met(warp&, const instruction&, u32 lanes) { static_cast<void>(lanes); }
  // Lanes arrive at a barrier of the block; those that it releases are told when it is complete.
  virtual void arrived(warp&, const instruction&, u32 lanes, u32 barrier) {
    static_cast<void>(lanes), static_cast<void>(barrier);
  }
  virtual void completed(block&, u32 barrier) { static_cast<void>(barrier); }
  // The same for barrier.cluster, of which every block of the cluster is told.
  virtual void cluster_arrived(warp&, const instruction&, u32 lanes) { static_cast<void>(lanes); }
  virtual void cluster_completed(block&) {}
};

// Makes the observers of a grid's blocks, and is told of the grid as a whole.
class grid_observer {
 public:
  grid_observer() = default;
  grid_observer(const grid_observer&) = delete;
  grid_observer& operator=(const grid_observer&) = delete;
  virtual ~grid_observer() = default;

  virtual void begin(const grid&) {}
  // May return nullptr, and may be called by several threads.
  virtual std::unique_ptr<observer> watch(block&) = 0;
  // The grid has ended, or faulted.
  virtual void end(const grid&) {}
};

}  // namespace kaio::runtime::emulator
