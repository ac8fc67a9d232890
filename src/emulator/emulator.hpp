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
// Several texts as one module, in which each defines what others declare .extern. Lines are counted through
// all texts, one after the other. Throws ptx_error.
module link_modules(const std::vector<std::string_view>& texts, const architecture& device);

struct launch {
  const module* mod = nullptr;
  const entry* kernel = nullptr;  // of `mod`
  ptx::dim3 grid, block;
  std::vector<std::byte> parameters;  // laid out as entry::parameters describes
  u32 dynamic_shared = 0;             // bytes
  bool cooperative = false;           // all blocks must be resident at once
  ptx::dim3 cluster{0, 0, 0};         // blocks of a cluster; 0: as the text has it, or one
  bool programmatic = false;          // on a GPU it may begin before the grid before it has ended
  schedule order;
  std::vector<grid_observer*> observers;     // notified of what the kernel does; must outlive the launch
  const ptx::kernel_image* image = nullptr;  // for the C++ lines in a fault
  std::string
      kernel_origin;  // what distinguishes it from other kernels of its name, in reports; may be empty
  const module_instance* instance = nullptr;  // nullptr: the module's variables live as long as the launch
  std::string* printed = nullptr;             // what the kernel prints; nullptr: to the standard output
  std::atomic<u64>* executed = nullptr;       // the warp instructions of the grid are added to it
  unsigned threads = 0;                       // host threads to run blocks on; 0: all cores
  u64 instruction_limit = 0;                  // warp instructions that a block may execute; 0: no limit
  std::vector<budget> budgets;                // what the grid may use; a fault where one is used up
  // Asked by all threads of the grid, some thousand times a second: whether the grid is to end, with a fault.
  std::function<bool()> cancelled;
  // A grid that runs longer has a line on the terminal (run/progress_line.hpp).
  std::chrono::nanoseconds progress_after = std::chrono::seconds(2);
};

// How many blocks of a kernel the device holds at once.
u64 resident_blocks(const entry& kernel, const ptx::dim3& block, u32 dynamic_shared,
                    const architecture& device);

// Runs a grid to its end. Results do not depend on `threads`. Throws launch_error before anything has run, or
// fault; of several faults that of the first block. A grid or a block without threads does nothing.
void run(const launch& l, memory& global);

}  // namespace kaio::emulator
