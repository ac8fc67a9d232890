#pragma once
// Device memory that a caller lends to an attention.

#include <kaio/ops/shared/validation.hpp>

#include <cstdint>

namespace kaio::ops {

// Device memory that the call may use until it has run: a buffer, or a device_pointer.
struct attention_workspace {
  std::uint64_t address = 0, bytes = 0;
  const void* device = nullptr;

  attention_workspace() = default;
  template <class Memory>
    requires requires(const Memory& m) { m.as_argument().bits; }
  attention_workspace(const Memory& memory) {
    const ptx::argument argument = memory.as_argument();
    address = argument.bits;
    bytes = argument.bytes;
    device = argument.device;
  }
  workspace_facts facts() const noexcept { return {address, bytes, device}; }
};

}  // namespace kaio::ops
