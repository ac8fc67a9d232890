#pragma once
// The report of a deadlock: all threads of a cluster wait, and nothing is left that could wake one.

#include "emulator/machine/cluster.hpp"

namespace kaio::emulator {

// Throws fault at the first waiting lanes. Its text lists each wait, its reason and the missing threads.
// Returns only if no lanes wait.
void raise_deadlock(const cluster& c);

}  // namespace kaio::emulator
