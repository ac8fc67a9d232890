#pragma once
// The .sync instructions of a warp: lanes wait until all lanes that the member mask names, and that have not
// ended, execute the same instruction with the same mask. They need not be at the same place of the
// program.

#include "emulator/machine/warp.hpp"
#include "emulator/program/program.hpp"

namespace kaio::emulator {

// Executes lanes that wait at .sync instructions of the warp and need not wait any longer, as after the end
// of some lanes.
void settle_members(warp& w);

// The lane whose value a lane of a shuffle gets: its own where the one it asks for is out of range.
struct shuffle_source {
  u32 lane;
  bool in_range;
};
shuffle_source source_of_shuffle(const warp& w, const instruction& i, unsigned lane);

}  // namespace kaio::emulator
