#pragma once
// Which block of a grid runs when, and on which core. Blocks that do not communicate run on all cores at a
// time. Blocks that do (through the results of atomics, or flags in memory) run on one core in a fixed order,
// taking turns when they run long, so that one that waits for another makes progress and results are the same
// on every machine. Where all resident blocks poll memory for a value that none of them writes (livelock),
// which on a GPU would never end, a fault reports where they are. All blocks of a cooperative grid are
// resident.

#include "emulator/machine/grid.hpp"
#include "emulator/run/watchdog.hpp"

namespace kaio::emulator {

// `threads`: host threads at most; 0: all cores. Throws fault, of the block with the lowest index that had
// one.
void run_grid(const grid& g, unsigned threads, watchdog& guard);

}  // namespace kaio::emulator
