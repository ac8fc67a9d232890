#pragma once
// What one access of a warp costs in transactions: sectors of 32 bytes in global and local memory, wavefronts
// of 32 banks in shared memory. The ideal next to it is the least for as many different bytes.
// Source: CUDA C++ programming guide, "Device Memory Accesses"; the same model as
// <kaio/ptx/analysis/access_facts.hpp>.
//
//   u64 address[warp_lanes] = ...;
//   transactions t = sectors(address, all_lanes, 4);   // 32 floats apart: t.count == 32, t.ideal == 4

#include "emulator/program/scalar.hpp"

namespace kaio::emulator::profile {

inline constexpr u32 sector_bytes = 32;
inline constexpr u32 shared_banks = 32;
inline constexpr u32 bank_bytes = 4;

struct transactions {
  u64 count = 0;
  u64 ideal = 0;
};

// Of lanes that access `bytes` each at these addresses in global memory.
transactions sectors(const u64 (&address)[warp_lanes], u32 mask, u32 bytes);

// Offsets in shared memory. Lanes that ask for the same word get it at once; requests of 8 bytes a lane are
// served by half warps, of 16 bytes by quarters.
transactions wavefronts(const u64 (&offset)[warp_lanes], u32 mask, u32 bytes);

// Offsets in each lane's own local memory. Words with the same offset of the lanes of a warp are side by
// side.
transactions local_sectors(const u64 (&offset)[warp_lanes], u32 mask, u32 bytes);

// How many lanes are at the address that most of them are at: atomic operations there wait for each other.
u32 most_at_one_address(const u64 (&address)[warp_lanes], u32 mask);

}  // namespace kaio::emulator::profile
