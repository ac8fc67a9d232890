#pragma once
// Contexts: which one is current on a thread, what is made in one and goes away with it.

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

// The context of the calling thread; null if there is none, or if it has been destroyed.
std::shared_ptr<context> current_context();
CUcontext current_handle();
// Replaces the top of the thread's stack; null takes it away.
void set_current(CUcontext handle);
void push_current(CUcontext handle);
// Throws failure: the stack is empty.
CUcontext pop_current();

// A context by its handle. Throws failure: it is not one, or is destroyed.
std::shared_ptr<context> find_context(CUcontext handle);
// As find_context, but null means the current context.
std::shared_ptr<context> context_or_current(CUcontext handle);

device& find_device(CUdevice ordinal);

// The primary context of a device, which is made inactive if the device has none.
context& primary_context_of(device& d);
std::shared_ptr<context> make_context(device& where, unsigned flags, bool primary);
// Waits for its work, and destroys everything in it.
void destroy_contents(context& c);

}  // namespace kaio::driver_emulator
