#pragma once
// The end of threads: nobody waits for a thread that has ended, so those that did continue.

#include "emulator/machine/warp.hpp"

namespace kaio::emulator {

void end_lanes(warp& w, u32 lanes);

}  // namespace kaio::emulator
