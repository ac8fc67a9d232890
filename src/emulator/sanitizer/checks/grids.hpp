#pragma once
// Finds races between grids of one stream, for a kernel that was launched programmatically. Before its
// griddepcontrol.wait, it may not read what a preceding grid writes, nor write what that grid uses. If a thread meets
// one that has waited at a barrier, that suffices. A load by ld.global.nc of such a write is an error after the wait
// too: nothing orders it, and ptxas moves it above.

#include "emulator/machine/observer.hpp"
#include "emulator/sanitizer/checks/order.hpp"
#include "emulator/sanitizer/state/preceding.hpp"
#include "emulator/sanitizer/state/watched.hpp"

#include <string>

namespace kaio::emulator::sanitizing {

class grid_check {
 public:
  grid_check(watched_block& b, happens_before& order) : grid_(b.grid), block_(b), order_(order) {}

  void access(const warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind, const piece& p,
              const std::byte* const (&at)[warp_lanes]);
  void issued(const async_operation& o, const async_range& range, const piece& p, u64 offset);

 private:
  void visit(const warp& w, const instruction& i, unsigned lane, access_kind kind, const piece& p, u64 offset,
             u64 bytes);
  void report(const warp& w, const instruction& i, unsigned lane, access_kind kind, const piece& p, u64 word,
              const std::string& what, bool has_waited);

  watched_grid& grid_;
  watched_block& block_;
  happens_before& order_;
};

}  // namespace kaio::emulator::sanitizing
