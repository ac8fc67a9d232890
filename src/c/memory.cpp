// Memory and copies of the C interface.

#include <kaio/c/device.h>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/host_buffer.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "c/call/devices.hpp"
#include "c/call/error.hpp"
#include "runtime/context.hpp"
#include "runtime/stream_access.hpp"

namespace kaio::c {

namespace {

using bytes_of_device = runtime::buffer<std::uint8_t>;
using bytes_of_host = runtime::host_buffer<std::uint8_t>;

// What kaio_allocate and kaio_allocate_host returned, until it is freed. Never destroyed, like the table of devices.
struct memory_table {
  std::mutex mutex;
  std::map<std::pair<const void*, std::uint64_t>, bytes_of_device> on_devices;  // by device and address
  std::map<const void*, bytes_of_host> on_host;
};
memory_table& table() {
  static memory_table& the_table = *new memory_table;
  return the_table;
}

void* pointer_to(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}
std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

void* keep(const runtime::device& gpu, bytes_of_device memory) {
  const std::uint64_t address = memory.address();
  if (address == 0) return nullptr;
  const std::lock_guard lock(table().mutex);
  table().on_devices.insert_or_assign({gpu.identity(), address}, std::move(memory));
  return pointer_to(address);
}

// A copy or a fill in the order of a stream.
struct transfer {
  runtime::stream stream;
  runtime::backend* backend;

  transfer(const char* operation, const DLDevice& device, void* handle) {
    const runtime::device& gpu = device_of(operation, "device", device);
    stream = runtime::stream::borrow(gpu, handle);
    backend = &runtime::detail::device_of(stream, operation).use();
  }
};

void require_memory(const char* operation, const char* argument, const void* memory, std::uint64_t bytes) {
  if (memory == nullptr && bytes != 0)
    refuse(operation, "argument " + std::string(argument) + " is NULL for " + std::to_string(bytes) +
                          " bytes; give memory of that size");
}

runtime::device_pointer<std::uint8_t> bytes_at(const void* memory, std::uint64_t bytes) {
  return {address_of(memory), bytes, nullptr, false};
}

}  // namespace

}  // namespace kaio::c

using namespace kaio::c;

extern "C" {

kaio_status kaio_allocate(DLDevice device, uint64_t bytes, void** memory) {
  return guarded([&] {
    require("allocate", "memory", memory);
    const kaio::runtime::device& gpu = device_of("allocate", "device", device);
    *memory = keep(gpu, gpu.allocate<std::uint8_t>(bytes));
  });
}

kaio_status kaio_allocate_uninitialised(DLDevice device, uint64_t bytes, void** memory) {
  return guarded([&] {
    require("allocate_uninitialised", "memory", memory);
    const kaio::runtime::device& gpu = device_of("allocate_uninitialised", "device", device);
    *memory = keep(gpu, gpu.allocate<std::uint8_t>(bytes, kaio::uninitialised));
  });
}

kaio_status kaio_free(DLDevice device, void* memory) {
  return guarded([&] {
    const kaio::runtime::device& gpu = device_of("free", "device", device);
    if (memory == nullptr) return;
    bytes_of_device freed;  // after the lock
    const std::lock_guard lock(table().mutex);
    const auto found = table().on_devices.find({gpu.identity(), address_of(memory)});
    if (found == table().on_devices.end())
      refuse("free",
             "argument memory is no address that kaio_allocate returned for this device, or is free already");
    freed = std::move(found->second);
    table().on_devices.erase(found);
  });
}

kaio_status kaio_allocate_host(DLDevice device, uint64_t bytes, void** memory) {
  return guarded([&] {
    require("allocate_host", "memory", memory);
    bytes_of_host made = device_of("allocate_host", "device", device).allocate_host<std::uint8_t>(bytes);
    *memory = made.data();
    if (made.data() == nullptr) return;
    const std::lock_guard lock(table().mutex);
    table().on_host.insert_or_assign(made.data(), std::move(made));
  });
}

kaio_status kaio_free_host(void* memory) {
  return guarded([&] {
    if (memory == nullptr) return;
    bytes_of_host freed;
    const std::lock_guard lock(table().mutex);
    const auto found = table().on_host.find(memory);
    if (found == table().on_host.end())
      refuse("free_host",
             "argument memory is no address that kaio_allocate_host returned, or is free already");
    freed = std::move(found->second);
    table().on_host.erase(found);
  });
}

kaio_status kaio_copy_to_device(DLDevice device, void* stream, void* to, const void* host, uint64_t bytes) {
  return guarded([&] {
    const transfer copy("copy_to_device", device, stream);
    require_memory("copy_to_device", "to", to, bytes);
    require_memory("copy_to_device", "host", host, bytes);
    if (bytes != 0) copy.backend->copy_to_device(address_of(to), host, bytes, copy.stream.native_handle());
  });
}

kaio_status kaio_copy_to_host(DLDevice device, void* stream, void* host, const void* from, uint64_t bytes) {
  return guarded([&] {
    const transfer copy("copy_to_host", device, stream);
    require_memory("copy_to_host", "host", host, bytes);
    require_memory("copy_to_host", "from", from, bytes);
    if (bytes != 0) copy.backend->copy_to_host(host, address_of(from), bytes, copy.stream.native_handle());
  });
}

kaio_status kaio_copy_on_device(DLDevice device, void* stream, void* to, const void* from, uint64_t bytes) {
  return guarded([&] {
    const transfer to_copy("copy_on_device", device, stream);
    require_memory("copy_on_device", "to", to, bytes);
    require_memory("copy_on_device", "from", from, bytes);
    if (bytes != 0) copy(to_copy.stream, bytes_at(to, bytes), bytes_at(from, bytes));
  });
}

kaio_status kaio_fill(DLDevice device, void* stream, void* to, uint8_t value, uint64_t bytes) {
  return guarded([&] {
    const transfer to_fill("fill", device, stream);
    require_memory("fill", "to", to, bytes);
    if (bytes != 0) fill(to_fill.stream, bytes_at(to, bytes), value);
  });
}
}
