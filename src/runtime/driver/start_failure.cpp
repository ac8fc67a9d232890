#include "runtime/driver/start_failure.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "host/system/library.hpp"
#include "runtime/base/text.hpp"

namespace kaio::runtime::driver {

namespace {

constexpr std::string_view or_emulator = ", or set KAIO_DEVICE=emulator";

start_failure by_code_alone(const result_meaning& known) {
  return {known.code, std::string(known.what), std::string(known.what_to_do)};
}

start_failure after_fork(bool is_known) {
  return {
      errc::device_lost,
      is_known ? "this process was forked from one that used CUDA, and CUDA does not work in such a child"
               : "this process was forked from one that used CUDA, or the program is ending",
      text(
          "start such a child by spawn (Python: multiprocessing.set_start_method('spawn')), or fork before CUDA is used",
          is_known ? "" : "; use devices only until main() returns")};
}

start_failure without_device(const start_conditions& seen, const result_meaning& other) {
  if (seen.visible_devices != nullptr)
    return {errc::no_device,
            text("CUDA_VISIBLE_DEVICES is '", seen.visible_devices,
                 "', which may hide every GPU, or the machine has none"),
            text("unset it, check nvidia-smi", or_emulator)};
  if (!seen.has_device_file && (seen.has_module || seen.in_container))
    return {errc::no_device, "the container was started without a GPU, or the machine has none",
            text("start it with its devices (docker run --gpus all), check nvidia-smi in it", or_emulator)};
  return by_code_alone(other);
}

start_failure by_device_files(const start_conditions& seen, const result_meaning& other) {
  if (seen.has_device_file) return by_code_alone(other);
  return {errc::no_device,
          seen.in_container
              ? "the container has no device files of NVIDIA, or the kernel has no driver"
              : "there are no device files of NVIDIA (/dev/nvidiactl): the kernel's driver is not loaded",
          text(seen.in_container ? "start the container with its devices (docker run --gpus all)"
                                 : "load it (modprobe nvidia), or install the driver",
               or_emulator)};
}

bool is_stub(std::string_view file) { return file.find("/stubs/") != std::string_view::npos; }

}  // namespace

start_conditions start_conditions_of(const library& cuda) {
  start_conditions seen;
  seen.visible_devices = std::getenv("CUDA_VISIBLE_DEVICES");
  seen.library = host::file_of_library_of(reinterpret_cast<const void*>(cuda.call.cuInit));
  if (seen.library.empty()) seen.library = cuda.file;
  seen.forked = cuda.process != process_number();
#if !defined(_WIN32)
  const auto exists = [](const char* file) {
    std::error_code ignored;
    return std::filesystem::exists(file, ignored);
  };
  seen.has_module = exists("/proc/driver/nvidia/version") || exists("/sys/module/nvidia");
  seen.has_device_file = exists("/dev/nvidiactl") || exists("/dev/dxg");
  seen.in_container = exists("/.dockerenv") || exists("/run/.containerenv");
#else
  seen.has_module = seen.has_device_file = true;
#endif
  return seen;
}

start_failure start_failure_of(CUresult result, const start_conditions& seen) {
  const result_meaning known = meaning_of(result);
  if (is_stub(seen.library) && known.code != errc::driver_missing)
    return {errc::driver_missing, text(seen.library, " is the toolkit's stub, not a driver"),
            text("take its folder out of LD_LIBRARY_PATH and of the program's run path", or_emulator)};
  switch (result) {
    case CUDA_ERROR_NOT_INITIALIZED: return after_fork(seen.forked);
    case CUDA_ERROR_NO_DEVICE: return without_device(seen, known);
    case CUDA_ERROR_UNKNOWN:
    case CUDA_ERROR_OPERATING_SYSTEM: return by_device_files(seen, known);
    default: return by_code_alone(known);
  }
}

}  // namespace kaio::runtime::driver
