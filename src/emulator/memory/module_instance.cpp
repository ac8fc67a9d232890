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

module_instance::module_instance(const module& mod, memory& global, constant_storage storage)
    : module_(mod), memory_(global) {
  const decoded_module& m = mod.decoded();
  constants_.resize(m.constant_bytes);
  try {
    for (const variable& v : m.variables) {
      const bool constant = v.space == state_space::constant;
      const bool in_memory = !constant || (storage == constant_storage::memory && v.where.bytes != 0);
      buffers_.push_back(in_memory ? allocated(memory_, v) : 0);
      addresses_.push_back(constant ? v.where.offset : buffers_.back());
    }
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
      if (buffers_[i] != 0) memory_.write(buffers_[i], image.data(), image.size());
    }
  } catch (...) {
    free_buffers();
    throw;
  }
}

module_instance::~module_instance() { free_buffers(); }

void module_instance::free_buffers() {
  for (const u64 address : buffers_) {
    if (address == 0) continue;
    try {
      memory_.free(address);
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
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i] != 0 && m.variables[i].where.name == name)
      return buffer{buffers_[i], m.variables[i].where.bytes};
  return {};
}

std::vector<std::byte> module_instance::constants(const memory_snapshot& now) const {
  std::vector<std::byte> all = constants_;
  const decoded_module& m = module_.decoded();
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const variable& v = m.variables[i];
    if (v.space != state_space::constant || buffers_[i] == 0) continue;
    const region* found = now.at_or_below(buffers_[i]);
    if (found != nullptr && found->address == buffers_[i])
      std::memcpy(all.data() + v.where.offset, found->data, v.where.bytes);
  }
  return all;
}

}  // namespace kaio::emulator
