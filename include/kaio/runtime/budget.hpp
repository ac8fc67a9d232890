#pragma once
// Limits of launches on an emulated device: a kernel that does not end cannot hang its program.
//
//   #include <kaio/runtime/budget.hpp>   // runtime.hpp and kaio.hpp leave it out: <chrono> is large
//
//   device gpu = device::open("emulator");
//   gpu.set_budget({.launch_time = 10s, .total_time = 2min});
//
// A launch beyond its budget is ended and throws launch_timeout; as after any failed launch, the device is lost.
// The variables KAIO_LAUNCH_SECONDS, KAIO_LAUNCH_INSTRUCTIONS, KAIO_PROGRAM_SECONDS and KAIO_PROGRAM_INSTRUCTIONS
// set such limits from outside the program. If both are set, both apply.

#include <kaio/ptx/standard.hpp>

#include <chrono>
#include <cstdint>

namespace kaio::runtime {

// 0: no limit. A warp instruction is one instruction for the 32 lanes of a warp. Time is wall-clock time within
// launches; the times of concurrent launches are added. Budgets are checked every few thousand instructions, so
// a launch may exceed them by about a millisecond.
struct budget {
  std::uint64_t launch_instructions = 0;    // of one launch
  std::chrono::nanoseconds launch_time{0};  // of one launch
  std::uint64_t total_instructions = 0;     // of all launches on the device from now on
  std::chrono::nanoseconds total_time{0};   // of all launches on the device from now on
};

}  // namespace kaio::runtime

namespace kaio {
using runtime::budget;
}  // namespace kaio
