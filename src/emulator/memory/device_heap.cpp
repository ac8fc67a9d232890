#include "emulator/memory/device_heap.hpp"

namespace kaio::emulator {

void device_heap::prepare(const std::function<u64(u64)>& take) {
  const std::lock_guard lock(mutex_);
  if (address_ == 0) next_ = address_ = take(default_bytes);
}

// An address with `bytes` free bytes, searched from the end of the last allocation on; 0 if there is none.
u64 device_heap::place(u64 bytes) const {
  u64 at = next_;
  for (auto p = pieces_.lower_bound(at); p != pieces_.end() && p->first - at < bytes; ++p)
    at = p->first + p->second.bytes;
  return address_ + default_bytes - at < bytes ? 0 : at;
}

void device_heap::reuse() {
  std::erase_if(pieces_, [](const auto& p) { return p.second.freed; });
  next_ = address_;
}

u64 device_heap::allocate(u64 bytes, u64 grid) {
  constexpr u64 alignment = 16;
  const std::lock_guard lock(mutex_);
  if (grid != grid_) reuse();
  grid_ = grid;
  if (address_ == 0 || bytes == 0 || bytes > default_bytes) return 0;
  const u64 taken = (bytes + alignment - 1) / alignment * alignment;
  u64 at = place(taken);
  if (at == 0) {
    reuse();
    at = place(taken);
  }
  if (at == 0) return 0;
  pieces_.emplace(at, piece{taken, false});
  next_ = at + taken;
  return at;
}

bool device_heap::free(u64 address) {
  if (address == 0) return true;
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(address);
  if (found == pieces_.end() || found->second.freed) return false;
  found->second.freed = true;
  return true;
}

}  // namespace kaio::emulator
