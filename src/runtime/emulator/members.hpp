#pragma once
// The .sync instructions of a warp: lanes wait until all lanes that the member mask names, and that have not
// ended, execute the same instruction with the same mask. They need not stand at the same place of the
// program.

#include "runtime/emulator/warp.hpp"

namespace kaio::runtime::emulator {

// Executes what waits at .sync instructions of the warp and need not wait any longer, as after the end of
// some lanes.
void settle_members(warp& w);

}  // namespace kaio::runtime::emulator
