#include "driver_emulator/runtime_library/context_storage.hpp"

#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "host/lasting.hpp"

#include <map>
#include <memory>
#include <utility>

namespace kaio::driver_emulator {
namespace {

struct stored_value {
  void* value = nullptr;
  end_of_value end = nullptr;
};
using values = std::map<void*, stored_value>;

// By the context; the mutex of the state guards it.
std::map<CUcontext, values>& storages() {
  static auto* const all = host::make_lasting<std::map<CUcontext, values>>();
  return *all;
}

// A primary context keeps its handle, and may get values before it is active.
values& storage_of(CUcontext handle) {
  const std::shared_ptr<context> c = handle != nullptr ? state().contexts.find(handle) : current_context();
  require(c != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return storages()[c->handle];
}

}  // namespace

void end_storage(CUcontext handle) {
  const auto found = storages().find(handle);
  if (found == storages().end()) return;
  const values ended = std::move(found->second);
  storages().erase(found);
  for (const auto& [key, stored] : ended) {
    if (stored.end == nullptr) continue;
    const unlocked_state outside;
    stored.end(handle, key, stored.value);
  }
}

CUresult put_in_storage(CUcontext handle, void* key, void* value, end_of_value end) noexcept {
  return anytime_call(function_id::cuGetExportTable, [&] { storage_of(handle)[key] = {value, end}; });
}

CUresult take_from_storage(CUcontext handle, void* key) noexcept {
  return anytime_call(function_id::cuGetExportTable,
                      [&] { require(storage_of(handle).erase(key) != 0, CUDA_ERROR_INVALID_HANDLE); });
}

CUresult get_from_storage(void** value, CUcontext handle, void* key) noexcept {
  return anytime_call(function_id::cuGetExportTable, [&] {
    require(value != nullptr);
    const values& stored = storage_of(handle);
    const auto found = stored.find(key);
    require(found != stored.end(), CUDA_ERROR_INVALID_HANDLE);
    *value = found->second.value;
  });
}

}  // namespace kaio::driver_emulator
