#include "host/system/library.hpp"

#include "host/windows/system.hpp"

namespace kaio::host {

void* open_library(const std::string& file, std::string& reason) {
  const bool is_name = file.find_first_of("/\\:") == std::string::npos;
  // The libraries that a library needs may be in its own folder, never in the current one.
  const DWORD where = is_name ? LOAD_LIBRARY_SEARCH_SYSTEM32
                              : LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
  std::wstring path = wide(file);
  if (!is_name) {
    // The loader takes these only for a full path.
    path = system_path(file);
    const DWORD size = GetFullPathNameW(path.c_str(), 0, nullptr, nullptr);
    std::wstring full(size, L'\0');
    full.resize(GetFullPathNameW(path.c_str(), size, full.data(), nullptr));
    path = full;
  }
  const HMODULE library = LoadLibraryExW(path.c_str(), nullptr, where);
  if (library == nullptr) reason = message_of(GetLastError());
  return reinterpret_cast<void*>(library);
}

void* find_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

void close_library(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }

void keep_library(const void* address) {
  HMODULE kept = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                     static_cast<const wchar_t*>(address), &kept);
}

const void* library_of(const void* address) {
  HMODULE found = nullptr;
  constexpr DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  return GetModuleHandleExW(how, static_cast<const wchar_t*>(address), &found) ? found : nullptr;
}

std::string file_of_library_of(const void* address) {
  const auto* const found = static_cast<HMODULE>(const_cast<void*>(library_of(address)));
  if (found == nullptr) return {};
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD units =
        GetModuleFileNameW(const_cast<HMODULE>(found), path.data(), static_cast<DWORD>(path.size()));
    if (units == 0) return {};
    if (units < path.size()) return narrow({path.data(), units});
    path.resize(2 * path.size());
  }
}

}  // namespace kaio::host
