#pragma once
// The barriers of a block (PTX ISA, "bar", "barrier"): threads arrive at one of 16, and those that wait at it
// continue when all that it expects have come.

#include "emulator/machine/warp.hpp"
#include "emulator/program/program.hpp"

namespace kaio::emulator {

// Lanes of a warp arrive at the barrier with this number and, where `waits`, wait there. `count`: the threads
// that the barrier expects, where `counted`. `predicate`: of the lanes, for bar.red.
void arrive_at_barrier(warp& w, const instruction& i, u32 lanes, u32 number, bool counted, u32 count,
                       u32 predicate, bool waits);

// Completes the barriers that need not wait any longer, as after the end of some lanes.
void settle_barriers(block& b);

}  // namespace kaio::emulator
