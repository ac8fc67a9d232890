#pragma once
// The variables of a module in a memory.

#include "emulator/memory/memory.hpp"
#include "emulator/program/module.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace kaio::emulator {

// A module's .global variables in a memory: allocated and initialised here, freed with the object. A module
// without such variables needs no instance.
class module_instance {
 public:
  // Throws memory_error: out_of_memory.
  module_instance(const module& mod, memory& global);
  ~module_instance();
  module_instance(const module_instance&) = delete;
  module_instance& operator=(const module_instance&) = delete;

  // The address of entry `variable` of decoded_module::variables: within its state space, or generic.
  u64 address(u32 variable, bool generic) const;
  // Device address and size of a .global variable; no value if none has that name.
  std::optional<buffer> find(std::string_view variable) const;
  const std::vector<std::byte>& constants() const { return constants_; }

 private:
  module module_;
  memory& memory_;
  std::vector<u64> addresses_;
  std::vector<std::byte> constants_;
};

}  // namespace kaio::emulator
