#pragma once
// Locates the bytes of a memory access: turns the kernel's addresses into host pointers, after checks of the
// state space's bounds and alignment.

#include "emulator/machine/warp.hpp"
#include "emulator/program/error.hpp"
#include "emulator/program/program.hpp"

#include <cstddef>

namespace kaio::emulator {

// Fills at[lane] for the lanes of `mask`, each an access of `bytes`. True if all 32 lanes take part and their
// bytes are consecutive in memory. Throws fault.
bool locate(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind access,
            std::byte* (&at)[warp_lanes]);

// The first byte of an access of all 32 lanes to consecutive bytes of one buffer, or of the block's shared memory.
// nullptr for any other access, and where somebody observes: then locate finds the bytes, or the fault.
std::byte* locate_consecutive(const warp& w, const instruction& i, u32 bytes);

// For addresses that no register holds, such as those of matrix elements; they are in the instruction's state
// space.
void locate_at(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind access,
               const u64 (&addresses)[warp_lanes], std::byte* (&at)[warp_lanes]);

// The bytes that one lane may read at a generic address. Throws fault.
const std::byte* readable(warp& w, const instruction& i, unsigned lane, u64 address, u32 bytes);

}  // namespace kaio::emulator
