#pragma once
// Finds uses of registers that were never written. Each register has a bit per lane, set when the lane writes
// a value to it. A copy of an unwritten register is no value either, and may pass through memory. It is
// reported at its use as a number, an address or a condition (state/usage.hpp). So is a value from local
// memory with some unwritten bytes.

#include "emulator/sanitizer/state/watched.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace kaio::emulator::sanitizing {

class register_check {
 public:
  explicit register_check(watched_block& b);

  void start();
  // An instruction of the warp's active lanes; the lanes of `mask` execute it.
  void before(warp& w, const instruction& i, u32 mask);
  // A load got values with no written bytes (`lanes`), or with some unwritten ones (`parts`), per element.
  void loaded_undefined(const warp& w, const instruction& i, const u32 (&lanes)[8], const u32 (&parts)[8]);

  // The current store, until it is `stored`: whether it stores unwritten values, and the lanes that do so for
  // each element.
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

  std::vector<u32> registers_;  // the written lanes of each, warp by warp
  // Like registers_, the lanes with some unwritten bytes; empty before the first. An instruction that unpacks
  // such a value may take only its written bytes.
  std::vector<u32> parts_;
  std::array<u32, 8> undefined_elements_{};
  bool stores_undefined_ = false;
};

}  // namespace kaio::emulator::sanitizing
