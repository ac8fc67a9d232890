#pragma once
// The report of a deadlock: all threads of a cluster wait, and nothing is left that could wake one.

#include "emulator/machine/cluster.hpp"

namespace kaio::emulator {

// Throws fault, at the first lanes that wait; its text lists what waits, for what, and who is missing there.
// Returns only if no lanes wait.
void raise_deadlock(const cluster& c);

}  // namespace kaio::emulator
