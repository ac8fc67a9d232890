#pragma once
// The variables of a module in a memory.

#include "emulator/memory/memory.hpp"
#include "emulator/program/module.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace kaio::emulator {

// Who has the .const variables: the instance alone, or the memory too, where the host reads and writes them.
enum class constant_storage : u8 { instance, memory };

// A module's .global variables in a memory: allocated and initialised here, freed with the object. A module
// without such variables needs no instance.
class module_instance {
 public:
  // Throws memory_error: out_of_memory.
  module_instance(const module& mod, memory& global, constant_storage storage = constant_storage::instance);
  ~module_instance();
  module_instance(const module_instance&) = delete;
  module_instance& operator=(const module_instance&) = delete;

  // The address of entry `variable` of decoded_module::variables: within its state space, or generic.
  u64 address(u32 variable, bool generic) const;
  // Where the host finds a variable in the memory, visible or not, and its size. No value if none has that
  // name, or the memory does not have it.
  std::optional<buffer> find(std::string_view variable) const;
  // The bytes of all .const variables, by their offsets, as a grid that begins now sees them. `now`: of this
  // memory.
  std::vector<std::byte> constants(const memory_snapshot& now) const;

 private:
  void free_buffers();

  module module_;
  memory& memory_;
  std::vector<u64> addresses_;  // by variable, within its state space
  std::vector<u64> buffers_;    // by variable, in the memory; 0: not there
  std::vector<std::byte> constants_;
};

}  // namespace kaio::emulator
