// Variables of modules by their names: global and constant ones, visible or not. The host writes them, and kernels
// see the new values.

#include <algorithm>
#include <cstring>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

// read(to): the words of `table`, through .const and as a generic address; then `hidden`.
const std::string variables = ptx(R"(.visible .const .align 4 .b32 table[3] = {10, 20, 30};
.const .align 8 .b8 pad[24];
.global .align 4 .u32 hidden = 5;
.visible .entry read(.param .u64 to)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<3>;
  ld.param.u64 %d0, [to];
  ld.const.u32 %r0, [table];
  st.global.u32 [%d0], %r0;
  mov.u64 %d1, table;
  cvta.const.u64 %d2, %d1;
  ld.u32 %r1, [%d2+8];
  st.global.u32 [%d0+4], %r1;
  ld.global.u32 %r2, [hidden];
  st.global.u32 [%d0+8], %r2;
  ld.const.u32 %r3, [pad+20];
  st.global.u32 [%d0+12], %r3;
  ret;
}
)");

std::vector<std::uint32_t> seen_by(CUfunction f) {
  const numbers to(4);
  CUdeviceptr address = to.address;
  void* parameters[] = {&address};
  MUST(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  return to.read();
}

using words = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("constant variables are found with their sizes, and kernels see what the host writes") {
  const session s;
  const loaded m(variables);
  CUdeviceptr table = 0, pad = 0;
  std::size_t table_bytes = 0, pad_bytes = 0;
  MUST(cuModuleGetGlobal_v2(&table, &table_bytes, m.module, "table"));
  MUST(cuModuleGetGlobal_v2(&pad, &pad_bytes, m.module, "pad"));
  CHECK(table_bytes == 12);
  CHECK(pad_bytes == 24);
  CHECK(seen_by(m["read"]) == words{10, 30, 5, 0});
  words held(3);
  MUST(cuMemcpyDtoH_v2(held.data(), table, 12));
  CHECK(held == words{10, 20, 30});
  const words changed = {1, 2, 3};
  MUST(cuMemcpyHtoD_v2(table, changed.data(), 12));
  MUST(cuMemsetD32_v2(pad + 20, 77, 1));
  CHECK(seen_by(m["read"]) == words{1, 3, 5, 77});
  // A variable ends where its size says.
  REFUSED(cuMemcpyHtoD_v2(table + 4, changed.data(), 12), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemFree_v2(table), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a copy to a constant variable is in the order of its stream") {
  const session s;
  const loaded m(variables);
  CUstream stream = nullptr;
  CUdeviceptr table = 0;
  MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  MUST(cuModuleGetGlobal_v2(&table, nullptr, m.module, "table"));
  const numbers before(4), after(4);
  CUdeviceptr address = before.address;
  void* parameters[] = {&address};
  MUST(cuLaunchKernel(m["read"], 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
  MUST(cuMemsetD32Async(table, 8, 3, stream));
  address = after.address;
  MUST(cuLaunchKernel(m["read"], 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
  MUST(cuStreamSynchronize(stream));
  CHECK(before.read() == words{10, 30, 5, 0});
  CHECK(after.read() == words{8, 8, 5, 0});
  MUST(cuStreamDestroy_v2(stream));
}

TEST_CASE("variables that are not visible are found too") {
  const session s;
  const loaded m(variables);
  CUdeviceptr hidden = 0;
  std::size_t bytes = 0;
  MUST(cuModuleGetGlobal_v2(&hidden, &bytes, m.module, "hidden"));
  CHECK(bytes == 4);
  const std::uint32_t six = 6;
  MUST(cuMemcpyHtoD_v2(hidden, &six, 4));
  CHECK(seen_by(m["read"])[2] == 6);
  REFUSED(cuModuleGetGlobal_v2(&hidden, &bytes, m.module, "read"), CUDA_ERROR_NOT_FOUND);
}

TEST_CASE("a library's variables belong to the context, constants as well") {
  const session s;
  CUlibrary library = nullptr;
  MUST(cuLibraryLoadData(&library, variables.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  CUdeviceptr table = 0;
  std::size_t bytes = 0;
  MUST(cuLibraryGetKernel(&kernel, library, "read"));
  MUST(cuLibraryGetGlobal(&table, &bytes, library, "table"));
  CHECK(bytes == 12);
  MUST(cuMemsetD32_v2(table, 4, 3));
  CHECK(seen_by(reinterpret_cast<CUfunction>(kernel)) == words{4, 4, 5, 0});
  const loaded other(variables);
  CHECK(seen_by(other["read"]) == words{10, 30, 5, 0});
  MUST(cuLibraryUnload(library));
}
