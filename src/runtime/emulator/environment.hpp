#pragma once
// What environment variables ask of every launch of a program on the emulator, whichever way it got there:
//
//   KAIO_SCHEDULE          round_robin, reverse, starve:N or random:N: the order of warps and blocks
//                          (schedule.hpp)
//   KAIO_SANITIZE          all, or a list of checks: memory, uninitialised, races, barriers, warps, indices, async,
//                          same_value, with - before one to leave it out (sanitizer/report/options.hpp)
//   KAIO_SANITIZE_ERRORS   after how many reports a grid stops: a number, or continue; 1 if it is not set
//   KAIO_SUPPRESSIONS      a file of reports that are to be left out (sanitizer/report/suppressions.hpp)
//   KAIO_LAUNCH_SECONDS, KAIO_LAUNCH_INSTRUCTIONS, KAIO_PROGRAM_SECONDS, KAIO_PROGRAM_INSTRUCTIONS
//                          what a launch, or all launches of the program together, may use (run/budget.hpp)
//   KAIO_PROGRESS          off: no line on the terminal for long launches (run/progress_line.hpp)
//   KAIO_PROFILE           a file for the profile of all kernels (environment_profile.hpp)

#include "emulator/emulator.hpp"

namespace kaio::runtime {

// Its budgets become those of the environment; other ones are added afterwards. Throws launch_error: a variable has a
// value that it cannot have.
void apply_environment(emulator::launch& l);

}  // namespace kaio::runtime
