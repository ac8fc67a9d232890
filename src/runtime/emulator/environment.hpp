#pragma once
// What environment variables ask of every launch of a program on the emulator, whichever way it got there:
//
//   KAIO_SCHEDULE   round_robin, reverse, starve:N or random:N: the order of warps and blocks (schedule.hpp)

#include "runtime/emulator/machine.hpp"

namespace kaio::runtime::emulator {

// Throws launch_error: a variable has a value that it cannot have.
void apply_environment(launch& l);

}  // namespace kaio::runtime::emulator
