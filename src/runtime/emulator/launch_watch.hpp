#pragma once
// For tests that look at the kernels of an operation. A function gets each launch of an emulated device right before
// it runs. It also gets the memory of the device, and may run the kernel there itself.
//
//   watch_launches([&](const emulator::launch& l, emulator::memory&) { names.push_back(l.image->name); });

#include "emulator/emulator.hpp"

#include <functional>

namespace kaio::runtime {

using launch_watch = std::function<void(const emulator::launch&, emulator::memory&)>;

// Watches all emulated devices from the next launch on; an empty function ends it. No launch may be running.
void watch_launches(launch_watch watch);

}  // namespace kaio::runtime
