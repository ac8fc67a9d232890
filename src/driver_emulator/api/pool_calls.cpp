// Memory that is allocated and freed in the order of a stream, and its pools. A pool keeps nothing: freed memory
// is released at once.

#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/graph/graphs.hpp"
#include "driver_emulator/graph/submission.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/fault_injection.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>
#include <cstring>

namespace kaio::driver_emulator {
namespace {

std::shared_ptr<memory_pool> find_pool(CUmemoryPool handle) {
  std::shared_ptr<memory_pool> p = state().pools.find(handle);
  require(p != nullptr, CUDA_ERROR_INVALID_VALUE);
  return p;
}

CUresult allocate(function_id id, CUdeviceptr* address, std::size_t bytes, const CUmemoryPool* from,
                  CUstream where) {
  return call(id, [&](context& c) {
    require(address != nullptr && bytes != 0);
    const std::shared_ptr<stream> s = find_stream(where);
    const CUmemoryPool handle = from != nullptr ? *from : c.where->pool;
    const std::shared_ptr<memory_pool> p = find_pool(handle);
    if (s->captured != nullptr) {
      CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
      parameters.pool.allocation_type = pinned_memory;
      parameters.pool.location = {CU_MEM_LOCATION_TYPE_DEVICE, p->where->ordinal};
      parameters.bytes = bytes;
      allocate_work w = make_allocation(parameters);
      const CUdeviceptr fresh = w.parameters.address;
      capture_work(*s, std::move(w), CU_GRAPH_NODE_TYPE_MEM_ALLOC);
      *address = fresh;
      return;
    }
    forbid_in_capture();
    require(p->maximum == 0 || bytes <= p->maximum - std::min(p->used, p->maximum), CUDA_ERROR_OUT_OF_MEMORY);
    *address = allocate_device(c, bytes, allocation_kind::pool, handle);
    p->used += bytes;
    p->most_used = std::max(p->most_used, p->used);
    p->most_reserved = std::max(p->most_reserved, p->used);
    submit(s, empty_work{}, CU_GRAPH_NODE_TYPE_EMPTY);
  });
}

template <class Value>
void give(void* to, Value value) {
  std::memcpy(to, &value, sizeof value);
}
template <class Value>
Value take(const void* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void check_location(const CUmemLocation& l) {
  require(l.type == CU_MEM_LOCATION_TYPE_DEVICE);
  find_device(l.id);
}

// The device whose pools a location and a kind of memory mean: managed memory and that of the host have none.
device& device_of(const CUmemLocation* l, int type) {
  require(l != nullptr);
  require(type == pinned_memory && l->type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
  return find_device(l->id);
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream where) {
  return allocate(function_id::cuMemAllocAsync, address, bytes, nullptr, where);
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool, CUstream where) {
  return allocate(function_id::cuMemAllocFromPoolAsync, address, bytes, &pool, where);
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream where) {
  return release_call(function_id::cuMemFreeAsync, [&] {
    const std::shared_ptr<stream> s = find_stream(where);
    if (s->captured == nullptr) forbid_in_capture();
    const allocation* a = find_allocation(address);
    const auto buffer = state().memory.find(address);
    const bool of_graph = a == nullptr && s->captured != nullptr && buffer && buffer->address == address;
    const bool freeable = a != nullptr && buffer->address == address &&
                          (a->kind == allocation_kind::device || a->kind == allocation_kind::pool);
    if (!of_graph && !freeable) {
      count_misuse(CUDA_ERROR_INVALID_HANDLE);
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    submit(s, free_work{address}, CU_GRAPH_NODE_TYPE_MEM_FREE);
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* to, CUdevice ordinal) {
  return call(function_id::cuDeviceGetDefaultMemPool, [&] {
    require(to != nullptr);
    *to = find_device(ordinal).default_pool;
  });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* to, CUdevice ordinal) {
  return call(function_id::cuDeviceGetMemPool, [&] {
    require(to != nullptr);
    *to = find_device(ordinal).pool;
  });
}
CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool) {
  return call(function_id::cuDeviceSetMemPool, [&] {
    device& d = find_device(ordinal);
    require(find_pool(pool)->where == &d);
    d.pool = pool;
  });
}

CUresult cuMemPoolCreate(CUmemoryPool* to, const CUmemPoolProps* p) {
  return call(function_id::cuMemPoolCreate, [&] {
    require(to != nullptr && p != nullptr && p->allocation_type == pinned_memory);
    require(p->handle_types == 0, CUDA_ERROR_NOT_SUPPORTED);
    check_location(p->location);
    forbid_in_capture();
    auto pool = std::make_shared<memory_pool>();
    pool->where = &find_device(p->location.id);
    pool->maximum = p->maximum_size;
    *to = state().pools.add(std::move(pool));
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return release_call(function_id::cuMemPoolDestroy, [&] {
    const std::shared_ptr<memory_pool> p = find_pool(handle);
    require(p->where->default_pool != handle);
    if (p->where->pool == handle) p->where->pool = p->where->default_pool;
    state().pools.take(handle);
  });
}
CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t) {
  return call(function_id::cuMemPoolTrimTo, [&] {
    find_pool(handle);
    forbid_in_capture();
  });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return call(function_id::cuMemPoolSetAttribute, [&] {
    require(value != nullptr);
    memory_pool& p = *find_pool(handle);
    switch (attribute) {
      case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: p.follow_events = take<int>(value); break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: p.opportunistic = take<int>(value); break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        p.internal_dependencies = take<int>(value);
        break;
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: p.release_threshold = take<std::uint64_t>(value); break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        require(take<std::uint64_t>(value) == 0);  // the high marks can only be forgotten
        (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ? p.most_used : p.most_reserved) = p.used;
        break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
  });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return call(function_id::cuMemPoolGetAttribute, [&] {
    require(value != nullptr);
    const memory_pool& p = *find_pool(handle);
    forbid_in_capture();
    switch (attribute) {
      case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: give(value, p.follow_events); break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: give(value, p.opportunistic); break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: give(value, p.internal_dependencies); break;
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: give(value, p.release_threshold); break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: give(value, p.used); break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: give(value, p.most_reserved); break;
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH: give(value, p.most_used); break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
  });
}
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* access, std::size_t count) {
  return call(function_id::cuMemPoolSetAccess, [&] {
    const memory_pool& p = *find_pool(handle);
    require(count == 0 || access != nullptr);
    for (std::size_t i = 0; i < count; ++i) {
      check_location(access[i].location);
      const bool own = &find_device(access[i].location.id) == p.where;
      require(!own || access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    }
  });
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  return call(function_id::cuMemPoolGetAccess, [&] {
    require(flags != nullptr && location != nullptr);
    find_pool(handle);
    check_location(*location);
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;  // every device sees all memory
  });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, int type) {
  return call(function_id::cuMemGetDefaultMemPool, [&] {
    require(pool != nullptr);
    *pool = device_of(location, type).default_pool;
  });
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, int type) {
  return call(function_id::cuMemGetMemPool, [&] {
    require(pool != nullptr);
    *pool = device_of(location, type).pool;
  });
}
CUresult cuMemSetMemPool(CUmemLocation* location, int type, CUmemoryPool pool) {
  return call(function_id::cuMemSetMemPool, [&] {
    device& d = device_of(location, type);
    require(find_pool(pool)->where == &d);
    d.pool = pool;
  });
}

}  // namespace kaio::driver_emulator
