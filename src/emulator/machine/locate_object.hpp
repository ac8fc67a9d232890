#pragma once
// Finds the object of an address for reports: the buffer or variable that contains it, or the nearest one.

#include "emulator/machine/block.hpp"
#include "emulator/program/error.hpp"

namespace kaio::emulator {

// Fills in the space and the object of a report. `offset`: the address within the space, as the block sees
// it. Returns the size of the space in bytes; 0 for global memory.
u64 locate_object(const block& b, state_space home, u64 offset, u64 address, fault_report& report);

}  // namespace kaio::emulator
