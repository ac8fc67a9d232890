#pragma once
// A library that is loaded where it is installed, and not used otherwise: cuBLASLt, NVML, the driver.
//
//   const shared_library nvml({"libnvidia-ml.so.1"});
//   const auto init = nvml.function<int()>("nvmlInit_v2");      // nullptr where the library has none

#include <dlfcn.h>

#include <string>
#include <vector>

namespace kaio::bench {

class shared_library {
 public:
  // The first of these files that can be loaded; never unloaded, as CUDA's libraries are not made for it.
  explicit shared_library(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      if (file.empty()) continue;
      handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) {
        file_ = file;
        return;
      }
    }
  }

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& file() const { return file_; }

  template <class Signature>
  Signature* function(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Signature*>(dlsym(handle_, name));
  }

 private:
  void* handle_ = nullptr;
  std::string file_;
};

}  // namespace kaio::bench
