#pragma once
// The state of a running warp. A lane group is a set of lanes at the same instruction. The lane group with
// the lowest program counter runs until it meets the next (they merge), diverges at a branch, or waits. So
// every lane has its own program counter, as on hardware from sm_70 on. Diverged lanes reconverge as soon as
// possible, and a waiting lane stops no other.

#include "emulator/program/program.hpp"
#include "emulator/program/scalar.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace kaio::emulator {

struct block;
struct warpgroup;

enum class wait_reason : u8 {
  none,     // ready to run
  barrier,  // a block barrier: `key` is its number
  members,  // a .sync instruction: `key` is its member mask
  cluster,  // barrier.cluster
  phase,    // a phase of an mbarrier: `key` is its shared address
  matrix,   // wgmma.wait_group: the other warps of the warpgroup
};

struct lane_group {
  u32 lanes = 0;
  u32 pc = 0;  // the next instruction; a waiting group waits at the one before
  wait_reason reason = wait_reason::none;
  u32 key = 0;
};

inline constexpr u32 no_limit = 0xffffffffu;

// The active calls of one lane, and the registers that they save.
struct call_stack {
  struct frame {
    u32 site;       // index in entry::calls
    u32 return_pc;  // where the caller continues
    u64 base;       // the caller's frame
  };
  std::vector<frame> frames;
  std::vector<std::byte> kept;
};

struct warp {
  std::byte* file = nullptr;  // its register file
  const instruction* code = nullptr;
  block* owner = nullptr;
  u32 index = 0;                    // within the block
  u32 existing = 0;                 // lanes with a thread
  u32 live = 0;                     // lanes that have not ended
  u32 active = 0;                   // lanes of the running lane group
  u32 pc = 0;                       // the instruction after the one that executes
  u32 limit = 0;                    // run on while pc is below: the pc of the next lane group, or 0 to stop
  bool rotate = false;              // the running lane group has run long enough: let another one go first
  bool yielded = false;             // the warp asked to pause for a while
  u64 executed = 0;                 // instructions, up to the last choice of a lane group
  u64 chosen_steps = 0, steps = 0;  // instructions that the lane group may run, and how many remain
  u32 cluster_arrived = 0;          // lanes that arrived at barrier.cluster in its current phase
  u32 cluster_owed = 0;             // lanes that arrived and have not waited yet
  u32 parked = 0;                   // lane groups that do not run
  std::array<lane_group, warp_lanes> lane_groups{};
  std::shared_ptr<warpgroup> matrices;  // its wgmma instructions; nullptr before the first
  std::vector<call_stack> calls;        // per lane; empty before the first call

  // Sets everything back, with these lanes at the instruction `first`.
  void start(u32 lanes, u32 first);
  // Makes the lanes that wait for this ready.
  void wake(wait_reason reason, u32 key);
  bool ready() const;
  // Takes lanes out of the running lane group; they wait at the instruction before pc.
  void wait(u32 lanes, wait_reason reason, u32 key);
  // Adds a lane group that is ready but does not run.
  void park(u32 lanes, u32 at) { lane_groups[parked++] = {lanes, at, wait_reason::none, 0}; }
  // Ends the turn of the warp after this instruction. Another lane group continues in the warp's next turn.
  void yield() {
    yielded = true;
    chosen_steps -= steps - 1;
    steps = 1;
  }
  // Removes these lanes from the active ones; the lane group is chosen anew.
  void leave(u32 lanes) {
    active &= ~lanes;
    limit = 0;
  }
  const instruction& waiting_at(const lane_group& f) const { return code[f.pc - 1]; }
  u64 clock() const { return executed + chosen_steps - steps; }
};

}  // namespace kaio::emulator
