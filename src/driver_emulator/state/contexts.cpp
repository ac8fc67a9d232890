#include "driver_emulator/state/contexts.hpp"

#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>
#include <type_traits>

namespace kaio::driver_emulator {
namespace {

// Plain data, so that functions called while a thread ends still find it.
constexpr std::size_t deepest_stack = 256;
thread_local CUcontext stack[deepest_stack];
thread_local std::size_t depth = 0;

}  // namespace

CUcontext current_handle() { return depth == 0 ? nullptr : stack[depth - 1]; }

std::shared_ptr<context> current_context() {
  const CUcontext handle = current_handle();
  return handle == nullptr ? nullptr : state().contexts.find(handle);
}

void set_current(CUcontext handle) {
  if (handle == nullptr) {
    if (depth != 0) --depth;
  } else if (depth == 0) {
    stack[depth++] = handle;
  } else {
    stack[depth - 1] = handle;
  }
}

void push_current(CUcontext handle) {
  require(depth < deepest_stack, CUDA_ERROR_OUT_OF_MEMORY);
  stack[depth++] = handle;
}

CUcontext pop_current() {
  require(depth != 0, CUDA_ERROR_INVALID_CONTEXT);
  return stack[--depth];
}

std::shared_ptr<context> find_context(CUcontext handle) {
  std::shared_ptr<context> c = state().contexts.find(handle);
  require(c != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  require(c->active, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return c;
}

std::shared_ptr<context> context_or_current(CUcontext handle) {
  if (handle != nullptr) return find_context(handle);
  std::shared_ptr<context> c = current_context();
  require(c != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  require(c->active, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return c;
}

device& find_device(CUdevice ordinal) {
  driver_state& s = state();
  require(ordinal >= 0 && static_cast<std::size_t>(ordinal) < s.devices.size(), CUDA_ERROR_INVALID_DEVICE);
  return *s.devices[static_cast<std::size_t>(ordinal)];
}

std::shared_ptr<context> make_context(device& where, unsigned flags, bool primary) {
  driver_state& s = state();
  auto c = std::make_shared<context>();
  c->where = &where;
  c->flags = flags;
  c->primary = primary;
  c->id = ++s.last_id;
  s.contexts.add(c);
  return c;
}

context& primary_context_of(device& d) {
  if (d.primary == nullptr) {
    d.primary = make_context(d, d.primary_flags, true);
    d.primary->active = false;
  }
  return *d.primary;
}

void destroy_contents(context& c) {
  driver_state& s = state();
  drain(c);
  const auto owned = [&](const auto& object) { return object.owner.lock().get() == &c; };
  const auto handles_of = [&](const auto& table) {
    std::vector<std::remove_cvref_t<decltype(table.all().begin()->first)>> handles;
    for (const auto& [handle, object] : table.all())
      if (owned(*object)) handles.push_back(handle);
    return handles;
  };
  for (const CUevent e : handles_of(s.events)) s.events.take(e);
  for (const CUstream h : handles_of(s.streams)) s.streams.take(h);
  for (const CUmodule m : handles_of(s.modules)) unload_module(m);
  destroy_image_objects(c);
  for (const CUmipmappedArray m : handles_of(s.mipmapped_arrays)) s.mipmapped_arrays.take(m);
  for (const CUarray a : handles_of(s.arrays)) free_array(a);
  for (const auto& [handle, l] : s.libraries.all()) l->modules.erase(c.handle);
  std::vector<CUdeviceptr> addresses;
  for (const auto& [address, a] : s.allocations)
    if (a.owner == c.handle) addresses.push_back(address);
  for (const CUdeviceptr address : addresses) free_allocation(address);
  c.legacy.reset();
  c.per_thread.clear();
  c.streams.clear();
  c.peers.clear();
}

}  // namespace kaio::driver_emulator
