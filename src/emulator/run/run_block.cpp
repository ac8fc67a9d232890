#include "emulator/run/run_block.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/raise_fault.hpp"
#include "emulator/run/run_warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr u64 warp_steps = 4096;   // per turn of a warp
constexpr u64 starved_turns = 16;  // the starved warp has one turn in 16
constexpr u64 random_steps = 64;   // at most, in a random schedule

// The next warp in this round of turns; nullptr at the end of the round.
warp* next_warp(block& b, u32& turn) {
  const auto count = static_cast<u32>(b.warps.size());
  if (turn >= count) return nullptr;
  switch (b.launched.order.kind) {
    case schedule_kind::round_robin: return &b.warps[turn++];
    case schedule_kind::reverse: return &b.warps[count - 1 - turn++];
    case schedule_kind::random: return ++turn, &b.warps[b.group.random.below(count)];
    case schedule_kind::starve: break;
  }
  const auto starved = static_cast<u32>(b.launched.order.seed % count);
  const auto others_move = [&] {
    for (const warp& w : b.warps)
      if (w.index != starved && w.live != 0 && w.ready()) return true;
    return false;
  };
  if (turn == starved && b.group.random.below(starved_turns) != 0 && others_move()) ++turn;
  return turn >= count ? nullptr : &b.warps[turn++];
}

}  // namespace

block_status run_block(block& b, u64 steps, work_meter& meter) {
  u64 used = 0;
  const bool at_random = b.launched.order.kind == schedule_kind::random;
  for (;;) {
    bool moved = false, busy = false;
    u32 turn = 0;
    while (warp* next = next_warp(b, turn)) {
      warp& w = *next;
      if (w.live == 0 || !w.ready()) continue;
      moved = true;
      const u64 turn_steps = at_random ? 1 + b.group.random.below(random_steps) : warp_steps;
      const u64 done = run_warp(w, std::min(turn_steps, steps));
      used += done;
      b.executed += done;
      meter.add(w, done);
      busy = busy || !w.yielded;
      if (b.launched.instruction_limit != 0 && b.executed > b.launched.instruction_limit) {
        fault_report report;
        report.kind = fault_kind::instruction_limit;
        report.detail =
            fmt::format("a block executed more than {} warp instructions", b.launched.instruction_limit);
        raise_fault(w, w.code[w.pc == 0 ? 0 : w.pc - 1], 0, std::move(report));
      }
      b.group.pass_time();
    }
    if (!moved) {
      if (has_ended(b)) {
        if (!std::exchange(b.finished, true)) {
          meter.add_block();
          if (b.launched.executed != nullptr) *b.launched.executed += b.executed;
          for (const auto& o : b.observers) o->finish(b);
        }
        return block_status::finished;
      }
      if (!is_ready(b) && !b.group.complete_pending()) return block_status::blocked;
      continue;
    }
    if (used >= steps || !busy) return block_status::paused;
  }
}

}  // namespace kaio::emulator
