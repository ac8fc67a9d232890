#pragma once
// Ends threads. No thread waits for an ended thread, so the ones that did continue.

#include "emulator/machine/warp.hpp"

namespace kaio::emulator {

void end_lanes(warp& w, u32 lanes);

}  // namespace kaio::emulator
