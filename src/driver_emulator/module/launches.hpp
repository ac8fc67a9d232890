#pragma once
// Turns a launch, as the driver's functions describe it, into work for a stream. It is checked against the limits of
// the kernel and the device. Source: CUDA driver API, "Execution Control".

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

struct launch_request {
  CUfunction function = nullptr;
  ptx::dim3 grid, block;
  unsigned shared = 0;
  void** parameters = nullptr;  // a pointer to each value, or
  void** extra = nullptr;       // CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE
  bool cooperative = false;
  const CUlaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

// Throws failure with the code that the driver's function returns for the mistake.
kernel_work checked_launch(const launch_request& request);

// The number of blocks of a function that are resident on the device at once.
std::uint64_t resident_blocks(const function& f, const ptx::dim3& block, unsigned shared);

}  // namespace kaio::driver_emulator
