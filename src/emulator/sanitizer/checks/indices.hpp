#pragma once
// Finds addresses of global memory that come from a 32-bit index product which wrapped, as y[row * pitch +
// column] with numbers of 32 bits: the access is in some buffer, or even in the right one, and to the wrong
// element.
//
// Where a product, a multiply-add or a left shift of 32 bits does not fit, the exact result is kept next to
// the register, once for operands without and once for operands with a sign, and follows sums, differences
// and products. When the register is widened to 64 bits and agrees with neither, the wide value is wrong, and
// so is an address that is computed from it. What is computed otherwise (a remainder, a mask, a shift to
// the right, a minimum ...) may be meant to wrap, as hashes are: it and all that is computed from it are let
// pass.

#include "emulator/sanitizer/state/watched.hpp"

#include <array>
#include <memory>
#include <vector>

namespace kaio::emulator::sanitizing {

class index_check {
 public:
  explicit index_check(watched_block& b);

  void start();
  // An instruction of the warp's active lanes, those of `mask` execute it.
  void before(const warp& w, const instruction& i, u32 mask);

 private:
  struct exact_values {
    std::array<u64, warp_lanes> without_sign{}, with_sign{};  // modulo 2^64
  };
  // What is known of a register's lanes; no lane is in two of the sets.
  struct marks {
    u32 inexact = 0;           // 32 bits that are not the exact result
    u32 wrong = 0;             // 64 bits computed from such a value
    u32 accepted = 0;          // computed from one in a way that may be meant to wrap
    u32 pc = 0;                // of the product
    u64 index = 0, exact = 0;  // of one lane that is wrong: the widened index, and what it should be
    bool is_signed = false;
    std::unique_ptr<exact_values> values;  // of the lanes that are inexact

    u32 all() const { return inexact | wrong | accepted; }
  };
  struct registers_of_warp {
    std::vector<marks> registers;  // by their number; empty: there was never a mark
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
