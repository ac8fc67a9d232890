#pragma once
// Memory and modules as the rest of the library sees them: which allocation owns an address, and how both are
// freed.

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

// The allocation that an address is in; null for host memory that the driver does not know, and for
// variables of modules.
allocation* find_allocation(CUdeviceptr address);
CUdeviceptr address_of(const allocation& a);

// Device memory of a context. Throws failure and memory_error.
CUdeviceptr allocate_device(context& c, std::uint64_t bytes, allocation_kind kind, CUmemoryPool pool);
// Frees whatever is allocated, mapped or registered at the address.
void free_allocation(CUdeviceptr address);

// Whether the bytes are in one buffer that the device sees.
bool is_device_range(CUdeviceptr address, std::uint64_t bytes);
// Whether an address is in the range of device memory. Any other address may be memory of the host.
bool is_device_address(CUdeviceptr address);

// An array by its handle. Throws failure: it is none.
std::shared_ptr<array> find_array(CUarray handle);
// Frees an array with its memory; nothing if the handle is none.
void free_array(CUarray handle);

// Destroys the texture and surface objects of a context.
void destroy_image_objects(const context& c);

void unload_module(CUmodule module);

}  // namespace kaio::driver_emulator
