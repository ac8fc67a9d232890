#pragma once
// Finds operations of a warp (shfl, vote, match, redux, elect, bar.warp) that count on lanes which take no
// part: lanes that the member mask names and that have ended or never were, and shuffles that read a lane
// which is no member.
//
// What such a shuffle reads is undefined (PTX ISA, "shfl.sync"), but reductions over a part of a warp read it
// and drop it. So it is followed through registers, as a value that depends on one that is undefined is
// undefined itself, and reported when it is stored, addresses memory or decides a branch. Where the mask names
// all lanes of a partial warp and the lane that is read never was, a store is let pass: reductions leave such
// values in the lanes for which they promise none.

#include "emulator/sanitizer/state/watched.hpp"

#include <string>
#include <vector>

namespace kaio::emulator::sanitizing {

class warp_check {
 public:
  explicit warp_check(watched_block& b);

  void start();
  // An instruction of the warp's active lanes, those of `mask` execute it.
  void before(const warp& w, const instruction& i, u32 mask);
  // The lanes have executed a .sync instruction, whose mask is `members`.
  void met(const warp& w, const instruction& i, u32 lanes, u32 members);

 private:
  // What a register holds of shuffles that read no member: the lanes, and one of those shuffles.
  struct undefined_value {
    u32 lanes = 0;
    u32 pc = 0;
    u32 members = 0;
    unsigned source = 0;  // the lane that was read
    unsigned reader = 0;
    bool past_end = false;  // the mask names all lanes of the warp, and the one that was read never was
  };
  struct registers_of_warp {
    std::vector<undefined_value> values;  // by the number of the register; empty: none was ever undefined
    u32 held = 0;                         // registers of which some lanes are undefined
  };

  void shuffle(const warp& w, const instruction& i, u32 mask);
  void compute(const warp& w, const instruction& i, u32 mask);
  void use(const warp& w, const instruction& i, u32 lanes, const undefined_value& v);
  void set(registers_of_warp& r, u32 number, u32 mask, const undefined_value& v);
  const undefined_value& at_row(const registers_of_warp& r, u32 row) const;

  watched_grid& grid_;
  watched_block& block_;
  std::vector<registers_of_warp> warps_;
};

}  // namespace kaio::emulator::sanitizing
