// What programs say of managed memory: where it should be, who uses it. All of it is host memory that kernels
// see, so nothing moves. Advice belongs to a whole allocation, whatever range is named. Source: CUDA driver
// API, cuMemAdvise and cuMemRangeGetAttribute.

#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/graph/submission.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>
#include <cstring>

namespace kaio::driver_emulator {
namespace {

CUmemLocation location_of(CUdevice where) {
  if (where == processor) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return {CU_MEM_LOCATION_TYPE_DEVICE, find_device(where).ordinal};
}

constexpr int host_numa_current = 4;  // CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, the last

void check_location(const CUmemLocation& l) {
  require(l.type > CU_MEM_LOCATION_TYPE_INVALID && l.type <= host_numa_current);
  if (l.type == CU_MEM_LOCATION_TYPE_DEVICE) find_device(l.id);
}

// As the functions before CUDA 12 name a location.
CUdevice device_of(const CUmemLocation& l) {
  if (l.type == CU_MEM_LOCATION_TYPE_INVALID) return no_device;
  return l.type == CU_MEM_LOCATION_TYPE_DEVICE ? l.id : processor;
}

allocation& managed(CUdeviceptr address, std::size_t bytes) {
  allocation* a = find_allocation(address);
  require(bytes != 0 && a != nullptr && a->kind == allocation_kind::managed &&
          is_device_range(address, bytes));
  return *a;
}

// Memory of other kinds takes advice too, and forgets it.
void advise(CUdeviceptr address, std::size_t bytes, int what, const CUmemLocation& where) {
  require(bytes != 0 && is_device_range(address, bytes));
  memory_advice forgotten;
  allocation* a = find_allocation(address);
  memory_advice& to = a != nullptr && a->kind == allocation_kind::managed ? a->advice : forgotten;
  switch (what) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: to.read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: to.read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      check_location(where);
      to.preferred = where;
      break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: to.preferred = memory_advice().preferred; break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
      check_location(where);
      std::erase(to.accessed_by, device_of(where));
      if (what == CU_MEM_ADVISE_SET_ACCESSED_BY) to.accessed_by.push_back(device_of(where));
      break;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

void prefetch(CUdeviceptr address, std::size_t bytes, const CUmemLocation& where) {
  check_location(where);
  managed(address, bytes).advice.prefetched = where;
}

void give_attribute(void* to, std::size_t bytes, int attribute, const memory_advice& a) {
  require(to != nullptr);
  if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
    require(bytes != 0 && bytes % sizeof(int) == 0);
    std::vector<int> devices = a.accessed_by;
    devices.resize(bytes / sizeof(int), no_device);
    std::memcpy(to, devices.data(), bytes);
    return;
  }
  require(bytes == sizeof(int));
  const auto value = [&]() -> int {
    switch (attribute) {
      case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: return a.read_mostly;
      case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: return device_of(a.preferred);
      case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: return device_of(a.prefetched);
      case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: return a.preferred.type;
      case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: return a.preferred.id;
      case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: return a.prefetched.type;
      case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: return a.prefetched.id;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
  };
  const int known = value();
  std::memcpy(to, &known, sizeof known);
}

}  // namespace

CUresult cuMemAdvise(CUdeviceptr address, std::size_t bytes, int advice, CUdevice where) {
  return call(function_id::cuMemAdvise, [&](context&) {
    const bool needs_location =
        advice >= CU_MEM_ADVISE_SET_PREFERRED_LOCATION && advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    advise(address, bytes, advice, needs_location ? location_of(where) : CUmemLocation{});
  });
}
CUresult cuMemAdvise_v2(CUdeviceptr address, std::size_t bytes, int advice, CUmemLocation where) {
  return call(function_id::cuMemAdvise_v2, [&](context&) { advise(address, bytes, advice, where); });
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice where, CUstream stream) {
  return call(function_id::cuMemPrefetchAsync, [&](context&) {
    prefetch(address, bytes, location_of(where));
    submit(find_stream(stream), empty_work{}, CU_GRAPH_NODE_TYPE_EMPTY);
  });
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes, CUmemLocation where, unsigned flags,
                               CUstream stream) {
  return call(function_id::cuMemPrefetchAsync_v2, [&](context&) {
    require(flags == 0);
    prefetch(address, bytes, where);
    submit(find_stream(stream), empty_work{}, CU_GRAPH_NODE_TYPE_EMPTY);
  });
}
// Location k is for the ranges from first[k] on.
CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, std::size_t* bytes, std::size_t count,
                                 CUmemLocation* locations, std::size_t* first, std::size_t location_count,
                                 unsigned long long flags, CUstream stream) {
  return call(function_id::cuMemPrefetchBatchAsync, [&](context&) {
    require(addresses != nullptr && bytes != nullptr && locations != nullptr && first != nullptr &&
            count != 0);
    require(location_count != 0 && location_count <= count && first[0] == 0 && flags == 0);
    std::size_t k = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (k + 1 < location_count && first[k + 1] == i) ++k;
      prefetch(addresses[i], bytes[i], locations[k]);
    }
    require(k + 1 == location_count);
    submit(find_stream(stream), empty_work{}, CU_GRAPH_NODE_TYPE_EMPTY);
  });
}

CUresult cuMemRangeGetAttribute(void* to, std::size_t to_bytes, int attribute, CUdeviceptr address,
                                std::size_t bytes) {
  return call(function_id::cuMemRangeGetAttribute,
              [&] { give_attribute(to, to_bytes, attribute, managed(address, bytes).advice); });
}
CUresult cuMemRangeGetAttributes(void** to, std::size_t* to_bytes, int* attributes, std::size_t count,
                                 CUdeviceptr address, std::size_t bytes) {
  return call(function_id::cuMemRangeGetAttributes, [&] {
    require(to != nullptr && to_bytes != nullptr && attributes != nullptr && count != 0);
    const memory_advice& a = managed(address, bytes).advice;
    for (std::size_t i = 0; i < count; ++i) give_attribute(to[i], to_bytes[i], attributes[i], a);
  });
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t, unsigned) {
  return call(function_id::cuStreamAttachMemAsync, [&](context&) {
    managed(address, 1);
    forbid_captured(*find_stream(stream));
  });
}

}  // namespace kaio::driver_emulator
