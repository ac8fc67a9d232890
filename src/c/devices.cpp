// Devices of the C interface.

#include <kaio/c/device.h>
#include <kaio/runtime/device.hpp>

#include "c/call/call.hpp"
#include "c/call/devices.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

using namespace kaio::c;

extern "C" {

kaio_status kaio_device_open(const char* name, DLDevice* device) {
  return guarded([&] {
    require("device_open", "device", device);
    const DLDevice named = device_named("device_open", name);
    device_of("device_open", "name", named);
    *device = named;
  });
}

kaio_status kaio_device_close(DLDevice device) {
  return guarded([&] { forget("device_close", device); });
}

kaio_status kaio_device_count(int32_t* count) {
  return guarded([&] {
    require("device_count", "count", count);
    *count = kaio::runtime::device::count();
  });
}

kaio_status kaio_device_properties_of(DLDevice device, kaio_device_properties* properties) {
  return guarded([&] {
    call out("device_properties_of");
    out.device("device", device);
    give(out, "properties", out.gpu().properties(), properties);
  });
}

kaio_status kaio_device_synchronize(DLDevice device) {
  return guarded([&] { device_of("device_synchronize", "device", device).synchronize(); });
}

kaio_status kaio_memory_info(DLDevice device, uint64_t* free_bytes, uint64_t* total_bytes) {
  return guarded([&] {
    require("memory_info", "free_bytes", free_bytes);
    require("memory_info", "total_bytes", total_bytes);
    const kaio::runtime::memory_info info = device_of("memory_info", "device", device).memory_info();
    *free_bytes = info.free;
    *total_bytes = info.total;
  });
}
}
