#pragma once
// The GPUs that the driver sees, and what they are, without opening one.

#include <kaio/ptx/target.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>
#include <string>

#include "runtime/driver/library.hpp"

namespace kaio::runtime::driver {

// The driver library, loaded and initialised. Throws driver_missing, no_device.
const library& initialised_library();

// Throws as initialised_library does.
int device_count();
// Throws no_device if there is no GPU of this number.
device_properties properties_of(int ordinal);
CUdevice handle_of(int ordinal);

// The newest PTX ISA that a driver of this CUDA version (13000 is 13.0) compiles; {255, 255} for versions
// newer than kaio knows. Source: PTX ISA manual, "PTX Release History".
ptx::isa_version newest_ptx(std::uint32_t driver_version) noexcept;

// "NVIDIA H200, sm_90, 132 SMs, driver 13.0 (580.65.06)"; the release in parentheses where the system
// reports it.
std::string describe(const device_properties& properties);

// Throws the error that `result` of `function` means; `what` is the action that failed.
[[noreturn]] void throw_result(const library& cuda, CUresult result, const char* function,
                               std::string_view what);

// The CUDA context that is current on this thread; null: none. Throws driver_missing.
void* current_handle();
struct current_context {
  void* handle = nullptr;
  int ordinal = -1;
  bool is_primary = false;
};
current_context describe_current(void* handle);
// The GPU whose memory an address is in; -1: none. Throws driver_missing, no_device.
int ordinal_of_memory(std::uint64_t address);
// The context that the memory was allocated in; null: that of no one context, as memory of a pool.
void* context_of_memory(std::uint64_t address);
// Whether an answer of cuPointerGetAttribute means that the address is no memory of a GPU, or of no one context. Any
// other failure is one.
inline bool is_unknown_memory(CUresult result) noexcept {
  return result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace kaio::runtime::driver
