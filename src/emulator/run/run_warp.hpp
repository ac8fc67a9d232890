#pragma once
// Executes the instructions of a warp. One of its lane groups runs at a time: the one with the lowest program
// counter, so that lanes which diverged meet again, or in a random schedule any.

#include "emulator/machine/warp.hpp"

namespace kaio::emulator {

// Runs a warp until it waits, ends, yields or has executed `budget` instructions. Returns how many it
// executed.
u64 run_warp(warp& w, u64 budget);

}  // namespace kaio::emulator
