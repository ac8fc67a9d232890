// A program that opens and closes the library again and again, whatever it does in between, does not grow.

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

// This program is linked to the library, which therefore stays open; a copy of the file is another library.
class library_copy {
 public:
  library_copy() {
    Dl_info where{};
    REQUIRE(dladdr(reinterpret_cast<void*>(&cuInit), &where) != 0);
    std::filesystem::copy_file(where.dli_fname, path_, std::filesystem::copy_options::overwrite_existing);
  }
  ~library_copy() { std::filesystem::remove(path_); }
  library_copy(const library_copy&) = delete;
  library_copy& operator=(const library_copy&) = delete;
  const char* path() const { return path_.c_str(); }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("kaio_copy_" + std::to_string(getpid()) + ".so");
};

class opened {
 public:
  explicit opened(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    REQUIRE(handle_ != nullptr);
  }
  ~opened() { dlclose(handle_); }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  // The library's own function of that name.
  template <class Function>
  Function* operator()(Function*, const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

#define OF(library, function) library(&(function), #function)

enum class depth { opened, initialised, context, module, launched, left_open };

void cycle(const char* path, depth deepest) {
  const opened library(path);
  if (deepest == depth::opened) return;
  MUST(OF(library, cuInit)(0));
  if (deepest == depth::initialised) return;
  CUcontext context = nullptr;
  MUST(OF(library, cuDevicePrimaryCtxRetain)(&context, 0));
  MUST(OF(library, cuCtxSetCurrent)(context));
  CUmodule module = nullptr;
  if (deepest >= depth::module) MUST(OF(library, cuModuleLoadData)(&module, add_text.c_str()));
  if (deepest >= depth::launched) {
    CUfunction add = nullptr;
    MUST(OF(library, cuModuleGetFunction)(&add, module, "add"));
    CUdeviceptr to = 0;
    MUST(OF(library, cuMemAlloc_v2)(&to, 4096));
    std::uint32_t value = 1, count = 256;
    void* parameters[] = {&to, &value, &count};
    MUST(OF(library, cuLaunchKernel)(add, 2, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
    MUST(OF(library, cuCtxSynchronize)());
  }
  if (deepest == depth::left_open) return;  // the program forgets all it has
  if (module != nullptr) MUST(OF(library, cuModuleUnload)(module));
  MUST(OF(library, cuDevicePrimaryCtxRelease_v2)(0));
}

// Resident memory of this process, in KiB.
long resident() {
  std::ifstream status("/proc/self/statm");
  long whole = 0, pages = 0;
  status >> whole >> pages;
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

// True also if this file was compiled without a sanitizer and linked with one.
bool is_sanitized() {
  return dlsym(RTLD_DEFAULT, "__asan_init") != nullptr || dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
}

}  // namespace

TEST_CASE("a library that is opened and closed leaves nothing in memory") {
  const library_copy copy;
  const int warm_up = 20, cycles = is_sanitized() ? 20 : 250;  // 6 x 250 times 700 bytes would be 1 MiB
  const auto all_depths = [&](int count) {
    for (const depth d : {depth::opened, depth::initialised, depth::context, depth::module, depth::launched,
                          depth::left_open})
      for (int i = 0; i < count; ++i) cycle(copy.path(), d);
  };
  all_depths(warm_up);
  CHECK(dlopen(copy.path(), RTLD_NOW | RTLD_NOLOAD) == nullptr);
  const long before = resident();
  all_depths(cycles);
  const long grown = resident() - before;
  CAPTURE(grown);
  if (!is_sanitized()) CHECK(grown < 1024);  // the sanitizers keep what is freed
}
