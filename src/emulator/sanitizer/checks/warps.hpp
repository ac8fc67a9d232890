#pragma once
// Finds operations of a warp (shfl, vote, match, redux, elect, bar.warp) that rely on lanes which take no
// part: the member mask names ended or missing lanes, or a shuffle reads a lane that is no member.
//
// Such a shuffle reads an undefined value (PTX ISA, "shfl.sync"), but reductions over a part of a warp read it
// and drop it. So the value is followed through registers: a result that depends on it is undefined too. It is
// reported if it is stored, addresses memory or decides a branch. If the mask names all lanes of a partial
// warp and the read lane does not exist, a store is accepted: reductions leave such values in lanes without a
// promised result.

#include "emulator/sanitizer/state/watched.hpp"

#include <string>
#include <vector>

namespace kaio::emulator::sanitizing {

class warp_check {
 public:
  explicit warp_check(watched_block& b);

  void start();
  // An instruction of the warp's active lanes; the lanes of `mask` execute it.
  void before(const warp& w, const instruction& i, u32 mask);
  // The lanes have executed a .sync instruction with the mask `members`.
  void met(const warp& w, const instruction& i, u32 lanes, u32 members);

 private:
  // Undefined values in a register, from shuffles that read no member: the lanes, and one of the shuffles.
  struct undefined_value {
    u32 lanes = 0;
    u32 pc = 0;
    u32 members = 0;
    unsigned source = 0;  // the lane that was read
    unsigned reader = 0;
    bool past_end = false;  // the mask names all lanes, and the read lane does not exist
  };
  struct registers_of_warp {
    std::vector<undefined_value> values;  // by register number; empty: no value was ever undefined
    u32 held = 0;                         // registers with undefined lanes
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
