#include "ops/distributed/nccl/library.hpp"

#include <kaio/runtime/error.hpp>

#ifndef _WIN32
#include <dlfcn.h>
#endif

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>

namespace kaio::ops::detail::nccl {

#ifdef _WIN32

const library& load() {
  throw runtime::unsupported_device("kaio: NCCL has no library for Windows; use communicator::peers");
}
current_device::current_device(int) {}
current_device::~current_device() = default;

#else

namespace {

constexpr const char* name = "libnccl.so.2";

struct attempts {
  std::string text;
  void* open(const std::string& file, int flags) {
    void* const handle = ::dlopen(file.c_str(), flags);
    if (handle == nullptr && (flags & RTLD_NOLOAD) == 0) {
      const char* const why = ::dlerror();
      text += (text.empty() ? "" : "; ") + std::string(why != nullptr ? why : "dlopen failed");
    }
    return handle;
  }
};

// The folder of the library or the program that kaio is part of, and those above it.
void* open_beside(attempts& all, std::string& file) {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&load), &here) == 0 || here.dli_fname == nullptr) return nullptr;
  std::error_code failure;
  std::filesystem::path folder = std::filesystem::absolute(here.dli_fname, failure).parent_path();
  for (int up = 0; up < 5 && !failure && !folder.empty(); ++up, folder = folder.parent_path()) {
    const std::filesystem::path found = folder / "nvidia/nccl/lib" / name;
    if (!std::filesystem::exists(found, failure)) continue;
    file = found.string();
    return all.open(file, RTLD_NOW | RTLD_LOCAL);
  }
  return nullptr;
}

void* open_any(attempts& all, std::string& file) {
  if (const char* const chosen = std::getenv("KAIO_NCCL_LIBRARY"); chosen != nullptr && *chosen != '\0') {
    file = chosen;
    return all.open(file, RTLD_NOW | RTLD_LOCAL);
  }
  file = name;
  if (void* const loaded = all.open(file, RTLD_NOW | RTLD_NOLOAD)) return loaded;
  if (void* const found = open_beside(all, file)) return found;
  file = name;
  return all.open(file, RTLD_NOW | RTLD_LOCAL);
}

template <class Function>
void find(void* handle, const char* symbol, Function& to, const std::string& file) {
  to = reinterpret_cast<Function>(::dlsym(handle, symbol));
  if (to == nullptr)
    throw runtime::unsupported_device("kaio: " + file + " has no function " + symbol +
                                      "; install NCCL 2.17 or later");
}

std::unique_ptr<library> load_now() {
  auto loaded = std::make_unique<library>();
  attempts all;
  void* const handle = open_any(all, loaded->file);
  if (handle == nullptr)
    throw runtime::unsupported_device(
        "kaio: NCCL cannot be loaded: " + all.text +
        "; install nvidia-nccl-cu13 or -cu12, or name its file in KAIO_NCCL_LIBRARY");
  functions& f = loaded->call;
  find(handle, "ncclGetVersion", f.get_version, loaded->file);
  if (f.get_version(&loaded->version) != success || loaded->version < oldest_version)
    throw runtime::unsupported_device("kaio: " + loaded->file + " is NCCL of version code " +
                                      std::to_string(loaded->version) + "; 2.17 (21700) or later is needed");
  find(handle, "ncclGetUniqueId", f.get_unique_id, loaded->file);
  find(handle, "ncclCommInitRankConfig", f.init_rank, loaded->file);
  find(handle, "ncclCommDestroy", f.destroy, loaded->file);
  find(handle, "ncclCommAbort", f.abort, loaded->file);
  find(handle, "ncclCommGetAsyncError", f.async_error, loaded->file);
  find(handle, "ncclGetErrorString", f.error_text, loaded->file);
  find(handle, "ncclGroupStart", f.group_start, loaded->file);
  find(handle, "ncclGroupEnd", f.group_end, loaded->file);
  find(handle, "ncclAllGather", f.all_gather, loaded->file);
  find(handle, "ncclSend", f.send, loaded->file);
  find(handle, "ncclRecv", f.receive, loaded->file);
  return loaded;
}

// The driver's functions for contexts; null without a driver.
struct context_functions {
  int (*retain)(void** context, int device) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;
  context_functions() {
    void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr) return;
    retain = reinterpret_cast<decltype(retain)>(::dlsym(driver, "cuDevicePrimaryCtxRetain"));
    push = reinterpret_cast<decltype(push)>(::dlsym(driver, "cuCtxPushCurrent_v2"));
    pop = reinterpret_cast<decltype(pop)>(::dlsym(driver, "cuCtxPopCurrent_v2"));
  }
};
const context_functions& contexts() {
  static const context_functions all;
  return all;
}

}  // namespace

const library& load() {
  static std::mutex changing;
  static const library* loaded = nullptr;  // until the end of the process
  const std::scoped_lock lock(changing);
  if (loaded == nullptr) loaded = load_now().release();
  return *loaded;
}

current_device::current_device(int ordinal) {
  const context_functions& f = contexts();
  if (ordinal < 0 || f.retain == nullptr || f.push == nullptr) return;
  void* context = nullptr;  // kaio has the device open: the context stays
  pushed_ = f.retain(&context, ordinal) == 0 && f.push(context) == 0;
}
current_device::~current_device() {
  void* context = nullptr;
  if (pushed_) contexts().pop(&context);
}

#endif

}  // namespace kaio::ops::detail::nccl
