#pragma once
// The fault of a memory access that is not allowed: its address is outside of every object, of one that was
// freed, misaligned, or in memory that is read-only.

#include "emulator/machine/warp.hpp"
#include "emulator/program/error.hpp"
#include "emulator/program/program.hpp"

namespace kaio::emulator {

// `alignment`: what the address must be a multiple of; 0: of `bytes`.
[[noreturn]] void raise_access(const warp& w, const instruction& i, unsigned lane, access_kind access,
                               state_space space, u64 address, u32 bytes, u32 alignment = 0);

}  // namespace kaio::emulator
