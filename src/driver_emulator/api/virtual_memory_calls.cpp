// The driver's functions of virtual memory management. Memory is not shared with other processes: a handle is
// neither exported nor imported. Access of one device is access of all; a mapping that may only be read can be
// written. Source: CUDA driver API, "Virtual Memory Management".

#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/streams.hpp"
#include "driver_emulator/state/virtual_memory.hpp"

#include <bit>
#include <limits>

namespace kaio::driver_emulator {
namespace {

bool is_granular(std::uint64_t value) { return value % mapping_granularity == 0; }

void check_properties(const CUmemAllocationProp& p) {
  require(p.type == pinned_memory);
  require(p.location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
  find_device(p.location.id);
  // A program asks for file descriptors in case that it exports them, which fails.
  require((p.handle_types & ~file_descriptor_handle) == 0 && p.flags.usage == 0, CUDA_ERROR_NOT_SUPPORTED);
}

std::shared_ptr<physical_memory> find_physical(CUmemGenericAllocationHandle handle) {
  const auto found = state().physical.find(handle);
  require(found != state().physical.end());
  return found->second;
}

// The range is in one reservation.
std::shared_ptr<reservation> reservation_of(CUdeviceptr begin, std::uint64_t bytes) {
  std::shared_ptr<reservation> r = find_reservation(begin);
  require(r != nullptr && bytes != 0 && is_granular(begin) && is_granular(bytes));
  require(bytes <= r->bytes - (begin - r->address));
  return r;
}

// Throws failure: nothing is mapped at the address.
const mapping& mapping_at(CUdeviceptr address) {
  const std::shared_ptr<reservation> r = find_reservation(address);
  require(r != nullptr);
  auto m = r->mappings.upper_bound(address);
  require(m != r->mappings.begin());
  --m;
  require(address - m->first < m->second.bytes);
  return m->second;
}

// Which device or processor a location is.
CUdevice device_of(const CUmemLocation& l) {
  if (l.type == CU_MEM_LOCATION_TYPE_HOST) return processor;
  require(l.type == CU_MEM_LOCATION_TYPE_DEVICE);
  return find_device(l.id).ordinal;
}

// Work that is under way may use what is about to change.
void wait_for_all_work() {
  std::vector<std::shared_ptr<context>> all;
  for (const auto& [handle, c] : state().contexts.all()) all.push_back(c);
  for (const std::shared_ptr<context>& c : all) drain(*c);
}

CUmemGenericAllocationHandle handle_of(const std::shared_ptr<physical_memory>& p) {
  if (p->handle == 0) p->handle = ++state().last_id;
  ++p->references;
  state().physical.emplace(p->handle, p);
  return p->handle;
}

}  // namespace

CUresult cuMemGetAllocationGranularity(std::size_t* granularity, const CUmemAllocationProp* p, int option) {
  return call(function_id::cuMemGetAllocationGranularity, [&] {
    require(granularity != nullptr && p != nullptr && (option == 0 || option == 1));
    check_properties(*p);
    *granularity = mapping_granularity;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  return call(function_id::cuMemAddressReserve, [&] {
    require(address != nullptr && bytes != 0 && is_granular(bytes) && flags == 0);
    require(alignment == 0 || std::has_single_bit(alignment));
    const auto r =
        std::make_shared<reservation>(bytes, std::max<std::uint64_t>(alignment, mapping_granularity));
    state().reservations.emplace(r->address, r);
    *address = r->address;
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return release_call(function_id::cuMemAddressFree, [&] {
    const std::shared_ptr<reservation> r = reservation_of(address, bytes);
    require(r->address == address && r->bytes == bytes && r->mappings.empty());
    state().reservations.erase(address);
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* p,
                     unsigned long long flags) {
  return call(function_id::cuMemCreate, [&] {
    require(handle != nullptr && p != nullptr && bytes != 0 && is_granular(bytes) && flags == 0);
    check_properties(*p);
    const auto made = std::make_shared<physical_memory>(*p, bytes);
    made->properties.flags.compression = 0;
    *handle = handle_of(made);
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return release_call(function_id::cuMemRelease, [&] {
    const std::shared_ptr<physical_memory> p = find_physical(handle);
    if (--p->references == 0) state().physical.erase(handle);
  });
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return call(function_id::cuMemMap, [&] {
    const std::shared_ptr<physical_memory> p = find_physical(handle);
    const std::shared_ptr<reservation> r = reservation_of(address, bytes);
    require(flags == 0 && is_granular(offset) && offset <= p->bytes && bytes <= p->bytes - offset);
    const auto after = r->mappings.lower_bound(address);
    require(after == r->mappings.end() || after->first - address >= bytes);
    if (after != r->mappings.begin()) {
      const auto& [before, m] = *std::prev(after);
      require(before + m.bytes <= address);
    }
    r->mappings.emplace(address, mapping{bytes, offset, p, {}});
    allocation a;
    a.kind = allocation_kind::mapped;
    a.bytes = bytes;
    a.id = ++state().last_id;
    a.where = p->where;
    state().allocations.emplace(address, a);
  });
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return release_call(function_id::cuMemUnmap, [&] {
    reservation_of(address, bytes)->mappings_in(address, bytes);
    wait_for_all_work();
    const std::shared_ptr<reservation> r = reservation_of(address, bytes);
    const auto gone = r->mappings_in(address, bytes);
    reservation::hide(address, bytes);
    for (const auto m : gone) {
      state().allocations.erase(m->first);
      r->mappings.erase(m);
    }
    r->publish();
  });
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
  return call(function_id::cuMemSetAccess, [&] {
    require(access != nullptr && count != 0);
    for (std::size_t i = 0; i < count; ++i) {
      device_of(access[i].location);
      const CUmemAccess_flags f = access[i].flags;
      require(f == CU_MEM_ACCESS_FLAGS_PROT_NONE || f == CU_MEM_ACCESS_FLAGS_PROT_READ ||
              f == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    }
    reservation_of(address, bytes)->mappings_in(address, bytes);
    wait_for_all_work();
    const std::shared_ptr<reservation> r = reservation_of(address, bytes);
    for (const auto m : r->mappings_in(address, bytes)) {
      mapping& changed = m->second;
      const bool before = changed.is_accessible();
      for (std::size_t i = 0; i < count; ++i) changed.access[device_of(access[i].location)] = access[i].flags;
      const bool after = changed.is_accessible();
      if (after && !before)
        changed.memory->show(m->first, changed.offset, changed.bytes);
      else if (before && !after)
        reservation::hide(m->first, changed.bytes);
    }
    r->publish();
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return call(function_id::cuMemGetAccess, [&] {
    require(flags != nullptr && location != nullptr);
    const CUdevice wanted = device_of(*location);
    const mapping& m = mapping_at(address);
    const auto known = m.access.find(wanted);
    *flags = known == m.access.end() ? 0 : static_cast<unsigned long long>(known->second);
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return call(function_id::cuMemRetainAllocationHandle, [&] {
    require(handle != nullptr);
    *handle = handle_of(mapping_at(reinterpret_cast<std::uintptr_t>(address)).memory);
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* p, CUmemGenericAllocationHandle handle) {
  return call(function_id::cuMemGetAllocationPropertiesFromHandle, [&] {
    require(p != nullptr);
    *p = find_physical(handle)->properties;
  });
}

}  // namespace kaio::driver_emulator
