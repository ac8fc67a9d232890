#include "driver/driver_support.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace driver_test {

const controls& fake() {
  static const controls found = [] {
    const char* file = std::getenv("KAIO_CUDA_LIBRARY");
    if (!file) FAIL("set KAIO_CUDA_LIBRARY to the stand-in driver library");
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) FAIL(dlerror());
    const auto find = [&]<class Function>(const char* name, Function& function) {
      function = reinterpret_cast<Function>(dlsym(library, name));
      if (!function) FAIL(name);
    };
    controls c{};
    fake_driver* (*state)() = nullptr;
    find("fake_driver_state", state);
    find("fake_driver_reset", c.reset);
    find("fake_driver_set_current", c.set_current);
    find("fake_driver_current", c.current);
    c.state = state();
    return c;
  }();
  return found;
}

}  // namespace driver_test
