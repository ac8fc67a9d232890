#pragma once
// Device memory that a caller lends to an operation.

#include <kaio/ops/shared/validation.hpp>

#include <cstdint>

namespace kaio::ops {

// A buffer or a device_pointer that the call may use until it has run.
struct workspace_view {
  std::uint64_t address = 0, bytes = 0;
  const void* device = nullptr;

  workspace_view() = default;
  template <class Memory>
    requires requires(const Memory& m) { m.as_argument().bits; }
  workspace_view(const Memory& memory) {
    const ptx::argument argument = memory.as_argument();
    address = argument.bits;
    bytes = argument.bytes;
    device = argument.device;
  }
  workspace_facts facts() const noexcept { return {address, bytes, device}; }
};

}  // namespace kaio::ops
