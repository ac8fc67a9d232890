#pragma once
// Locates the bytes of asynchronous operations: one lane and one place at a time, of any size, with the block
// that owns the shared memory.
//
//   const memory_location from = find_location(w, i, operands.from, lane, bytes, 16, access_kind::read);

#include "emulator/machine/warp.hpp"
#include "emulator/program/error.hpp"
#include "emulator/program/program.hpp"

#include <cstddef>

namespace kaio::emulator {

struct memory_location {
  std::byte* at = nullptr;  // in the host's memory
  block* home = nullptr;    // the block that owns the shared memory; nullptr: global memory
  u64 address = 0;          // in shared memory: the offset in `home`
};

// The value of an address as given by the kernel.
u64 address_in(const warp& w, const address_operand& place, unsigned lane);

// The place given by an instruction's only address.
address_operand address_operand_of(const instruction& i);

// The place of `bytes` in global, shared or generic memory. Throws fault: out of bounds, misaligned.
memory_location find_location(warp& w, const instruction& i, const address_operand& place, unsigned lane,
                              u32 bytes, u32 alignment, access_kind access);

// For an address in global memory that no operand holds; nullptr if the bytes are not in one buffer.
std::byte* find_global_bytes(const block& b, u64 address, u64 bytes);

}  // namespace kaio::emulator
