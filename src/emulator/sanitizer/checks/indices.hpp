#pragma once
// Finds addresses of global memory from a 32-bit index product that wrapped, such as y[row * pitch + column]
// with 32-bit numbers. The access is in some buffer, perhaps the right one, but at the wrong element.
//
// If a 32-bit product, multiply-add or left shift does not fit, the exact result is kept with the register:
// once for unsigned and once for signed operands. It follows sums, differences and products. If the register
// is widened to 64 bits and matches neither, the wide value is wrong, and so is an address from it. Other
// computations (a remainder, a mask, a right shift, a minimum ...) may be meant to wrap, as in hashes. Their
// results, and all that is computed from these, are accepted.

#include "emulator/sanitizer/state/watched.hpp"

#include <array>
#include <memory>
#include <vector>

namespace kaio::emulator::sanitizing {

class index_check {
 public:
  explicit index_check(watched_block& b);

  void start();
  // An instruction of the warp's active lanes; the lanes of `mask` execute it.
  void before(const warp& w, const instruction& i, u32 mask);

 private:
  struct exact_values {
    std::array<u64, warp_lanes> without_sign{}, with_sign{};  // modulo 2^64
  };
  // The marks of a register's lanes; no lane is in two of the sets.
  struct marks {
    u32 inexact = 0;           // 32 bits that are not the exact result
    u32 wrong = 0;             // 64 bits computed from such a value
    u32 accepted = 0;          // computed from one in a way that may intend to wrap
    u32 pc = 0;                // pc of the product
    u64 index = 0, exact = 0;  // for one wrong lane: the widened index and the correct one
    bool is_signed = false;
    std::unique_ptr<exact_values> values;  // for the inexact lanes

    u32 all() const { return inexact | wrong | accepted; }
  };
  struct registers_of_warp {
    std::vector<marks> registers;  // by number; empty: there never was a mark
    u32 held = 0;                  // registers with marks
  };

  marks* at_row(registers_of_warp& r, u32 row) const;
  void compute(const warp& w, const instruction& i, u32 mask);
  void narrow(const warp& w, const instruction& i, u32 mask, unsigned operands);
  void widen(const warp& w, const instruction& i, u32 mask, unsigned factors, bool is_signed);
  void copy(const warp& w, const instruction& i, u32 mask, u32 row);
  void follow(const warp& w, const instruction& i, u32 mask);
  void use(const warp& w, const instruction& i, u32 lanes, const marks& m);
  void clear(registers_of_warp& r, u32 number, u32 mask);
  template <class Change>
  void change(registers_of_warp& r, u32 row, u32 mask, Change&& c);

  watched_grid& grid_;
  watched_block& block_;
  std::vector<registers_of_warp> warps_;
};

}  // namespace kaio::emulator::sanitizing
