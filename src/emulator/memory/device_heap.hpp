#pragma once
// The memory that kernels take with malloc and give back with free (CUDA C++ programming guide, "Dynamic
// Global Memory Allocation"): one buffer of an emulated device, made when the first kernel that allocates is
// launched. What one kernel takes another may use and free. Addresses do not depend on the machine. A piece
// that was freed is not given out again by the same grid as long as there is room: so an observer does not
// take the accesses of one owner for those of the next. All functions may be called from any thread.

#include "emulator/program/scalar.hpp"

#include <functional>
#include <map>
#include <mutex>

namespace kaio::emulator {

class device_heap {
 public:
  // As cudaLimitMallocHeapSize has it by default.
  static constexpr u64 default_bytes = 8u << 20;

  // Takes its buffer, unless it has one, from this function of a number of bytes, which gives an address.
  // Throws what that throws.
  void prepare(const std::function<u64(u64)>& take);
  // An address that is a multiple of 16; 0 if there is no room, or for no bytes. `grid`: the number of the
  // grid that asks.
  u64 allocate(u64 bytes, u64 grid);
  // False if the address is not of a piece that is taken. 0 is freed without effect.
  bool free(u64 address);

 private:
  struct piece {
    u64 bytes;
    bool freed;
  };

  u64 place(u64 bytes) const;
  void reuse();

  std::mutex mutex_;
  u64 address_ = 0;
  u64 next_ = 0;                 // where the search begins
  u64 grid_ = 0;                 // the last that asked
  std::map<u64, piece> pieces_;  // by address
};

}  // namespace kaio::emulator
