#pragma once
// Raises the fault of an invalid memory access: its address is outside every object, in a freed object,
// misaligned, or in read-only memory.

#include "emulator/machine/warp.hpp"
#include "emulator/program/error.hpp"
#include "emulator/program/program.hpp"

namespace kaio::emulator {

// `alignment`: the address must be a multiple of it; 0: of `bytes`.
[[noreturn]] void raise_access(const warp& w, const instruction& i, unsigned lane, access_kind access,
                               state_space space, u64 address, u32 bytes, u32 alignment = 0);

}  // namespace kaio::emulator
