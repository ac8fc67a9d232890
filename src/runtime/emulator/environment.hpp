#pragma once
// The environment variables that apply to every launch of a program on the emulator:
//
//   KAIO_SCHEDULE          round_robin, reverse, starve:N or random:N: the order of warps and blocks
//                          (schedule.hpp)
//   KAIO_EMULATOR_THREADS  host threads that run the blocks of a launch; 0: all cores
//   KAIO_SANITIZE          all, or a list of checks: memory, uninitialised, races, barriers, warps, indices, async,
//                          same_value, with - before one to leave it out (sanitizer/report/options.hpp)
//   KAIO_SANITIZE_ERRORS   the number of reports after which a grid stops, or continue; 1 if it is not set
//   KAIO_SUPPRESSIONS      a file of reports to leave out (sanitizer/report/suppressions.hpp)
//   KAIO_LAUNCH_SECONDS, KAIO_LAUNCH_INSTRUCTIONS, KAIO_PROGRAM_SECONDS, KAIO_PROGRAM_INSTRUCTIONS
//                          what a launch, or all launches of the program together, may use (run/budget.hpp)
//   KAIO_LIVELOCK_SECONDS  how long launches may wait for memory that nobody writes (waiting/memory_activity.hpp); 10
//   KAIO_PROGRESS          off: no line on the terminal for long launches (run/progress_line.hpp)
//   KAIO_PROFILE           a file for the profile of all kernels (environment_profile.hpp)

#include "emulator/emulator.hpp"

namespace kaio::runtime {

// Replaces the launch's budgets with those of the environment; others are added afterwards. The sanitizer of the thread
// (checked_thread.hpp) takes the place of the environment's. Throws launch_error: a variable has an impossible value.
void apply_environment(emulator::launch& l);

}  // namespace kaio::runtime
