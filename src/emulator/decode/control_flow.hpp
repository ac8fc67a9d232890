#pragma once
// The order of a function's basic blocks. The interpreter runs the lanes of a warp with the lowest program
// counter first. Diverged lanes thus reconverge as soon as they can, provided that code on the way to a place
// precedes it. A weak topological order has this property: every loop is contiguous, and every edge leads
// forward, except edges to the head of an enclosing loop. Compilers nearly always emit it; otherwise the
// blocks are moved. Source: F. Bourdoncle, "Efficient chaotic iteration strategies with widenings" (1993).

#include "emulator/program/program.hpp"

#include <vector>

namespace kaio::emulator {

// Branch targets are indices into `code`, which ends in an unguarded exit or return; the targets of brx are
// in `targets`. Unreachable blocks are dropped.
void order_blocks(std::vector<instruction>& code, std::vector<u32>& targets);

}  // namespace kaio::emulator
