#pragma once
// Values that the CUDA runtime library keeps with a context, by a key of its own. The context's end hands each
// back to the runtime.

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

using end_of_value = void (*)(CUcontext c, void* key, void* value);

// Hands every value back, with the state unlocked meanwhile: the runtime calls the driver from there.
void end_storage(CUcontext c);

// The functions of the table, in the order of its entries. A null context means the current one.
CUresult put_in_storage(CUcontext c, void* key, void* value, end_of_value end) noexcept;
CUresult take_from_storage(CUcontext c, void* key) noexcept;
CUresult get_from_storage(void** value, CUcontext c, void* key) noexcept;

}  // namespace kaio::driver_emulator
