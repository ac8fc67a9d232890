#pragma once
// What an address belongs to, for reports: the buffer or the variable that it is in, or the nearest one.

#include "emulator/machine/block.hpp"
#include "emulator/program/error.hpp"

namespace kaio::emulator {

// Fills in the space and the object of a report. `offset`: of the address within the space, as the block sees
// it. Returns the bytes of the space; of global memory 0.
u64 locate_object(const block& b, state_space home, u64 offset, u64 address, fault_report& report);

}  // namespace kaio::emulator
