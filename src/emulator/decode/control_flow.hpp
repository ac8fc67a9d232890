#pragma once
// The order of a function's basic blocks. The interpreter runs the lanes of a warp with the lowest
// program counter first, so lanes that diverged reconverge as soon as they can, provided that code on the way
// to a place comes before that place. This holds in a weak topological order: every loop is contiguous, and
// every edge leads forward but for those to the head of a loop that contains them. Compilers emit it nearly
// always; where the text does not have it, the blocks are moved. Source: F. Bourdoncle, "Efficient chaotic
// iteration strategies with widenings" (1993).

#include "emulator/program/program.hpp"

#include <vector>

namespace kaio::emulator {

// Branch targets are indices into `code`, which ends in an unguarded exit or return; those of brx are in
// `targets`. Blocks that nothing reaches are dropped.
void order_blocks(std::vector<instruction>& code, std::vector<u32>& targets);

}  // namespace kaio::emulator
