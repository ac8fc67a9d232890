// Memory of a GPU: allocation, copies, fills, pools and the memory of its peers.

#include <kaio/runtime/error.hpp>

#include <cstring>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/driver/cuda_devices.hpp"
#include "runtime/driver/cuda_scopes.hpp"
#include "runtime/driver/result.hpp"

namespace kaio::runtime::driver {

namespace {
CUmemoryPool pool_of(void* native) { return static_cast<CUmemoryPool>(native); }
}  // namespace

runtime::memory_info cuda_backend::memory_info() {
  const current scope(*this);
  std::size_t free = 0, total = 0;
  check(call_.cuMemGetInfo_v2(&free, &total), "cuMemGetInfo", "asking for the free memory of");
  return {free, total};
}

std::uint64_t cuda_backend::allocate(std::uint64_t bytes) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  CUdeviceptr address = 0;
  const CUresult result = call_.cuMemAlloc_v2(&address, bytes);
  if (result != CUDA_SUCCESS) fail_to_allocate(result, "cuMemAlloc", bytes);
  return address;
}

void cuda_backend::fail_to_allocate(CUresult result, const char* function, std::uint64_t bytes) {
  std::size_t free = 0, total = 0;
  const bool known =
      result == CUDA_ERROR_OUT_OF_MEMORY && call_.cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS;
  fail(result, function,
       known ? text("allocating ", readable_bytes(bytes), " with ", readable_bytes(free), " of ",
                    readable_bytes(total), " free on")
             : text("allocating ", readable_bytes(bytes), " on"));
}

void cuda_backend::free(std::uint64_t address) noexcept {
  const current scope(*this, std::nothrow);
  if (scope.is_gone()) return;
  const relaxed_capture relaxed(call_);
  note(call_.cuMemFree_v2(address), "cuMemFree", "freeing a buffer on");
}

void* cuda_backend::allocate_host(std::uint64_t bytes) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  void* address = nullptr;
  check(call_.cuMemHostAlloc(&address, bytes, mem_host_alloc_portable), "cuMemHostAlloc",
        text("allocating ", readable_bytes(bytes), " of page-locked host memory for"));
  std::memset(address, 0, bytes);
  return address;
}

void cuda_backend::free_host(void* address) noexcept {
  const current scope(*this, std::nothrow);
  if (scope.is_gone()) return;
  const relaxed_capture relaxed(call_);
  note(call_.cuMemFreeHost(address), "cuMemFreeHost", "freeing page-locked host memory of");
}

void cuda_backend::copy_to_device(std::uint64_t to, const void* from, std::uint64_t bytes,
                                  native_stream stream) {
  const current scope(*this);
  check(call_.cuMemcpyHtoDAsync_v2(to, from, bytes, stream_of(stream)), "cuMemcpyHtoDAsync",
        "copying from the host to");
}

void cuda_backend::copy_to_host(void* to, std::uint64_t from, std::uint64_t bytes, native_stream stream) {
  const current scope(*this);
  check(call_.cuMemcpyDtoHAsync_v2(to, from, bytes, stream_of(stream)), "cuMemcpyDtoHAsync",
        "copying to the host from");
}

void cuda_backend::copy_on_device(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                                  native_stream stream) {
  const current scope(*this);
  check(call_.cuMemcpyDtoDAsync_v2(to, from, bytes, stream_of(stream)), "cuMemcpyDtoDAsync",
        "copying between buffers on");
}

void cuda_backend::fill(const row_fill& f, native_stream stream) {
  const current scope(*this);
  const CUstream s = stream_of(stream);
  switch (f.unit) {
    case 1:
      return check(call_.cuMemsetD8Async(f.to, static_cast<unsigned char>(f.value), f.count, s),
                   "cuMemsetD8Async", "filling memory of");
    case 2:
      return check(call_.cuMemsetD16Async(f.to, static_cast<unsigned short>(f.value), f.count, s),
                   "cuMemsetD16Async", "filling memory of");
    default:
      check(call_.cuMemsetD32Async(f.to, f.value, f.count, s), "cuMemsetD32Async", "filling memory of");
  }
}

void cuda_backend::copy_rows(const row_copy& c, native_stream stream) {
  const current scope(*this);
  CUDA_MEMCPY2D shape{};
  shape.source_type = c.host_from ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  shape.source_host = c.host_from;
  shape.source_device = c.from;
  shape.source_pitch = c.from_pitch;
  shape.target_type = c.host_to ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  shape.target_host = c.host_to;
  shape.target_device = c.to;
  shape.target_pitch = c.to_pitch;
  shape.width = c.width;
  shape.height = c.rows;
  check(call_.cuMemcpy2DAsync_v2(&shape, stream_of(stream)), "cuMemcpy2DAsync", "copying rows on");
}

void cuda_backend::copy_between(std::uint64_t to, backend& target, std::uint64_t from, backend& source,
                                std::uint64_t bytes, native_stream stream) {
  const current scope(*this);
  check(call_.cuMemcpyPeerAsync(to, static_cast<cuda_backend&>(target).context_, from,
                                static_cast<cuda_backend&>(source).context_, bytes, stream_of(stream)),
        "cuMemcpyPeerAsync",
        text("copying from cuda:", source.properties().ordinal, " to cuda:", target.properties().ordinal,
             " in a stream of"));
}

bool cuda_backend::has_memory(std::uint64_t address) {
  const current scope(*this);
  int ordinal = -1;
  const CUresult result = call_.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
  if (is_unknown_memory(result)) return false;
  check(result, "cuPointerGetAttribute", text("asking whether ", hexadecimal(address), " is memory of"));
  return ordinal == properties_.ordinal;
}

bool cuda_backend::can_access(const backend& other) {
  const int peer = other.properties().ordinal;
  if (peer < 0 || peer == properties_.ordinal) return peer >= 0;
  int can = 0;
  check(call_.cuDeviceCanAccessPeer(&can, device_, static_cast<const cuda_backend&>(other).device_),
        "cuDeviceCanAccessPeer", text("asking for access to cuda:", peer, " from"));
  return can != 0;
}

void cuda_backend::enable_access(backend& other) {
  if (other.properties().ordinal == properties_.ordinal) return;
  const current scope(*this);
  const CUresult result = call_.cuCtxEnablePeerAccess(static_cast<cuda_backend&>(other).context_, 0);
  if (result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) return;  // by another part of the program
  check(result, "cuCtxEnablePeerAccess",
        text("enabling access to cuda:", other.properties().ordinal, " from"));
}

// Pools. Source: CUDA driver API, "Stream Ordered Memory Allocator".

backend::native_pool cuda_backend::create_pool(std::uint64_t keep) {
  if (!call_.cuMemPoolCreate || !call_.cuMemAllocFromPoolAsync || !call_.cuMemFreeAsync ||
      !call_.cuMemPoolSetAttribute || !call_.cuMemPoolGetAttribute || !call_.cuMemPoolTrimTo ||
      !call_.cuMemPoolSetAccess || !call_.cuMemPoolDestroy || !has_pools()) {
    throw unsupported_device(text("kaio: ", description_,
                                  " has no stream-ordered pools; create the pool with pool_kind::caching"));
  }
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  CUmemPoolProps properties{};
  properties.allocation_type = mem_allocation_type_pinned;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_};
  CUmemoryPool pool = nullptr;
  check(call_.cuMemPoolCreate(&pool, &properties), "cuMemPoolCreate", "creating a memory pool on");
  try {
    check(call_.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep),
          "cuMemPoolSetAttribute", "creating a memory pool on");
  } catch (...) {
    destroy_pool(pool);
    throw;
  }
  return pool;
}

bool cuda_backend::has_pools() {
  int supported = 0;
  check(call_.cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device_),
        "cuDeviceGetAttribute", "asking for the properties of");
  return supported != 0;
}

void cuda_backend::destroy_pool(native_pool pool) noexcept {
  const current scope(*this, std::nothrow);
  const relaxed_capture relaxed(call_);
  note(call_.cuMemPoolDestroy(pool_of(pool)), "cuMemPoolDestroy", "destroying a memory pool on");
}

std::uint64_t cuda_backend::allocate_from(native_pool pool, std::uint64_t bytes, native_stream stream) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  CUdeviceptr address = 0;
  const CUresult result = call_.cuMemAllocFromPoolAsync(&address, bytes, pool_of(pool), stream_of(stream));
  if (result != CUDA_SUCCESS) fail_to_allocate(result, "cuMemAllocFromPoolAsync", bytes);
  return address;
}

void cuda_backend::free_async(std::uint64_t address, native_stream stream) noexcept {
  const current scope(*this, std::nothrow);
  if (scope.is_gone()) return;
  const relaxed_capture relaxed(call_);
  if (scope.is_current()) {
    const CUresult result = call_.cuMemFreeAsync(address, stream_of(stream));
    note(result, "cuMemFreeAsync", "freeing a buffer on");
    // A failure that loses the device is one of earlier work: the buffer was released, or is lost with its context.
    if (result == CUDA_SUCCESS || meaning_of(result).sticky) return;
  }
  // The stream is gone: the release waits for the device instead.
  note(call_.cuMemFree_v2(address), "cuMemFree", "freeing a buffer on");
}

void cuda_backend::trim(native_pool pool, std::uint64_t keep) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  check(call_.cuMemPoolTrimTo(pool_of(pool), keep), "cuMemPoolTrimTo", "trimming a memory pool on");
}

std::pair<std::uint64_t, std::uint64_t> cuda_backend::reserved(native_pool pool) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  std::uint64_t now = 0, most = 0;
  for (const auto& [attribute, to] : {std::pair{CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &now},
                                      std::pair{CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &most}})
    check(call_.cuMemPoolGetAttribute(pool_of(pool), attribute, to), "cuMemPoolGetAttribute",
          "asking a memory pool on");
  return {now, most};
}

void cuda_backend::open_pool_to(native_pool pool, const backend& other) {
  if (other.properties().ordinal == properties_.ordinal) return;
  const current scope(*this);
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, static_cast<const cuda_backend&>(other).device_},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  check(call_.cuMemPoolSetAccess(pool_of(pool), &access, 1), "cuMemPoolSetAccess",
        text("opening a memory pool to cuda:", other.properties().ordinal, " on"));
}

}  // namespace kaio::runtime::driver
