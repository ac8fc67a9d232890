#pragma once
// The emulator as the rest of the runtime sees it: PTX text becomes a module, a module's kernels run on a
// memory.
//
//   memory global;
//   const module m = parse_module(text, architecture{});
//   launch l{.mod = &m, .kernel = m.find("saxpy"), .grid = {n / 256, 1, 1}, .block = {256, 1, 1}};
//   l.parameters = bytes;
//   run(l, global);

#include "emulator/machine/observer.hpp"
#include "emulator/machine/schedule.hpp"
#include "emulator/memory/memory.hpp"
#include "emulator/memory/module_instance.hpp"
#include "emulator/program/architecture.hpp"
#include "emulator/program/error.hpp"
#include "emulator/program/module.hpp"
#include "emulator/program/program.hpp"
#include "emulator/run/budget.hpp"
#include "emulator/waiting/memory_wait.hpp"

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/ptx/target.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator {

// Throws ptx_error: the text is not PTX that this device executes.
module parse_module(std::string_view text, const architecture& device);
// Links several texts into one module: each text may define what another declares .extern. Line numbers
// continue from one text to the next. Throws ptx_error.
module link_modules(const std::vector<std::string_view>& texts, const architecture& device);

struct launch {
  const module* mod = nullptr;
  const entry* kernel = nullptr;  // a kernel of `mod`
  ptx::dim3 grid, block;
  std::vector<std::byte> parameters;  // laid out as entry::parameters describes
  u32 dynamic_shared = 0;             // bytes
  bool cooperative = false;           // all blocks must be resident at once
  ptx::dim3 cluster{0, 0, 0};         // blocks per cluster; 0: the text's value, else 1
  bool programmatic = false;          // on a GPU it may begin before the preceding grid has ended
  schedule order;
  std::vector<grid_observer*> observers;     // notified of what the kernel does; must outlive the launch
  const ptx::kernel_image* image = nullptr;  // for the C++ lines in a fault
  std::string
      kernel_origin;  // distinguishes it in reports from other kernels that share its name; may be empty
  const module_instance* instance = nullptr;  // nullptr: the module's variables live as long as the launch
  std::string* printed = nullptr;             // receives the kernel's output; nullptr: standard output
  std::atomic<u64>* executed = nullptr;       // the grid adds its warp instructions to it
  unsigned threads = 0;                       // host threads to run blocks on; 0: all cores
  u64 instruction_limit = 0;                  // warp instructions that a block may execute; 0: no limit
  std::vector<budget> budgets;                // limits of the grid; exceeding one is a fault
  // Returns true to end the grid with a fault. Every thread of the grid asks, some thousand times a second.
  std::function<bool()> cancelled;
  // Asked if all threads of the grid poll memory that none of them writes; nullptr: that is a livelock, a fault.
  // Only a grid whose kernel may wait for others asks (may_wait).
  memory_wait* wait = nullptr;
  // A grid that runs longer shows a line on the terminal (run/progress_line.hpp).
  std::chrono::nanoseconds progress_after = std::chrono::seconds(2);
};

// True if a kernel can wait for memory that others write: it has loads that are ordered with other threads' stores,
// or atomics that return a value.
inline bool may_wait(const entry& kernel) { return kernel.blocks_communicate; }

// The number of blocks of a kernel that the device holds at once.
u64 resident_blocks(const entry& kernel, const ptx::dim3& block, u32 dynamic_shared,
                    const architecture& device);

// Runs a grid to its end. Results do not depend on `threads`. Throws launch_error before anything has run, or
// the fault of the first block that has one. A grid or a block without threads does nothing.
void run(const launch& l, memory& global);

}  // namespace kaio::emulator
