#pragma once
// What the tests of the emulator of the CUDA driver share: calls that must succeed, a context that leaves
// nothing alive, and some kernels as PTX text.

#include <kaio/runtime/cuda_emulator.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "driver_emulator/abi/functions.hpp"

namespace driver_emulator_test {

using namespace kaio::driver_emulator;

// Every call of these tests is checked for what it must return.
#define MUST(call) REQUIRE((call) == CUDA_SUCCESS)
#define REFUSED(call, code) CHECK((call) == (code))

// The primary context of the first device. At its end nothing may be alive.
struct session {
  CUcontext context = nullptr;
  session() {
    kaio_emulator_reset();
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
  }
  ~session() {
    cuCtxSetCurrent(nullptr);
    cuDevicePrimaryCtxRelease_v2(0);
    kaio_emulator_counters now;
    kaio_emulator_count(&now);
    CHECK(kaio_emulator_alive(&now) == 0);
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
};

// A module with its functions, unloaded at the end.
struct loaded {
  CUmodule module = nullptr;
  explicit loaded(const std::string& text) { MUST(cuModuleLoadData(&module, text.c_str())); }
  ~loaded() { cuModuleUnload(module); }
  loaded(const loaded&) = delete;
  loaded& operator=(const loaded&) = delete;
  CUfunction operator[](const char* name) const {
    CUfunction f = nullptr;
    MUST(cuModuleGetFunction(&f, module, name));
    return f;
  }
};

// Device memory of 32-bit numbers, freed at the end.
struct numbers {
  CUdeviceptr address = 0;
  std::size_t count;
  explicit numbers(std::size_t n) : count(n) { MUST(cuMemAlloc_v2(&address, n * 4)); }
  explicit numbers(const std::vector<std::uint32_t>& values) : numbers(values.size()) {
    MUST(cuMemcpyHtoD_v2(address, values.data(), values.size() * 4));
  }
  ~numbers() { cuMemFree_v2(address); }
  numbers(const numbers&) = delete;
  numbers& operator=(const numbers&) = delete;
  std::vector<std::uint32_t> read() const {
    std::vector<std::uint32_t> values(count);
    MUST(cuMemcpyDtoH_v2(values.data(), address, count * 4));
    return values;
  }
};

inline std::string ptx(const std::string& body, const std::string& target = "sm_70") {
  return ".version 8.0\n.target " + target + "\n.address_size 64\n" + body;
}

// add(to, value, n): to[i] += value
inline const std::string add_text =
    ptx(R"(.visible .entry add(.param .u64 to, .param .u32 value, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [to];
  ld.param.u32 %r0, [value];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  mul.wide.u32 %d1, %r5, 4;
  add.u64 %d2, %d0, %d1;
  ld.global.u32 %r6, [%d2];
  add.u32 %r6, %r6, %r0;
  st.global.u32 [%d2], %r6;
done:
  ret;
}
)");

inline CUresult launch_add(CUfunction f, CUdeviceptr to, std::uint32_t value, std::uint32_t n,
                           CUstream where = nullptr) {
  void* parameters[] = {&to, &value, &n};
  return cuLaunchKernel(f, (n + 127) / 128, 1, 1, 128, 1, 1, 0, where, parameters, nullptr);
}

}  // namespace driver_emulator_test
