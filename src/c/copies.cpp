// Several devices, and copies that the simple ones of <kaio/c/device.h> are not.

#include <kaio/c/runtime.h>
#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/device.hpp>

#include <cstdint>
#include <string>

#include "c/call/devices.hpp"
#include "c/call/error.hpp"

namespace kaio::c {

namespace {

runtime::stream stream_of(const char* operation, const DLDevice& device, void* handle) {
  return runtime::stream::borrow(device_of(operation, "device", device), handle);
}

// Memory of a device; of the stream's own one if `gpu` is null.
template <class T = std::uint8_t>
runtime::device_pointer<T> memory_at(const void* memory, std::uint64_t count,
                                     const runtime::device* gpu = nullptr) {
  return {reinterpret_cast<std::uintptr_t>(memory), count, gpu != nullptr ? gpu->identity() : nullptr, false};
}

// Bytes from the first row to the end of the last one.
std::uint64_t bytes_of_rows(const char* argument, std::uint64_t pitch, std::uint64_t width,
                            std::uint64_t rows) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(rows - 1, pitch, &bytes) || __builtin_add_overflow(bytes, width, &bytes))
    refuse("copy_rows", std::string("the rows of argument ") + argument +
                            " span more bytes than 64 bits can count; give a smaller pitch or fewer rows");
  return bytes;
}

DLDevice name_of(const runtime::device& gpu) {
  if (gpu.is_emulator()) return {kDLExtDev, gpu.properties().emulator};
  return {kDLCUDA, gpu.properties().ordinal};
}

}  // namespace

}  // namespace kaio::c

using namespace kaio::c;

extern "C" {

kaio_status kaio_device_can_access(DLDevice device, DLDevice other, int32_t* can) {
  return guarded([&] {
    require("device_can_access", "can", can);
    const kaio::runtime::device& gpu = device_of("device_can_access", "device", device);
    *can = gpu.can_access(device_of("device_can_access", "other", other));
  });
}

kaio_status kaio_device_enable_access(DLDevice device, DLDevice other) {
  return guarded([&] {
    const kaio::runtime::device& gpu = device_of("device_enable_access", "device", device);
    gpu.enable_access(device_of("device_enable_access", "other", other));
  });
}

kaio_status kaio_device_of_pointer(const void* pointer, DLDevice* device) {
  return guarded([&] {
    require("device_of_pointer", "device", device);
    *device = name_of(kaio::runtime::device::of_pointer(reinterpret_cast<std::uintptr_t>(pointer)));
  });
}

kaio_status kaio_copy_between(DLDevice device, void* stream, DLDevice to_device, void* to,
                              DLDevice from_device, const void* from, uint64_t bytes) {
  return guarded([&] {
    const kaio::runtime::stream s = stream_of("copy_between", device, stream);
    const kaio::runtime::device& into = device_of("copy_between", "to", to_device);
    const kaio::runtime::device& out_of = device_of("copy_between", "from", from_device);
    copy(s, memory_at(to, bytes, &into), memory_at(from, bytes, &out_of));
  });
}

kaio_status kaio_copy_rows(DLDevice device, void* stream, void* to, uint64_t to_pitch, const void* from,
                           uint64_t from_pitch, uint64_t width, uint64_t rows) {
  return guarded([&] {
    const kaio::runtime::stream s = stream_of("copy_rows", device, stream);
    if (width == 0 || rows == 0) return;
    const auto to_memory = memory_at(to, bytes_of_rows("to", to_pitch, width, rows));
    const auto from_memory = memory_at(from, bytes_of_rows("from", from_pitch, width, rows));
    copy_rows<std::uint8_t>(s, {to_memory, to_pitch}, {from_memory, from_pitch}, width, rows);
  });
}

kaio_status kaio_fill_elements(DLDevice device, void* stream, void* to, uint32_t value,
                               uint32_t element_bytes, uint64_t count) {
  return guarded([&] {
    const kaio::runtime::stream s = stream_of("fill_elements", device, stream);
    if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
      refuse("fill_elements",
             "argument element_bytes is " + std::to_string(element_bytes) + "; it has to be 1, 2 or 4");
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, std::uint64_t{element_bytes}, &bytes))
      refuse("fill_elements", "argument count is more than 64 bits can count in bytes; give fewer elements");
    if (count == 0) return;
    if (element_bytes == 1) return fill(s, memory_at(to, count), static_cast<std::uint8_t>(value));
    if (element_bytes == 2)
      return fill(s, memory_at<std::uint16_t>(to, count), static_cast<std::uint16_t>(value));
    fill(s, memory_at<std::uint32_t>(to, count), value);
  });
}
}
