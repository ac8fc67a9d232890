#pragma once
// What a device is and can do, read once when it is opened. Launches are checked against it. The emulator
// fills in the same fields, so that both refuse the same calls.
//
//   if (gpu.properties().target.sm >= 90) ...

#include <kaio/ptx/target.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::runtime {

struct device_properties {
  char name[256] = {};  // "NVIDIA H200", "emulator"
  int ordinal = -1;     // N of cuda:N; -1: an emulator
  int emulator = -1;    // N of emulator:N; -1: a GPU, or an emulator without a number
  ptx::target target;   // arch_specific: code for exactly this `sm_XXa` runs too
  std::uint32_t multiprocessors = 0;
  std::uint64_t total_memory = 0;  // bytes
  std::uint32_t max_threads_per_block = 0;
  ptx::dim3 max_block, max_grid;
  std::uint32_t max_threads_per_multiprocessor = 0;
  std::uint32_t max_blocks_per_multiprocessor = 0;
  std::uint32_t max_blocks_per_cluster = 0;  // 1: there are no clusters
  std::uint32_t registers_per_block = 0;     // 32-bit registers
  std::uint32_t registers_per_multiprocessor = 0;
  std::uint32_t shared_per_block = 0;        // bytes, without opt-in
  std::uint32_t shared_per_block_optin = 0;  // bytes, with opt-in
  std::uint32_t shared_per_multiprocessor = 0;
  std::uint32_t warp_size = 0;
  std::uint32_t l2_bytes = 0;
  std::uint32_t clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;  // 0 where not reported
  std::uint32_t driver_version = 0;  // the CUDA version of the driver, 13000 is 13.0; 0: the emulator
  ptx::isa_version ptx_version;      // the newest PTX ISA that the driver takes; the emulator has 99.99: any

  bool is_emulator() const noexcept { return ordinal < 0; }
};

// A stream with the lower number goes first, so `highest` is the smaller number. Both 0: there are no priorities.
struct stream_priorities {
  int lowest = 0, highest = 0;
};

struct memory_info {
  std::uint64_t free = 0, total = 0;  // bytes
};

}  // namespace kaio::runtime

namespace kaio {
using runtime::device_properties;
using runtime::memory_info;
using runtime::stream_priorities;
}  // namespace kaio
