#pragma once
// Where the lanes of a memory access find their bytes: addresses of the kernel become host pointers, after
// they were checked against the bounds and the alignment of the state space.

#include "emulator/machine/warp.hpp"
#include "emulator/program/error.hpp"
#include "emulator/program/program.hpp"

#include <cstddef>

namespace kaio::emulator {

// Fills at[lane] for the lanes of `mask`, each an access of `bytes`. True if all 32 lanes take part and their
// bytes follow each other in memory. Throws fault.
bool locate(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind access,
            std::byte* (&at)[warp_lanes]);

// The same for addresses that no register holds, as those of the elements of a matrix; they are in the
// instruction's state space.
void locate_at(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind access,
               const u64 (&addresses)[warp_lanes], std::byte* (&at)[warp_lanes]);

// The bytes at a generic address that one lane may read. Throws fault.
const std::byte* readable(warp& w, const instruction& i, unsigned lane, u64 address, u32 bytes);

}  // namespace kaio::emulator
