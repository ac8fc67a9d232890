#pragma once
// A launched grid. It does not change while its blocks run. Apart from global memory it is all that they
// share.

#include "emulator/machine/observer.hpp"
#include "emulator/machine/schedule.hpp"
#include "emulator/memory/device_heap.hpp"
#include "emulator/memory/memory.hpp"
#include "emulator/program/module.hpp"
#include "emulator/program/program.hpp"
#include "emulator/program/source_map.hpp"

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/ptx/target.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator {

struct grid {
  const entry& kernel;
  const module& program;
  const memory& global;
  std::shared_ptr<const memory_snapshot> snapshot;
  ptx::dim3 blocks, threads;
  std::vector<std::byte> parameters;
  std::vector<std::byte> constants;     // the module's .const memory
  std::vector<std::byte> initial_file;  // entry::initial with the addresses of variables
  u32 shared_bytes = 0;                 // static and dynamic
  u32 dynamic_shared = 0;
  u32 multiprocessors = 1;
  bool cooperative = false;  // all blocks are resident at once
  ptx::dim3 cluster_blocks{1, 1, 1};
  bool explicit_cluster = false;
  bool programmatic = false;  // see launch::programmatic
  emulator::schedule order;
  std::vector<grid_observer*> observers;
  std::atomic<u64>* executed = nullptr;  // each block adds its warp instructions at its end
  u64 instruction_limit = 0;             // per block; 0: none
  u64 id = 0;
  u64 workspace = 0;  // address of a cooperative grid's synchronisation memory
  const ptx::kernel_image* image = nullptr;
  std::string kernel_origin;       // see launch::kernel_origin
  std::string* printed = nullptr;  // the kernel's output; written by one thread at a time
  device_heap* heap = nullptr;     // for the kernel's malloc

  // After the shared memory of a block the system keeps 1 KiB. There cooperative groups let tiles of several
  // warps meet. The emulator has it for kernels that ask for its address.
  static constexpr u32 reserved_bytes = 1024, reserved_used = 288;
  u32 reserved_offset() const { return (shared_bytes + 127) / 128 * 128; }
  bool reads_reserved_offset() const;

  u64 clusters() const { return blocks.count() / cluster_blocks.count(); }
  u32 warps() const { return static_cast<u32>((threads.count() + warp_lanes - 1) / warp_lanes); }
};

// The index of a thread within its block.
ptx::dim3 thread_of(const grid& g, u32 warp_index, unsigned lane);
// The line of an instruction in the module's text, and its C++ statement if that is known.
std::string_view text_of(const grid& g, const instruction& i);
source_place source_of(const grid& g, const instruction& i);

}  // namespace kaio::emulator
