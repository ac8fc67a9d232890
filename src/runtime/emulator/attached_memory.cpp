#include "runtime/emulator/attached_memory.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/waiting/memory_activity.hpp"

namespace kaio::runtime {

std::uint64_t attached_memory::attach(void* host, std::uint64_t bytes) {
  const std::scoped_lock lock(changing_);
  const std::uint64_t first = reinterpret_cast<std::uintptr_t>(host);
  auto begin = ranges_.upper_bound(first);
  if (begin != ranges_.begin() && first - std::prev(begin)->first < std::prev(begin)->second.bytes) --begin;
  if (begin != ranges_.end() && begin->first <= first &&
      bytes <= begin->second.bytes - (first - begin->first)) {
    ++begin->second.uses;
    emulator::memory_activity::shared().add_host_buffers(1);
    return begin->second.address + (first - begin->first);
  }
  // The ranges that this one overlaps become one with it. Kernels that run now keep the memory that they began with. They
  // finish with its addresses, since a range at the host's own address keeps it.
  std::uint64_t low = first, high = first + bytes, uses = 1;
  auto end = begin;
  for (; end != ranges_.end() && end->first < first + bytes; ++end) {
    low = std::min(low, end->first);
    high = std::max(high, end->first + end->second.bytes);
    uses += end->second.uses;
    memory_.free(end->second.address);
  }
  ranges_.erase(begin, end);
  const std::uint64_t address =
      memory_.attach(reinterpret_cast<void*>(static_cast<std::uintptr_t>(low)), high - low);
  ranges_.emplace(low, range{high - low, address, uses});
  emulator::memory_activity::shared().add_host_buffers(1);
  return address + (first - low);
}

void attached_memory::detach(void* host) {
  const std::scoped_lock lock(changing_);
  auto found = ranges_.upper_bound(reinterpret_cast<std::uintptr_t>(host));
  if (found == ranges_.begin()) return;
  emulator::memory_activity::shared().add_host_buffers(-1);
  if (--(--found)->second.uses != 0) return;
  memory_.free(found->second.address);
  ranges_.erase(found);
}

}  // namespace kaio::runtime
