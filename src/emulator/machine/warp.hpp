#pragma once
// The state of a running warp. Its lanes are kept as lane groups: sets of lanes at the same instruction. One
// lane group runs at a time, the one with the lowest program counter, until it meets the next (they become
// one), diverges at a branch, or waits. So every lane has a program counter of its own, as the hardware has
// it from sm_70 on, lanes that diverged reconverge as soon as possible, and a lane that waits keeps no other
// from running.

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
  barrier,  // of the block: `key` is its number
  members,  // of a .sync instruction: `key` is its member mask
  cluster,  // barrier.cluster
  phase,    // of an mbarrier: `key` is its shared address
  matrix,   // wgmma.wait_group: the other warps of the warpgroup
};

struct lane_group {
  u32 lanes = 0;
  u32 pc = 0;  // the next instruction; the one that it waits at is before it
  wait_reason reason = wait_reason::none;
  u32 key = 0;
};

inline constexpr u32 no_limit = 0xffffffffu;

// The calls that one lane is within, and the registers that it keeps meanwhile.
struct call_stack {
  struct frame {
    u32 site;       // of entry::calls
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
  u32 existing = 0;                 // lanes that the block has threads for
  u32 live = 0;                     // lanes that have not ended
  u32 active = 0;                   // lanes of the running lane group
  u32 pc = 0;                       // the instruction after the one that executes
  u32 limit = 0;                    // run on while pc is below: where the next lane group is, or 0 to stop
  bool rotate = false;              // the running lane group has run long enough: let another one go first
  bool yielded = false;             // the warp asked to be left alone for a while
  u64 executed = 0;                 // instructions, up to the last time that a lane group was chosen
  u64 chosen_steps = 0, steps = 0;  // instructions that the lane group may run, and what is left of them
  u32 cluster_arrived = 0;          // lanes that arrived at barrier.cluster in its present phase
  u32 cluster_owed = 0;             // lanes that arrived and did not wait yet
  u32 parked = 0;                   // lane groups that do not run
  std::array<lane_group, warp_lanes> lane_groups{};
  std::shared_ptr<warpgroup> matrices;  // its wgmma instructions; nullptr before the first
  std::vector<call_stack> calls;        // of each lane; none before the first call

  // Sets everything back, with these lanes at the instruction `first`.
  void start(u32 lanes, u32 first);
  // Lanes that wait for this become ready.
  void wake(wait_reason reason, u32 key);
  bool ready() const;
  // Takes lanes out of the running lane group and lets them wait at the instruction before pc.
  void wait(u32 lanes, wait_reason reason, u32 key);
  // Adds a lane group that is ready and does not run.
  void park(u32 lanes, u32 at) { lane_groups[parked++] = {lanes, at, wait_reason::none, 0}; }
  // Ends the turn of the warp after this instruction; another lane group continues when it has its next one.
  void yield() {
    yielded = true;
    chosen_steps -= steps - 1;
    steps = 1;
  }
  // Makes `active` the lanes that stay; the lane group is chosen anew.
  void leave(u32 lanes) {
    active &= ~lanes;
    limit = 0;
  }
  const instruction& waiting_at(const lane_group& f) const { return code[f.pc - 1]; }
  u64 clock() const { return executed + chosen_steps - steps; }
};

}  // namespace kaio::emulator
