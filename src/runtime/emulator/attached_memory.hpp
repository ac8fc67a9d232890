#pragma once
// Host memory that the emulator's kernels use in place. Several calls may use the same memory at once, and ranges that
// overlap, such as the columns of one matrix: these are one buffer of the emulator.

#include <cstdint>
#include <map>
#include <mutex>

#include "emulator/memory/memory.hpp"

namespace kaio::runtime {

class attached_memory {
 public:
  explicit attached_memory(emulator::memory& memory) noexcept : memory_(memory) {}
  attached_memory(const attached_memory&) = delete;
  attached_memory& operator=(const attached_memory&) = delete;

  // The device's address of the host memory. Throws emulator::memory_error: out_of_memory.
  std::uint64_t attach(void* host, std::uint64_t bytes);
  // Ends one use of the memory that begins there.
  void detach(void* host);

 private:
  struct range {
    std::uint64_t bytes;
    std::uint64_t address;  // on the device
    std::uint64_t uses;
  };

  emulator::memory& memory_;
  std::mutex changing_;
  std::map<std::uint64_t, range> ranges_;  // by the host's address; they do not overlap
};

}  // namespace kaio::runtime
