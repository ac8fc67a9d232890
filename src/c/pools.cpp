// Pools of memory of the C interface.

#include <kaio/c/runtime.h>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/memory_pool.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "c/call/call.hpp"
#include "c/call/devices.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

struct kaio_pool {
  kaio::runtime::device gpu;
  kaio::runtime::memory_pool pool;
  std::mutex mutex;
  std::map<std::uint64_t, kaio::runtime::buffer<std::uint8_t>> blocks;  // by address, until they are freed
};

namespace kaio::c {

namespace {

// `how`: nothing, or runtime::uninitialised.
template <class... How>
void allocate(const char* operation, kaio_pool* pool, std::uint64_t bytes, void* handle, void** memory,
              How... how) {
  require(operation, "pool", pool);
  require(operation, "memory", memory);
  const runtime::stream stream = runtime::stream::borrow(pool->gpu, handle);
  runtime::buffer<std::uint8_t> block = pool->pool.allocate<std::uint8_t>(bytes, stream, how...);
  const std::uint64_t address = block.address();
  *memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  if (address == 0) return;
  const std::lock_guard lock(pool->mutex);
  pool->blocks.insert_or_assign(address, std::move(block));
}

}  // namespace

}  // namespace kaio::c

using namespace kaio::c;

extern "C" {

kaio_status kaio_pool_create(DLDevice device, const kaio_pool_options* options, kaio_pool** pool) {
  return guarded([&] {
    require("pool_create", "pool", pool);
    call in("pool_create");
    in.device("device", device);
    kaio::runtime::memory_pool_options how;
    read(in, "options", options, how);
    *pool = new kaio_pool{in.gpu(), in.gpu().create_pool(how), {}, {}};
  });
}

kaio_status kaio_pool_allocate(kaio_pool* pool, uint64_t bytes, void* stream, void** memory) {
  return guarded([&] { allocate("pool_allocate", pool, bytes, stream, memory); });
}

kaio_status kaio_pool_allocate_uninitialised(kaio_pool* pool, uint64_t bytes, void* stream, void** memory) {
  return guarded(
      [&] { allocate("pool_allocate_uninitialised", pool, bytes, stream, memory, kaio::uninitialised); });
}

kaio_status kaio_pool_free(kaio_pool* pool, void* memory, void* stream) {
  return guarded([&] {
    require("pool_free", "pool", pool);
    if (memory == nullptr) return;
    const auto where = kaio::runtime::stream::borrow(pool->gpu, stream);
    kaio::runtime::buffer<std::uint8_t> freed;
    {
      const std::lock_guard lock(pool->mutex);
      const auto found = pool->blocks.find(reinterpret_cast<std::uintptr_t>(memory));
      if (found == pool->blocks.end())
        refuse(
            "pool_free",
            "argument memory is no address that kaio_pool_allocate returned for this pool, or is free already");
      freed = std::move(found->second);
      pool->blocks.erase(found);
    }
    freed.release(where);
  });
}

kaio_status kaio_pool_statistics_of(const kaio_pool* pool, kaio_pool_statistics* statistics) {
  return guarded([&] {
    require("pool_statistics_of", "pool", pool);
    give(call("pool_statistics_of"), "statistics", pool->pool.statistics(), statistics);
  });
}

kaio_status kaio_pool_trim(kaio_pool* pool, uint64_t keep) {
  return guarded([&] {
    require("pool_trim", "pool", pool);
    pool->pool.trim(keep);
  });
}

kaio_status kaio_pool_destroy(kaio_pool* pool) {
  return guarded([&] { delete pool; });
}
}
