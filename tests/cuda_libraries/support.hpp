#pragma once
// A context of the emulated driver, and arrays in its memory, for the tests of cuBLAS' and cuRAND's replacements.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "driver_emulator/abi/functions.hpp"

namespace cuda_libraries_test {

using namespace kaio::driver_emulator;

#define MUST(call) REQUIRE(static_cast<int>(call) == 0)

struct session {
  CUcontext context = nullptr;
  session() {
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
  }
  ~session() {
    cuCtxSetCurrent(nullptr);
    cuDevicePrimaryCtxRelease_v2(0);
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
};

// Elements in device memory.
template <class T>
struct array {
  CUdeviceptr address = 0;
  std::size_t count;

  explicit array(const std::vector<T>& values) : count(values.size()) {
    MUST(cuMemAlloc_v2(&address, count * sizeof(T)));
    MUST(cuMemcpyHtoD_v2(address, values.data(), count * sizeof(T)));
  }
  ~array() { cuMemFree_v2(address); }
  array(const array&) = delete;
  array& operator=(const array&) = delete;

  T* data() const { return reinterpret_cast<T*>(address); }
  std::vector<T> values() const {
    std::vector<T> v(count);
    MUST(cuMemcpyDtoH_v2(v.data(), address, count * sizeof(T)));
    return v;
  }
};

}  // namespace cuda_libraries_test
