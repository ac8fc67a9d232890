// Memory that the host and the device share: page-locked, registered and managed. Kernels see it at the
// address that the host uses.

#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/fault_injection.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"
#include "emulator/waiting/memory_activity.hpp"
#include "host/system/memory.hpp"

#include <cstdlib>
#include <cstring>
#include <limits>

namespace kaio::driver_emulator {
namespace {

CUdeviceptr share(context& c, void* host, std::uint64_t bytes, allocation_kind kind, unsigned flags) {
  driver_state& s = state();
  allocation a;
  a.kind = kind;
  a.bytes = bytes;
  a.id = ++s.last_id;
  a.host = host;
  a.flags = flags;
  a.where = c.where;
  a.owner = c.handle;
  const CUdeviceptr address = s.memory.attach(host, bytes);
  s.allocations.emplace(address, a);
  emulator::memory_activity::shared().add_host_buffers(1);
  return address;
}

// Whole pages, zero-filled.
void* allocate_pages(std::size_t bytes) {
  void* const pages = host::allocate_pages(bytes);
  require(pages != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  return pages;
}

CUdeviceptr allocate_shared(context& c, std::size_t bytes, allocation_kind kind, unsigned flags) {
  require(bytes != 0);
  forbid_in_capture();
  void* const pages = allocate_pages(bytes);
  try {
    return share(c, pages, bytes, kind, flags);
  } catch (...) {
    host::free_pages(pages);
    throw;
  }
}

// The allocation that a pointer of the host is in; null if there is none.
std::pair<CUdeviceptr, allocation*> find_host(const void* host) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(host);
  for (auto& [address, a] : state().allocations) {
    const auto start = reinterpret_cast<std::uintptr_t>(a.host);
    if (a.host != nullptr && wanted >= start && wanted - start < a.bytes) return {address, &a};
  }
  return {0, nullptr};
}

// Finds the allocation of that kind that starts at a pointer, and waits for the work that may use it.
CUdeviceptr take_host(const void* host, allocation_kind kind, CUresult otherwise) {
  const auto [address, a] = find_host(host);
  if (a == nullptr || a->kind != kind || a->host != host) {
    count_misuse(CUDA_ERROR_INVALID_HANDLE);
    refuse(otherwise);
  }
  if (const std::shared_ptr<context> owner = state().contexts.find(a->owner)) drain(*owner);
  return address;
}

}  // namespace

CUresult cuMemHostAlloc(void** host, std::size_t bytes, unsigned flags) {
  return call(function_id::cuMemHostAlloc, [&](context& c) {
    require(host != nullptr && (flags & ~(host_portable | host_device_map | host_write_combined)) == 0);
    *host = find_allocation(allocate_shared(c, bytes, allocation_kind::host, flags))->host;
  });
}

CUresult cuMemAllocHost_v2(void** host, std::size_t bytes) {
  return call(function_id::cuMemAllocHost_v2, [&](context& c) {
    require(host != nullptr);
    *host = find_allocation(allocate_shared(c, bytes, allocation_kind::host, 0))->host;
  });
}

CUresult cuMemFreeHost(void* host) {
  return release_call(function_id::cuMemFreeHost, [&] {
    forbid_in_capture();
    if (host == nullptr) return;
    free_allocation(take_host(host, allocation_kind::host, CUDA_ERROR_INVALID_VALUE));
  });
}

CUresult cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned flags) {
  return call(function_id::cuMemHostRegister_v2, [&](context& c) {
    constexpr unsigned known =
        host_portable | host_device_map | host_register_io_memory | host_register_read_only;
    require(host != nullptr && bytes != 0 && (flags & ~known) == 0);
    forbid_in_capture();
    const auto start = reinterpret_cast<std::uintptr_t>(host);
    require(bytes <= std::numeric_limits<std::uintptr_t>::max() - start);
    for (const auto& [address, a] : state().allocations) {
      const auto other = reinterpret_cast<std::uintptr_t>(a.host);
      require(a.host == nullptr || start + bytes <= other || other + a.bytes <= start,
              CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    share(c, host, bytes, allocation_kind::registered, flags);
  });
}

CUresult cuMemHostUnregister(void* host) {
  return release_call(function_id::cuMemHostUnregister, [&] {
    forbid_in_capture();
    require(host != nullptr);
    free_allocation(take_host(host, allocation_kind::registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
  });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned flags) {
  return call(function_id::cuMemHostGetDevicePointer_v2, [&](context&) {
    require(address != nullptr && host != nullptr && flags == 0);
    const auto [start, a] = find_host(host);
    require(a != nullptr);
    *address = start + static_cast<CUdeviceptr>(static_cast<char*>(host) - static_cast<char*>(a->host));
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return call(function_id::cuMemHostGetFlags, [&](context&) {
    require(flags != nullptr);
    const auto [start, a] = find_host(host);
    require(a != nullptr && a->kind == allocation_kind::host);
    *flags = a->flags | host_device_map;  // with unified addresses all of it is mapped
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return call(function_id::cuMemAllocManaged, [&](context& c) {
    require(address != nullptr && (flags == 1 || flags == 2));  // CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST
    *address = allocate_shared(c, bytes, allocation_kind::managed, flags);
  });
}

}  // namespace kaio::driver_emulator
