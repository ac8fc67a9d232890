#pragma once
// The memory for malloc and free in kernels (CUDA C++ programming guide, "Dynamic Global Memory Allocation"):
// one buffer per emulated device, made at the first launch of a kernel that allocates. Another kernel may use
// and free the memory. Addresses do not depend on the machine. While there is room, a grid does not get a
// freed piece again. So an observer does not mistake one owner's accesses for the next one's. All functions
// may be called from any thread.

#include "emulator/program/scalar.hpp"

#include <functional>
#include <map>
#include <mutex>

namespace kaio::emulator {

class device_heap {
 public:
  // The default of cudaLimitMallocHeapSize.
  static constexpr u64 default_bytes = 8u << 20;

  // If it has no buffer, gets one from `take`, which maps a number of bytes to an address. Throws what `take`
  // throws.
  void prepare(const std::function<u64(u64)>& take);
  // Returns a multiple of 16; 0 if there is no room, or for no bytes. `grid`: the number of the grid that
  // asks.
  u64 allocate(u64 bytes, u64 grid);
  // False if no allocated piece has this address. 0 is freed without effect.
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
  u64 grid_ = 0;                 // the last grid that asked
  std::map<u64, piece> pieces_;  // by address
};

}  // namespace kaio::emulator
