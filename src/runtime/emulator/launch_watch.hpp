#pragma once
// For tests that look at the kernels which an operation launches: a function that gets each launch of an emulated
// device right before it runs, and the memory of the device, in which it may run the kernel by itself.
//
//   watch_launches([&](const emulator::launch& l, emulator::memory&) { names.push_back(l.image->name); });

#include "emulator/emulator.hpp"

#include <functional>

namespace kaio::runtime {

using launch_watch = std::function<void(const emulator::launch&, emulator::memory&)>;

// Of all emulated devices, from the next launch on; an empty one ends it. No launch may be running.
void watch_launches(launch_watch watch);

}  // namespace kaio::runtime
