#pragma once
// Finds uses of registers that were never written. Each register has a bit for each lane, which is set when
// the lane writes a value to it. A copy of what was never written is no value either, and may go to memory
// and back: it is reported when it is used as a number, an address or a condition (state/usage.hpp). So is a
// value from local memory of which some bytes were never written.

#include "emulator/sanitizer/state/watched.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace kaio::emulator::sanitizing {

class register_check {
 public:
  explicit register_check(watched_block& b);

  void start();
  // An instruction of the warp's active lanes, those of `mask` execute it.
  void before(warp& w, const instruction& i, u32 mask);
  // A load got values that were never written, or of which some bytes were not: the lanes of each element.
  void loaded_undefined(const warp& w, const instruction& i, const u32 (&lanes)[8], const u32 (&parts)[8]);

  // Of the store that executes, until it is `stored`: whether it stores what was never written, and the lanes
  // that do so, for each element.
  bool stores_undefined() const { return stores_undefined_; }
  u32 undefined_lanes(u32 element) const { return undefined_elements_[element]; }
  void stored() { stores_undefined_ = false; }

 private:
  void report(warp& w, const instruction& i, u32 reg, u32 lanes, std::string_view as,
              std::string_view what = "was never written");
  u32 shuffled(const warp& w, const instruction& i, u32 mask, u32 defined) const;
  u32* registers_of(const warp& w) { return registers_.data() + std::size_t{w.index} * register_count_; }

  watched_grid& grid_;
  watched_block& block_;
  const std::size_t register_count_;
  void check_parts(warp& w, const instruction& i, const usage& u, u32 mask);
  u32* parts_of(const warp& w) { return parts_.data() + std::size_t{w.index} * register_count_; }

  std::vector<u32> registers_;  // lanes of each, warp by warp
  // The same for values of which some bytes were never written; empty before the first. What takes such a
  // value apart may take the bytes that were.
  std::vector<u32> parts_;
  std::array<u32, 8> undefined_elements_{};
  bool stores_undefined_ = false;
};

}  // namespace kaio::emulator::sanitizing
