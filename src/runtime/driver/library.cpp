#include "runtime/driver/library.hpp"

#include <kaio/runtime/error.hpp>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "runtime/base/elevated.hpp"
#include "runtime/base/text.hpp"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace kaio::runtime::driver {

namespace {

constexpr std::string_view how_to_install =
    "install the NVIDIA driver (Debian: nvidia-driver and libcuda1), or set KAIO_DEVICE=emulator to run without a GPU";

#if defined(_WIN32)

void* open_file(const std::string& file, std::string& reason) {
  const bool system = file == system_library;
  const DWORD where = system ? LOAD_LIBRARY_SEARCH_SYSTEM32 : LOAD_WITH_ALTERED_SEARCH_PATH;
  HMODULE module = LoadLibraryExA(file.c_str(), nullptr, where);
  if (!module) reason = text("LoadLibraryEx failed with code ", static_cast<unsigned long>(GetLastError()));
  return reinterpret_cast<void*>(module);
}

void* find_symbol(void* handle, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle), name));
}

void close_file(void* handle) { FreeLibrary(static_cast<HMODULE>(handle)); }

#else

void* open_file(const std::string& file, std::string& reason) {
  if (file == system_library) {
    // Another user of CUDA in this process may have loaded it; then the search path plays no part.
    if (void* loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return loaded;
    const char* search_path = std::getenv("LD_LIBRARY_PATH");
    if (search_path && !runs_elevated()) {
      const std::string element = unsafe_search_element(search_path, file);
      if (!element.empty()) {
        reason = text("LD_LIBRARY_PATH leads to it through the element '", element,
                      "', which is not an absolute path; remove that element");
        return nullptr;
      }
    }
  }
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    reason = why ? why : "dlopen failed";
  }
  return handle;
}

void* find_symbol(void* handle, const char* name) { return dlsym(handle, name); }
void close_file(void* handle) { dlclose(handle); }

#endif

template <class Function>
void resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(find_symbol(handle, name));
}

}  // namespace

std::string unsafe_search_element(std::string_view search_path, std::string_view file) {
  while (true) {
    const std::size_t end = search_path.find_first_of(":;");
    const std::string_view element = search_path.substr(0, end);
    if (element.empty() || element.front() != '/') {
      std::error_code ignored;
      const std::filesystem::path directory = element.empty() ? "." : std::string(element);
      if (std::filesystem::exists(directory / file, ignored)) return directory.string();
    }
    if (end == std::string_view::npos) return {};
    search_path.remove_prefix(end + 1);
  }
}

std::string library_file(const char* override_path, bool elevated) {
  if (!override_path || !*override_path || elevated) return std::string(system_library);
  if (!std::filesystem::path(override_path).is_absolute()) {
    throw invalid_argument(
        text("kaio: KAIO_CUDA_LIBRARY is '", override_path,
             "', which is not an absolute path; write the driver library's full path, or unset it"));
  }
  return override_path;
}

library load_library(const std::string& file) {
  std::string reason;
  void* handle = open_file(file, reason);
  if (!handle) {
    throw driver_missing(
        text("kaio: the NVIDIA driver library ", file, " cannot be loaded (", reason, "); ", how_to_install));
  }
  library loaded;
  loaded.file = file;
  const char* missing = nullptr;
#define KAIO_DRIVER_NEEDED_FUNCTION(symbol, types) \
  resolve(handle, #symbol, loaded.call.symbol);    \
  if (!loaded.call.symbol && !missing) missing = #symbol;
#define KAIO_DRIVER_OPTIONAL_FUNCTION(symbol, types) resolve(handle, #symbol, loaded.call.symbol);
#include "driver_abi/functions.def"
  if (missing) {
    close_file(handle);
    throw driver_missing(
        text("kaio: the NVIDIA driver library ", file, " has no function ", missing,
             "; kaio needs driver 418 or newer: update the driver, or set KAIO_DEVICE=emulator"));
  }
  return loaded;
}

const library& process_library() {
  static std::mutex loading;
  static std::atomic<const library*> loaded{nullptr};
  if (const library* ready = loaded.load(std::memory_order_acquire)) return *ready;
  const std::scoped_lock lock(loading);
  if (const library* ready = loaded.load(std::memory_order_relaxed)) return *ready;
  // Kept until the process ends, like the driver itself.
  const auto* fresh =
      new library(load_library(library_file(std::getenv("KAIO_CUDA_LIBRARY"), runs_elevated())));
  loaded.store(fresh, std::memory_order_release);
  return *fresh;
}

}  // namespace kaio::runtime::driver
