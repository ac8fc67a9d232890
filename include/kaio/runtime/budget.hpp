#pragma once
// What launches on an emulated device may use, so that a kernel that does not end cannot hang its program.
//
//   #include <kaio/runtime/budget.hpp>   // runtime.hpp and kaio.hpp leave it out: <chrono> is large
//
//   device gpu = device::open("emulator");
//   gpu.set_budget({.launch_time = 10s, .total_time = 2min});
//
// A launch that goes beyond is ended, throws launch_timeout, and the device is lost as after any failed launch. The
// variables KAIO_LAUNCH_SECONDS, KAIO_LAUNCH_INSTRUCTIONS, KAIO_PROGRAM_SECONDS and KAIO_PROGRAM_INSTRUCTIONS set
// the same for a program from outside; where both are set, both hold.

#include <chrono>
#include <cstdint>

namespace kaio::runtime {

// 0: no limit. A warp instruction is one instruction for the 32 lanes of a warp. Time is wall-clock time within
// launches; what launches that run next to each other take is added. Budgets are looked at every few thousand
// instructions, so that a launch may go beyond them by about a millisecond.
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
