#include "emulator/memory/module_instance.hpp"

#include <cstring>
#include <exception>
#include <optional>
#include <vector>

namespace kaio::emulator {
namespace {

u64 allocated(memory& global, const variable& v) {
  return v.managed ? global.allocate_for_host(v.where.bytes) : global.allocate(v.where.bytes);
}

}  // namespace

module_instance::module_instance(const module& mod, memory& global) : module_(mod), memory_(global) {
  const decoded_module& m = mod.decoded();
  constants_.resize(m.constant_bytes);
  try {
    for (const variable& v : m.variables)
      addresses_.push_back(v.space == state_space::constant ? v.where.offset : allocated(memory_, v));
    for (std::size_t i = 0; i < m.variables.size(); ++i) {
      const variable& v = m.variables[i];
      if (v.initial.empty()) continue;
      std::vector<std::byte> image = v.initial;
      for (const variable::address_value& a : v.addresses) {
        const u64 value = (address(a.variable, a.generic) + a.addend) >> a.shift;
        std::memcpy(image.data() + a.offset, &value, a.bytes);
      }
      if (v.space == state_space::constant)
        std::memcpy(constants_.data() + v.where.offset, image.data(), image.size());
      else
        memory_.write(addresses_[i], image.data(), image.size());
    }
  } catch (...) {
    for (std::size_t i = 0; i < addresses_.size(); ++i)
      if (m.variables[i].space == state_space::global) memory_.free(addresses_[i]);
    throw;
  }
}

module_instance::~module_instance() {
  const decoded_module& m = module_.decoded();
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    if (m.variables[i].space != state_space::global) continue;
    try {
      memory_.free(addresses_[i]);
    } catch (const std::exception&) {
      // The variable was freed through its address; there is nothing left to free.
    }
  }
}

u64 module_instance::address(u32 index, bool generic) const {
  const bool constant = module_.decoded().variables[index].space == state_space::constant;
  return addresses_[index] + (constant && generic ? constant_window : 0);
}

std::optional<buffer> module_instance::find(std::string_view name) const {
  const decoded_module& m = module_.decoded();
  for (std::size_t i = 0; i < addresses_.size(); ++i)
    if (m.variables[i].where.name == name && m.variables[i].space == state_space::global)
      return buffer{addresses_[i], m.variables[i].where.bytes};
  return {};
}

}  // namespace kaio::emulator
