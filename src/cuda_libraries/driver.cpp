#include "cuda_libraries/driver.hpp"

#include "driver_abi/types.hpp"
#include "host/system/library.hpp"
#include "host/system/rights.hpp"

#include <cstdio>
#include <string>
#include <string_view>

namespace kaio::cuda_libraries {
namespace {

#if defined(_WIN32)
constexpr std::string_view driver_file = "nvcuda.dll";
#else
constexpr std::string_view driver_file = "libcuda.so.1";
#endif

void* find(const char* name) {
  static void* const library = [] {
    const std::string named = host::environment_text("KAIO_CUDA_LIBRARY");
    std::string reason;
    return host::open_library(!named.empty() ? named : std::string(driver_file), reason);
  }();
  return library == nullptr ? nullptr : host::find_symbol(library, name);
}

template <class... Arguments>
int status_of(const char* name, Arguments... arguments) {
  constexpr int not_found = 500;  // CUDA_ERROR_NOT_FOUND
  const auto function = reinterpret_cast<int (*)(Arguments...)>(find(name));
  return function == nullptr ? not_found : function(arguments...);
}

template <class... Arguments>
bool call(const char* name, Arguments... arguments) {
  return status_of(name, arguments...) == 0;
}

}  // namespace

int current_device() {
  int device = -1;
  return call("cuCtxGetDevice", &device) ? device : -1;
}

bool copy_to_host(void* to, const void* from, std::size_t bytes, void* stream) {
  return call("cuMemcpyDtoHAsync_v2", to, reinterpret_cast<std::uint64_t>(from), bytes, stream) &&
         call("cuStreamSynchronize", stream);
}

bool copy_rows(transfer direction, void* to, std::size_t pitch_to, const void* from, std::size_t pitch_from,
               std::size_t bytes, std::size_t rows, void* stream) {
  if (bytes == 0 || rows == 0) return true;
  driver_abi::CUDA_MEMCPY2D copy{};
  const bool up = direction == transfer::to_device;
  copy.source_type = up ? driver_abi::CU_MEMORYTYPE_HOST : driver_abi::CU_MEMORYTYPE_DEVICE;
  copy.target_type = up ? driver_abi::CU_MEMORYTYPE_DEVICE : driver_abi::CU_MEMORYTYPE_HOST;
  copy.source_host = from;
  copy.source_device = reinterpret_cast<std::uint64_t>(from);
  copy.target_host = to;
  copy.target_device = reinterpret_cast<std::uint64_t>(to);
  copy.source_pitch = pitch_from;
  copy.target_pitch = pitch_to;
  copy.width = bytes;
  copy.height = rows;
  return call("cuMemcpy2DAsync_v2", static_cast<const driver_abi::CUDA_MEMCPY2D*>(&copy), stream);
}

bool wait_for(void* stream) { return call("cuStreamSynchronize", stream); }

loaded_kernel::~loaded_kernel() {
  if (module_ != nullptr) call("cuModuleUnload", module_);
}

bool loaded_kernel::launch(const char* text, const char* name, unsigned blocks, unsigned threads,
                           void* stream, void** parameters) {
  const auto done = [&](const char* function, int status) {
    if (status != 0) std::fprintf(stderr, "kaio: %s: %s returned %d\n", name, function, status);
    return status == 0;
  };
  if (function_ == nullptr) {
    if (module_ == nullptr && !done("cuModuleLoadData", status_of("cuModuleLoadData", &module_, text)))
      return false;
    if (!done("cuModuleGetFunction", status_of("cuModuleGetFunction", &function_, module_, name)))
      return false;
  }
  return done("cuLaunchKernel", status_of("cuLaunchKernel", function_, blocks, 1u, 1u, threads, 1u, 1u, 0u,
                                          stream, parameters, static_cast<void**>(nullptr)));
}

}  // namespace kaio::cuda_libraries
