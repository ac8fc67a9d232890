// A kernel that faults: the code that every later call returns, the report on the standard error stream,
// and another context, which the fault does not affect.

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "driver_emulator/support.hpp"
#include "host/system/process.hpp"

using namespace driver_emulator_test;

namespace {

// Captures the standard error stream while it exists.
class error_stream {
 public:
  error_stream() : file_(std::tmpfile()), before_(dup(2)) { dup2(fileno(file_), 2); }
  ~error_stream() {
    restore();
    std::fclose(file_);
  }
  error_stream(const error_stream&) = delete;
  error_stream& operator=(const error_stream&) = delete;
  std::string text() {
    restore();
    std::string all(static_cast<std::size_t>(std::ftell(file_) < 0 ? 0 : 1 << 16), '\0');
    std::rewind(file_);
    all.resize(std::fread(all.data(), 1, all.size(), file_));
    return all;
  }

 private:
  void restore() {
    std::fflush(stderr);
    if (before_ < 0) return;
    dup2(before_, 2);
    close(before_);
    before_ = -1;
  }
  std::FILE* file_;
  int before_;
};

std::string body(const std::string& instructions) {
  return ptx(
      ".visible .entry wrong(.param .u64 at)\n{\n  .reg .b64 %d<4>;\n  .reg .b32 %r<4>;\n  .reg .pred %p;\n"
      "  .shared .align 8 .b8 tile[64];\n"
      "  ld.param.u64 %d0, [at];\n" +
      instructions + "  ret;\n}\n");
}

struct kind {
  const char* instructions;
  CUresult code;
  const char* said;
};
const kind kinds[] = {
    {"  st.global.u32 [%d0+64], 1;\n", CUDA_ERROR_ILLEGAL_ADDRESS, "past the end of the buffer of 64 bytes"},
    {"  mov.u64 %d1, 16;\n  ld.global.u32 %r0, [%d1];\n", CUDA_ERROR_ILLEGAL_ADDRESS, "read of 4 bytes"},
    {"  ld.global.u32 %r0, [%d0+2];\n", CUDA_ERROR_MISALIGNED_ADDRESS, "kernel 'wrong'"},
    {"  trap;\n", CUDA_ERROR_LAUNCH_FAILED, "trap"},
};

}  // namespace

TEST_CASE("a fault of a kernel is what every later call on its context returns") {
  MUST(cuInit(0));
  for (const kind& k : kinds) {
    INFO(k.instructions);
    CUcontext c = nullptr;
    MUST(cuCtxCreate_v2(&c, 0, 0));
    CUmodule m = nullptr;
    CUfunction f = nullptr;
    CUstream stream = nullptr;
    CUdeviceptr x = 0, y = 0;
    MUST(cuModuleLoadData(&m, body(k.instructions).c_str()));
    MUST(cuModuleGetFunction(&f, m, "wrong"));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc_v2(&x, 64));
    void* parameters[] = {&x};
    error_stream errors;
    CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(stream) == k.code);
    CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr) == k.code);
    CHECK(cuCtxSynchronize() == k.code);
    CHECK(cuStreamQuery(stream) == k.code);
    CHECK(cuMemAlloc_v2(&y, 4) == k.code);
    CHECK(cuMemcpyDtoH_v2(&y, x, 4) == k.code);
    CHECK(cuMemFree_v2(x) == k.code);
    CHECK(cuStreamDestroy_v2(stream) == k.code);
    CHECK(cuModuleUnload(m) == k.code);
    const std::string said = errors.text();
    INFO(said);
    CHECK(said.find("kaio: kernel 'wrong'") == 0);
    CHECK(said.find(k.said) != std::string::npos);
    CHECK(said.find("PTX line") != std::string::npos);
    CHECK(said.find("kaio: kernel", 1) == std::string::npos);  // once
    MUST(cuCtxDestroy_v2(c));
    kaio_emulator_counters now;
    kaio_emulator_count(&now);
    CHECK(kaio_emulator_alive(&now) == 0);
  }
}

TEST_CASE("a context that a kernel has failed in does not touch others") {
  const session s;
  const loaded m(add_text);
  const numbers x(std::vector<std::uint32_t>{1, 2});
  CUcontext broken = nullptr;
  MUST(cuCtxCreate_v2(&broken, 0, 0));
  {
    CUmodule w = nullptr;
    CUfunction f = nullptr;
    MUST(cuModuleLoadData(&w, body("  trap;\n").c_str()));
    MUST(cuModuleGetFunction(&f, w, "wrong"));
    CUdeviceptr none = 0;
    void* parameters[] = {&none};
    error_stream errors;
    MUST(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    REFUSED(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  }
  MUST(cuCtxSetCurrent(s.context));
  MUST(launch_add(m["add"], x.address, 1, 2));
  CHECK(x.read() == std::vector<std::uint32_t>{2, 3});
  MUST(cuCtxDestroy_v2(broken));
}

TEST_CASE("after a reset the primary context is a good one again") {
  MUST(cuInit(0));
  CUcontext c = nullptr;
  MUST(cuDevicePrimaryCtxRetain(&c, 0));
  MUST(cuCtxSetCurrent(c));
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  MUST(cuModuleLoadData(&m, body("  trap;\n").c_str()));
  MUST(cuModuleGetFunction(&f, m, "wrong"));
  CUdeviceptr none = 0;
  void* parameters[] = {&none};
  {
    error_stream errors;
    MUST(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    REFUSED(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  }
  MUST(cuDevicePrimaryCtxReset_v2(0));
  MUST(cuDevicePrimaryCtxRetain(&c, 0));
  MUST(cuCtxSetCurrent(c));
  MUST(cuCtxSynchronize());
  MUST(cuDevicePrimaryCtxRelease_v2(0));
  MUST(cuCtxSetCurrent(nullptr));
}

TEST_CASE("a schedule that the environment cannot mean is refused before anything runs") {
  const session s;
  const loaded m(add_text);
  const numbers x(std::vector<std::uint32_t>{1});
  kaio::host::set_environment("KAIO_SCHEDULE", "sideways");
  {
    error_stream errors;
    REFUSED(launch_add(m["add"], x.address, 1, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK(errors.text().find("KAIO_SCHEDULE") != std::string::npos);
  }
  kaio::host::set_environment("KAIO_SCHEDULE", "random:3");
  MUST(launch_add(m["add"], x.address, 1, 1));
  CHECK(x.read()[0] == 2);
  kaio::host::unset_environment("KAIO_SCHEDULE");
}

TEST_CASE("a launch beyond the budget of the environment is a timeout of its context") {
  MUST(cuInit(0));
  CUcontext c = nullptr;
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  MUST(cuCtxCreate_v2(&c, 0, 0));
  MUST(cuModuleLoadData(&m, body("FOREVER:\n  add.u64 %d1, %d1, 1;\n  bra FOREVER;\n").c_str()));
  MUST(cuModuleGetFunction(&f, m, "wrong"));
  CUdeviceptr none = 0;
  void* parameters[] = {&none};
  kaio::host::set_environment("KAIO_LAUNCH_SECONDS", "0.05");
  error_stream errors;
  MUST(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  REFUSED(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
  kaio::host::unset_environment("KAIO_LAUNCH_SECONDS");
  REFUSED(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
  CHECK(errors.text().find("the budget that KAIO_LAUNCH_SECONDS sets") != std::string::npos);
  MUST(cuCtxDestroy_v2(c));
}
