#pragma once
// The barriers of a block (PTX ISA, "bar", "barrier"): threads arrive at one of 16. When all expected threads
// have arrived, the waiting ones continue.

#include "emulator/machine/warp.hpp"
#include "emulator/program/program.hpp"

namespace kaio::emulator {

// Lanes of a warp arrive at barrier `number`; if `waits`, they wait there. If `counted`, the barrier expects
// `count` threads. `predicate`: a bit per lane, for bar.red.
void arrive_at_barrier(warp& w, const instruction& i, u32 lanes, u32 number, bool counted, u32 count,
                       u32 predicate, bool waits);

// Completes the barriers that need not wait any longer, for example after some lanes ended.
void settle_barriers(block& b);

}  // namespace kaio::emulator
