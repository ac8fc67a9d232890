#pragma once
// The emulated device: the architecture that `.target` is compared with, and the limits of a launch.
// The defaults are those of compute capability 9.0 (CUDA C++ programming guide, "Compute Capabilities").
//
//   architecture a100{.sm = 80, .arch_specific = false, .shared_per_block = 163 * 1024};

#include "emulator/program/scalar.hpp"

#include <kaio/ptx/target.hpp>

namespace kaio::emulator {

struct architecture {
  unsigned sm = 90;
  bool arch_specific = true;                // runs `.target sm_90a` too
  u32 shared_per_block = 227 * 1024;        // bytes, static and dynamic together
  u32 static_shared_per_block = 48 * 1024;  // bytes that `.shared` declarations may take
  u32 constant_bytes = 64 * 1024;           // bytes of a module's `.const` variables
  u32 local_per_thread = 512 * 1024;        // bytes of `.local` variables
  u32 parameter_bytes = 4096;               // per kernel; 32764 from PTX ISA 8.1 on
  u32 threads_per_block = 1024;
  u32 block_x = 1024, block_y = 1024, block_z = 64;
  u32 grid_x = 0x7fffffff, grid_y = 65535, grid_z = 65535;
  u32 blocks_per_cluster = 16;  // with the non-portable sizes; 1 below sm_90
  u32 multiprocessors = 132;    // the value of %nsmid
  // The capacity of one multiprocessor. It decides how many blocks of a cooperative grid are resident.
  // Registers are not counted: a GPU's compiler decides how many a kernel takes.
  u32 threads_per_multiprocessor = 2048;
  u32 blocks_per_multiprocessor = 32;
  u32 shared_per_multiprocessor = 228 * 1024;  // bytes
  u32 shared_kept_per_block = 1024;            // bytes of it that the system takes for each block
};

// The limits of an architecture from sm_70 on; an unknown one gets those of sm_90. Source: CUDA C++ programming
// guide, "Technical Specifications per Compute Capability"; for sm_87 and from sm_100 on, cccl 3.3,
// cuda/__device/arch_traits.h.
architecture architecture_of(ptx::target target);

}  // namespace kaio::emulator
