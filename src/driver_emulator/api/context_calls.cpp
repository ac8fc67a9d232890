// The driver's functions on contexts, primary ones included.

#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/runtime_library/context_storage.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>

namespace kaio::driver_emulator {
namespace {

constexpr unsigned known_flags = 0xff;
constexpr unsigned api_version_of_create = 3020, api_version_of_affinity = 3030;

std::size_t default_limit(int limit, const device& d) {
  switch (limit) {
    case CU_LIMIT_STACK_SIZE: return 1024;
    case CU_LIMIT_PRINTF_FIFO_SIZE: return 7u << 20;
    case CU_LIMIT_MALLOC_HEAP_SIZE: return 8u << 20;
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH: return 2;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: return 2048;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: return 64;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: return 0;
    default: static_cast<void>(d); refuse(CUDA_ERROR_UNSUPPORTED_LIMIT);
  }
}

CUresult create(function_id id, CUcontext* created, unsigned flags, CUdevice ordinal, bool affinity,
                unsigned version) {
  return call(id, [&] {
    require(created != nullptr && (flags & ~known_flags) == 0);
    require((flags & 7) != 3 && (flags & 7) <= 4);
    device& d = find_device(ordinal);
    require(!affinity, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    const std::shared_ptr<context> c = make_context(d, flags, false);
    c->version = version;
    push_current(c->handle);
    *created = c->handle;
  });
}

CUresult destroy(function_id id, CUcontext handle) {
  return release_call(id, [&] {
    const std::shared_ptr<context> c = state().contexts.find(handle);
    require(c != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    require(!c->primary, CUDA_ERROR_INVALID_CONTEXT);
    abandon_captures(*c);
    end_storage(handle);
    destroy_contents(*c);
    c->active = false;
    state().contexts.take(handle);
    if (current_handle() == handle) pop_current();
  });
}

bool is_primary(CUcontext handle) {
  const std::shared_ptr<context> c = state().contexts.find(handle);
  return c != nullptr && c->primary;
}

// A primary context that is not retained is empty, but keeps its handle.
void end_primary(device& d) {
  if (d.primary == nullptr) return;
  abandon_captures(*d.primary);
  end_storage(d.primary->handle);
  destroy_contents(*d.primary);
  d.primary->active = false;
  d.primary->lost = CUDA_SUCCESS;
  d.primary->limits.clear();
  d.primary_retains = 0;
}

CUresult release_primary(function_id id, CUdevice ordinal) {
  return release_call(id, [&] {
    device& d = find_device(ordinal);
    require(d.primary_retains != 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--d.primary_retains == 0) end_primary(d);
  });
}
CUresult reset_primary(function_id id, CUdevice ordinal) {
  return release_call(id, [&] { end_primary(find_device(ordinal)); });
}
CUresult set_primary_flags(function_id id, CUdevice ordinal, unsigned flags) {
  return call(id, [&] {
    device& d = find_device(ordinal);
    require((flags & ~known_flags) == 0);
    d.primary_flags = flags;
    if (d.primary != nullptr) d.primary->flags = flags;
  });
}

CUresult push(function_id id, CUcontext handle) {
  return call(id, [&] {
    find_context(handle);
    push_current(handle);
  });
}
CUresult pop(function_id id, CUcontext* handle) {
  return call(id, [&] {
    const CUcontext popped = pop_current();
    if (handle != nullptr) *handle = popped;
  });
}

CUresult synchronize_context(function_id id, CUcontext handle) {
  return release_call(id, [&] {
    const std::shared_ptr<context> c = context_or_current(handle);
    forbid_captured(*c);
    synchronize(*c);
  });
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice ordinal) {
  return call(function_id::cuDevicePrimaryCtxRetain, [&] {
    require(handle != nullptr);
    device& d = find_device(ordinal);
    if (d.primary == nullptr) d.primary = make_context(d, d.primary_flags, true);
    d.primary->active = true;
    d.primary->flags = d.primary_flags;
    ++d.primary_retains;
    *handle = d.primary->handle;
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice d) {
  return release_primary(function_id::cuDevicePrimaryCtxRelease, d);
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) {
  return release_primary(function_id::cuDevicePrimaryCtxRelease_v2, d);
}
CUresult cuDevicePrimaryCtxReset(CUdevice d) {
  return reset_primary(function_id::cuDevicePrimaryCtxReset, d);
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice d) {
  return reset_primary(function_id::cuDevicePrimaryCtxReset_v2, d);
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice d, unsigned flags) {
  return set_primary_flags(function_id::cuDevicePrimaryCtxSetFlags, d, flags);
}
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice d, unsigned flags) {
  return set_primary_flags(function_id::cuDevicePrimaryCtxSetFlags_v2, d, flags);
}
CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  return call(function_id::cuDevicePrimaryCtxGetState, [&] {
    require(flags != nullptr && active != nullptr);
    const device& d = find_device(ordinal);
    *flags = d.primary_flags;
    *active = d.primary_retains != 0;
  });
}

CUresult cuCtxCreate(CUcontext* c, unsigned flags, CUdevice d) {
  return create(function_id::cuCtxCreate, c, flags, d, false, api_version_of_create);
}
CUresult cuCtxCreate_v2(CUcontext* c, unsigned flags, CUdevice d) {
  return create(function_id::cuCtxCreate_v2, c, flags, d, false, api_version_of_create);
}
CUresult cuCtxCreate_v3(CUcontext* c, CUexecAffinityParam* affinity, int count, unsigned flags, CUdevice d) {
  return create(function_id::cuCtxCreate_v3, c, flags, d, affinity != nullptr && count != 0,
                api_version_of_affinity);
}
CUresult cuCtxCreate_v4(CUcontext* c, CUctxCreateParams* parameters, unsigned flags, CUdevice d) {
  const bool affinity = parameters != nullptr && (parameters->affinity_count != 0 || parameters->graphics);
  return create(function_id::cuCtxCreate_v4, c, flags, d, affinity, api_version_of_affinity);
}
CUresult cuCtxDestroy(CUcontext c) { return destroy(function_id::cuCtxDestroy, c); }
CUresult cuCtxDestroy_v2(CUcontext c) { return destroy(function_id::cuCtxDestroy_v2, c); }
CUresult cuCtxAttach(CUcontext* c, unsigned flags) {
  return call(function_id::cuCtxAttach, [&](context& current) {
    require(c != nullptr && flags == 0);
    *c = current.handle;
  });
}
CUresult cuCtxDetach(CUcontext c) {
  return call(function_id::cuCtxDetach, [&] { require(current_handle() == c, CUDA_ERROR_INVALID_CONTEXT); });
}

CUresult cuCtxPushCurrent(CUcontext c) { return push(function_id::cuCtxPushCurrent, c); }
CUresult cuCtxPushCurrent_v2(CUcontext c) { return push(function_id::cuCtxPushCurrent_v2, c); }
CUresult cuCtxPopCurrent(CUcontext* c) { return pop(function_id::cuCtxPopCurrent, c); }
CUresult cuCtxPopCurrent_v2(CUcontext* c) { return pop(function_id::cuCtxPopCurrent_v2, c); }
CUresult cuCtxSetCurrent(CUcontext c) {
  return call(function_id::cuCtxSetCurrent, [&] {
    // The runtime library makes a primary context current before it retains it.
    if (c != nullptr && !is_primary(c)) find_context(c);
    set_current(c);
  });
}
CUresult cuCtxGetCurrent(CUcontext* c) {
  return call(function_id::cuCtxGetCurrent, [&] {
    require(c != nullptr);
    *c = current_handle();
  });
}
CUresult cuCtxGetDevice(CUdevice* d) {
  return call(function_id::cuCtxGetDevice, [&](context& c) {
    require(d != nullptr);
    *d = c.where->ordinal;
  });
}
CUresult cuCtxGetDevice_v2(CUdevice* d, CUcontext c) {
  return call(function_id::cuCtxGetDevice_v2, [&] {
    require(d != nullptr);
    *d = context_or_current(c)->where->ordinal;
  });
}
CUresult cuCtxGetFlags(unsigned* flags) {
  return call(function_id::cuCtxGetFlags, [&](context& c) {
    require(flags != nullptr);
    *flags = c.flags;
  });
}
CUresult cuCtxSetFlags(unsigned flags) {
  return call(function_id::cuCtxSetFlags, [&](context& c) {
    require((flags & ~known_flags) == 0);
    c.flags = flags;
  });
}
CUresult cuCtxGetId(CUcontext c, unsigned long long* id) {
  return call(function_id::cuCtxGetId, [&] {
    require(id != nullptr);
    *id = context_or_current(c)->id;
  });
}
CUresult cuCtxGetApiVersion(CUcontext c, unsigned* version) {
  return call(function_id::cuCtxGetApiVersion, [&] {
    require(version != nullptr);
    *version = context_or_current(c)->version;
  });
}

CUresult cuCtxSynchronize() { return synchronize_context(function_id::cuCtxSynchronize, nullptr); }
CUresult cuCtxSynchronize_v2(CUcontext c) { return synchronize_context(function_id::cuCtxSynchronize_v2, c); }

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return call(function_id::cuCtxGetLimit, [&](context& c) {
    require(value != nullptr);
    const auto set = c.limits.find(limit);
    *value = set != c.limits.end() ? set->second : default_limit(limit, *c.where);
  });
}
CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return call(function_id::cuCtxSetLimit, [&](context& c) {
    default_limit(limit, *c.where);
    if (limit == CU_LIMIT_STACK_SIZE)
      value = std::min<std::size_t>((value + 15) / 16 * 16, c.where->architecture.local_per_thread);
    c.limits[limit] = value;
  });
}
CUresult cuCtxGetCacheConfig(int* config) {
  return call(function_id::cuCtxGetCacheConfig, [&](context& c) {
    require(config != nullptr);
    *config = c.cache_config;
  });
}
CUresult cuCtxSetCacheConfig(int config) {
  return call(function_id::cuCtxSetCacheConfig, [&](context& c) {
    require(config >= 0 && config <= 3);
    c.cache_config = config;
  });
}
CUresult cuCtxGetSharedMemConfig(int* config) {
  return call(function_id::cuCtxGetSharedMemConfig, [&](context&) {
    require(config != nullptr);
    *config = 1;  // banks of four bytes, on every architecture that is emulated
  });
}
CUresult cuCtxSetSharedMemConfig(int config) {
  return call(function_id::cuCtxSetSharedMemConfig, [&](context&) { require(config >= 0 && config <= 2); });
}
CUresult cuCtxResetPersistingL2Cache() {
  return call(function_id::cuCtxResetPersistingL2Cache,
              [&](context& c) { require(c.where->architecture.sm >= 80, CUDA_ERROR_NOT_SUPPORTED); });
}
CUresult cuCtxGetExecAffinity(CUexecAffinityParam* affinity, int type) {
  return call(function_id::cuCtxGetExecAffinity, [&](context&) {
    require(affinity != nullptr && type == 0);
    refuse(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return call(function_id::cuCtxEnablePeerAccess, [&](context& c) {
    require(flags == 0);
    const std::shared_ptr<context> other = find_context(peer);
    require(other.get() != &c && other->where != c.where, CUDA_ERROR_INVALID_CONTEXT);
    require(std::find(c.peers.begin(), c.peers.end(), peer) == c.peers.end(),
            CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    c.peers.push_back(peer);
  });
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return call(function_id::cuCtxDisablePeerAccess, [&](context& c) {
    require(peer != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    require(std::erase(c.peers, peer) != 0, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  });
}

}  // namespace kaio::driver_emulator
