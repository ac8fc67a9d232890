#pragma once
// The .sync instructions of a warp: lanes wait until all live lanes of the member mask execute the same
// instruction with the same mask. The lanes may be at different places of the program.

#include "emulator/machine/warp.hpp"
#include "emulator/program/program.hpp"

namespace kaio::emulator {

// Executes the waiting .sync instructions that need not wait any longer, for example after some lanes ended.
void settle_members(warp& w);

// The source lane of a shuffle: the lane itself if the requested lane is out of range.
struct shuffle_source {
  u32 lane;
  bool in_range;
};
shuffle_source source_of_shuffle(const warp& w, const instruction& i, unsigned lane);

}  // namespace kaio::emulator
