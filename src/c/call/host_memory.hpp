#pragma once
// Memory of the CPU in a call: the emulator's kernels use it in place while the call lasts. The work of a call can be done by
// another thread, whose own work is in the same stream; so a call waits for its stream before it gives the memory back.

#include <kaio/runtime/device.hpp>

#include <cstdint>
#include <vector>

namespace kaio::c {

class host_memory {
 public:
  host_memory() = default;
  host_memory(const host_memory&) = delete;
  host_memory& operator=(const host_memory&) = delete;
  ~host_memory();

  bool is_used() const noexcept { return !ranges_.empty(); }
  // The emulator's address of the memory. An emulator that a failed kernel has lost works again once no other such call runs:
  // nothing of the program is in its own memory.
  std::uint64_t use(const runtime::device& emulator, std::uint64_t address, std::uint64_t bytes);
  // The stream of the call's work.
  void runs_in(void* stream) noexcept { stream_ = stream, runs_ = true; }
  // Waits for it. Throws what failed there.
  void finish();

 private:
  const runtime::device* emulator_ = nullptr;  // from the first use on
  std::vector<void*> ranges_;
  void* stream_ = nullptr;
  bool runs_ = false;
};

}  // namespace kaio::c
