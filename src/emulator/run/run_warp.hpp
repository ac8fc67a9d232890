#pragma once
// Executes the instructions of a warp, one lane group at a time. It chooses the lowest program counter, so
// that diverged lanes meet again; in a random schedule it chooses any.

#include "emulator/machine/warp.hpp"

namespace kaio::emulator {

// Runs a warp until it waits, ends, yields or has executed `budget` instructions. Returns the number
// executed.
u64 run_warp(warp& w, u64 budget);

}  // namespace kaio::emulator
