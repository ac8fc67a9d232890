#pragma once
// Decides when and on which core each block of a grid runs. Blocks that do not communicate run on all cores.
// Blocks that communicate (through the results of atomics, or flags in memory) run on one core in a fixed
// order, so results are the same on every machine. Long blocks take turns, so a block that waits for another
// makes progress. If all resident blocks poll memory for a value that none of them writes (livelock), a fault
// reports their places; on a GPU this would never end. All blocks of a cooperative grid are resident.

#include "emulator/machine/grid.hpp"
#include "emulator/run/watchdog.hpp"

namespace kaio::emulator {

// `threads`: most host threads; 0: all cores. Throws fault: that of the faulting block with the lowest index.
void run_grid(const grid& g, unsigned threads, watchdog& guard);

}  // namespace kaio::emulator
