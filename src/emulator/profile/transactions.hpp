#pragma once
// The transactions of one access of a warp: sectors of 32 bytes in global and local memory, wavefronts of 32
// banks in shared memory. `ideal` is the minimum for this number of different bytes. Source: CUDA C++
// programming guide, "Device Memory Accesses"; the model is that of <kaio/ptx/analysis/access_facts.hpp>.
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

// For lanes that access `bytes` each at these addresses in global memory.
transactions sectors(const u64 (&address)[warp_lanes], u32 mask, u32 bytes);

// For offsets in shared memory. Lanes that ask for one word get it at once. Requests of 8 bytes per lane are
// served by half warps, of 16 bytes by quarters.
transactions wavefronts(const u64 (&offset)[warp_lanes], u32 mask, u32 bytes);

// For offsets in each lane's own local memory. The words of a warp's lanes at one offset are adjacent.
transactions local_sectors(const u64 (&offset)[warp_lanes], u32 mask, u32 bytes);

// The number of lanes at the most common address: atomic operations there wait for each other.
u32 most_at_one_address(const u64 (&address)[warp_lanes], u32 mask);

}  // namespace kaio::emulator::profile
