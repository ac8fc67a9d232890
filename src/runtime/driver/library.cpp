#include "runtime/driver/library.hpp"

#include <kaio/runtime/error.hpp>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>

#include "host/system/library.hpp"
#include "runtime/base/elevated.hpp"
#include "runtime/base/text.hpp"

#if !defined(_WIN32)
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#endif

namespace kaio::runtime::driver {

namespace {

constexpr std::string_view how_to_install =
    "install the NVIDIA driver (Debian: nvidia-driver and libcuda1), or set KAIO_DEVICE=emulator to run without a GPU";

#if defined(_WIN32)

void* open_file(const std::string& file, std::string& reason) { return host::open_library(file, reason); }

#else

// The loader read LD_LIBRARY_PATH when the program began, and programs have search paths of their own. Returns
// their first element that is not absolute now; empty: none, or the loader cannot be asked.
std::string relative_folder_of_loader() {
#if defined(__GLIBC__)
  void* const program = dlopen(nullptr, RTLD_NOW | RTLD_LOCAL);
  Dl_serinfo size{};
  if (program == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  const std::unique_ptr<void, void (*)(void*)> memory(std::malloc(size.dls_size), std::free);
  auto* const folders = static_cast<Dl_serinfo*>(memory.get());
  if (folders == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, folders) != 0 ||
      dlinfo(program, RTLD_DI_SERINFO, folders) != 0)
    return {};
  for (unsigned i = 0; i < folders->dls_cnt; ++i) {
    const std::string_view name = folders->dls_serpath[i].dls_name;
    if (!name.starts_with('/')) return name.empty() ? "." : std::string(name);
  }
#endif
  return {};
}

// Where NVIDIA's packages and installers, containers and WSL have the library.
constexpr std::string_view system_folders[] = {
#if defined(__x86_64__)
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
    "/usr/lib/aarch64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu/nvidia",
    "/usr/lib/aarch64-linux-gnu/tegra",
#endif
    "/usr/lib64",
    "/lib64",
    "/usr/lib",
    "/lib",
    "/usr/lib/wsl/lib",
};

// Like the loader, it passes over files that cannot be loaded, such as those of another architecture.
void* open_without_search(const std::string& file, const search_path& path, std::string& reason) {
  std::vector<std::string> folders = path.folders;
  folders.insert(folders.end(), std::begin(system_folders), std::end(system_folders));
  std::string why;
  for (const std::string& folder : folders) {
    const std::string found = text(folder, '/', file);
    std::error_code ignored;
    if (!std::filesystem::exists(found, ignored)) continue;
    std::string reason_of_loader;
    if (void* handle = host::open_library(found, reason_of_loader)) return handle;
    why += text("; ", reason_of_loader);
  }
  reason = text("the loader's search path has the element '", path.unsafe,
                "', which is not an absolute path, and the library could not be loaded from the absolute "
                "elements or the system's folders; remove that element from LD_LIBRARY_PATH",
                why);
  return nullptr;
}

void* open_file(const std::string& file, std::string& reason) {
  if (file == system_library) {
    // Another user of CUDA in this process may have loaded it; then the search path plays no part.
    if (void* loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return loaded;
    search_path path(file_variable("LD_LIBRARY_PATH"));
    if (path.unsafe.empty()) path.unsafe = relative_folder_of_loader();
    if (!path.unsafe.empty()) return open_without_search(file, path, reason);
  }
  return host::open_library(file, reason);
}

#endif

template <class Function>
void resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(host::find_symbol(handle, name));
}

}  // namespace

search_path::search_path(std::string_view text) {
  if (text.empty()) return;
  while (true) {
    const std::size_t end = text.find_first_of(":;");
    const std::string_view element = text.substr(0, end);
    if (element.starts_with('/'))
      folders.emplace_back(element);
    else if (unsafe.empty())
      unsafe = element.empty() ? "." : element;
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string library_file(std::string_view override_path) {
  if (override_path.empty()) return std::string(system_library);
  if (!std::filesystem::path(override_path).is_absolute()) {
    throw invalid_argument(
        text("kaio: KAIO_CUDA_LIBRARY is '", override_path,
             "', which is not an absolute path; write the driver library's full path, or unset it"));
  }
  return std::string(override_path);
}

long process_number() noexcept {
#if defined(_WIN32)
  return 0;
#else
  return getpid();
#endif
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
  loaded.process = process_number();
  const char* missing = nullptr;
#define KAIO_DRIVER_NEEDED_FUNCTION(symbol, types) \
  resolve(handle, #symbol, loaded.call.symbol);    \
  if (!loaded.call.symbol && !missing) missing = #symbol;
#define KAIO_DRIVER_OPTIONAL_FUNCTION(symbol, types) resolve(handle, #symbol, loaded.call.symbol);
#include "driver_abi/functions.def"
  if (missing) {
    host::close_library(handle);
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
  const auto* fresh = new library(load_library(library_file(file_variable("KAIO_CUDA_LIBRARY"))));
  loaded.store(fresh, std::memory_order_release);
  return *fresh;
}

}  // namespace kaio::runtime::driver
