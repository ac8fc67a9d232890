#pragma once
// Finds memory that ld.global.nc or ldu loads and that any thread of the launch writes, before or after: such
// a load may come from a cache that does not see the write (PTX ISA, "ld.global.nc"). Each word of a buffer
// has its last load of that kind and its last write, as the instruction and its bytes of the word.

#include "emulator/machine/observer.hpp"
#include "emulator/sanitizer/state/watched.hpp"

namespace kaio::emulator::sanitizing {

class constant_load_check {
 public:
  explicit constant_load_check(watched_block& b) : grid_(b.grid), block_(b) {}

  void access(const warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind, const piece& p,
              const std::byte* const (&at)[warp_lanes]);
  void issued(const async_operation& o, const async_range& range, const piece& p, u64 offset);

 private:
  void visit(const warp& w, const instruction& i, unsigned lane, const piece& p, u64 offset, u64 bytes,
             bool loads);
  void report(const warp& w, const instruction& i, unsigned lane, const piece& p, u64 word, bool loads,
              const instruction& other);

  watched_grid& grid_;
  watched_block& block_;
};

}  // namespace kaio::emulator::sanitizing
