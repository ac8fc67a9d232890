// Device memory: allocating, freeing, asking.

#include "host/system/memory.hpp"
#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/fault_injection.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"
#include "emulator/waiting/memory_activity.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace kaio::driver_emulator {
namespace {

// Addresses of the emulator's memory begin here and rise. The own addresses of a 64-bit process are elsewhere: on Linux far
// above, those of programs at fixed addresses far below; on Windows near both ends.
#if defined(_WIN32)
constexpr CUdeviceptr first_device_address = CUdeviceptr{1} << 46;
#else
constexpr CUdeviceptr first_device_address = CUdeviceptr{1} << 32;
#endif
constexpr CUdeviceptr end_of_device_addresses = first_device_address + (CUdeviceptr{1} << 44);

constexpr std::uint64_t pitch_alignment = 512;

void free_everywhere(CUdeviceptr address) {
  driver_state& s = state();
  const auto found = s.allocations.find(address);
  const bool device = found != s.allocations.end() && (found->second.kind == allocation_kind::device ||
                                                       found->second.kind == allocation_kind::pool ||
                                                       found->second.kind == allocation_kind::managed);
  if (!device) {
    count_misuse(CUDA_ERROR_INVALID_HANDLE);
    refuse(CUDA_ERROR_INVALID_VALUE);
  }
  // The driver waits for the work that may use the memory.
  if (const std::shared_ptr<context> owner = s.contexts.find(found->second.owner)) drain(*owner);
  free_allocation(address);
}

}  // namespace

allocation* find_allocation(CUdeviceptr address) {
  driver_state& s = state();
  auto above = s.allocations.upper_bound(address);
  if (above == s.allocations.begin()) return nullptr;
  --above;
  return address - above->first < above->second.bytes ? &above->second : nullptr;
}

CUdeviceptr address_of(const allocation& a) {
  for (const auto& [address, known] : state().allocations)
    if (&known == &a) return address;
  return 0;
}

CUdeviceptr allocate_device(context& c, std::uint64_t bytes, allocation_kind kind, CUmemoryPool pool) {
  driver_state& s = state();
  require(bytes != 0);
  device& d = *c.where;
  require(bytes <= d.memory_bytes - std::min(d.used_bytes, d.memory_bytes), CUDA_ERROR_OUT_OF_MEMORY);
  allocation a;
  a.kind = kind;
  a.bytes = bytes;
  a.id = ++s.last_id;
  a.where = &d;
  a.owner = c.handle;
  a.from = pool;
  const CUdeviceptr address = s.memory.allocate(bytes, emulator::contents::undefined);
  s.allocations.emplace(address, a);
  d.used_bytes += bytes;
  return address;
}

void free_allocation(CUdeviceptr address) {
  driver_state& s = state();
  const auto found = s.allocations.find(address);
  if (found == s.allocations.end()) return;
  const allocation a = found->second;
  s.allocations.erase(found);
  s.memory.free(address);
  if (a.host != nullptr)
    emulator::memory_activity::shared().add_host_buffers(-1);
  else
    a.where->used_bytes -= a.bytes;
  if (const auto pool = s.pools.find(a.from)) pool->used -= a.bytes;
  if (a.kind == allocation_kind::host || a.kind == allocation_kind::managed) host::free_pages(a.host);
}

bool is_device_range(CUdeviceptr address, std::uint64_t bytes) {
  const auto buffer = state().memory.find(address);
  return buffer && bytes <= buffer->bytes - (address - buffer->address);
}

bool is_device_address(CUdeviceptr address) {
  return address >= first_device_address && address < end_of_device_addresses;
}

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return call(function_id::cuMemGetInfo_v2, [&](context& c) {
    require(free != nullptr || total != nullptr);
    const device& d = *c.where;
    const std::uint64_t left = d.memory_bytes - std::min(d.used_bytes, d.memory_bytes);
    if (free != nullptr) *free = std::min(left, state().memory.left());
    if (total != nullptr) *total = d.memory_bytes;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  return call(function_id::cuMemAlloc_v2, [&](context& c) {
    require(address != nullptr);
    forbid_in_capture();
    *address = allocate_device(c, bytes, allocation_kind::device, nullptr);
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height,
                            unsigned element_size) {
  return call(function_id::cuMemAllocPitch_v2, [&](context& c) {
    require(address != nullptr && pitch != nullptr && width != 0 && height != 0);
    require(element_size == 4 || element_size == 8 || element_size == 16);
    forbid_in_capture();
    require(width <= std::numeric_limits<std::uint64_t>::max() - pitch_alignment, CUDA_ERROR_OUT_OF_MEMORY);
    const std::uint64_t row = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
    require(height <= std::numeric_limits<std::uint64_t>::max() / row, CUDA_ERROR_OUT_OF_MEMORY);
    *address = allocate_device(c, row * height, allocation_kind::device, nullptr);
    *pitch = row;
  });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return release_call(function_id::cuMemFree_v2, [&] {
    if (address == 0) return;
    forbid_in_capture();
    const allocation* a = find_allocation(address);
    const std::shared_ptr<context> owner = a != nullptr ? state().contexts.find(a->owner) : nullptr;
    free_everywhere(address);
    if (owner != nullptr && owner->lost != CUDA_SUCCESS) refuse(owner->lost);
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  return call(function_id::cuMemGetAddressRange_v2, [&](context&) {
    const auto buffer = state().memory.find(address);
    require(buffer.has_value(), CUDA_ERROR_NOT_FOUND);
    if (base != nullptr) *base = buffer->address;
    if (bytes != nullptr) *bytes = buffer->bytes;
  });
}

}  // namespace kaio::driver_emulator
