#pragma once
// The emulator as the rest of the runtime sees it: PTX text becomes a module, a module's kernels run on a
// memory.
//
//   memory global;
//   const module m = module::parse(text, architecture{});
//   launch l{.mod = &m, .kernel = m.find("saxpy"), .grid = {n / 256, 1, 1}, .block = {256, 1, 1}};
//   l.parameters = bytes;
//   run(l, global);

#include "runtime/emulator/architecture.hpp"
#include "runtime/emulator/error.hpp"
#include "runtime/emulator/memory.hpp"
#include "runtime/emulator/observer.hpp"
#include "runtime/emulator/program.hpp"
#include "runtime/emulator/schedule.hpp"

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/ptx/target.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::runtime::emulator {

// A decoded module. It does not change, and may be used by several threads at a time.
class module {
 public:
  // Throws ptx_error: the text is not PTX that this device executes.
  static module parse(std::string_view text, const architecture& device);
  // Several modules as one, in which each defines what others declare .extern. Lines are counted through all
  // texts, one behind the other. Throws ptx_error.
  static module link(const std::vector<std::string_view>& texts, const architecture& device);

  // nullptr if there is no such kernel.
  const entry* find(std::string_view kernel) const;
  const decoded_module& decoded() const { return contents_->decoded; }
  const architecture& device() const { return contents_->device; }
  // A line of the text, from 1; empty outside of it.
  std::string_view line(u32 number) const;
  std::string_view text() const { return contents_->text; }

 private:
  struct contents {
    std::string text;
    std::vector<std::size_t> line_starts;
    architecture device;
    decoded_module decoded;
  };
  explicit module(std::shared_ptr<const contents> c) : contents_(std::move(c)) {}
  std::shared_ptr<const contents> contents_;
};

// A module's .global variables in a memory: allocated and initialised here, freed with the object. A module
// without such variables needs none.
class module_instance {
 public:
  // Throws memory_error: out_of_memory.
  module_instance(const module& mod, memory& global);
  ~module_instance();
  module_instance(const module_instance&) = delete;
  module_instance& operator=(const module_instance&) = delete;

  // Of a variable of decoded_module::variables: within its state space, or generic.
  u64 address(u32 variable, bool generic) const;
  // Device address of a .global variable, and its size; no value if there is none of that name.
  std::optional<buffer> find(std::string_view variable) const;
  const std::vector<std::byte>& constants() const { return constants_; }

 private:
  module module_;
  memory& memory_;
  std::vector<u64> addresses_;
  std::vector<std::byte> constants_;
};

struct launch {
  const module* mod = nullptr;
  const entry* kernel = nullptr;  // of `mod`
  ptx::dim3 grid, block;
  std::vector<std::byte> parameters;  // laid out as entry::parameters says
  u32 dynamic_shared = 0;             // bytes
  bool cooperative = false;           // all blocks must be resident at once
  ptx::dim3 cluster{0, 0, 0};         // blocks of a cluster; 0: what the text says, or one
  schedule order;
  std::vector<grid_observer*> observers;      // told of what the kernel does; they outlive the launch
  const ptx::kernel_image* image = nullptr;   // for the C++ lines in a fault
  const module_instance* instance = nullptr;  // nullptr: the module's variables live as long as the launch
  std::string* printed = nullptr;             // what the kernel prints; nullptr: to the standard output
  std::atomic<u64>* executed = nullptr;       // the warp instructions of the grid are added to it
  unsigned threads = 0;                       // host threads to run blocks on; 0: all cores
  u64 instruction_limit = 0;                  // warp instructions that a block may execute; 0: no limit
};

// How many blocks of a kernel the device holds at once.
u64 resident_blocks(const entry& kernel, const ptx::dim3& block, u32 dynamic_shared,
                    const architecture& device);

// Runs a grid to its end. Results do not depend on `threads`. Throws launch_error before anything has run, or
// fault; of several faults that of the first block. A grid or a block without threads does nothing.
void run(const launch& l, memory& global);

}  // namespace kaio::runtime::emulator
