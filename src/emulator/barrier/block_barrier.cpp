#include "emulator/barrier/block_barrier.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

// If all live lanes of a warp have arrived, it counts as 32 threads: a barrier counts warps, and ended or
// missing lanes cannot arrive. Without a count, all threads that have not ended must arrive.
bool complete(const block& home, const barrier& b) {
  u32 present = b.arrivals;
  for (const warp& w : home.warps) {
    const u32 missing = w.live & ~b.arrived[w.index];
    if (!b.counted && missing != 0) return false;
    if (missing == 0 && b.arrived[w.index] != 0)
      present += warp_lanes - static_cast<u32>(std::popcount(b.arrived[w.index]));
  }
  return !b.counted || present >= b.expected;
}

void release(block& home, u32 number) {
  barrier& b = home.barriers[number];
  for (const auto& o : home.observers) o->completed(home, number);
  for (warp& w : home.warps)
    for (u32 k = 0; k < w.parked; ++k) {
      lane_group& f = w.lane_groups[k];
      if (f.reason != wait_reason::barrier || f.key != number) continue;
      f.reason = wait_reason::none;
      const instruction& i = w.waiting_at(f);
      if (i.op != operation::bar_red) continue;
      switch (static_cast<reduce_form>(i.form)) {
        case reduce_form::popc:
          for_lanes(f.lanes, [&](unsigned lane) { put(w.file + i.to[0], lane, b.true_count); });
          break;
        case reduce_form::and_: put_mask(w, i.to[0], b.false_count == 0 ? all_lanes : 0, f.lanes); break;
        default: put_mask(w, i.to[0], b.true_count != 0 ? all_lanes : 0, f.lanes); break;
      }
    }
  b = {};
}

}  // namespace

void arrive_at_barrier(warp& w, const instruction& i, u32 lanes, u32 number, bool counted, u32 count,
                       u32 predicate, bool waits) {
  block& home = *w.owner;
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  const auto refuse = [&](std::string detail) {
    fault_report report;
    report.kind = fault_kind::barrier;
    report.detail = std::move(detail);
    raise_fault(w, i, lane, std::move(report));
  };
  if (number >= barriers_of_a_block)
    refuse(fmt::format("barrier {} does not exist; a block has barriers 0 to 15", number));
  const u32 all = static_cast<u32>(home.warps.size()) * warp_lanes;
  if (counted && (count % warp_lanes != 0 || count == 0))
    refuse(fmt::format("the thread count {} of barrier {} is not a multiple of 32", count, number));
  if (counted && count > all)
    refuse(fmt::format("barrier {} waits for {} threads; the block has {}", number, count,
                       home.launched.threads.count()));
  barrier& b = home.barriers[number];
  const u32 expected = counted ? count : all;
  if (b.open && b.expected != expected)
    refuse(fmt::format("threads arrive at barrier {} with the thread counts {} and {}", number, b.expected,
                       expected));
  b.counted = b.open ? b.counted && counted : counted;
  b.open = true;
  b.expected = expected;
  for (const auto& o : home.observers) o->arrived(w, i, lanes, number);
  b.arrivals += static_cast<u32>(std::popcount(lanes));
  b.arrived[w.index] |= lanes;
  b.true_count += static_cast<u32>(std::popcount(lanes & predicate));
  b.false_count += static_cast<u32>(std::popcount(lanes & ~predicate));
  if (waits) w.wait(lanes, wait_reason::barrier, number);
  if (complete(home, b)) release(home, number);
}

void settle_barriers(block& b) {
  for (u32 number = 0; number < barriers_of_a_block; ++number)
    if (b.barriers[number].open && complete(b, b.barriers[number])) release(b, number);
}

}  // namespace kaio::emulator
