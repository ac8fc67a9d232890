#pragma once
// Why the driver does not start, if its result code has several causes. The process and the machine show which
// cause is likely: it comes first.

#include <string>

#include "runtime/driver/library.hpp"
#include "runtime/driver/result.hpp"

namespace kaio::runtime::driver {

struct start_conditions {
  bool forked = false;           // this process is a child of one that had loaded the library
  bool has_module = false;       // the kernel has a driver of NVIDIA
  bool has_device_file = false;  // this process sees /dev/nvidiactl
  bool in_container = false;
  const char* visible_devices = nullptr;  // CUDA_VISIBLE_DEVICES
  std::string library;                    // the file that was loaded
};
start_conditions start_conditions_of(const library& cuda);

// The causes of a result of cuInit or cuDeviceGetCount, and what to do.
struct start_failure {
  errc code;
  std::string what, what_to_do;
};
start_failure start_failure_of(CUresult result, const start_conditions& seen);

}  // namespace kaio::runtime::driver
